"""Compile kernels, keep them, and call them without numba."""
