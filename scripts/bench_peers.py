"""What other tools need for the same files: `python bench_peers.py TOOL TRUTH PREDS TRAIN` prints their metrics."""

from __future__ import annotations

import json
import sys

CUTS = (1, 3, 5)
A, B = 0.55, 1.5


def napkinxc(truth: str, preds: str, train: str) -> dict[str, list[float]]:
    """Load with napkinXC's own reader (rows of `idx:value` are features to it) and compute its four metrics."""
    from napkinxc import metrics
    from napkinxc.datasets import load_libsvm_file
    from scipy.sparse import csr_matrix

    with open(truth) as f:
        n_labels = int(f.readline().split()[1])

    def load(path: str) -> csr_matrix:
        x = load_libsvm_file(path)[0]
        return csr_matrix((x.data, x.indices, x.indptr), shape=(x.shape[0], n_labels))

    y, scores = load(truth), load(preds)
    inverse = metrics.Jain_et_al_inverse_propensity(load(train), A=A, B=B)
    found = {
        "P": metrics.precision_at_k(y, scores, k=CUTS[-1]),
        "nDCG": metrics.ndcg_at_k(y, scores, k=CUTS[-1]),
        "PSP": metrics.psprecision_at_k(y, scores, inverse, k=CUTS[-1]),
        "PSnDCG": metrics.psndcg_at_k(y, scores, inverse, k=CUTS[-1]),
    }
    return {name: [float(values[k - 1]) for k in CUTS] for name, values in found.items()}


def sklearn(truth: str, preds: str, train: str) -> dict[str, list[float]]:  # noqa: ARG001 - it knows no propensities
    """Fill dense matrices, which is all that scikit-learn ranks, and compute nDCG and LRAP."""
    import numpy as np
    from sklearn.metrics import label_ranking_average_precision_score, ndcg_score

    def load(path: str) -> np.ndarray:
        with open(path) as f:
            dense = np.zeros([int(word) for word in f.readline().split()])
            for row, line in enumerate(f):
                for label, value in (word.split(":") for word in line.split()):
                    dense[row, int(label)] = float(value)
        return dense

    y, scores = load(truth), load(preds)
    ndcg = [float(ndcg_score(y, scores, k=k, ignore_ties=True)) for k in CUTS]
    return {"nDCG": ndcg, "LRAP": [float(label_ranking_average_precision_score(y, scores))]}


PEERS = {"napkinxc": napkinxc, "sklearn": sklearn}

if __name__ == "__main__":
    print(json.dumps(PEERS[sys.argv[1]](*sys.argv[2:])))
