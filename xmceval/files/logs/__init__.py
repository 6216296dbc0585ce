"""Flat logs of group, label and score."""
