"""Proposing the file of a benchmark from a folder: which of its files are truth, training labels and predictions."""
