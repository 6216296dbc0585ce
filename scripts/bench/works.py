"""Small and middling work in memory, by xmceval and by others: `python -m bench.works WORK CONTESTANT`.

Prints the seconds of a call, the memory that it took beyond the data, and its value, as JSON; with fewer arguments what
can be run with this interpreter. Each contestant does the work on the same data in a process of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse as sp

Array = np.ndarray[Any, Any]
Call = Callable[[], Any]


class Batch(NamedTuple):
    """Truth and scores: CSR truth with five labels per row, dense scores, and the truth in the form of a work."""

    sparse: sp.csr_matrix
    scores: Array
    truth: Any = None


def has(*packages: str) -> bool:
    """Whether this interpreter has packages."""
    return all(importlib.util.find_spec(each) is not None for each in packages)


def make_batch(n_rows: int, n_labels: int, kind: str = "float32") -> Batch:
    """Make logits, and truth of a type."""
    rng = np.random.default_rng(0)
    ids = np.sort(np.stack([rng.choice(n_labels, 5, replace=False) for _ in range(n_rows)]))
    ones, indptr = np.ones(ids.size, np.float32), np.arange(n_rows + 1) * 5
    truth = sp.csr_matrix((ones, ids.ravel(), indptr), shape=(n_rows, n_labels))
    return Batch(truth, rng.standard_normal((n_rows, n_labels), dtype=np.float32), truth.toarray().astype(kind))


def p_at_5(y_true: Any, y_score: Any, **options: Any) -> float:
    """Score, and return one of the values."""
    import xmceval

    return xmceval.score(y_true, y_score, **options)["P@5"]


def few_rows() -> Iterator[tuple[str, Call]]:
    """P@5 of 10 rows of 159 labels, one call each."""
    truth, scores, _ = make_batch(10, 159)
    predicted = sp.csr_matrix(np.where(scores > 0, scores, 0))
    if has("xmceval"):
        import xmceval

        xmceval.precision_at_k(truth, predicted, k=5)  # what is loaded once does not count
        yield "xmceval.precision_at_k", lambda: xmceval.precision_at_k(truth, predicted, k=5)
        yield "xmceval.score", lambda: xmceval.score(truth, predicted, metrics="P", k=5)["P@5"]
    if has("pecos"):
        from pecos.utils.smat_util import Metrics

        yield "PECOS", lambda: Metrics.generate(truth, predicted, topk=5).prec[4]
    if has("napkinxc"):
        from napkinxc import metrics

        yield "napkinXC", lambda: metrics.precision_at_k(truth, predicted, k=5)[4]


def by_hand(truth: Any, logits: Any, k: int = 5) -> Any:
    """Compute P@k as people write it in a loop."""
    return truth.gather(1, logits.topk(k).indices).sum(1, dtype=logits.dtype).mean() / k


def updates(n_rows: int, n_labels: int) -> Iterator[tuple[str, Call]]:
    """P@5 of batches that come one by one; each call is one batch."""
    truth, scores, dense = make_batch(n_rows, n_labels)
    if has("xmceval"):
        import xmceval

        for name, y_true in (("xmceval.Evaluator", dense), ("xmceval.Evaluator, sparse truth", truth)):
            evaluator = xmceval.Evaluator(metrics="P", k=5)
            evaluator.update(y_true, scores)  # what is loaded once does not count
            yield name, lambda y_true=y_true, evaluator=evaluator: evaluator.update(y_true, scores)  # type: ignore[misc]
    if has("torch"):
        import torch

        target, logits = torch.from_numpy(dense), torch.from_numpy(scores)
        yield "torch.topk by hand", lambda: by_hand(target, logits).item()


def dense_truth(kind: str) -> Iterator[tuple[str, Call]]:
    """P@5 of 256 rows of 100,000 logits, with a truth that has every cell."""
    sparse, scores, truth = make_batch(256, 100_000, kind)
    if has("xmceval"):
        import xmceval

        xmceval.score(truth[:1], scores[:1], metrics="P", k=5)  # what is loaded once does not count
        yield "xmceval.precision_at_k", lambda: xmceval.precision_at_k(truth, scores, k=5)
        yield "xmceval.score", lambda: xmceval.score(truth, scores, metrics="P", k=5)["P@5"]
        yield "xmceval.score, sparse truth", lambda: xmceval.score(sparse, scores, metrics="P", k=5)["P@5"]
    yield "one pass over the truth", lambda: truth.view(np.uint8 if kind == "bool" else kind).max()
    if has("torch"):
        import torch

        target, logits = torch.from_numpy(truth), torch.from_numpy(scores)
        yield "torch.topk by hand", lambda: by_hand(target, logits).item()


def ranked_ids() -> Iterator[tuple[str, Call]]:
    """P@5 of 100,000 rows of five labels in order of their scores."""
    rng = np.random.default_rng(0)
    labels = np.argsort(rng.random((100_000, 50)), axis=1)[:, :10] * 13_000 + rng.integers(0, 13_000, (100_000, 1))
    true, ranked = np.sort(labels[:, :5], axis=1), np.ascontiguousarray(labels[:, 3:8])
    shape = (len(true), 650_000)
    truth = sp.csr_matrix((np.ones(true.size, np.float32), true.ravel(), np.arange(len(true) + 1) * 5), shape=shape)
    if has("xmceval"):
        import xmceval

        yield "xmceval.score", lambda: xmceval.score(truth, ranked, metrics="P,nDCG", k=5)["P@5"]
    if has("xclib"):
        from xclib.evaluation import xc_metrics

        def pyxclib() -> float:
            ndcg = xc_metrics.ndcg(ranked, truth, k=5, sorted=True)
            return float(xc_metrics.precision(ranked, truth, k=5, sorted=True)[4]) + 0 * float(ndcg[4])

        yield "pyxclib", pyxclib

    def numpy_by_hand() -> float:
        keys = np.arange(len(true))[:, None] * shape[1]
        return float(np.isin(keys + ranked, keys + true).sum(axis=1).mean() / 5)

    yield "numpy.isin by hand, P alone", numpy_by_hand


def drop_ins(name: str, *, is_half: bool = False, **options: Any) -> Iterator[tuple[str, Call]]:
    """A function of scikit-learn on dense 2,000 x 2,000, with five true labels per row, or half of them."""
    _, scores, truth = make_batch(2000, 2000, "int64")
    if is_half:
        truth = np.random.default_rng(1).integers(0, 2, truth.shape)
    for title, package in ((f"xmceval.{name}", "xmceval"), ("scikit-learn", "sklearn.metrics")):
        if has(package.partition(".")[0]):
            function = getattr(importlib.import_module(package), name)
            function(truth[:3], scores[:3], **options)  # what is loaded once does not count
            yield title, lambda function=function: function(truth, scores, **options)  # type: ignore[misc]


def kinds_of_matrices() -> Iterator[tuple[str, Call]]:
    """P, nDCG @1,3,5 of 100,000 rows of 100 predictions, of 670,000 labels, as matrices of other kinds than CSR."""
    rng = np.random.default_rng(0)
    shape, width = (100_000, 670_000), 100
    labels = np.sort(rng.integers(0, shape[1] - width, (shape[0], width)), axis=1) + np.arange(width)
    indptr = np.arange(shape[0] + 1) * width
    flat, values = labels.ravel().astype(np.int32), rng.random(labels.size, dtype=np.float32)
    csr = sp.csr_matrix((values, flat, indptr.astype(np.int32)), shape=shape)
    true = np.sort(labels[:, ::20], axis=1)
    truth = sp.csr_matrix(
        (np.ones(true.size, np.float32), true.ravel().astype(np.int32), np.arange(shape[0] + 1, dtype=np.int32) * 5),
        shape=shape,
    )
    wide = sp.csr_matrix((values, flat, indptr.astype(np.int32)), shape=shape)
    wide.indices, wide.indptr = flat.astype(np.int64), indptr
    forms: dict[str, Any] = {
        "CSR float32": csr,
        "CSR float64": csr.astype(np.float64),
        "CSR, int64 ids": wide,
        "COO": csr.tocoo(),
        "CSC": csr.tocsc(),
        "pair of arrays": (labels, values.reshape(labels.shape)),
    }
    if has("torch"):
        import torch

        parts = (torch.from_numpy(indptr), torch.from_numpy(flat.astype(np.int64)), torch.from_numpy(values))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            forms["torch CSR"] = torch.sparse_csr_tensor(*parts, size=shape)
        forms["torch COO"] = forms["torch CSR"].to_sparse_coo().coalesce()
    options: Any = {"metrics": "P,nDCG", "k": (1, 3, 5)}
    for name, y_score in forms.items():
        yield f"xmceval.score, {name}", partial(p_at_5, truth, y_score, **options)


def npz_files() -> Iterator[tuple[str, Call]]:
    """P, nDCG, PSP and PSnDCG @1,3,5 of three npz files with 153,025 rows of 100 predictions."""
    from bench import data

    shape, folder = data.SHAPES["amazon-670k"], data.default_dir()
    paths = {kind: folder / f"amazon-670k-{kind}.npz" for kind in ("truth", "preds", "train")}
    folder.mkdir(parents=True, exist_ok=True)
    for kind, path in paths.items():
        if not path.exists():
            arrays = data.arrays(shape, kind)
            made = sp.csr_matrix(arrays, shape=(len(arrays[2]) - 1, shape.labels))
            sp.save_npz(path.with_suffix(".part.npz"), made, compressed=False)
            path.with_suffix(".part.npz").replace(path)

    def load(kind: str) -> sp.csr_matrix:
        with np.load(paths[kind]) as arrays:
            parts = arrays["data"], arrays["indices"], arrays["indptr"]
            return sp.csr_matrix(parts, shape=arrays["shape"])

    if has("xmceval"):
        import xmceval

        yield (
            "xmceval.score, arrays of numpy.load",
            lambda: xmceval.score(load("truth"), load("preds"), train=load("train"))["P@5"],
        )
        yield "xmceval.score", lambda: xmceval.score(paths["truth"], paths["preds"], train=paths["train"])["P@5"]
    yield "numpy.load", lambda: [load(kind) for kind in paths] and None


def dicts() -> Iterator[tuple[str, Call]]:
    """Five metrics of 2,000 queries with 500 documents each, as dicts by query."""
    rng = np.random.default_rng(0)
    names = np.array([f"document-{i:06d}" for i in range(100_000)])
    run, qrels = {}, {}
    for i in range(2000):
        documents = rng.permutation(len(names))[:510]
        run[f"q{i}"] = dict(zip(names[documents[:500]].tolist(), rng.random(500).tolist(), strict=True))
        qrels[f"q{i}"] = dict.fromkeys(names[documents[490:]].tolist(), 1)
    if has("xmceval"):
        import xmceval

        yield "xmceval.score", lambda: xmceval.score(qrels, run, metrics="P@5,AP@all,nDCG@10,RR@all,R@5")["P@5"]
    if has("pytrec_eval"):
        import pytrec_eval

        def by_pytrec_eval() -> float:
            measures = {"P_5", "map", "ndcg_cut_10", "recip_rank", "recall_5"}
            values = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values()
            means = {name: float(np.mean([each[name] for each in values])) for name in measures}
            return means["P_5"]

        yield "pytrec_eval", by_pytrec_eval


WORKS: dict[str, Callable[[], Iterator[tuple[str, Call]]]] = {
    "P@5, CSR, 10 × 159": few_rows,
    "P@5 of a batch, 32 × 100": lambda: updates(32, 100),
    "P@5 of a batch, 64 × 4,000": lambda: updates(64, 4_000),
    **{
        f"P@5, dense {kind} truth and logits, 256 × 100,000": lambda kind=kind: dense_truth(kind)  # type: ignore[misc]
        for kind in ("int64", "bool", "float32")
    },
    "P and nDCG@5, ranked ids, 100,000 × 5": ranked_ids,
    "LRAP, dense, 2,000 × 2,000": lambda: drop_ins("label_ranking_average_precision_score"),
    "ranking loss, dense, 2,000 × 2,000": lambda: drop_ins("label_ranking_loss"),
    "coverage error, dense, 2,000 × 2,000": lambda: drop_ins("coverage_error"),
    "nDCG, dense, 2,000 × 2,000": lambda: drop_ins("ndcg_score"),
    **{
        f"{title}, half of the cells true": lambda name=name: drop_ins(name, is_half=True)  # type: ignore[misc]
        for title, name in {
            "LRAP": "label_ranking_average_precision_score",
            "ranking loss": "label_ranking_loss",
            "coverage error": "coverage_error",
            "nDCG": "ndcg_score",
        }.items()
    },
    "AUC, micro, dense, 2,000 × 2,000": lambda: drop_ins("roc_auc_score", average="micro"),
    "P and nDCG@1,3,5, 100,000 × 100 predictions": kinds_of_matrices,
    "P, AP, nDCG, RR, R, dicts, 2,000 queries × 500": dicts,
    "P, nDCG, PSP, PSnDCG, three npz files, 153,025 × 100": npz_files,
}
SHORTEST = 0.1  # seconds that are timed at least, after as many; shorter calls are repeated


PACKAGES = ("numpy", "torch", "scikit-learn", "napkinxc", "libpecos", "xclib", "pytrec_eval-terrier", "scipy")


def find_versions() -> dict[str, str]:
    """Return the versions of what others use here."""
    found = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def peak() -> float:
    """Return the most memory that this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def timed(call: Call) -> dict[str, Any]:
    """Return the seconds of a call after others, and the memory that all of them took."""
    before = peak()
    value = call()
    start = time.process_time()
    call()
    repeated = max(1, min(1000, int(SHORTEST / max(time.process_time() - start, 1e-6))))
    for _ in range(repeated if repeated > 1 else 0):  # what libraries start in their first moments is over then
        call()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeated):
        call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    number = None if value is None else float(value)
    return {"wall": wall / repeated, "cpu": cpu / repeated, "peak": peak() - before, "value": number}


def main() -> None:
    """Run what the arguments name, or list what can be run."""
    warnings.simplefilter("ignore")
    if len(sys.argv) == 1:
        print(json.dumps({"works": list(WORKS), "tools": find_versions()}))
    elif len(sys.argv) == 2:
        print(json.dumps([name for name, _ in WORKS[sys.argv[1]]()]))
    else:
        work, contestant = sys.argv[1:]
        print(json.dumps(timed(dict(WORKS[work]())[contestant])))


if __name__ == "__main__":
    main()
