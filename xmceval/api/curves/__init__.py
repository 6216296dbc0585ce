"""Curves of labels and of flat data."""
