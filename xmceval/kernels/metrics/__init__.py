"""Kernels that rank labels and compute the values of metrics."""
