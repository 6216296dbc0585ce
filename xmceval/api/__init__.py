"""The public scoring functions."""
