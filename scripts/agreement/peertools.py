"""The peers: their packages and cells; and what a process of theirs does."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from agreement import dense, matrices, runs
from agreement.cell import Cell, Differs, Example
from agreement.inputs import Case, load_cases, stack
from scipy.sparse import csr_matrix

Values = float | str | list[float | str]

PEERS: dict[str, tuple[str, Callable[[], Iterator[Cell]]]] = {
    "napkinXC": ("napkinxc", matrices.napkinxc),
    "PECOS": ("libpecos", matrices.pecos),
    "xCOLUMNs": ("xcolumns", matrices.xcolumns),
    "scikit-learn": ("scikit-learn", dense.sklearn),
    "torchmetrics": ("torchmetrics", dense.torchmetrics),
    "pytrec_eval": ("pytrec_eval-terrier", runs.pytrec_eval),
    "ranx": ("ranx", runs.ranx),
    "ir_measures": ("ir_measures", runs.ir_measures),
}


def case_of(example: Example) -> Case:
    """Return an example as a case; its labels are those of the training instances too."""
    n_labels = len(example.truth[0])
    rows = [{i: value for i, value in enumerate(row) if value or example.stores_zeros} for row in example.truth]
    scores = [{i: value for i, value in enumerate(row) if value is not None} for row in example.scores]
    train = csr_matrix(np.ones((3, n_labels), dtype=int))
    return Case("example", stack(rows, n_labels, np.int64), stack(scores, n_labels, np.float64), train)


def examples_of(cell: Cell) -> Iterator[tuple[str, Example]]:
    """Yield the kinds of input on which a cell differs by an example, with it."""
    for kind, expected in cell.but.items():
        if isinstance(expected, Differs) and expected.example is not None:
            yield kind, expected.example


def compute(cell: Cell, case: Case) -> Values:
    """Return their values of a case; an error is a value, as are nan and infinity."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cell.call(case)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:100] if str(error) else ''}"
    numbers = [float(value) for value in (found if "{k}" in cell.ours else [found])]
    values = [number if math.isfinite(number) else str(number) for number in numbers]
    return values if "{k}" in cell.ours else values[0]


def main(peer: str, folder: str) -> None:
    """Print the version of a peer, and its values of all cases and examples, as JSON."""
    package, cells_of = PEERS[peer]
    found: dict[str, Any] = {"version": version(package), "values": [], "examples": []}
    cases = load_cases(Path(folder))
    for cell in cells_of():
        found["values"].append([compute(cell, case) for case in filter(cell.takes, cases)])
        found["examples"].append({kind: compute(cell, case_of(example)) for kind, example in examples_of(cell)})
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
