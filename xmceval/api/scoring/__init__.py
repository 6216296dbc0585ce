"""Score systems."""
