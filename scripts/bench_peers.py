"""What other tools need for the same files: `python bench_peers.py TOOL TRUTH PREDS TRAIN` prints their values as JSON.

Each reads text as its own functions or documentation do, and computes what it has of P, nDCG, PSP and PSnDCG.
`python bench_peers.py` prints the versions of those that are installed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

CUTS = (1, 3, 5)
A, B = 0.55, 1.5
Values = dict[str, list[float]]


def at_cutoffs(**metrics: Any) -> Values:
    """Return values at the cutoffs from those at 1 to 5."""
    return {name: [float(values[k - 1]) for k in CUTS] for name, values in metrics.items()}


def shape_of(path: str) -> tuple[int, int]:
    """Return what the header of a file says: rows and labels."""
    with open(path) as f:
        rows, labels = f.readline().split()
    return int(rows), int(labels)


def pyxclib(truth: str, preds: str, train: str) -> Values:
    """Read with xclib's own reader and evaluate with its class for all four."""
    from xclib.data.data_utils import read_sparse_file
    from xclib.evaluation.xc_metrics import Metrics, compute_inv_propesity

    y, scores = read_sparse_file(truth), read_sparse_file(preds)
    inverse = compute_inv_propesity(read_sparse_file(train), A, B)
    p, ndcg, psp, psndcg = Metrics(y, inverse).eval(scores, CUTS[-1])
    return at_cutoffs(P=p, nDCG=ndcg, PSP=psp, PSnDCG=psndcg)


def napkinxc(truth: str, preds: str, train: str) -> Values:
    """Load with napkinXC's own reader (rows of `idx:value` are features to it) and compute its four metrics."""
    from napkinxc import metrics
    from napkinxc.datasets import load_libsvm_file
    from scipy.sparse import csr_matrix

    n_labels = shape_of(truth)[1]

    def load(path: str) -> csr_matrix:
        x = load_libsvm_file(path)[0]
        return csr_matrix((x.data, x.indices, x.indptr), shape=(x.shape[0], n_labels))

    y, scores = load(truth), load(preds)
    inverse = metrics.Jain_et_al_inverse_propensity(load(train), A=A, B=B)
    return at_cutoffs(
        P=metrics.precision_at_k(y, scores, k=CUTS[-1]),
        nDCG=metrics.ndcg_at_k(y, scores, k=CUTS[-1]),
        PSP=metrics.psprecision_at_k(y, scores, inverse, k=CUTS[-1]),
        PSnDCG=metrics.psndcg_at_k(y, scores, inverse, k=CUTS[-1]),
    )


def svmlight(path: str) -> Any:
    """Read rows of `idx:value` with scikit-learn, which takes them for rows of features without a target."""
    import numpy as np
    from sklearn.datasets import load_svmlight_file

    n_labels = shape_of(path)[1]
    with open(path, "rb") as f:
        f.readline()
        return load_svmlight_file(f, n_features=n_labels, dtype=np.float32, multilabel=True, zero_based=True)[0]


def pecos(truth: str, preds: str, train: str) -> Values:  # noqa: ARG001 - it knows no propensities
    """Evaluate with the class of PECOS, which has P and recall; it reads no text, scikit-learn does."""
    from pecos.utils.smat_util import Metrics

    return at_cutoffs(P=Metrics.generate(svmlight(truth), svmlight(preds), topk=CUTS[-1]).prec)


def sklearn(truth: str, preds: str, train: str) -> Values:  # noqa: ARG001 - it knows no propensities
    """Compute nDCG, the one of the four that scikit-learn has, of dense matrices, which it needs."""
    from sklearn.metrics import ndcg_score

    y, scores = svmlight(truth).toarray(), svmlight(preds).toarray()
    return {"nDCG": [float(ndcg_score(y, scores, k=k, ignore_ties=True)) for k in CUTS]}


PEERS: dict[str, Callable[[str, str, str], Values]] = {
    "pyxclib": pyxclib,
    "napkinXC": napkinxc,
    "PECOS": pecos,
    "scikit-learn": sklearn,
}
PACKAGES = {"pyxclib": "xclib", "napkinXC": "napkinxc", "PECOS": "libpecos", "scikit-learn": "scikit-learn"}


def installed() -> dict[str, str]:
    """Return the versions of the tools that are there."""
    found = {}
    for name, package in PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    print(json.dumps(PEERS[sys.argv[1]](*sys.argv[2:]) if len(sys.argv) > 1 else installed()))
