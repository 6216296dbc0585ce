"""Read rows from matrices in memory: numpy, scipy, DLPack, PyTorch, lists."""
