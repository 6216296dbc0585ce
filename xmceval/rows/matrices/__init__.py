"""Matrices in memory as rows: numpy, scipy, DLPack, PyTorch, lists."""
