"""Each kernel gets the types that it declares, whatever is passed to the public functions: this file calls them all.

It runs as a script, so that it sees which kernels the calls reach. Other types would be refused.
"""

import importlib
import itertools
import json
import os
import pickle
import pkgutil
import subprocess
import sys
import warnings
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.files import write
from test_inputs import (
    CALLS,
    FILES,
    LABELS,
    NOT_IN_BATCHES,
    PYTHON,
    QRELS,
    RUN,
    WRITTEN,
    S,
    Y,
    evaluate,
    make,
    read,
    score as score_file,
)

import xmceval
from xmceval import compare, kernels, score
from xmceval.kernels.load import Kernel, is_disabled

try:
    import torch
except ImportError:
    torch = None

TESTS = Path(__file__).parents[1]
N_ROWS, N_LABELS = 60, 80
AT_CUTOFFS = "P,R,nDCG,PSP,PSnDCG"
WHOLE_ROWS = "LRAP,AUC,ranking_loss,AP,ERR(max=3),macroF1@3,macroAUC"
RANKED = "coverage_error", "label_ranking_average_precision_score", "label_ranking_loss", "ndcg_score", "dcg_score"
CURVES = "roc_auc_score", "average_precision_score"
DROP_INS = {name: {} for name in RANKED} | {name: {"average": "micro"} for name in CURVES}

RARE = {  # kernels that the calls below do not reach: for unusual lines and names
    "metrics.resampling.swap_systems",
    "text.lines.skip_rows",
    "text.lists.find_unicode",
    "text.words.fill_slots",
    "text.words.parse_plain_numbers",
}


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def with_parts(matrix, change):
    """Return a copy of a sparse matrix whose arrays are changed: converted, or protected from writing."""
    copy = matrix.copy()
    copy.data, copy.indices, copy.indptr = change(matrix.data), change(matrix.indices), change(matrix.indptr)
    return copy


def wide(array):
    return array.astype(np.int64 if array.dtype.kind == "i" else array.dtype)


def make_data():
    """Return truth and scores, dense: rows without truth, grades, and ties."""
    rng = np.random.default_rng(48)
    truth = (rng.random((N_ROWS, N_LABELS)) < 0.08) * rng.integers(1, 4, (N_ROWS, N_LABELS))
    truth[3] = 0
    scores = np.round(rng.random((N_ROWS, N_LABELS)), 2)
    return truth.astype(np.float64), scores


def forms_of(sparse):
    """Return a sparse matrix in its forms."""
    forms = {
        "csr": sparse,
        "csr int64 indices": with_parts(sparse, wide),
        "csr read-only": with_parts(sparse, read_only),
        "csr_array": sp.csr_array(sparse),
        "csc": sparse.tocsc(),
        "coo": sparse.tocoo(),
    }
    if torch is None:
        return forms
    dense = torch.from_numpy(sparse.toarray())
    return forms | {"tensor": dense, "tensor sparse": dense.to_sparse(), "tensor csr": dense.to_sparse_csr()}


def layouts(name, array):
    """Return an array in layouts of memory, by a name for each."""
    return {
        name: array,
        f"{name} read-only": read_only(array),
        f"{name} Fortran": np.asfortranarray(array),
        f"{name} strided": np.repeat(array, 2, axis=1)[:, ::2],
    }


def truths(truth):
    ones = (truth > 0).astype(np.float64)
    sparse, rows = sp.csr_matrix(ones), [np.flatnonzero(row) for row in ones]
    forms = forms_of(sparse) | {
        "lil": sparse.tolil(),
        "grades": sp.csr_matrix(truth),
        "dense grades": truth,
        "lists": [row.tolist() for row in rows],
        "sets": [set(row.tolist()) for row in rows],
        "arrays": [row.astype(np.int32) for row in rows],
    }
    for dtype in ("float32", "float64", "int8", "int64", "bool"):
        forms |= layouts(f"dense {dtype}", ones.astype(dtype)) | {f"csr {dtype}": sparse.astype(dtype)}
    return forms


def all_scores(scores):
    top = np.argsort(-scores, axis=1, kind="stable")[:, :8]
    values = np.take_along_axis(scores, top, axis=1)
    sparse = sp.csr_matrix((values.ravel(), top.ravel(), np.arange(0, top.size + 1, 8)), shape=scores.shape)
    in_order = sparse.sorted_indices()
    forms = forms_of(in_order) | {
        "csr out of order": sparse,
        "coo float32": sparse.tocoo().astype(np.float32),
        "dok": sparse.todok(),
        "dense int64": (100 * scores).astype(np.int64),
        "ids": top,
        "lists of ids": [row.tolist() for row in top],
    }
    for dtype in ("float16", "float32", "float64"):
        pairs = zip(layouts(f"pair {dtype}", top).items(), layouts("", values.astype(dtype)).values(), strict=True)
        forms |= layouts(f"dense {dtype}", scores.astype(dtype)) | {name: (ids, of) for (name, ids), of in pairs}
    for dtype in ("float32", "int32", "int64"):
        forms[f"csr {dtype}"] = (100 * in_order).astype(dtype)
    for dtype in ("uint8", "int16", "int32", "uint32"):
        forms |= {f"pair {dtype}": (top.astype(dtype), values), f"ids {dtype}": top.astype(dtype)}
    if torch is None:
        return forms
    dense = torch.from_numpy(scores)
    of_types = {str(dtype): dense.to(dtype) for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16)}
    return forms | of_types | {"topk": tuple(dense.topk(8))}


def write_files(truth, scores):
    """Write arrays of several types; return the names of predictions."""
    sparse = all_scores(scores)["csr"]
    for name in ("t.npz", "more.npz"):
        sp.save_npz(name, sp.csr_matrix(truth > 0).astype(np.float64))
    matrices = {
        "p": sparse,
        "p32": sparse.astype(np.float32),
        "long": with_parts(sparse, wide),
        "csc": sparse.tocsc(),
        "coo": sparse.tocoo(),
    }
    for name, matrix in matrices.items():
        sp.save_npz(f"{name}.npz", matrix)
    names = [f"{name}.npz" for name in matrices]
    labels, values = all_scores(scores)["pair float64"]
    for dtype in ("f2", "f4", "f8"):
        np.save(f"{dtype}.npy", scores.astype(dtype))
        np.save(f"{dtype}T.npy", np.asfortranarray(scores.astype(dtype)))
        np.save(f"{dtype}-labels.npy", labels.astype("i8" if dtype == "f8" else "i4"))
        np.save(f"{dtype}-scores.npy", values.astype(dtype))
        names += [f"{dtype}.npy", f"{dtype}T.npy", f"{dtype}-labels.npy"]
    lines = [" ".join(f"{label}:{score:.9e}" for label, score in enumerate(row) if score > 0.7) for row in scores]
    Path("exponents.txt").write_text("\n".join(lines) + "\n")
    Path("twice.txt").write_text("1:0.5 1:0.7\n" * N_ROWS)
    return [*names, "exponents.txt"]


def public_calls():
    """Return a call of each kind."""
    truth, scores = make_data()
    forms = all_scores(scores)
    ones, sparse = (truth > 0).astype(np.float64), forms["csr"]
    files = write_files(truth, scores)
    rng = np.random.default_rng(1)
    weights, groups = rng.random(N_ROWS), np.arange(N_ROWS) % 3
    filtered = np.argwhere(scores > 0.97)
    y_true = sp.csr_matrix(ones)
    calls = []

    def add(function, *args, **options):
        calls.append(partial(function, *args, **options))

    for form, matrix in truths(truth).items():
        declared = {"grades": True} if "grades" in form else {}
        for metrics in (AT_CUTOFFS, WHOLE_ROWS):
            add(score, matrix, sparse, metrics=metrics, n_labels=N_LABELS, **declared)
        add(score, y_true, sparse, metrics="PSP", train=matrix, **declared)
        add(xmceval.ndcg_at_k, matrix, scores, k=3, **declared)
    for form, matrix in forms.items():
        for metrics in (AT_CUTOFFS, WHOLE_ROWS):
            chosen = "AP,RR" if "ids" in form and metrics == WHOLE_ROWS else metrics
            add(score, y_true, matrix, metrics=chosen, n_labels=N_LABELS)
        add(xmceval.precision_at_k, y_true, matrix, k=3)
        add(xmceval.psp_at_k, ones, matrix, k=3)
    for measure in xmceval.METRICS:
        add(score, y_true, sparse, metrics=[str(measure)], k=[1, 3])
        add(score, ones, np.round(scores), metrics=[str(measure)], k=[1, 3])
    for ties in ("label", "expected", "best", "worst"):
        for form in ("csr", "dense float32", "dense float64", "pair float32"):
            add(score, y_true, forms[form], metrics=AT_CUTOFFS, ties=ties)
    some = [
        {"metrics": AT_CUTOFFS, "k": [1, 70]},
        {"metrics": WHOLE_ROWS, "unscored": "zero"},
        {"metrics": AT_CUTOFFS + ",macroF1", "by_frequency": "head,torso,tail"},
        {"metrics": AT_CUTOFFS + ",macroF1", "by_group": groups},
        {"metrics": AT_CUTOFFS, "ceiling": True},
        {"threshold": 0.5},
        {"threshold": 0.5, "sample_weight": weights},
        {"threshold": 0.5, "by_group": groups, "empty_rows": "drop"},
        {"metrics": AT_CUTOFFS + ",macroF1@3", "by_frequency": 3, "sample_weight": weights},
        {"metrics": AT_CUTOFFS, "by_frequency": 3, "ceiling": True},
        {"metrics": f"{AT_CUTOFFS},{WHOLE_ROWS}", "sample_weight": weights},
        {"metrics": AT_CUTOFFS, "sample_weight": read_only(weights.astype(np.float32))},
        {"metrics": f"{AT_CUTOFFS},{WHOLE_ROWS}", "filter": filtered, "filter_truth": True},
        {"metrics": AT_CUTOFFS, "filter": read_only(filtered.astype(np.int32))},
        {"metrics": AT_CUTOFFS, "empty_rows": "drop"},
        {"metrics": f"{AT_CUTOFFS},{WHOLE_ROWS}", "threads": 2},
        {"metrics": AT_CUTOFFS, "rows": True, "save_rows": "rows.npz", "force": True},
        {"metrics": AT_CUTOFFS, "train": y_true, "save_state": "1.state", "force": True},
        {"metrics": "PSP", "counts": np.arange(1, N_LABELS + 1, dtype=np.int32), "n_train": 100},
        {"metrics": "PSP", "inverse_propensities": np.ones(N_LABELS), "ties": "best"},
        {"metrics": "PSP", "inverse_propensities": read_only(np.ones(N_LABELS, np.float32))},
    ]
    for options in some:
        for form in ("csr", "csr float32", "dense float32", "dense float64", "pair float32"):
            add(score, y_true, forms[form], **options)
    for file in files:
        for metrics in (AT_CUTOFFS, WHOLE_ROWS):
            add(score, "t.npz", file, metrics=metrics)
        add(xmceval.inspect, ["t.npz", file])
        add(xmceval.read, file, kind="scores")
        for ending in ("txt", "npy", "npz"):
            add(xmceval.convert, file, f"out.{ending}", kind="scores", top=3, force=True)
    many_true, many = (
        sp.csr_matrix((matrix.data, matrix.indices * 10**8, matrix.indptr), shape=(N_ROWS, 10**10))
        for matrix in (with_parts(y_true, wide), with_parts(sparse, wide))
    )
    for metrics in (AT_CUTOFFS, "macroF1@3", "AP", "f1_score,MCC"):
        for options in ({}, {"sample_weight": weights}, {"train": many_true}):
            add(score, many_true, many, metrics=metrics, **options)
    add(score, "t.npz", "twice.txt", metrics="P", duplicates="max")
    add(score, ["t.npz", "more.npz"], ["p.npz", "exponents.txt"], metrics=AT_CUTOFFS)
    systems = {"a": sparse, "b": forms["dense float32"], "c": forms["pair float32"]}
    for metrics in ("P,nDCG", "PSP", "macroF1", "microF1", "macroAUC", "AP,AUC"):
        add(compare, y_true, systems, metrics=metrics)
        add(compare, y_true, systems, metrics=metrics, test="randomization", resamples=200)
    add(compare, y_true, {"a": sparse, "b": sparse[::-1]}, metrics="macroF1@3,f1_score(average=macro)")
    add(compare, y_true, {"a": sparse, "b": scores}, metrics="P", save_rows="c.npz", force=True)
    add(xmceval.compare_rows, ["c.npz"])
    add(xmceval.merge, ["1.state"])
    for form in ("csr", "dense float32", "dense float64", "pair float32", "ids", "csr int64 indices"):
        add(update, y_true, forms[form])

    for metrics in (AT_CUTOFFS, "macroF1@3,AP", "f1_score,MCC"):
        for options in ({}, {"sample_weight": weights}, {"ties": "label"}):
            for pair in ((y_true, sparse), ("t.npz", "p.npz")):
                add(score, *pair, metrics=metrics, executor=ReadOnlyExecutor(), **options)
    for dtype in (np.float32, np.float64, np.float16):
        values = read_only(scores.astype(dtype))
        bits = ones if dtype == np.float64 else ones > 0
        stored = y_true.astype(bits.dtype), sparse.astype(np.float64)
        for drop_in, options in DROP_INS.items():
            function = getattr(xmceval, drop_in)
            add(function, bits, values, **options)
            add(function, bits, values, sample_weight=weights, **options)
            add(function, *stored, **options)
        for function in (xmceval.roc_curve, xmceval.precision_recall_curve, xmceval.roc_auc):
            add(function, bits[0], values[0])
        add(xmceval.group_aucs, bits[:, 0], values[:, 0], groups, sample_weight=weights)
        for kind in (np.int32, np.int64, str):
            add(xmceval.group_auc, bits[:, 0], values[:, 0], groups.astype(kind))
    for dtype in (np.int32, np.int64, np.float64):
        add(xmceval.inverse_propensity, np.arange(1, 9, dtype=dtype), 100)
    return calls


def guide_calls():
    """Return calls with the examples of the guide to inputs, and with files of other tools."""
    calls = []
    Path("labels").write_text(LABELS)

    def read_file(kind, code, labels, by_query):
        labels = labels and write("labels", labels)
        path = make(code)
        score_file(kind, path, by_query=by_query, labels=labels)
        if not by_query:
            xmceval.read(path, kind=kind, labels=labels)
            xmceval.inspect([path], kind=kind, labels=labels)

    def read_object(what, kind, code, call):
        y_true, y_score = (QRELS, RUN) if what == "by query" else (Y, S)
        CALLS[call](*((evaluate(code), y_score) if kind == "truth" else (y_true, evaluate(code))))

    calls += [partial(read_file, *row[1:]) for row in FILES]
    for row, call in itertools.product(PYTHON, CALLS):
        if call != "Evaluator" or row[0] not in NOT_IN_BATCHES:
            calls.append(partial(read_object, *row, call))
    lines = WRITTEN.read_text(encoding="utf-8").splitlines()
    calls += [partial(eval, line, {"read": read}) for line in lines if line.startswith("read(")]
    return calls


def name_of(call):
    """Return how a call is written, of arrays their types alone."""
    arguments = [*call.args, *(f"{name}={value!r}"[:60] for name, value in call.keywords.items())]
    types = [
        f"{type(part).__name__} of {part.dtype}" if hasattr(part, "dtype") else str(part)[:60] for part in arguments
    ]
    return f"{call.func.__name__}({', '.join(types)})"


class ReadOnlyExecutor(Executor):
    """Runs a task at once with arrays that cannot be written, as workers of Dask do: buffers are not in the pickle."""

    def submit(self, function, /, *arguments):
        buffers, future = [], Future()
        content = pickle.dumps((function, arguments), protocol=5, buffer_callback=buffers.append)
        function, arguments = pickle.loads(content, buffers=[bytes(buffer.raw()) for buffer in buffers])
        future.set_result(function(*arguments))
        return future


def update(y_true, y_score):
    evaluator = xmceval.Evaluator(metrics=AT_CUTOFFS, n_labels=N_LABELS, train=y_true)
    is_pair = isinstance(y_score, tuple)
    for rows in (slice(0, 32), slice(32, N_ROWS)):
        evaluator.update(y_true[rows], tuple(part[rows] for part in y_score) if is_pair else y_score[rows])
    evaluator.result()


def all_kernels():
    """Return the kernels of the package by name."""
    found = {}
    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Kernel):
                found[f"{value.__module__}.{value.__name__}".removeprefix("xmceval.kernels.")] = value
    return found


def main():
    """Make all calls; print the kernels that none of them reaches, and errors."""
    every, errors = all_kernels(), {}
    for call in public_calls() + guide_calls():
        try:
            call()
        except pytest.skip.Exception:  # of a library that is not installed
            continue
        except Exception as error:
            errors[name_of(call)] = repr(error)
    unused = [name for name, kernel in every.items() if kernel.run is None]
    print(json.dumps({"unused": unused, "errors": errors, "numba": "numba" in sys.modules}))


@pytest.mark.skipif(is_disabled(), reason="nothing is compiled")
def test_each_kernel_gets_the_types_that_it_declares():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    command, environ = [sys.executable, __file__], {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["errors"] == {}
    assert set(result["unused"]) <= RARE, "no call here reaches these kernels"
    assert not result["numba"], "all kernels were compiled before"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
