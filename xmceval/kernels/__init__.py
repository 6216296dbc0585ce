"""Numba kernels, which import only numpy and each other."""
