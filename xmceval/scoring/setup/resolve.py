"""Resolve the inputs of a call: find shards and runs, check that files exist, and stamp them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from xmceval.errors import Doubt, UsageError, agreeing
from xmceval.files.io.paths import RemotePath, as_input, find_files, identify
from xmceval.files.io.streams import Stamp, stamp_of
from xmceval.files.ranking.dicts import is_by_query
from xmceval.files.shards import check_files, check_pairing, find_shards, is_matrix
from xmceval.rows.matrices.lists import is_pair
from xmceval.rows.matrices.source import count_columns
from xmceval.rows.shards import Shards
from xmceval.scoring.options import Options, input_name


@dataclass(frozen=True)
class System:
    """A system to score: its predictions, and its name in reports, by default the file's."""

    y_score: Any
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y_score", as_input(self.y_score))

    @cached_property
    def input(self) -> Any:
        """The predictions with resolved shards; a list means consecutive shards, not several runs."""
        return find_shards(self.y_score, are_scores=True)

    @cached_property
    def runs(self) -> Sequence[System]:
        """The runs of the system as systems, or only itself."""
        if not are_runs(self.y_score):
            return [self]
        numbers = [""]
        if len(self.y_score) > 1:
            numbers = [f" ({i + 1})" for i in range(len(self.y_score))]
        return [
            System(run, None if self.name is None else f"{self.name}{number}")
            for run, number in zip(self.y_score, numbers, strict=True)
        ]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a call: each is a path, shards, or a value in memory."""

    truth: Any
    runs: Sequence[System]  # all runs of all systems
    train: Any  # training labels; None if there are none
    name: str  # of the truth in reports
    stamps: Mapping[Path, Stamp | None]  # of the local files of truth and runs, taken before they are opened


def resolve_inputs(y_true: Any, systems: Sequence[System], options: Options) -> Inputs:
    """Find the shards of all inputs, and refuse missing files and shards that do not belong together."""
    truth = find_shards(y_true)
    runs = [run for system in systems for run in system.runs]
    train = None
    others = list[Path]()
    files = options.files
    if files:
        train = find_shards(options.train)
        sides = [find_shards(file) for file in files if file is not options.train]
        others = _list_paths([train, *sides])
    streams = [truth, *(run.input for run in runs)]
    paths = _list_paths(streams)
    if paths or others:
        check_files([*paths, *others], [path for path in streams if isinstance(path, Path)])
    if isinstance(truth, Shards):
        for run in runs:
            check_pairing(truth, run.input)
    local = [path for path in paths if not isinstance(path, RemotePath)]
    stamps = {file: stamp_of(file) for path in local for file in find_files(path)}
    return Inputs(truth, runs, train, input_name(y_true), stamps)


def count_scored_labels(predictions: Iterable[Any]) -> int | None:
    """Return the number of labels of predictions in memory; None if it is not known, or they differ."""
    in_memory = [scores for scores in predictions if not isinstance(scores, (Path, Shards))]
    widths = {n_columns for scores in in_memory if (n_columns := count_columns(scores)) is not None}
    if len(widths) != 1:
        return None
    return widths.pop()


def _list_paths(inputs: Sequence[Any]) -> list[Path]:
    """Return the paths among inputs with resolved shards."""
    paths = list[Path]()
    for value in inputs:
        if isinstance(value, Shards):
            paths += [part for part in value.parts if isinstance(part, Path)]
        elif isinstance(value, Path):
            paths.append(value)
    return paths


def find_scores(y_score: Any, y_true: Any) -> Any:
    """Find the shards in a list of predictions; it is not a pair if the truth is an equally long list."""
    if not isinstance(y_score, list):
        return y_score
    are_many = isinstance(y_true, list) and len(y_true) == len(y_score) > 1 and all(map(is_matrix, y_true))
    if not are_many:
        return find_shards(y_score, are_scores=True)
    lengths = [getattr(part, "shape", (-1,))[0] for part in (*y_true, y_score[0])]
    are_whole = -1 not in lengths and lengths[-1] == sum(lengths[:-1])  # both cover all rows of the truth
    return find_shards(y_score, are_scores=are_whole)


def are_runs(y_score: Any) -> bool:
    """Return whether scores are a list of matrices or paths: the runs of one system."""
    if not isinstance(y_score, (list, tuple)) or not y_score:
        return False
    are_inputs = all(
        isinstance(y, (str, Path, Shards)) or len(getattr(y, "shape", ())) == 2 or is_by_query(y) for y in y_score
    )
    return are_inputs and not is_pair(y_score, "y_score")


def doubt_same_scores(systems: Sequence[System], noun: str) -> Iterator[Doubt]:
    """Doubt files or matrices that are passed as several systems; `noun` is what a row is called."""
    seen: dict[tuple[Path | int, ...], str] = {}
    for system in systems:
        keys = identify(system.input)
        if keys in seen:
            if isinstance(keys[0], Path):
                same = agreeing(len(keys), "file", "files")
            else:
                same = agreeing(len(keys), "matrix", "matrices")
            yield Doubt(f"{seen[keys]} and {system.name} are the same {same}: they tie on every {noun}")
        seen[keys] = str(system.name)


def check_systems(systems: object) -> None:
    """Refuse systems that are not a dict by name, or that are the run of a single one."""
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems must be a dict of scores by name, such as {{'a': ..., 'b': ...}}, got {type(systems).__name__}"
        )
    unnamed = next((name for name in systems if not isinstance(name, str)), None)
    if unnamed is not None:
        raise UsageError(f"systems: names must be text, got {unnamed!r} (hint: pass {{{str(unnamed)!r}: ...}})")
    are_dicts = any(isinstance(scores, Mapping) for scores in systems.values())
    if are_dicts and is_by_query(systems) and not any(map(is_by_query, systems.values())):
        raise UsageError(
            "systems must be a dict of scores by name, got a run {query: {document: score}} "
            "(hint: pass {'a': run, 'b': ...})"
        )
