"""Rows: what is known of the row axis: blocks, checks, in-memory matrices, the thread engine."""
