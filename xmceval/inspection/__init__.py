"""Inspection: what a file is, whether it is sound, whether two files belong together."""
