"""Read: truth and predictions of every format as a sparse matrix, exactly."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from support.approved import check_lines
from support.files import write

import xmceval


def test_what_is_read_scores_as_the_file_does(rng):
    scores, truth = sparse.random(80, 30, 0.3, "csr", random_state=rng), sparse.random(80, 30, 0.1, random_state=rng)
    truth.data[:] = 1
    sparse.save_npz("s.npz", scores)
    sparse.save_npz("t.npz", truth)
    options = {"metrics": ["P", "nDCG", "LRAP"], "k": [1, 3]}
    expected = dict(xmceval.score("t.npz", "s.npz", **options))
    assert dict(xmceval.score(xmceval.read("t.npz"), xmceval.read("s.npz"), **options)) == expected
    assert (xmceval.read("s.npz", threads=1) != scores).nnz == 0


def test_labels_beyond_32_bits_are_read_as_they_are():
    matrix = xmceval.read(write("t.txt", f"0:1 {2**31}:1\n{2**31 - 1}:1\n"))
    assert matrix.indices.tolist() == [0, 2**31, 2**31 - 1]


def read(*inputs, **options):
    """Return the shape, the labels and the values of what is read, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        matrix = xmceval.read(*inputs, **options)
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    rows = [(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist()) for i, j in ends]
    return "\n".join([f"{matrix.shape} {rows}", *(str(warning.message) for warning in caught)])


def stored(name, values, **options):
    """Write whole numbers as a diagonal."""
    matrix = sparse.csr_matrix((np.array(values), [0, 1, 2], [0, 1, 2, 3]))
    np.save(name, matrix.toarray()) if name.endswith("npy") else sparse.save_npz(name, matrix, **options)
    return name


def empty(dtype, compressed):
    sparse.save_npz("none.npz", sparse.csr_matrix((2, 3), dtype=dtype), compressed=compressed)
    return "none.npz"


def test_files_are_read_or_refused_in_these_words():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"id": [f"row{i}" for i in range(12)], "labels": [[i] for i in range(12)]})
    table.to_parquet("t.parquet")
    table.iloc[::-1].to_parquet("p.parquet", index=False)
    sparse.save_npz("extra.npz", sparse.csr_matrix([[0.5, 0, 1], [0, 1, 0]]))
    for name, text in (("names", "a\nb\nc\nd\n"), ("qrels", "q1 0 d9 1\nq3 0 d1 2\n")):
        write(name, text)
    run = write("run", "q3 Q0 d7 1 5 tag\nq1 Q0 d9 1 2 tag\nq1 Q0 d1 2 1 tag\n")
    check_lines(__file__, "read.txt", globals() | locals())
