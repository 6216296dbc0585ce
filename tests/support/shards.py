"""A case as shards in several formats, cut at random rows."""

import gzip
import json

import numpy as np
from scipy.sparse import coo_array, csc_array, csr_matrix, save_npz
from support.strategies import to_csr, to_text


def cut(rng, n_rows, n_shards):
    """Return the bounds of shards, some of them empty if there are few rows."""
    inner = sorted(rng.integers(0, n_rows + 1, n_shards - 1).tolist())
    return [0, *inner, n_rows]


def save(rows, n_labels, name, form):
    """Write rows in a format, and return the path or the matrix."""
    matrix = to_csr(rows, n_labels, np.float64)
    if form == "csr":
        return matrix
    if form == "npz":
        save_npz(f"{name}.npz", matrix)
        return f"{name}.npz"
    if form == "coo":
        save_npz(f"{name}.npz", coo_array(matrix))
        return f"{name}.npz"
    if form == "csc":
        return csc_array(csr_matrix(matrix))
    if form == "jsonl":
        with open(f"{name}.jsonl", "w") as file:
            for row in rows:
                file.write(json.dumps({"target_ind": list(row)} if "t" in name else row) + "\n")
        return f"{name}.jsonl"
    text = to_text(rows, n_labels).encode()
    text = text.partition(b"\n")[2] if "bare" in form else text
    path = f"{name}.txt" + ".gz" * form.endswith("gz")
    with open(path, "wb") as file:
        file.write(gzip.compress(text) if form.endswith("gz") else text)
    return path
