"""Array files: npy, npz, and pairs of npy."""
