"""Checks of the predictions that a benchmark names: whether any are there, and whether any are there twice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.api.benchmark.planning.namedfiles import PLACEHOLDER
from xmceval.api.benchmark.planning.predictionfiles import ABOVE, NO_PATH, SystemEntry, join_first
from xmceval.files.arrays.npypairs import identify
from xmceval.files.text.configfile import ConfigFile, header
from xmceval.rows.shards import Shards
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

Identity: TypeAlias = frozenset[tuple[Any, ...]]  # of the predictions of a cell; empty where there are none


class SystemCells(NamedTuple):
    """A system, and its cells on the data sets in turn."""

    system: SystemEntry
    cells: Sequence[PlannedCell]
    identities: Sequence[Identity]

    @classmethod
    def of(cls, system: SystemEntry, cells: Sequence[PlannedCell]) -> SystemCells:
        """Find what tells the predictions of each cell from those of others."""
        return cls(system, cells, [frozenset(map(identify, cell.runs)) for cell in cells])


def check_cells(
    config: ConfigFile, systems: Sequence[SystemEntry], datasets: Sequence[PlannedDataset], *, strict: bool
) -> None:
    """Note predictions that are missing where they must not, or that are passed twice.

    The cells of the data sets are those of `systems`, in turn.
    """
    lines = [SystemCells.of(each, [dataset.cells[i] for dataset in datasets]) for i, each in enumerate(systems)]
    lines = [line for line in lines if not config.is_broken(line.system.keys)]
    empty = [line for line in lines if datasets and not any(line.identities)]
    for line in empty:
        _refuse_empty_system(config, line)
    if len(lines) == len(systems):
        others = [line for line in lines if any(line.identities)]
        _refuse_empty_datasets(config, datasets, others)
    for line in lines:
        if strict:
            _refuse_missing(config, line, datasets)
        _refuse_repeated(config, line)
        _refuse_same_data(config, line, datasets)
    for first, second in combinations(lines, 2):
        _refuse_same_files(config, first, second)


def _refuse_missing(config: ConfigFile, line: SystemCells, datasets: Sequence[PlannedDataset]) -> None:
    """Note every file of a system that is missing."""
    for dataset, cell in zip(datasets, line.cells, strict=True):
        if cell.missing and cell.missing != NO_PATH:
            config.refuse(line.system.keys, f"{dataset.name}, {line.system.name}: {cell.missing}")
        for warning in cell.warnings:
            config.refuse(line.system.keys, warning)


def _refuse_empty_system(config: ConfigFile, line: SystemCells) -> None:
    """Note a system without predictions on any data set: a typing mistake gives such."""
    why = join_first(list(dict.fromkeys(cell.missing for cell in line.cells)))
    config.refuse(line.system.keys, f"{line.system.name} has no predictions: {why}{_hint_at_name(line.system)}")


def _refuse_empty_datasets(
    config: ConfigFile, datasets: Sequence[PlannedDataset], lines: Sequence[SystemCells]
) -> None:
    """Note data sets on which systems that have predictions have none."""
    for i, dataset in enumerate(datasets):
        if lines and not any(line.identities[i] for line in lines):
            keys = ("datasets", dataset.name)
            why = join_first([line.cells[i].missing for line in lines])
            hint = f"set folder to what {PLACEHOLDER} stands for"
            config.refuse(keys, f"{header(keys)} has no predictions: {why} (hint: {hint})")


def _hint_at_name(system: SystemEntry) -> str:
    """Return a hint at what may be wrong in the paths of a system that has no file."""
    text = str(system.template)
    word = next((each for each in re.findall(r"\{\w*\}", text) if each != PLACEHOLDER), "")
    if word:
        return f" (hint: {PLACEHOLDER}, not {word})"
    option = {**specs(Options), **specs(Testing)}.get(system.key)
    is_value = option is not None and PLACEHOLDER not in text and (option.is_file or "/" not in text)
    return f"; {system.key} is an option{ABOVE}" if is_value else ""  # a system may be called a or k, too


def _refuse_repeated(config: ConfigFile, line: SystemCells) -> None:
    """Note a file that appears twice among the runs of a system."""
    for cell in line.cells:
        identities = [identify(run) for run in cell.runs]
        repeated = [run for i, run in enumerate(cell.runs) if identities[i] in identities[:i]]
        if repeated:
            message = f"{_name_of(repeated[0])} appears twice among the runs of {line.system.name}"
            config.refuse(line.system.keys, message)
            return


def _refuse_same_data(config: ConfigFile, line: SystemCells, datasets: Sequence[PlannedDataset]) -> None:
    """Note predictions of a system that are the same on two data sets, whose truths differ."""
    for (i, first), (j, second) in combinations(enumerate(datasets), 2):
        is_same = line.identities[i] and line.identities[i] == line.identities[j]
        if is_same and identify(first.truth) != identify(second.truth):
            name, places = _name_of(line.cells[i].runs[0]), f"{first.name} and {second.name}"
            hint = f"{PLACEHOLDER} in a path stands for the data set"
            config.refuse(
                line.system.keys, f"{line.system.name} has the same predictions on {places}: {name} (hint: {hint})"
            )
            return


def _refuse_same_files(config: ConfigFile, first: SystemCells, second: SystemCells) -> None:
    """Note predictions that are those of two systems."""
    pairs = zip(first.cells, first.identities, second.identities, strict=True)
    same = next((cell for cell, own, other in pairs if own and own == other), None)
    if same is not None:
        names = f"{first.system.name} and {second.system.name}"
        config.refuse(second.system.keys, f"{names} have the same predictions: {_name_of(same.runs[0])}")


def _name_of(run: Any) -> str:
    if isinstance(run, Shards):
        return run.name
    return str(run) if isinstance(run, (str, Path)) else "a matrix"
