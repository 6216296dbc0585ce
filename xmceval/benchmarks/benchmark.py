"""Benchmark: compare systems on several data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from xmceval.api.comparing.compare import compare_systems
from xmceval.api.comparing.pairtests import Watch
from xmceval.api.scoring.setup import Named, Setup
from xmceval.benchmarks.datasets import DatasetPlan
from xmceval.benchmarks.outcome import FAILED, MISSING, PUBLISHED, SCORED, Benchmark, CellOutcome, DatasetOutcome
from xmceval.benchmarks.plan import BenchmarkPlan, read_plan
from xmceval.benchmarks.systems import SystemPlan
from xmceval.errors import XmcevalError, describe_failure, naming_flags, warn
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.gates import Gate, check_decidable, judge_datasets, parse_worse
from xmceval.report.result import shared_lines
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
        Refuse predictions that do not exist, which are missing cells otherwise.
    fail_if_worse : str or iterable of str
        Gates such as ``"P@5:0.5"``, as `check_worse` takes them, for each system and data set; ``benchmark.gates`` has
        the outcomes.
    threads : int, optional
        Default: one per processor.
    progress : callable, optional
        Called with a number of rows each time that many more are done.

    Returns
    -------
    Benchmark
        A mapping: ``benchmark["Bibtex"]`` is the Comparison of a data set, ``benchmark["Bibtex", "Ours", "P@5"]`` a
        value. A data set that fails has none.

    Raises
    ------
    DataError
        A file that is no benchmark, with all its mistakes.

    Warns
    -----
    XmcevalWarning
        What a reader must know before trusting the values, and why data sets failed.

    See Also
    --------
    compare : On one data set.

    Examples
    --------
    >>> import numpy as np
    >>> toy = benchmark(
    ...     {
    ...         "metrics": "P@1",
    ...         "datasets": {"toy": {"truth": np.eye(6)}},
    ...         "systems": {"old": np.eye(6)[::-1], "new": np.eye(6)},
    ...     }
    ... )
    >>> toy["toy", "new", "P@1"], toy["toy"]["P@1", "new", "old"].wins
    (1.0, 6)
    """
    plan = read_plan(source, strict=strict, threads=threads)
    texts = [fail_if_worse] if isinstance(fail_if_worse, str) else fail_if_worse
    outcome = run_plan(plan, gates=[parse_worse(text) for text in texts], progress=progress)
    warn(dict.fromkeys([*list_failures(outcome), *list_warnings(outcome, "doubts")]))
    return outcome


def run_plan(
    plan: BenchmarkPlan,
    *,
    gates: Sequence[Gate] = (),
    layout: Layout = DEFAULT,
    executor: Executor | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Benchmark:
    """Compare the systems on each data set in turn.

    `layout` is that of gates, `executor` scores rows in parts, and `watch` shows the progress of resampling.
    """
    against = plan.testing.against
    check_decidable(gates, plan.measures, len(plan.tested), against, 'against = "NAME" in the file')

    def compare(dataset: DatasetPlan) -> Comparison:
        systems = [
            Named(system.predictions[dataset.name], system.name)
            for system in plan.systems
            if dataset.name in system.predictions
        ]
        setup = Setup.of(dataset.truth, dataset.options, systems, executor=executor)
        return compare_systems(setup, systems, plan.testing, progress=progress, watch=watch, needs_pairs=False)

    outcomes = [_run_dataset(dataset, plan.systems, compare) for dataset in plan.datasets]
    comparisons = {outcome.name: outcome.comparison for outcome in outcomes}
    return Benchmark(
        tuple(outcomes),
        tuple(system.name for system in plan.systems),
        plan.measures,
        plan.testing,
        {system.name: system.source for system in plan.systems if system.published is not None},
        "" if plan.file is None else str(plan.file),
        tuple(judge_datasets(gates, comparisons, plan.measures, plan.tested, against or plan.tested[0], layout)),
    )


def _run_dataset(
    dataset: DatasetPlan, systems: Sequence[SystemPlan], compare: Callable[[DatasetPlan], Comparison]
) -> DatasetOutcome:
    """Compare the systems on a data set, which may fail."""
    comparison, why = None, ""
    if not any(dataset.name in system.predictions for system in systems):
        why = "there are no predictions (hint: set folder to what {dataset} in paths stands for)"
    else:
        try:
            with naming_flags(False):  # a file has the names of Python's arguments
                comparison = compare(dataset)
        except (XmcevalError, OSError, MemoryError) as error:
            why = describe_failure(error)
    published = {system.name: system.published or {} for system in systems}
    return DatasetOutcome(
        dataset.name,
        comparison,
        tuple(_describe_cell(system, dataset.name, why) for system in systems),
        {name: rows[dataset.name] for name, rows in published.items() if dataset.name in rows},
        dataset.options.dataset or "",
        dataset.notes,
        why,
    )


def _describe_cell(system: SystemPlan, dataset: str, why: str) -> CellOutcome:
    """Return how a system fared on a data set, which failed if there is a reason."""
    if dataset in (system.published or ()):
        return CellOutcome(system.name, PUBLISHED)
    if dataset not in system.predictions:
        return CellOutcome(system.name, MISSING, system.missing.get(dataset, ""), 0)
    predictions = system.predictions[dataset]
    n_runs = len(predictions) if isinstance(predictions, list) else 1
    return CellOutcome(system.name, FAILED if why else SCORED, why, n_runs)


def list_failures(outcome: Benchmark) -> Iterator[str]:
    """Yield why data sets failed."""
    for dataset in outcome.datasets:
        yield from (f"{dataset.name}: {line}" for line in dataset.why.splitlines())


def list_warnings(outcome: Benchmark, kind: str = "warnings") -> Iterator[str]:
    """Yield what a reader must know before trusting the values, with the data set and systems that it is about.

    With ``doubts`` as `kind`, of results only the warnings that Python functions issue.
    """
    for name, comparison in outcome.items():
        lines = dict.fromkeys([*comparison.warnings, *shared_lines(comparison.results, kind)])
        yield from (f"{name}: {line}" for line in lines)


def list_notes(outcome: Benchmark) -> Iterator[str]:
    """Yield how files were read, with the data set and systems that it is about."""
    for name, comparison in outcome.items():
        yield from (f"{name}: {line}" for line in shared_lines(comparison.results, "notes"))
