"""Inspect files: what they contain, whether they are valid, and whether truth and predictions match."""
