"""Small files that say the same in several forms, and what they score."""

import io
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import xmceval
from xmceval.files.io.paths import to_path
from xmceval.files.open import open_source
from xmceval.files.opened import Request
from xmceval.files.ranking.queries import QuerySource

TRUTH = "4 5\n0:1 2:1\n1:1\n\n3:1 4:1\n"
PREDS = "4 5\n0:0.9 1:0.8\n1:.5 2:.1\n3:1\n4:.5 3:.4\n"
LEGACY = "4 3 5\n0,2 0:0.5 2:1\n1 1:.25\n 0:1\n3,4\n"
QRELS = "q1 0 d2 1\nq1 0 d1 0\nq2 0 d3 2\nq2 0 d1 1\n"
RUN = "q2 Q0 d9 1 5.5 me\nq2 Q0 d3 2 4 me\nq1 Q0 d1 1 3 me\nq1 Q0 d2 2 3 me\n"
LABELS = np.array([[0, 1], [1, 2], [3, -1], [4, 3]])
SCORES = np.array([[0.9, 0.8], [0.5, 0.1], [1, 0], [0.5, 0.4]], np.float32)

# What `xmceval score tst_X_Y.txt model_a.txt --train trn_X_Y.txt -k 1,3,5` prints in datasets/sample.
A_ALONE = """\
500 instances · 300 labels · 3.33 true labels and 14.8 predictions per instance
            @1            @3            @5
P        68.60 ±4.08   49.20 ±2.62   37.40 ±1.91
nDCG     68.60 ±4.08   59.15 ±2.81   59.14 ±2.49
PSP      26.68 ±2.05   32.33 ±2.16   38.92 ±2.29
PSnDCG   26.68 ±2.05   30.57 ±2.12   34.50 ±2.23
8 of 500 instances have fewer than 5 predictions: empty places count as misses
6 instances have no true labels (0 for P and nDCG; skipped by PSP and PSnDCG)
propensities: A=0.55 B=1.5, N=1,000 from trn_X_Y.txt
tied scores straddle the cutoff in 1 instance at 3 and 3 at 5
tied scores could move nDCG@3 59.15..59.17 and nDCG@5 59.14..59.21
"""
A_QUIET = "".join(A_ALONE.splitlines(keepends=True)[line] for line in (*range(6), 8))  # with -q: without facts


def write(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def triples(table):
    """Return (query, document, value) of {query: {document: value}}."""
    return [(query, document, value) for query, row in table.items() for document, value in row.items()]


def write_qrels(name, qrels):
    return write(name, "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in triples(qrels)))


def write_run(name, run):
    return write(name, "".join(f"{query} Q0 {document} 0 {score!r} t\n" for query, document, score in triples(run)))


def write_matrix(name, matrix, kind="scores"):
    """Write scores or truth, dense or CSR, as text."""
    if sp.issparse(matrix):
        sp.save_npz(f"{name}.npz", matrix)
    else:
        np.save(f"{name}.npy", matrix)
    source = Path(f"{name}.npz" if sp.issparse(matrix) else f"{name}.npy")
    xmceval.convert(source, name, kind=kind, force=True)
    source.unlink()


class Stdin:
    """Standard input with some bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def body(text):
    return text.partition("\n")[2]


def matrix():
    rows = [[0.9, 0.8, 0, 0, 0], [0, 0.5, 0.1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0.4, 0.5]]
    return sp.csr_matrix(np.array(rows))


def scored(truth="t.txt", preds="p.txt", **options):
    return xmceval.score(truth, preds, k=[1, 2], metrics=["P", "nDCG", "PSP"], **options)


def same_numbers(result, expected=None):
    expected = plain() if expected is None else expected
    assert result.estimates == expected.estimates
    assert result.counts.n_true == expected.counts.n_true
    assert result.counts.n_predictions == expected.counts.n_predictions


def plain():
    return scored(write("plain_t.txt", TRUTH), write("plain_p.txt", PREDS))


def open_scores(path, **facts):
    """Open predictions, with facts of a request that are known of them."""
    return open_source(path if isinstance(path, QuerySource) else to_path(path), Request("scores", **facts))


def rows_in(path, kind="scores", **options):
    """Return the rows of a file as lists of (label, value), in the order of the file; those of truth by label."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        matrix = xmceval.read(path, kind=kind, **options)
    ends = zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    return [list(zip(matrix.indices[i:j].tolist(), matrix.data[i:j].tolist(), strict=True)) for i, j in ends]
