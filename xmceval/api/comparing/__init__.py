"""Compare systems."""
