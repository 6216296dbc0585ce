"""What others do too, in a process of its own: `python -m bench.works WORK CONTESTANT` prints seconds and MB of a call.

`python -m bench.works TOOL TRUTH PREDS TRAIN` reads text files as the tool's own functions or documentation do, and
prints all that it can of P, nDCG, PSP and PSnDCG @1,3,5. With fewer arguments, what this interpreter has.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from bench.measure import CUTS, MADE, WHOLE, versions_of
from scipy import sparse as sp

with suppress(ImportError):  # an interpreter of other tools lacks it
    import xmceval

Array = np.ndarray[Any, Any]
Calls = Iterator[tuple[str, Callable[[], Any]]]
Values = dict[str, list[float]]

PACKAGES = ("numpy", "torch", "scikit-learn", "napkinxc", "libpecos", "xclib", "pytrec_eval-terrier", "duckdb", "scipy")
SHORTEST = 0.1  # seconds that are timed at least, after as many; shorter calls are repeated
METRICS = {"map": "AP@1000", "ndcg": "nDCG@1000", "recip_rank": "RR@1000", "P_10": "P@10", "recall_100": "R@100"}
A, B = 0.55, 1.5


def has(package: str) -> bool:
    """Whether this interpreter has a package."""
    return importlib.util.find_spec(package) is not None


def make_batch(n_rows: int, n_labels: int, kind: str = "float32") -> tuple[sp.csr_matrix, Array, Array]:
    """Make truth with five labels per row, logits, and the truth as a dense array of a type."""
    rng = np.random.default_rng(0)
    labels = np.sort([rng.choice(n_labels, 5, replace=False) for _ in range(n_rows)])
    ones, indptr = np.ones(labels.size, np.float32), np.arange(n_rows + 1) * 5
    truth = sp.csr_matrix((ones, labels.ravel(), indptr), shape=(n_rows, n_labels))
    return truth, rng.standard_normal((n_rows, n_labels), dtype=np.float32), truth.toarray().astype(kind)


def few_rows() -> Calls:
    """P@5 of 10 rows of 159 labels, one call each."""
    truth, scores, _ = make_batch(10, 159)
    predicted = sp.csr_matrix(np.where(scores > 0, scores, 0))
    if has("xmceval"):
        xmceval.precision_at_k(truth, predicted, k=5)  # what is loaded once does not count
        yield "xmceval.precision_at_k", lambda: xmceval.precision_at_k(truth, predicted, k=5)
        yield "xmceval.score", lambda: xmceval.score(truth, predicted, metrics="P", k=5)["P@5"]
    if has("pecos"):
        from pecos.utils.smat_util import Metrics

        yield "PECOS", lambda: Metrics.generate(truth, predicted, topk=5).prec[4]


def by_torch(dense: Array, scores: Array) -> Calls:
    """Compute P@5 as people write it in a loop."""
    if has("torch"):
        import torch

        truth, logits = torch.from_numpy(dense), torch.from_numpy(scores)
        best = partial(logits.topk, 5)
        yield "torch.topk by hand", lambda: float(truth.gather(1, best().indices).sum(1, dtype=logits.dtype).mean() / 5)


def updates(n_rows: int, n_labels: int) -> Calls:
    """P@5 of batches that come one by one; each call is one batch."""
    truth, scores, dense = make_batch(n_rows, n_labels)
    if has("xmceval"):
        for name, y_true in (("xmceval.Evaluator", dense), ("xmceval.Evaluator, sparse truth", truth)):
            evaluator = xmceval.Evaluator(metrics="P", k=5)
            evaluator.update(y_true, scores)  # what is loaded once does not count
            yield name, partial(evaluator.update, y_true, scores)
    yield from by_torch(dense, scores)


def dense_truth(kind: str) -> Calls:
    """P@5 of 256 rows of 100,000 logits, with a truth that has every cell."""
    sparse, scores, truth = make_batch(256, 100_000, kind)
    if has("xmceval"):
        xmceval.score(truth[:1], scores[:1], metrics="P", k=5)  # what is loaded once does not count
        yield "xmceval.precision_at_k", lambda: xmceval.precision_at_k(truth, scores, k=5)
        yield "xmceval.score", lambda: xmceval.score(truth, scores, metrics="P", k=5)["P@5"]
        yield "xmceval.score, sparse truth", lambda: xmceval.score(sparse, scores, metrics="P", k=5)["P@5"]
    yield from by_torch(truth, scores)


def drop_ins(name: str, **options: Any) -> Calls:
    """Return a function of scikit-learn on dense 2,000 x 2,000, with five true labels per row."""
    _, scores, truth = make_batch(2000, 2000, "int64")
    for title, package in ((f"xmceval.{name}", "xmceval"), ("scikit-learn", "sklearn.metrics")):
        if has(package.partition(".")[0]):
            function = getattr(importlib.import_module(package), name)
            function(truth[:3], scores[:3], **options)  # what is loaded once does not count
            yield title, partial(function, truth, scores, **options)


def ranking(n_queries: int) -> Calls:
    """Five metrics of a TREC run with 500 documents per query, half of the judged ones among them."""
    paths = [str(MADE / f"trec-{n_queries}.{suffix}") for suffix in ("qrels", "run")]
    if has("xmceval"):
        make_run(n_queries, *paths)
        yield "xmceval.score", lambda: xmceval.score(*paths, metrics=list(METRICS.values()))["P@10"]
    if has("pytrec_eval"):
        import pytrec_eval

        def call() -> float:
            with open(paths[0]) as qrels, open(paths[1]) as run:
                evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), set(METRICS))
                values = evaluator.evaluate(pytrec_eval.parse_run(run)).values()
            return float(np.mean([row["P_10"] for row in values]))

        yield "pytrec_eval", call


def make_run(n_queries: int, qrels: str, run: str) -> None:
    """Write a run and its qrels, unless they are there."""
    with suppress(FileExistsError), open(qrels, "x") as judged, open(run, "w") as ranked:
        rng = np.random.default_rng(0)
        for query in rng.permutation(1_000_000)[:n_queries].tolist():
            documents, scores = rng.choice(1_000_000, 525, replace=False), np.sort(rng.random(500) * 20)[::-1]
            grades = zip(documents[-50:].tolist(), rng.integers(0, 3, 50).tolist(), strict=True)
            judged.writelines(f"{query} 0 D{document:07d} {grade}\n" for document, grade in grades)
            lines = enumerate(zip(documents[:500].tolist(), scores.tolist(), strict=True), 1)
            ranked.writelines(f"{query} Q0 D{each:07d} {rank} {score:.6f} made\n" for rank, (each, score) in lines)


def tables(n_rows: int) -> Calls:
    """P@1 and P@5 of Parquet of row, label and score, 100 predictions per row, in the order of rows; one thread."""
    paths = [str(MADE / f"table-{n_rows}.{kind}.parquet") for kind in ("truth", "preds")]
    if has("xmceval"):
        make_tables(n_rows, *paths)
        yield "xmceval.score", lambda: xmceval.score(*paths, metrics="P", k=[1, 5], n_labels=131_073, threads=1)["P@5"]
    if has("duckdb"):
        import duckdb

        yield "DuckDB", lambda: duckdb.sql(f"set threads = 1; {BY_SQL.format(*paths, n_rows)}").fetchall()[0][1]


BY_SQL = """
with ranked as (select *, row_number() over (partition by row order by score desc, label) as rank from '{1}'),
hits as (select rank from ranked join '{0}' using (row, label) where rank <= 5)
select count(*) filter (rank = 1) / {2}, count(*) / {2} / 5 from hits"""


def make_tables(n_rows: int, truth: str, preds: str) -> None:
    """Write a truth and predictions as Parquet, unless they are there."""
    if not has("pyarrow"):
        return
    from bench.data import Shape, draw_scores, draw_truth
    from pyarrow import parquet, table

    shape = Shape(n_rows, 131_073, 2.29, n_rows, 2.29)
    for path, draw in ((truth, partial(draw_truth, shape, "truth")), (preds, partial(draw_scores, shape))):
        with suppress(FileExistsError), open(path, "xb") as file:
            writer = None
            for chunk, first in enumerate(range(0, n_rows, 16_000)):
                n = min(16_000, n_rows - first)
                lengths, labels, values = draw(chunk, n)
                rows = np.repeat(np.arange(first, first + n, dtype=np.int32), lengths)
                part = table({"row": rows, "label": labels, "score": values.astype(np.float32)})
                writer = writer or parquet.ParquetWriter(file, part.schema)
                writer.write_table(part)
            if writer is not None:
                writer.close()


WORKS: Mapping[str, Callable[[], Calls]] = {
    "P@5, CSR, 10 × 159": few_rows,
    "P@5 of a batch, 32 × 100": partial(updates, 32, 100),
    "P@5 of a batch, 64 × 4,000": partial(updates, 64, 4_000),
    "P@5, dense int64 truth and logits, 256 × 100,000": partial(dense_truth, "int64"),
    "P@5, dense float32 truth and logits, 256 × 100,000": partial(dense_truth, "float32"),
    "LRAP, dense, 2,000 × 2,000": partial(drop_ins, "label_ranking_average_precision_score"),
    "ranking loss, dense, 2,000 × 2,000": partial(drop_ins, "label_ranking_loss"),
    "coverage error, dense, 2,000 × 2,000": partial(drop_ins, "coverage_error"),
    "nDCG, dense, 2,000 × 2,000": partial(drop_ins, "ndcg_score"),
    "AUC, micro, dense, 2,000 × 2,000": partial(drop_ins, "roc_auc_score", average="micro"),
    f"{WHOLE}, TREC run of 2,000 queries × 500": partial(ranking, 2_000),
    f"{WHOLE}, TREC run of 20,000 queries × 500": partial(ranking, 20_000),
    f"{WHOLE}, Parquet of 64,000 × 100": partial(tables, 64_000),
    f"{WHOLE}, Parquet of 640,000 × 100": partial(tables, 640_000),
}


def at_cutoffs(**metrics: Any) -> Values:
    """Return values at the cutoffs from those at 1 to 5."""
    return {name: [float(values[k - 1]) for k in CUTS] for name, values in metrics.items()}


def count_labels(path: str) -> int:
    """Return the number of labels that the header of a file declares."""
    with open(path) as f:
        return int(f.readline().split()[1])


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

    def load(path: str) -> sp.csr_matrix:
        x = load_libsvm_file(path)[0]
        return sp.csr_matrix((x.data, x.indices, x.indptr), shape=(x.shape[0], count_labels(truth)))

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
    from sklearn.datasets import load_svmlight_file

    n_labels = count_labels(path)
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


TOOLS: Mapping[str, tuple[str, Callable[[str, str, str], Values]]] = {  # their packages, and what they compute of files
    "pyxclib": ("xclib", pyxclib),
    "napkinXC": ("napkinxc", napkinxc),
    "PECOS": ("libpecos", pecos),
    "scikit-learn": ("scikit-learn", sklearn),
}


def timed(call: Callable[[], Any]) -> dict[str, float]:
    """Return the seconds of a call after others, and the memory that all of them took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call()
    start = time.process_time()
    call()
    repeated = max(1, min(1000, int(SHORTEST / max(time.process_time() - start, 1e-6))))
    for _ in range(repeated if repeated > 1 else 0):  # what libraries start in their first moments is over then
        call()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(repeated):
        call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    beyond = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {"wall": wall / repeated, "cpu": cpu / repeated, "peak": beyond / 1e3}


def main() -> None:
    """Run what the arguments name, or list what can be run."""
    warnings.simplefilter("ignore")
    MADE.mkdir(exist_ok=True)
    if len(sys.argv) == 1:
        versions = versions_of(PACKAGES)
        able = {name: versions[package] for name, (package, _) in TOOLS.items() if package in versions}
        print(json.dumps({"works": list(WORKS), "tools": able, "versions": versions}))
    elif len(sys.argv) == 2:
        print(json.dumps([name for name, _ in WORKS[sys.argv[1]]()]))
    elif sys.argv[1] in TOOLS:
        print(json.dumps(TOOLS[sys.argv[1]][1](*sys.argv[2:])))
    else:
        work, contestant = sys.argv[1:]
        call = dict(WORKS[work]())[contestant]
        print(json.dumps(float(call()) if work.startswith(WHOLE) else timed(call)))


if __name__ == "__main__":
    main()
