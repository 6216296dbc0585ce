"""Bytes: where files are, and how they are read."""
