"""Kernels that parse and format text."""
