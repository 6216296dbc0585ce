"""Systems of a benchmark, and the files of their predictions on each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from xmceval.api.benchmark.plan import PlannedCell
from xmceval.api.benchmark.planning.namedfiles import NamedFiles, are_names, describe_absence, str_of
from xmceval.api.comparing.runs import are_runs
from xmceval.errors import DataError, counted, listed
from xmceval.files.io.addresses import is_address
from xmceval.files.io.paths import RemotePath, beside
from xmceval.files.remote.storecalls import start
from xmceval.files.text.configfile import ConfigFile, Keys, header, show_value
from xmceval.rows.shards import parts_of

SYSTEM_KEYS = ("path", "runs", "name", "paths", "published")
SOURCES_OF_CELLS = ("path", "runs", "paths")

NO_PATH = "no path is given"  # why a cell is missing where only the paths of single cells are given

ABOVE = " (hint: it belongs above the first table)"

_EXPECTED = "a path, a list of paths or a table"


@dataclass(frozen=True)
class SystemEntry:
    """A system as the file describes it.

    Attributes
    ----------
    key, name : str
        In the file, and as it is shown.
    template : path, list or matrix
        Its predictions on every data set; None where there are only those in `paths`.
    are_seeds : bool
        Whether a pattern in the template stands for training seeds, and not for shards.
    paths : mapping
        Its predictions on single data sets, by key.
    method : str
        The row of the catalogue that is shown; empty for systems that are tested.
    """

    key: str
    name: str
    template: Any = None
    are_seeds: bool = False
    paths: Mapping[str, Any] = field(default_factory=dict)
    method: str = ""

    @property
    def keys(self) -> Keys:
        """Where it stands in the file."""
        return ("systems", self.key)


def read_systems(config: ConfigFile, datasets: Sequence[str]) -> list[SystemEntry]:
    """Read the systems of a benchmark; `datasets` are the keys that paths of single cells may have."""
    if not config.tables.get("systems"):
        config.refuse(("systems",), 'there is no system (hint: [systems] NAME = "runs/{dataset}/NAME.npz")')
        return []
    table = config.table(("systems",), config.tables["systems"], "a table of systems")
    systems = [_read_system(config, str(key), value, datasets) for key, value in table.items()]
    by_name: dict[str, SystemEntry] = {}
    for each in systems:
        other = by_name.setdefault(each.name, each)
        if other is not each:
            config.refuse(each.keys, f"{header(other.keys)} and {header(each.keys)} are both shown as {each.name!r}")
    return systems


def _read_system(config: ConfigFile, key: str, value: Any, datasets: Sequence[str]) -> SystemEntry:
    keys = ("systems", key)
    if not isinstance(value, Mapping):
        _check_source(config, keys, value, _EXPECTED)
        return SystemEntry(key, key, value)
    config.check_keys(keys, value, SYSTEM_KEYS)
    name, method = _read_name(config, keys, value), _read_method(config, key, value)
    sources = [each for each in SOURCES_OF_CELLS if each in value]
    if method and sources:
        config.refuse((*keys, sources[0]), f"{header(keys)} has published and {sources[0]}: expected one of them")
    elif len({"path", "runs"} & set(sources)) == 2:
        config.refuse((*keys, "runs"), f"{header(keys)} has path and runs: expected one of them")
    elif not (sources or value.get("published") or config.is_broken(keys)):
        config.refuse(keys, f"{header(keys)} has no predictions (hint: path, runs, paths or published)")
    if "path" in value:
        _check_source(config, (*keys, "path"), value["path"], "a path", takes_list=False)
    if "runs" in value:
        _check_source(config, (*keys, "runs"), value["runs"], "a list of paths or a pattern")
    paths = config.table((*keys, "paths"), value.get("paths", {}), "a table of paths by data set")
    config.check_keys((*keys, "paths"), paths, datasets)
    for each, source in paths.items():
        _check_source(config, (*keys, "paths", each), source, "a path or a list of paths")
    template = value.get("path", value.get("runs"))
    return SystemEntry(key, name, template, "runs" in value, paths, method)


def _read_name(config: ConfigFile, keys: Keys, table: Mapping[str, Any]) -> str:
    name = table.get("name", keys[-1])
    if not isinstance(name, str) or not name:
        config.refuse((*keys, "name"), f"name in {header(keys)} must be a string, got {show_value(name)}")
        return keys[-1]
    return name


def _read_method(config: ConfigFile, key: str, table: Mapping[str, Any]) -> str:
    published = table.get("published", False)
    if not isinstance(published, (bool, str)):
        keys = ("systems", key)
        what = f"published in {header(keys)} must be true or the name of a method"
        config.refuse((*keys, "published"), f"{what}, got {show_value(published)}")
    return key if published is True else published if isinstance(published, str) else ""


def _check_source(config: ConfigFile, keys: Keys, value: Any, expected: str, *, takes_list: bool = True) -> None:
    """Note a value that cannot be predictions, and names with escapes."""
    files = NamedFiles(config, "")
    is_path = isinstance(value, (str, Path)) and value != ""
    is_list = takes_list and (are_names(value) or (config.path is None and are_runs(value)))
    if not (is_path or is_list or files.is_matrix(value)):
        config.refuse(keys, f"{'.'.join(keys)} must be {expected}, got {show_value(value)}")
    for name in [value] if is_path else value if is_list else []:
        if isinstance(name, (str, Path)):
            files.is_readable(keys, str_of(name))


def find_cells(
    config: ConfigFile, systems: Sequence[SystemEntry], dataset: str, folder: str
) -> tuple[PlannedCell, ...]:
    """Find the predictions of systems on a data set; stores are asked for all of them at once."""
    find = partial(_find_cell, NamedFiles(config, folder), dataset=dataset)
    if not (isinstance(config.path, RemotePath) or any(map(_is_remote, systems))):
        return tuple(map(find, systems))
    found = [start(partial(find, system)) for system in systems]
    return tuple(each.result() for each in found)


def _is_remote(system: SystemEntry) -> bool:
    """Return whether any predictions of a system are on a store."""
    values = (system.template, *system.paths.values())
    names = (name for value in values for name in (value if are_names(value) else [value]))
    return any(is_address(str_of(name)) for name in names if isinstance(name, (str, Path)))


def _find_cell(files: NamedFiles, system: SystemEntry, *, dataset: str) -> PlannedCell:
    """Find the predictions of a system on a data set."""
    value = system.paths.get(dataset, system.template)
    if value is None:
        return PlannedCell(system.name, missing=NO_PATH)
    is_list = isinstance(value, (list, tuple)) and are_runs(value)
    if isinstance(value, (str, Path)) or not is_list:
        are_seeds = system.are_seeds and dataset not in system.paths
        return _find_one_cell(files, system.name, value, are_seeds=are_seeds)
    found = [_find_run(files, each) for each in value]
    absent = [describe_absence(files.fill(str_of(v))) for v, run in zip(value, found, strict=True) if run is None]
    runs = tuple(run for run in found if run is not None)
    if not runs:
        return PlannedCell(system.name, is_averaged=True, missing=join_first(absent))
    warnings = f"{dataset}, {system.name}: {listed(absent)}; the mean is over {len(runs)} of {len(found)} runs"
    return PlannedCell(system.name, runs, is_averaged=True, warnings=(warnings,) * bool(absent))


def _find_one_cell(files: NamedFiles, name: str, value: Any, *, are_seeds: bool) -> PlannedCell:
    """Find the predictions that are one path, pattern or matrix."""
    found = _find_run(files, value)
    if found is None:
        return PlannedCell(name, is_averaged=are_seeds, missing=describe_absence(files.fill(str_of(value))))
    return PlannedCell(name, tuple(parts_of(found)) if are_seeds else (found,), is_averaged=are_seeds)


def _find_run(files: NamedFiles, value: Any) -> Any:
    if not isinstance(value, (str, Path)):
        return value
    try:
        return files.predictions(str_of(value))
    except DataError:  # of a list of shards that cannot be read: scoring reports it
        return f"@{beside(files.config.path, files.fill(str_of(value))[1:])}"


def join_first(texts: Sequence[str]) -> str:
    """Return the first of several texts, and how many others there are."""
    return texts[0] + (f" and {counted(len(texts) - 1, 'other')}" if len(texts) > 1 else "")
