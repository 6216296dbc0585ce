"""Array files: npy, npz, mat, and pairs of npy."""
