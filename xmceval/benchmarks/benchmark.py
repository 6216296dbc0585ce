"""The public function `benchmark`, which compares systems on several data sets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from xmceval.benchmarks.config import read_config, suggest
from xmceval.benchmarks.plan import NO_PATH, DatasetPlan, SystemPlan, check_types, read_datasets, read_systems
from xmceval.benchmarks.result import Benchmark, DatasetOutcome, list_failures, list_lines, shared_nouns
from xmceval.comparison.compare import compare_systems
from xmceval.comparison.comparison import Comparison
from xmceval.comparison.gates import check_decidable, judge_datasets, parse_gates
from xmceval.comparison.options import Testing
from xmceval.comparison.pairs import Watch
from xmceval.errors import XmcevalError, describe_failure, listed, naming_flags, warn
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_measures
from xmceval.report.gates import NOT_DECIDED, Gate, check_computed, judge_values, parse_required
from xmceval.report.scored import GateOutcome
from xmceval.report.sheet import DEFAULT, Layout
from xmceval.rows.threads import Progress
from xmceval.scoring.options import specs
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.truth import OpenedTruth


def benchmark(
    source: str | Path | Mapping[str, Any],
    *,
    strict: bool = False,
    fail_if_worse: str | Iterable[str] = (),
    fail_if_drop: str | Iterable[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Benchmark:
    """Score and compare systems on several data sets.

    Parameters
    ----------
    source : path or mapping
        A TOML file, or its content as a dict; ``xmceval guide start`` describes it.
    strict : bool
        Refuse predictions that do not exist; otherwise they become missing cells.
    fail_if_worse : str or iterable of str
        Gates such as ``"P@5:0.5"``, as in `check_worse`, for each system and data set; ``benchmark.gates`` has
        the outcomes.
    fail_if_drop : str or iterable of str
        Gates that need no significance, as in `check_worse`.
    threads : int, optional
        Default: one per processor.
    progress : callable, optional
        Called with the number of rows finished since the last call.

    Returns
    -------
    Benchmark
        A mapping: ``benchmark["Bibtex"]`` is the Comparison on a data set, ``benchmark["Bibtex", "Ours",
        "P@5"]`` a value. A data set that failed has neither; a system that failed on it has no value.

    Raises
    ------
    DataError
        The file does not describe a benchmark; the message lists all mistakes.

    Warns
    -----
    XmcevalWarning
        Reasons why values may be wrong, and why data sets or systems on them failed.

    See Also
    --------
    compare : Compare systems on one data set.

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
    worse, drop = ([texts] if isinstance(texts, str) else list(texts) for texts in (fail_if_worse, fail_if_drop))
    outcome = run_plan(plan, fail_if_worse=worse, fail_if_drop=drop, progress=progress)
    warn(dict.fromkeys([*list_failures(outcome), *list_lines(outcome, "doubts")]))
    return outcome


@dataclass(frozen=True)
class BenchmarkPlan:
    """A benchmark before anything is scored; `measures` are its columns, `file` is None for a dict."""

    datasets: tuple[DatasetPlan, ...]
    systems: tuple[SystemPlan, ...]
    tested: tuple[str, ...]  # systems with predictions
    measures: tuple[Measure, ...]
    testing: Testing
    file: Path | None = None

    def list_systems(self, dataset: str) -> list[System]:
        """Return the systems with predictions on a data set."""
        return [
            System(system.predictions[dataset], system.name) for system in self.systems if dataset in system.predictions
        ]


def read_plan(
    source: str | Path | Mapping[str, Any], *, strict: bool = False, threads: int | None = None
) -> BenchmarkPlan:
    """Read a benchmark from its TOML file, or from a dict in which matrices may stand for files.

    Relative paths are relative to the file, or to the current folder for a dict. With `strict`, missing predictions
    are a mistake.
    """
    config = read_config(source)
    with naming_flags(False):  # a file uses the names of Python's arguments
        config.check_keys((), config.tables, [*specs(), *specs(Testing), "datasets", "systems"])
        datasets = read_datasets(config, threads)
        chosen = [dataset for dataset in datasets if dataset.has_columns] or datasets
        columns = dict.fromkeys(measure for dataset in chosen for measure in dataset.columns)
        # After a mistake the columns are unknown.
        if config.mistakes:
            columns.clear()
        systems = read_systems(config, datasets, list(columns), strict=strict)
        tested = [system.name for system in systems if system.published is None]
        values = {name: value for name, value in config.tables.items() if name in specs(Testing)}
        against = values.get("against")
        if isinstance(against, str) and tested and against not in tested:
            config.refuse((), f"against is {against!r}; expected one of {listed(tested)}{suggest(against, tested)}")
        testing = Testing()  # the defaults, used after a mistake
        with config.noting(()):
            testing = Testing.of(check_types(config, (), specs(Testing), values))
    config.check()
    return BenchmarkPlan(tuple(datasets), tuple(systems), tuple(tested), tuple(columns), testing, config.path)


def run_plan(
    plan: BenchmarkPlan,
    *,
    fail_if_worse: Sequence[str] = (),
    fail_if_drop: Sequence[str] = (),
    require: Sequence[str] = (),
    layout: Layout = DEFAULT,
    executor: Executor | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Benchmark:
    """Compare the systems on each data set in turn.

    `layout` formats the gates, `executor` scores rows in parts, and `watch` shows the progress of resampling.
    """
    against = plan.testing.against
    gates = parse_gates(fail_if_worse, fail_if_drop, in_percent=layout.percent)
    check_decidable(gates, plan.measures, len(plan.tested), against, 'against = "NAME" in the file')
    check_computed([parse_required(text, in_percent=None) for text in require], plan.measures)
    outcomes = [_run_dataset(plan, dataset, executor, progress, watch) for dataset in plan.datasets]
    comparisons = {outcome.name: outcome.comparison for outcome in outcomes}
    layout = layout.settle(shared_nouns(outcomes))
    gates = parse_gates(fail_if_worse, fail_if_drop, in_percent=layout.percent)
    required = [parse_required(text, in_percent=layout.percent) for text in require]
    return Benchmark(
        tuple(outcomes),
        tuple(system.name for system in plan.systems),
        plan.measures,
        plan.testing,
        {system.name: system.source for system in plan.systems if system.published is not None},
        str(plan.file or ""),
        (
            *judge_datasets(gates, comparisons, plan.measures, plan.tested, against or plan.tested[0], layout),
            *(judged for dataset in outcomes for judged in _judge_values(required, dataset, plan, layout)),
        ),
    )


def _judge_values(
    gates: Sequence[Gate], dataset: DatasetOutcome, plan: BenchmarkPlan, layout: Layout
) -> Iterator[GateOutcome]:
    """Judge the values of the systems on a data set; those without a value are undecided.

    Systems whose paths are of other data sets only are not judged.
    """
    judged_systems = [system for system in plan.tested if dataset.missing.get(system) != NO_PATH]
    for gate, system in itertools.product(gates, judged_systems):
        judged = dict[Measure, GateOutcome]()
        if system in dataset.systems:
            judged = {outcome.measure: outcome for outcome in judge_values([gate], dataset.systems[system], layout)}
        for measure in find_measures(gate.metric, plan.measures):
            why = NOT_DECIDED.format(measure, f"{system} has no value of it")
            undecided = GateOutcome(gate.kind, system, "", "", measure, gate.limit, why=why, is_decided=False)
            outcome = judged.get(measure, undecided)
            yield replace(outcome, dataset=dataset.name, why=outcome.why and f"{dataset.name}: {outcome.why}")


def _run_dataset(
    plan: BenchmarkPlan, dataset: DatasetPlan, executor: Executor | None, progress: Progress | None, watch: Watch | None
) -> DatasetOutcome:
    """Compare the systems on a data set; what cannot be scored leaves the values of the others unchanged."""
    name = dataset.name
    systems = plan.list_systems(name)
    comparison = None
    failed = dict[str, str]()
    why = dataset.why
    if not (systems or why):
        why = "there are no predictions (hint: set folder to what {dataset} in paths stands for)"
    if not why:
        comparison, why = _try_systems(plan, dataset, systems, executor, progress, watch)
    if comparison is None and len(systems) > 1 and not dataset.why:
        reasons = {str(system.name): _try_systems(plan, dataset, [system], executor)[1] for system in systems}
        failed = {system: reason for system, reason in reasons.items() if reason}
        sound = [system for system in systems if system.name not in failed]
        if not sound and len(set(failed.values())) == 1:  # it is not a fault of the systems
            failed = {}
        elif not sound:
            why = ""
        elif failed:
            comparison, why = _try_systems(plan, dataset, sound, executor, progress, watch)
    published = {system.name: rows[name] for system in plan.systems if name in (rows := system.published or {})}
    missing = {
        system.name: system.missing.get(name, "")
        for system in plan.systems
        if name not in system.predictions and system.name not in published
    }
    if comparison is not None:
        why = dataset.lacking
    return DatasetOutcome(name, comparison, published, missing, failed, dataset.notes, why)


def _try_systems(
    plan: BenchmarkPlan,
    dataset: DatasetPlan,
    systems: Sequence[System],
    executor: Executor | None,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> tuple[Comparison | None, str]:
    """Compare systems on a data set; return None and the reason if one of its files cannot be scored."""
    try:
        with naming_flags(False):  # a file uses the names of Python's arguments
            truth = OpenedTruth.of(dataset.truth, dataset.options, systems, executor=executor)
            comparison = compare_systems(
                truth, systems, plan.testing, progress=progress, watch=watch, needs_pairs=False
            )
            # Counts by label are too large to keep for all data sets.
            results = tuple(replace(result, held_labels=()) for result in comparison.results)
            comparison = replace(comparison, results=results)
    except (XmcevalError, OSError, MemoryError) as error:
        return None, describe_failure(error)
    return comparison, ""
