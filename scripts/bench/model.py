"""A model of time and memory, fitted to measurements: `python -m bench.model FILE` fits those of a JSON file.

Processor time and peak memory of `xmceval score` (P, nDCG, PSP, PSnDCG @1,3,5 of text files with training labels) are
sums of terms, each a product of sizes with a factor that is not negative. The factors are fitted to CASES, relative to
what was measured, and checked on CHECKS, to which they were not fitted.
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


SMALL, LARGE = 10_000, 1_000_000  # labels
CASES = (
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
)
CHECKS = (Case(150_000, 600_000, 8, 60, systems=3, files=10), Case(600_000, 2 * LARGE, 20, 80))

Terms = dict[str, Callable[[Case], float]]
TIME: Terms = {
    "a run": lambda _: 1,
    "a further system": lambda case: case.systems - 1,
    "a further file": lambda case: case.files * (case.systems + 1) - (case.systems + 1),
    "10^6 rows of a system": lambda case: case.rows * case.systems / UNIT,
    "10^6 predictions": lambda case: case.rows * case.systems * case.predictions / UNIT,
    "10^6 true labels, of test and training rows": lambda case: case.rows * case.true * (1 + 1 / case.files) / UNIT,
    "10^6 labels": lambda case: case.labels / UNIT,
}
MEMORY: Terms = {
    "a run": lambda _: 1,
    "a further system": lambda case: case.systems - 1,
    "10^6 labels": lambda case: case.labels / UNIT,
    "10^6 labels, by a further system": lambda case: case.labels * (case.systems - 1) / UNIT,
}


def fit(terms: Terms, cases: list[Case], values: list[float]) -> dict[str, float]:
    """Return the factors of terms: non-negative least squares of relative errors."""
    import numpy as np
    from scipy.optimize import nnls

    measured = np.array(values)
    sizes = np.array([[term(case) for term in terms.values()] for case in cases])
    factors, _ = nnls(sizes / measured[:, None], np.ones(len(cases)))
    return dict(zip(terms, factors.tolist(), strict=True))


def predict(terms: Terms, factors: dict[str, float], case: Case) -> float:
    """Return what the model says of a case."""
    return sum(factors[name] * term(case) for name, term in terms.items())


def main() -> None:
    """Fit the measurements in a file, a list of [case, seconds, MB], and print factors and predictions as JSON."""
    measured = [(Case(*case), *used) for case, *used in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))]
    found: dict[str, Any] = {}
    for place, (kind, terms) in enumerate({"cpu": TIME, "peak": MEMORY}.items(), 1):
        fitted = [each for each in measured if each[0] in CASES]
        factors = fit(terms, [each[0] for each in fitted], [each[place] for each in fitted])
        predicted = [
            {"case": each[0], "measured": each[place], "predicted": predict(terms, factors, each[0])}
            for each in measured
        ]
        found[kind] = {"factors": factors, "cases": predicted}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
