"""Benchmark: systems on several data sets, of which only what changed is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from xmceval.api.benchmark.plan import Plan
from xmceval.api.benchmark.running import Runner
from xmceval.errors import warn
from xmceval.report.benchmark import FAILED, Benchmark, DatasetOutcome
from xmceval.rows.threads import Progress


def run_plan(plan: Plan, runner: Runner, report: Callable[[DatasetOutcome], None] | None = None) -> Benchmark:
    """Run a plan data set by data set; `report` is called with each as it is done."""
    outcomes = []
    for planned in plan.datasets:
        outcomes.append(runner.run(planned))
        if report is not None:
            report(outcomes[-1])
    of_cells = (line for planned in plan.datasets for cell in planned.cells for line in cell.warnings)
    return Benchmark(
        tuple(outcomes),
        plan.systems,
        plan.measures,
        plan.testing,
        "" if plan.file is None else str(plan.file),
        tuple(dict.fromkeys([*plan.warnings, *of_cells])),
    )


def list_failures(outcomes: Benchmark) -> Iterator[str]:
    """Yield why cells have failed: once for all cells of a data set that failed for one reason."""
    for dataset in outcomes.datasets:
        systems: dict[str, list[str]] = {}
        for cell in dataset.cells:
            if cell.status == FAILED:
                systems.setdefault(cell.why, []).append(cell.system)
        for why, names in systems.items():
            place = dataset.name if len(names) > 1 else f"{dataset.name}, {names[0]}"
            yield from (f"{place}: {line}" for line in why.splitlines())
