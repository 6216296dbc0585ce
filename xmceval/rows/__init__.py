"""Rows of truth and scores: blocks, checks, in-memory matrices, and threads."""
