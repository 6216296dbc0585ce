"""A model of time and memory, fitted to measurements: `python -m bench.model FILE` fits those of a JSON file.

Processor time and peak memory of `xmceval score` (P, nDCG, PSP, PSnDCG @1,3,5 of text files with training labels), of
`xmceval merge` and of workers of Dask (both P@5 and macroF1@5) are sums of terms, each a product of sizes with a factor
that is not negative. The factors are fitted to the cases of a model, relative to what was measured, and checked on
others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

UNIT = 1e6


class Case(NamedTuple):
    """Sizes of a run: rows and labels, true labels and predictions per row, systems, and files of each system."""

    rows: int
    labels: int
    true: int
    predictions: int
    systems: int = 1
    files: int = 1

    @property
    def name(self) -> str:
        """The folder of its data, which systems and files share."""
        return f"model-{self.rows // self.files}-{self.labels}-{self.true}-{self.predictions}"


class Merge(NamedTuple):
    """Sizes of a merge: states, labels that there are, and labels that each state has counted."""

    states: int
    labels: int
    counted: int

    @property
    def name(self) -> str:
        """The folder of its states."""
        return f"states-{self.states}-{self.labels}-{self.counted}"


class Cluster(NamedTuple):
    """Sizes of a run on a local cluster: of the files as in `Case`, parts of all files, and workers of one thread."""

    rows: int
    labels: int
    predictions: int
    files: int
    parts: int
    workers: int

    @property
    def files_case(self) -> Case:
        """The files that are scored."""
        return Case(self.rows, self.labels, 3, self.predictions, files=self.files)


Terms = dict[str, Callable[[Any], float]]


class Model(NamedTuple):
    """What is measured: sizes to fit to, sizes to check on, and the terms of each figure: cpu in s, peak in MB."""

    cases: tuple[Any, ...]
    checks: tuple[Any, ...]
    figures: dict[str, Terms]


SMALL, LARGE = 10_000, 1_000_000  # labels
SCORE = Model(
    (
        Case(1_000, SMALL, 3, 10),
        Case(1_000_000, SMALL, 3, 10),
        Case(200_000, SMALL, 3, 100),
        Case(400_000, SMALL, 3, 100),
        Case(200_000, SMALL, 40, 50),
        Case(100_000, LARGE, 10, 50),
        Case(100_000, 10 * LARGE, 10, 50, systems=2),
        Case(200_000, SMALL, 3, 50, systems=6),
        Case(100_000, SMALL, 3, 50, files=100),
        Case(100_000, SMALL, 3, 10, files=400),
    ),
    (Case(150_000, 600_000, 8, 60, systems=3, files=10), Case(600_000, 2 * LARGE, 20, 80)),
    {
        "cpu": {
            "a run": lambda _: 1,
            "a further system": lambda case: case.systems - 1,
            "a further file": lambda case: case.files * (case.systems + 1) - (case.systems + 1),
            "10^6 rows of a system": lambda case: case.rows * case.systems / UNIT,
            "10^6 predictions": lambda case: case.rows * case.systems * case.predictions / UNIT,
            "10^6 true labels, of test and training rows": lambda case: (
                case.rows * case.true * (1 + 1 / case.files) / UNIT
            ),
            "10^6 labels": lambda case: case.labels / UNIT,
        },
        "peak": {
            "a run": lambda _: 1,
            "a further system": lambda case: case.systems - 1,
            "10^6 labels": lambda case: case.labels / UNIT,
            "10^6 labels, by a further system": lambda case: case.labels * (case.systems - 1) / UNIT,
        },
    },
)
MERGE = Model(
    (
        Merge(2, SMALL, 1_000),
        Merge(400, SMALL, 1_000),
        Merge(100, LARGE, 1_000),
        Merge(20, LARGE, 200_000),
        Merge(8, LARGE, LARGE),
        Merge(4, 4 * LARGE, 4 * LARGE),
    ),
    (Merge(50, 500_000, 50_000), Merge(12, 2 * LARGE, 600_000)),
    {
        "cpu": {
            "a run": lambda _: 1,
            "a state": lambda case: case.states,
            "10^6 labels counted in a state": lambda case: case.states * case.counted / UNIT,
        },
        "peak": {
            "a run": lambda _: 1,
            "a state": lambda case: case.states,
            "10^6 labels counted": lambda case: min(case.states * case.counted, case.labels) / UNIT,
        },
    },
)
DASK = Model(
    (
        Cluster(1_000, SMALL, 10, files=1, parts=1, workers=1),
        Cluster(1_000, SMALL, 10, files=1, parts=1, workers=2),
        Cluster(10_000, SMALL, 10, files=100, parts=100, workers=1),
        Cluster(10_000, SMALL, 10, files=100, parts=100, workers=2),
        Cluster(40_000, SMALL, 10, files=400, parts=400, workers=2),
        Cluster(500_000, SMALL, 10, files=1, parts=4, workers=1),
        Cluster(100_000, SMALL, 100, files=1, parts=4, workers=2),
        Cluster(100_000, SMALL, 100, files=1, parts=15, workers=1),
        Cluster(4_000, LARGE, 10, files=40, parts=40, workers=2),
        Cluster(1_000, 4 * LARGE, 10, files=10, parts=10, workers=1),
    ),
    (
        Cluster(60_000, 300_000, 50, files=60, parts=60, workers=2),
        Cluster(400_000, SMALL, 50, files=1, parts=30, workers=2),
        Cluster(200_000, 2 * LARGE, 60, files=1, parts=20, workers=1),
    ),
    {
        "client cpu": {
            "a run": lambda _: 1,
            "a worker": lambda case: case.workers,
            "a pair of files": lambda case: case.files,
            "a part": lambda case: case.parts,
            "10^6 labels": lambda case: case.labels / UNIT,
        },
        "workers cpu": {
            "a worker": lambda case: case.workers,
            "a pair of files": lambda case: case.files,
            "a part": lambda case: case.parts,
            "10^6 rows": lambda case: case.rows / UNIT,
            "10^6 predictions": lambda case: case.rows * case.predictions / UNIT,
            "10^6 labels of a part": lambda case: case.parts * case.labels / UNIT,
        },
        "client peak": {
            "a run": lambda _: 1,
            "a part": lambda case: case.parts,
            "10^6 labels": lambda case: case.labels / UNIT,
        },
        "worker peak": {
            "a run": lambda _: 1,
            "a part": lambda case: case.parts,
            "10^6 labels": lambda case: case.labels / UNIT,
        },
    },
)
MODELS = {"score": SCORE, "merge": MERGE, "dask": DASK}


def fit(terms: Terms, cases: list[Any], values: list[float]) -> dict[str, float]:
    """Return the factors of terms: non-negative least squares of relative errors."""
    import numpy as np
    from scipy.optimize import nnls

    measured = np.array(values)
    sizes = np.array([[term(case) for term in terms.values()] for case in cases])
    factors, _ = nnls(sizes / measured[:, None], np.ones(len(cases)))
    return dict(zip(terms, factors.tolist(), strict=True))


def predict(terms: Terms, factors: dict[str, float], case: Any) -> float:
    """Return what the model says of a case."""
    return sum(factors[name] * term(case) for name, term in terms.items())


def fit_model(model: Model, measured: list[tuple[Any, dict[str, float]]]) -> dict[str, Any]:
    """Return for each figure the factors of its terms, and what they predict of each case that was measured."""
    found: dict[str, Any] = {}
    for figure, terms in model.figures.items():
        fitted = [(case, values[figure]) for case, values in measured if case in model.cases]
        factors = fit(terms, [case for case, _ in fitted], [value for _, value in fitted])
        predicted = [
            {
                "case": case._asdict(),
                "is_check": case in model.checks,
                "measured": values[figure],
                "predicted": predict(terms, factors, case),
            }
            for case, values in measured
        ]
        found[figure] = {"factors": factors, "cases": predicted}
    return found


def main() -> None:
    """Fit measurements: `{model: [[sizes, {figure: value}], ...]}` becomes factors and predictions, printed as JSON."""
    found = {}
    for name, rows in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        of_sizes = type(MODELS[name].cases[0])
        found[name] = fit_model(MODELS[name], [(of_sizes(*sizes), values) for sizes, values in rows])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
