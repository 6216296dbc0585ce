"""Benchmark: systems on several data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.api.benchmark.plan import BenchmarkPlan, PlannedCell, PlannedDataset
from xmceval.api.benchmark.planning.published import keep_comparable
from xmceval.api.benchmark.scorecells import CellScorer
from xmceval.errors import naming_flags, warn
from xmceval.report.benchmark import FAILED, MISSING, PUBLISHED, SCORED, Benchmark, CellOutcome, DatasetOutcome
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.gates import Gate, check_decidable, judge_datasets, parse_worse
from xmceval.rows.progress import named
from xmceval.rows.threads import Progress


def benchmark(
    source: str | Path | Mapping[str, Any],
    *,
    strict: bool = False,
    fail_if_worse: str | Iterable[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Benchmark:
    """Score and compare systems on several data sets.

    Parameters
    ----------
    source : path or mapping
        A TOML file, or what it holds as a dict; the guide ``xmceval/guide/benchmark.md`` describes it.
    strict : bool
        Refuse files that do not exist, which are missing cells otherwise.
    fail_if_worse : str or iterable of str
        Gates such as ``"P@5:0.5"``, as `check_worse` takes them, of each system and data set; ``benchmark.gates`` is
        what they come to.
    threads : int, optional
        Default: one per processor.
    progress : callable, optional
        Called with a number of rows each time that many more are done.

    Returns
    -------
    Benchmark
        A mapping: ``benchmark["Bibtex"]`` is the Comparison of a data set, ``benchmark["Bibtex", "Ours", "P@5"]`` a
        value.

    Raises
    ------
    DataError
        A file that is no benchmark, with all its mistakes.

    Warns
    -----
    XmcevalWarning
        What a reader must know before trusting the values, and why cells could not be scored.

    See Also
    --------
    compare : On one data set.

    Examples
    --------
    >>> import numpy as np
    >>> found = benchmark(
    ...     {
    ...         "metrics": "P@1",
    ...         "datasets": {"toy": {"truth": np.eye(6)}},
    ...         "systems": {"old": np.eye(6)[::-1], "new": np.eye(6)},
    ...     }
    ... )
    >>> found["toy", "new", "P@1"], found["toy"]["P@1", "new", "old"].wins
    (1.0, 6)
    """
    from xmceval.api.benchmark.readplan import read_plan

    plan = read_plan(source, strict=strict, overrides={} if threads is None else {"threads": threads})
    gates = [parse_worse(each) for each in ([fail_if_worse] if isinstance(fail_if_worse, str) else fail_if_worse)]
    check_gates(plan, gates)
    found = run_plan(plan, CellScorer(plan.testing, progress=progress), gates=gates)
    warn(dict.fromkeys([*list_failures(found), *list_warnings(found, "doubts")]))
    return found


def run_plan(
    plan: BenchmarkPlan,
    scorer: CellScorer,
    report: Callable[[DatasetOutcome], None] | None = None,
    *,
    gates: Sequence[Gate] = (),
    layout: Layout = DEFAULT,
) -> Benchmark:
    """Run a plan data set by data set; `report` is called with each as it is done.

    `layout` is that of numbers in what gates say.
    """
    outcomes = []
    for planned in plan.datasets:
        with naming_flags(False), named(planned.name):  # a file has the names of Python's arguments
            outcomes.append(_run_dataset(planned, plan.systems, scorer))
        if report is not None:
            report(outcomes[-1])
    of_cells = (line for planned in plan.datasets for cell in planned.cells for line in cell.warnings)
    found = Benchmark(
        tuple(outcomes),
        plan.systems,
        plan.measures,
        plan.testing,
        "" if plan.file is None else str(plan.file),
        tuple(dict.fromkeys([*plan.warnings, *of_cells])),
    )
    if not gates:
        return found
    systems = _list_tested(plan)
    comparisons = {each.name: each.comparison for each in found.datasets}
    return replace(found, gates=judge_datasets(gates, comparisons, systems, plan.testing.against or systems[0], layout))


def _run_dataset(dataset: PlannedDataset, systems: Sequence[str], scorer: CellScorer) -> DatasetOutcome:
    """Compare the systems of a data set; `systems` are the shown names of all, in order."""
    comparison, failures = scorer.score(dataset, [cell for cell in dataset.cells if cell.runs])
    if comparison is not None:
        dataset = keep_comparable(dataset, comparison.results[0].sizes)
    outcomes = {cell.system: _describe_cell(cell, failures) for cell in dataset.cells}
    outcomes |= {name: CellOutcome(name, PUBLISHED, is_published=True) for name in dataset.published}
    outcomes |= {name: CellOutcome(name, MISSING, why, is_published=True) for name, why in dataset.unpublished.items()}
    return DatasetOutcome(
        dataset.name,
        comparison,
        tuple(outcomes[name] for name in systems if name in outcomes),
        dataset.published,
        "" if dataset.entry is None else dataset.entry.name,
        dataset.notes,
    )


def _describe_cell(cell: PlannedCell, failures: Mapping[str, str]) -> CellOutcome:
    """Return how a tested system fared."""
    if not cell.runs:
        return CellOutcome(cell.system, MISSING, cell.missing, 0)
    status = FAILED if cell.system in failures else SCORED
    return CellOutcome(cell.system, status, failures.get(cell.system, ""), len(cell.runs))


def check_gates(plan: BenchmarkPlan, gates: Sequence[Gate]) -> None:
    """Refuse gates that no run of this plan could decide."""
    n_systems, hint = len(_list_tested(plan)), 'against = "NAME" in the file'
    check_decidable(gates, plan.measures, n_systems, plan.testing.against, hint)


def _list_tested(plan: BenchmarkPlan) -> list[str]:
    return [cell.system for cell in plan.datasets[0].cells]


def list_failures(found: Benchmark) -> Iterator[str]:
    """Yield why cells have failed: once for all cells of a data set that failed for one reason."""
    for dataset in found.datasets:
        for why, names in dataset.group_reasons(FAILED).items():
            place = dataset.name if len(names) > 1 else f"{dataset.name}, {names[0]}"
            yield from (f"{place}: {line}" for line in why.splitlines())


def list_warnings(found: Benchmark, kind: str = "warnings") -> Iterator[str]:
    """Yield what a reader must know before trusting the values, with the data set and systems that it is of.

    Of results all warnings, or with ``doubts`` as `kind` those that Python functions issue.
    """
    yield from found.warnings
    for dataset in found.datasets:
        own = () if dataset.comparison is None else dataset.comparison.warnings
        yield from (f"{dataset.name}: {line}" for line in dict.fromkeys([*own, *_list_lines(dataset, kind)]))


def list_notes(found: Benchmark) -> Iterator[str]:
    """Yield how files were read, with the data set and systems that it is of."""
    for dataset in found.datasets:
        yield from (f"{dataset.name}: {line}" for line in _list_lines(dataset, "notes"))


def _list_lines(dataset: DatasetOutcome, kind: str) -> Iterator[str]:
    """Yield the notes, warnings or doubts of the systems of a data set."""
    from xmceval.report.result import shared_lines

    return iter(()) if dataset.comparison is None else shared_lines(dataset.comparison.results, kind)
