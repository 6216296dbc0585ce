"""Counts and values by label."""
