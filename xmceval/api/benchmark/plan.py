"""Plan: what a benchmark consists of, with every file named and every mistake in its file reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xmceval.labels.catalogue import Dataset, Published
from xmceval.metrics.measure import Measure
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options

FILE_NAME = "benchmark.toml"  # of a file that no other name was given


@dataclass(frozen=True)
class PlannedCell:
    """The predictions of a system on a data set.

    Attributes
    ----------
    system : str
        Its shown name.
    runs : tuple
        The predictions of each run, as `score` takes them: a path, a matrix, or shards. Of most systems there is one;
        with none the cell is missing.
    is_averaged : bool
        Whether the system consists of training seeds: its value is the mean over its runs, even if one is left.
    missing : str
        Why there are no predictions, such as ``no file runs/eurlex4k/br.npz``.
    warnings : tuple of str
        Such as a missing seed among existing ones: sentences of their own, which name the data set and the system.
    """

    system: str
    runs: tuple[Any, ...] = ()
    is_averaged: bool = False
    missing: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedDataset:
    """A data set: its truth, how its systems are scored, and a cell for each tested system.

    Attributes
    ----------
    name : str
        Its key in the file.
    truth : path, matrix or shards
    options : Options
        Of scoring: those of the whole benchmark, and over them its own; without the metrics and bins for which it lacks
        the inputs.
    cells : tuple of PlannedCell
        One for each tested system, in the order of the file.
    entry : Dataset or None
        Of the catalogue.
    published : mapping of str to Published
        The published rows that are shown, by the shown name of the system.
    unpublished : mapping of str to str
        Why a published system has no values here, by its shown name.
    notes : tuple of str
        Such as which columns it lacks, and why.
    """

    name: str
    truth: Any
    options: Options
    cells: tuple[PlannedCell, ...]
    entry: Dataset | None = None
    published: Mapping[str, Published] = field(default_factory=dict)
    unpublished: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BenchmarkPlan:
    """A benchmark before anything is scored.

    Attributes
    ----------
    datasets : tuple of PlannedDataset
    systems : tuple of str
        The shown names of all systems in the order of the file, published ones included.
    measures : tuple of Measure
        The columns: those that are asked for in any data set.
    testing : Testing
        How differences within a data set are tested; `against` is a shown name.
    file : Path or None
        The file that it was read from; None for a dict.
    warnings : tuple of str
    """

    datasets: tuple[PlannedDataset, ...]
    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    testing: Testing
    file: Path | None = None
    warnings: tuple[str, ...] = ()
