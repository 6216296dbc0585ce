"""Read array files: npy, npz and pairs of npy files."""
