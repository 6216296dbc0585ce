"""Inspection: what a file is, whether it is sound, and whether a truth and predictions belong together."""
