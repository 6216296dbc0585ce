"""Precompile: work of every kind on a few rows, so that all kernels are compiled, and saved for later processes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

import xmceval.api.dropins.decisionmetrics as decisions
import xmceval.api.dropins.labelcurves as curves
import xmceval.api.dropins.rankingmetrics as rankings
from xmceval.api.benchmark.benchmark import benchmark
from xmceval.api.comparing.compare import compare
from xmceval.api.files.convert import convert
from xmceval.api.files.fuse import fuse
from xmceval.api.files.inspect import inspect
from xmceval.api.groupauc import auc
from xmceval.api.loops.evaluator import Evaluator
from xmceval.api.scoring.score import score
from xmceval.files.io.contentdigests import PIECE, digest_array
from xmceval.files.io.paths import to_path
from xmceval.files.writing.targets import open_targets
from xmceval.kernels.compile.cache import folder_to_write
from xmceval.kernels.compile.inventory import count_compiled, find_kernels
from xmceval.metrics.table import METRICS

N_LABELS = 9
FILES = {  # in the forms that have kernels of their own; that of b ends with a blank line
    "truth": "6 9\n0:1 2:1\n1:1\n3:1 4:1\n5:1\n\n2:1 8:1\n",
    "a": "6 9\n0:0.75 1:0.5 2:0.25\n1:0.5 2:0.5\n2:0.75 3:0.5\n5:0.25 6:0.125\n0:0.5\n8:0.75 2:0.25\n",
    "b": "6 9\n1:0.75 0:0.5\n2:0.5 1:0.5\n3:0.75 4:0.5\n6:0.25 5:0.125\n1:0.5\n2:0.75 8:0.25\n\n",
    "unusual": "6 9\n0:0.75\t1:+5e-1\n1:.5\n2:0.75\n5:0.25\n0:0.5\n8:0.75\n",
    "scored": "0 0.75\t1 0.5\n1 0.5\n2 0.75\n5 0.25\n0 0.5\n8 0.75\n",
    "lists": "0,2\n1\n3,4\n5\n0\n2,8\n",
    "xmc-old": "6 3 9\n0,2 0:1\n1 0:1\n3,4 1:1\n5 1:1\n 1:1\n2,8 2:1\n",
    "names": "".join(f"n{label}\n" for label in range(N_LABELS)),
    "named": "n0\tn2\nn1\nn3\tn4\nn5\n\nn2\tn8\n",
    "json": "".join(f'{{"data": [["n{label}", 0.5]]}}\n' for label in (0, 1, 3, 5, 0, 2)),
    "pairs": "0 1\n",
    "log": "user,clicked,score\n" + "".join(f"u{i},{i % 2},0.5\n" for i in range(3000)),
    "qrels": "q 0 d1 1\nq 0 d2 0\n",
    "letor": "1 qid:1\n0 qid:1\n",
    "ranklib": "1 0 0.5\n1 1 0.25\n",
    "run": "".join(f"q Q0 d{i} {i} {-(i // 2)} me\n" for i in range(600)),
    "columns": "day,user,clicked,score\n1,u,1,0.5\n1,u,0,0.25\n",
}


@dataclass(frozen=True)
class Precompiled:
    """What was compiled.

    Attributes
    ----------
    n_kernels : int
        All kernels that are ready.
    n_compiled : int
        Forms of kernels that this process compiled; the others were there.
    folder : Path or None
        Where they are; None where nothing can be saved.
    missing : tuple of str
        Kernels that no work asked for.
    """

    n_kernels: int
    n_compiled: int
    folder: Path | None
    missing: tuple[str, ...]


def precompile() -> Precompiled:
    """Compile all kernels that are not saved yet."""
    before = count_compiled()
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _work(_write_files(to_path(folder)), to_path(folder))
    kernels = find_kernels()
    missing = tuple(name for name, is_ready in kernels.items() if not is_ready)
    return Precompiled(len(kernels) - len(missing), count_compiled() - before, folder_to_write(), missing)


def _write_files(folder: Path) -> dict[str, Path]:
    """Write all files, and return their paths by name."""
    paths = {name: folder / f"{name}.txt" for name in FILES}
    for name, path in paths.items():
        _write(path, partial(_write_text, FILES[name]))
    return paths


def _write_text(text: str, stream: BinaryIO) -> None:
    stream.write(text.encode())


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    with open_targets([path], force=True) as [stream]:
        write(stream)


def _work(files: Mapping[str, Path], folder: Path) -> None:
    """Do work of every kind."""
    _score_files(files, folder)
    _score_matrices(files, folder)
    _compare_files(files, folder)
    inspect([files["truth"], files["a"]])
    convert(files["a"], folder / "a.npz", top=1)
    convert(folder / "a.npz", folder / "again.txt", order="score")
    fuse([files["a"], files["b"]]).write(folder / "fused.npz")
    auc(files["log"], columns="user,clicked,score")
    auc(files["columns"], columns="user,clicked,score")
    digest_array(np.zeros(PIECE, dtype=np.uint8))


def _score_files(files: Mapping[str, Path], folder: Path) -> None:
    truth, scores = files["truth"], files["a"]
    saved: dict[str, Any] = {"save_rows": folder / "a.rows.npz", "save_labels": folder / "labels.npz"}
    score(truth, scores, train=truth, by_frequency=3, ceiling=True, **saved)
    everything: dict[str, Any] = {"metrics": [*METRICS], "k": 2, "train": truth, "threshold": 0.3}
    score(truth, scores, filter=files["pairs"], sample_weight=np.ones(6), **everything)
    score(truth, scores, metrics="AP", duplicates="max")
    for ties in ("expected", "best", "worst"):
        score(truth, scores, ties=ties, k=2)
    for other in ("unusual", "scored", "lists"):
        score(truth, files[other], k=1)
    score(files["xmc-old"], scores, k=1)
    score(files["qrels"], files["run"], k=1)
    score(files["letor"], files["ranklib"], k=1)
    score(files["named"], scores, k=1, labels=files["names"])
    score(truth, files["json"], k=1, labels=files["names"])


def _score_matrices(files: Mapping[str, Path], folder: Path) -> None:
    """Score dense and sparse matrices of every dtype, and lists with names."""
    truth, dense = scipy.sparse.csr_matrix(np.eye(6, N_LABELS)), np.linspace(0, 1, 6 * N_LABELS).reshape(6, -1)
    for dtype in ("f8", "f4", "f2"):
        score(truth, dense.astype(dtype), k=1)
    for dtype in ("?", "f4", "i8", "f2"):
        score(truth.toarray().astype(dtype), dense, k=1)
    for values in ("f8", "f4"):
        for indices in ("i8", "i4"):
            sparse = scipy.sparse.csr_matrix(dense.astype(values))
            sparse.indices, sparse.indptr = sparse.indices.astype(indices), sparse.indptr.astype(indices)
            score(truth, sparse, k=1)
    extra = np.ones((6, N_LABELS + 1))  # a column more than there are labels
    for matrix in (scipy.sparse.coo_matrix(dense), scipy.sparse.csr_matrix(extra)):
        _write(folder / "matrix.npz", partial(scipy.sparse.save_npz, matrix=matrix))
        score(files["truth"], folder / "matrix.npz", k=1)
    for name, dtype in (("words", "U2"), ("objects", "O")):
        words = np.array([["n0", "n1"]] * 6, dtype=dtype)
        _write(folder / f"{name}-labels.npy", partial(np.save, arr=words))
        _write(folder / f"{name}-scores.npy", partial(np.save, arr=dense[:, :2]))
        score(files["truth"], folder / name, k=1, labels=files["names"])
    deep = scipy.sparse.csr_matrix(np.linspace(1, 2, 600).reshape(6, 100))
    score(deep > 1.5, deep, k=100)
    score(truth, dense, k=1, cluster_rows=np.arange(6))
    evaluator = Evaluator(metrics="P@1")
    evaluator.update(truth, dense)
    evaluator.compute()
    rankings.ndcg_score(np.eye(6, N_LABELS), dense)
    rankings.ndcg_score(*np.ones((2, 6, 99)))  # many gains per row
    curves.label_roc_auc(truth, scipy.sparse.csr_matrix(dense))
    decisions.f1_score(truth, truth, average="micro")


def _compare_files(files: Mapping[str, Path], folder: Path) -> None:
    systems = {"a": files["a"], "b": files["b"]}
    compare(files["truth"], systems, overlap=True, examples=1, k=2)
    for n in (1, 2):  # the second time values of the first system are read back
        source = {"datasets": {"data": {"truth": files["truth"]}}, "systems": dict([*systems.items()][:n])}
        benchmark(source, cache=folder / "kept")
    random = np.random.default_rng(0)
    truth, first, second = random.random((3, 100, N_LABELS))
    sparse = [scipy.sparse.csr_matrix(np.where(each > 0.5, each, 0)) for each in (first, second)]  # short lists too
    score(truth > 0.5, first, metrics="macroP@2", bootstrap=100)
    variants: tuple[dict[str, Any], ...] = ({"test": "randomization"}, {"test": "bootstrap"}, {"adjust": "tukey"})
    for options in variants:
        compare(truth > 0.5, dict(zip("ab", sparse, strict=True)), resamples=100, metrics="P@2,microP@5", **options)
