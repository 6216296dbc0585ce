"""Numba kernels: files that import numpy, their decorators, and helpers of one another."""
