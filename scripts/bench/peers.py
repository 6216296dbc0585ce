"""xmceval beside other tools on the same text files: each does all it can of P, nDCG, PSP and PSnDCG @1,3,5.

Run with the interpreter of the tools, `python -m bench.peers TOOL TRUTH PREDS TRAIN` reads text as the tool's own
functions or documentation do and prints its values as JSON; without arguments it prints the versions of those that are
installed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.measure import Command, Figures, Usage, figures_of, measure, module, progress, score
from bench.picture import OURS, ROWS

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


TOOLS: dict[str, Callable[[str, str, str], Values]] = {
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


MOST_SECONDS, MOST_MB = 240.0, 12_000.0  # that a tool may need, if it needs four times as much as for the last size
TURNS, LONG = 3, 15.0  # a tool that takes so many seconds has one turn


def tools_of(python: str) -> dict[str, str]:
    """Return the tools that an interpreter has installed, and their versions."""
    return dict(figures_of("peers", python=python))


def can_hold(tool: str, rows: int, measured: Sequence[Figures]) -> bool:
    """Tell whether a tool may be asked for so many rows, from what it needed for the last size."""
    if rows == ROWS[0]:
        return True
    before = f"titles-{ROWS[ROWS.index(rows) - 1]}"
    found = [entry for entry in measured if (entry["subject"], entry["contestant"]) == (before, tool)]
    growth = rows / ROWS[ROWS.index(rows) - 1]
    return any(
        growth * entry["wall"]["median"] <= MOST_SECONDS and growth * entry["peak"]["median"] <= MOST_MB
        for entry in found
    )


def measure_tools(
    paths: Mapping[str, str], tools: Sequence[str], python: str
) -> tuple[dict[str, list[Usage]], dict[str, Values]]:
    """Measure xmceval, once it is warm, and other tools in turns; return what they used and their values."""
    files = (paths["truth"], paths["preds"], paths["train"])
    commands = {OURS: Command((score(paths),))}
    commands |= {tool: module("peers", tool, *files, python=python) for tool in tools}
    measure(commands[OURS])
    used: dict[str, list[Usage]] = {name: [] for name in commands}
    values: dict[str, Values] = {}
    with tempfile.TemporaryDirectory() as folder:
        printed = Path(folder) / "values.json"
        for turn in range(TURNS):
            for name, command in commands.items():
                progress(f"{turn + 1}/{TURNS} {name}")
                if turn == 0 or used[name][0].wall < LONG:
                    used[name].append(measure(command, printed))
                    values[name] = values_of(printed.read_text(encoding="utf-8"), name == OURS)
    progress("")
    return used, values


def values_of(printed: str, is_ours: bool) -> Values:
    """Return the values that a tool printed."""
    if not is_ours:
        return dict(json.loads(printed.splitlines()[-1]))
    metrics = json.loads(printed)["systems"][0]["metrics"]
    names = dict.fromkeys(name.partition("@")[0] for name in metrics)
    return {name: [metrics[f"{name}@{k}"]["value"] for k in CUTS] for name in names}


def agreement(subject: str, values: Mapping[str, Values]) -> list[Figures]:
    """Return for each tool how far its values are from ours at most; all four are defined alike."""
    return [
        {
            "subject": subject,
            "contestant": name,
            "metrics": list(found),
            "largest_difference": max(
                abs(a - b) for metric in found for a, b in zip(found[metric], values[OURS][metric], strict=True)
            ),
        }
        for name, found in values.items()
        if name != OURS
    ]


def replaced(entries: Sequence[Any], subject: str, new: Sequence[Figures]) -> list[Figures]:
    """Return entries with those of one subject replaced."""
    return [entry for entry in entries if entry["subject"] != subject] + list(new)


if __name__ == "__main__":
    print(json.dumps(TOOLS[sys.argv[1]](*sys.argv[2:]) if len(sys.argv) > 1 else installed()))
