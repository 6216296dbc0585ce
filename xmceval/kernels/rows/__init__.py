"""Kernels that check, copy, filter and order the entries of rows."""
