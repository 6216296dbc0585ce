"""Runs and qrels of the ranking field, and what pytrec_eval makes of them: `python -m bench.ranking FOLDER QUERIES`.

This makes qrels and two runs of 500 documents per query, unless they are there, and prints their paths as JSON. With
the interpreter of the tools, `python -m bench.ranking pytrec_eval QRELS RUN [RUN]` prints the means of five metrics,
and the p-values of paired t-tests of two runs.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

DEPTH, JUDGED, DOCUMENTS = 500, 50, 1_000_000
METRICS = {"map": "AP@1000", "ndcg": "nDCG@1000", "recip_rank": "RR@1000", "P_10": "P@10", "recall_100": "R@100"}


def make(folder: Path, n_queries: int) -> list[str]:
    """Write qrels and two runs, in which half of the judged documents are."""
    import numpy as np

    paths = [folder / f"trec-{n_queries}.{suffix}" for suffix in ("qrels", "a.run", "b.run")]
    if not all(path.exists() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(0)
        qrels, *runs = (path.open("w", encoding="utf-8") for path in paths)
        for query in rng.permutation(1_000_000)[:n_queries].tolist():
            documents = rng.choice(DOCUMENTS, DEPTH + JUDGED // 2, replace=False)
            judged = documents[-JUDGED:].tolist()
            grades = rng.integers(0, 3, JUDGED).tolist()
            lines = zip(judged, grades, strict=True)
            qrels.writelines(f"{query} 0 D{document:07d} {grade}\n" for document, grade in lines)
            for run in runs:
                ranked = rng.permutation(documents[:DEPTH]).tolist()
                scores = np.sort(rng.random(DEPTH) * 20)[::-1].tolist()
                lines = zip(ranked, scores, strict=True)
                run.writelines(
                    f"{query} Q0 D{document:07d} {rank} {score:.6f} made\n"
                    for rank, (document, score) in enumerate(lines, 1)
                )
        for stream in (qrels, *runs):
            stream.close()
    return [str(path) for path in paths]


def pytrec_eval(qrels: str, *runs: str) -> dict[str, Any]:
    """Read the files with pytrec_eval's own readers and evaluate them."""
    import pytrec_eval as peer

    with open(qrels, encoding="utf-8") as stream:
        evaluator = peer.RelevanceEvaluator(peer.parse_qrel(stream), set(METRICS))
    rows = []
    for path in runs:
        with open(path, encoding="utf-8") as stream:
            rows.append(evaluator.evaluate(peer.parse_run(stream)))
    found: dict[str, Any] = {"values": [{name: mean(name, of_run) for name in METRICS} for of_run in rows]}
    if len(runs) == 2:
        from scipy.stats import ttest_rel

        pairs = {name: [(row[name], rows[1][query][name]) for query, row in rows[0].items()] for name in METRICS}
        found["p"] = {name: ttest_rel(*zip(*of_metric, strict=True)).pvalue for name, of_metric in pairs.items()}
    return found


def mean(name: str, rows: dict[str, dict[str, float]]) -> float:
    """Return the mean of a metric over queries."""
    return sum(row[name] for row in rows.values()) / len(rows)


def arguments_of(qrels: str, *runs: str) -> tuple[str, ...]:
    """Return the arguments of xmceval for the same work."""
    command = ("score",) if len(runs) == 1 else ("compare", "--test", "t")
    return (*command, qrels, *runs, "-m", ",".join(METRICS.values()), "-q", "-o", "json")


def main() -> None:
    """Do what the arguments say."""
    if len(sys.argv) == 1:
        print(json.dumps(importlib.util.find_spec("pytrec_eval") is not None))
    elif sys.argv[1] == "pytrec_eval":
        print(json.dumps(pytrec_eval(*sys.argv[2:])))
    else:
        print(json.dumps(make(Path(sys.argv[1]), int(sys.argv[2]))))


if __name__ == "__main__":
    main()
