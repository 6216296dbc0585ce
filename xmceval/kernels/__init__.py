"""Numba kernels. Modules here import only numpy and each other."""
