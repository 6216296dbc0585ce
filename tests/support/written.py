"""The same truth and scores in the forms that are read: matrices, lists, tables and files.

Scores are rows of (label, score), best first where the form has an order; truth and rankings are rows of labels.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp


def write(name, lines):
    Path(name).write_text("".join(f"{line}\n" for line in lines))
    return name


def save(name, function, value):
    function(name, value)
    return name


def unzip(rows):
    """Return the labels and the scores of rows."""
    return tuple([[cell[i] for cell in row] for row in rows] for i in range(2))


def padded(rows, fill):
    width = max(map(len, rows))
    return np.array([[*row, *[fill] * (width - len(row))] for row in rows])


def to_csr(rows, n_labels):
    cells = [cell for row in rows for cell in row]
    ends = np.cumsum([0, *map(len, rows)])
    return sp.csr_array(([v for _, v in cells], [label for label, _ in cells], ends), shape=(len(rows), n_labels))


def to_dense(rows, n_labels, fill=-np.inf):
    dense = np.full((len(rows), n_labels), fill)
    for row, cells in enumerate(rows):
        for label, score in cells:
            dense[row, label] = score
    return dense


def to_pair(rows):
    labels, scores = unzip(rows)
    return padded(labels, -1).astype(int), padded(scores, 0.0)


def to_text(rows, n_labels, name):
    lines = (" ".join(f"{label}:{score!r}" for label, score in row) for row in rows)
    return write(name, [f"{len(rows)} {n_labels}", *lines])


def to_json(rows):
    return write("p.json", [json.dumps([{"label": label, "score": score} for label, score in row]) for row in rows])


def to_npy_pair(rows):
    for part, array in zip(("labels", "scores"), to_pair(rows), strict=True):
        np.save(f"p-{part}.npy", array)
    return "p"


def to_long(rows):
    lines = [(number, label, score) for number, row in enumerate(rows) for label, score in row]
    return frame(lines, columns=["row", "label", "score"])


def to_list_table(rows):
    labels, scores = unzip(rows)
    return frame({"labels": labels, "scores": scores})


def to_parquet(rows):
    to_long(rows).to_parquet("p.parquet")
    return "p.parquet"


def to_sparse_tensor(rows, n_labels):
    coo = to_csr(rows, n_labels).tocoo()
    return torch().sparse_coo_tensor(np.stack(coo.coords), coo.data, coo.shape, check_invariants=True)


def frame(*data, **options):
    return pytest.importorskip("pandas").DataFrame(*data, **options)


def torch():
    return pytest.importorskip("torch")


SCORED = {
    "dense": to_dense,
    "dense lists": lambda rows, n: to_dense(rows, n).tolist(),
    "wide frame": lambda rows, n: frame(to_dense(rows, n)),
    "tensor": lambda rows, n: torch().tensor(to_dense(rows, n)),
    "csr": to_csr,
    "csc": lambda rows, n: to_csr(rows, n).tocsc(),
    "coo": lambda rows, n: to_csr(rows, n).tocoo(),
    "sparse tensor": to_sparse_tensor,
    "pair": lambda rows, _: to_pair(rows),
    "list of a pair": lambda rows, _: [*to_pair(rows)],
    "lists of pairs": lambda rows, _: rows,
    "lists of dicts": lambda rows, _: [dict(row) for row in rows],
    "pair of ragged lists": lambda rows, _: unzip(rows),
    "scores before labels": lambda rows, _: unzip(rows)[::-1],
    "text": lambda rows, n: to_text(rows, n, "p.txt"),
    "json": lambda rows, _: to_json(rows),
    "npz": lambda rows, n: save("p.npz", sp.save_npz, sp.csr_matrix(to_csr(rows, n))),
    "npy": lambda rows, n: save("p.npy", np.save, to_dense(rows, n)),
    "npy pair": lambda rows, _: to_npy_pair(rows),
    "long table": lambda rows, _: to_long(rows),
    "list table": lambda rows, _: to_list_table(rows),
    "parquet": lambda rows, _: to_parquet(rows),
}


def with_ones(rows):
    return [[(label, 1) for label in row] for row in rows]


def to_indicators(rows, n_labels):
    return to_dense(with_ones(rows), n_labels, 0).astype(int)


def to_lines(rows, between, name):
    return write(name, [between.join(map(str, row)) for row in rows])


TRUE = {
    "lists": lambda rows, _: rows,
    "sets": lambda rows, _: [set(row) for row in rows],
    "arrays": lambda rows, _: [np.array(row) for row in rows],
    "csr": lambda rows, n: to_csr(with_ones(rows), n),
    "dense": to_indicators,
    "bools": lambda rows, n: to_indicators(rows, n).astype(bool),
    "frame": lambda rows, n: frame(to_indicators(rows, n)),
    "npz": lambda rows, n: save("t.npz", sp.save_npz, sp.csr_matrix(to_csr(with_ones(rows), n))),
    "npy": lambda rows, n: save("t.npy", np.save, to_indicators(rows, n)),
    "text": lambda rows, n: to_text(with_ones(rows), n, "t.txt"),
    "blanks": lambda rows, _: to_lines(rows, " ", "t.txt"),
    "commas": lambda rows, _: to_lines(rows, ",", "t.txt"),
    "JSON lines": lambda rows, _: write("t.json", [json.dumps({"target_ind": row}) for row in rows]),
    "list table": lambda rows, _: frame({"labels": rows}),
    "long table": lambda rows, _: to_long(with_ones(rows)).drop(columns="score"),
}
RANKED = {
    "lists": lambda rows, _: rows,
    "arrays": lambda rows, _: [np.array(row) for row in rows],
    "padded": lambda rows, _: padded(rows, -1),
    "npy": lambda rows, _: save("p.npy", np.save, padded(rows, -1)),
    "frame": lambda rows, _: frame(padded(rows, -1)),
    "blanks": lambda rows, _: to_lines(rows, " ", "p.txt"),
    "commas": lambda rows, _: to_lines(rows, ",", "p.txt"),
    "list table": lambda rows, _: frame({"labels": rows}),
}
