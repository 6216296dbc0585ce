"""Public functions for scoring."""
