"""Kernels written as instructions, each with its plain twin named beside it."""
