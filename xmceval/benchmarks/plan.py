"""Plan a benchmark: read its file, find the files that it names, and report all mistakes in it together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.benchmarks.config import Config, read_config, suggest
from xmceval.benchmarks.datasets import DatasetPlan, build, read_datasets
from xmceval.benchmarks.systems import SystemPlan, read_systems
from xmceval.errors import listed, naming_flags
from xmceval.metrics.measure import Measure
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import specs


@dataclass(frozen=True)
class BenchmarkPlan:
    """A benchmark before anything is scored; `measures` are its columns, `file` is None for a dict."""

    datasets: tuple[DatasetPlan, ...]
    systems: tuple[SystemPlan, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    file: Path | None = None

    @property
    def tested(self) -> list[str]:
        """The names of the systems with predictions."""
        return [system.name for system in self.systems if system.published is None]


def read_plan(
    source: str | Path | Mapping[str, Any], *, strict: bool = False, threads: int | None = None
) -> BenchmarkPlan:
    """Read a benchmark from its TOML file, or from a dict in which matrices may stand for files.

    Relative paths are relative to the file, those of a dict to the current folder. With `strict`, missing predictions
    are a mistake.
    """
    config = read_config(source)
    with naming_flags(False):  # a file has the names of Python's arguments
        config.check_keys((), config.tables, [*specs(), *specs(Testing), "datasets", "systems"])
        datasets = read_datasets(config, threads)
        columns = dict.fromkeys(measure for dataset in datasets for measure in dataset.columns)
        systems = read_systems(config, datasets, list(columns), strict=strict)
        testing = _read_testing(config, systems)
    config.check()
    return BenchmarkPlan(tuple(datasets), tuple(systems), tuple(columns), testing, config.path)


def _read_testing(config: Config, systems: Sequence[SystemPlan]) -> Testing:
    """Read how differences are tested."""
    values = {name: value for name, value in config.tables.items() if name in specs(Testing)}
    against, tested = values.get("against"), [system.name for system in systems if system.published is None]
    if isinstance(against, str) and tested and against not in tested:
        config.refuse((), f"against is {against!r}; expected one of {listed(tested)}{suggest(against, tested)}")
    return build(config, values, dict.fromkeys(values, ()), (), Testing, lambda **chosen: Testing.of(chosen))
