"""A model of time and memory, fitted to measurements: `python -m bench.model FILE` fits those of a JSON file.

Processor time and peak memory of `xmceval score` (P, nDCG, PSP, PSnDCG @1,3,5 of text files with training labels) and
of `xmceval merge` (P@5 and macroF1@5) are sums of terms, each a product of sizes with a factor that is not negative.
The factors are fitted to the cases of a model, relative to what was measured, and checked on others.

`python -m bench.model FOLDER N LABELS COUNTED` writes the states of a case of `merge`.
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


Terms = dict[str, Callable[[Any], float]]


class Model(NamedTuple):
    """What is measured of a command: sizes to fit to, sizes to check on, and the terms of its time and memory."""

    cases: tuple[Any, ...]
    checks: tuple[Any, ...]
    time: Terms
    memory: Terms


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
        "a run": lambda _: 1,
        "a further system": lambda case: case.systems - 1,
        "a further file": lambda case: case.files * (case.systems + 1) - (case.systems + 1),
        "10^6 rows of a system": lambda case: case.rows * case.systems / UNIT,
        "10^6 predictions": lambda case: case.rows * case.systems * case.predictions / UNIT,
        "10^6 true labels, of test and training rows": lambda case: case.rows * case.true * (1 + 1 / case.files) / UNIT,
        "10^6 labels": lambda case: case.labels / UNIT,
    },
    {
        "a run": lambda _: 1,
        "a further system": lambda case: case.systems - 1,
        "10^6 labels": lambda case: case.labels / UNIT,
        "10^6 labels, by a further system": lambda case: case.labels * (case.systems - 1) / UNIT,
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
        "a run": lambda _: 1,
        "a state": lambda case: case.states,
        "10^6 labels counted in a state": lambda case: case.states * case.counted / UNIT,
    },
    {
        "a run": lambda _: 1,
        "a state": lambda case: case.states,
        "10^6 labels counted": lambda case: min(case.states * case.counted, case.labels) / UNIT,
    },
)
MODELS = {"score": SCORE, "merge": MERGE}


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


def write_states(folder: Path, n: int, n_labels: int, n_counted: int) -> None:
    """Write states of rows with 10 true labels each, which each have counted so many labels, unless they are there."""
    import numpy as np
    from scipy.sparse import csr_matrix

    from xmceval import Evaluator

    folder.mkdir(parents=True, exist_ok=True)
    indptr = np.arange(0, n_counted + 1, 10)
    for number in range(n):
        path = folder / f"{number}.state"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        labels, shape = rng.permutation(n_labels)[:n_counted], (n_counted // 10, n_labels)
        evaluator = Evaluator(metrics=["P", "macroF1"], k=5, n_labels=n_labels)
        evaluator.update(
            csr_matrix((np.ones(n_counted), labels, indptr), shape),
            csr_matrix((rng.random(n_counted), rng.permutation(labels), indptr), shape),
        )
        evaluator.save(path)


def main() -> None:
    """Fit measurements: `{command: [[sizes, seconds, MB], ...]}` becomes factors and predictions, printed as JSON."""
    if len(sys.argv) > 2:
        write_states(Path(sys.argv[1]), *map(int, sys.argv[2:]))
        return
    found: dict[str, Any] = {}
    for command, rows in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")).items():
        model = MODELS[command]
        measured = [(type(model.cases[0])(*case), *used) for case, *used in rows]
        fitted = [each for each in measured if each[0] in model.cases]
        for place, (kind, terms) in enumerate({"cpu": model.time, "peak": model.memory}.items(), 1):
            factors = fit(terms, [each[0] for each in fitted], [each[place] for each in fitted])
            predicted = [
                {
                    "case": each[0]._asdict(),
                    "is_check": each[0] in model.checks,
                    "measured": each[place],
                    "predicted": predict(terms, factors, each[0]),
                }
                for each in measured
            ]
            found.setdefault(command, {})[kind] = {"factors": factors, "cases": predicted}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
