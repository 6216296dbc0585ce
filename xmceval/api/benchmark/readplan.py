"""Read the plan of a benchmark from its file, or from a dict of the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xmceval.api.benchmark.plan import BenchmarkPlan, PlannedDataset
from xmceval.api.benchmark.planning.cellchecks import check_cells
from xmceval.api.benchmark.planning.datasetoptions import Setting, blame, read_options, settings_at_top, without_lacking
from xmceval.api.benchmark.planning.namedfiles import NamedFiles
from xmceval.api.benchmark.planning.predictionfiles import ABOVE, SystemEntry, find_cells, read_systems
from xmceval.api.benchmark.planning.published import add_published, find_entry
from xmceval.errors import listed, naming_flags
from xmceval.files.text.configfile import (
    OVERRIDE,
    ConfigFile,
    header,
    read_config,
    show_value,
    suggest,
)
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

DATASET_KEYS = ("truth", "folder", "catalogue")
TABLES = ("datasets", "systems")

NO_OVERRIDES: Mapping[str, Any] = MappingProxyType({})


def read_plan(
    source: str | Path | Mapping[str, Any], *, strict: bool = False, overrides: Mapping[str, Any] = NO_OVERRIDES
) -> BenchmarkPlan:
    """Read a benchmark, find its files, and report all of its mistakes at once.

    Parameters
    ----------
    source : path or mapping
        A TOML file, or a dict of the same form, in which matrices may stand for files. Relative paths are relative to
        the file, those of a dict to the current folder.
    strict : bool
        Whether predictions that are missing are a mistake.
    overrides : mapping
        Options of scoring and of testing by name, such as ``{"against": "PECOS"}``, which replace those at the top.
        Their relative paths are relative to the current folder.
    """
    unknown = sorted(name for name in overrides if name not in {*specs(), *specs(Testing)})
    if unknown:
        raise TypeError(f"benchmark() got an unexpected option {listed(unknown)}")
    config = read_config(source)
    with naming_flags(False):  # a file has the names of Python's arguments
        plan = _read(config, overrides, strict=strict)
    config.check()
    return plan


def _read(config: ConfigFile, overrides: Mapping[str, Any], *, strict: bool) -> BenchmarkPlan:
    """Read everything; where there are mistakes, what is left of it."""
    _check_top(config)
    tables = _read_tables(config)
    systems = read_systems(config, list(tables))
    tested = [each for each in systems if not each.method]
    if systems and not tested:
        config.refuse(("systems",), "[systems] has published results only: there is nothing to score")
    top = settings_at_top(config, overrides, Options)
    datasets = [_read_dataset(config, key, table, top, tested) for key, table in tables.items()]
    testing = _read_testing(config, overrides, systems)
    if tested:
        check_cells(config, tested, datasets, strict=strict)
    measures = dict.fromkeys(measure for dataset in datasets for measure in dataset.options.measures)
    datasets = add_published(config, [_without_lacking(config, each) for each in datasets], systems)
    return BenchmarkPlan(tuple(datasets), tuple(each.name for each in systems), tuple(measures), testing, config.path)


def _check_top(config: ConfigFile) -> None:
    """Note unknown keys at the top of the file."""
    tables = [key for key in config.tables if key not in DATASET_KEYS]
    for key in config.tables:
        if key in DATASET_KEYS:
            config.refuse((key,), f"{key} belongs to a data set (hint: put it below [datasets.NAME])")
    config.check_keys((), tables, _spellings(*TABLES, of=(Options, Testing)))


def _spellings(*names: str, of: Sequence[type[Any]]) -> dict[str, str]:
    """Return what keys may be called, with the flags of the command line for what people write instead."""
    flags = {flag: name for each in of for name, spec in specs(each).items() for flag in spec.flags}
    return flags | {name: name for name in [*names, *(name for each in of for name in specs(each))]}


def _read_tables(config: ConfigFile) -> dict[str, Mapping[str, Any]]:
    """Return the tables of the data sets."""
    keys = ("datasets",)
    if not config.tables.get("datasets"):
        config.refuse(keys, 'there is no data set (hint: [datasets.NAME] with truth = "FILE")')
        return {}
    datasets = config.table(keys, config.tables["datasets"], "tables such as [datasets.NAME]")
    return {
        str(key): config.table((*keys, str(key)), table, 'a table with truth = "FILE"')
        for key, table in datasets.items()
    }


def _read_dataset(
    config: ConfigFile,
    key: str,
    table: Mapping[str, Any],
    top: Mapping[str, Setting],
    systems: Sequence[SystemEntry],
) -> PlannedDataset:
    """Read a data set; where there are mistakes in its options, they are the usual ones."""
    keys = ("datasets", key)
    is_table = not config.is_broken(keys)
    for name in (name for name in table if name in specs(Testing)):
        config.refuse((*keys, name), f"{name} is an option of the whole benchmark{ABOVE}")
    choices = _spellings(*DATASET_KEYS, of=(Options,))
    unknown = [name for name in table if name not in {*choices.values(), *specs(Testing)}]
    config.check_keys(keys, unknown, choices)
    folder = table.get("folder", key)
    if not isinstance(folder, str):
        config.refuse((*keys, "folder"), f"folder in {header(keys)} must be a string, got {show_value(folder)}")
        folder = key
    files = NamedFiles(config, folder)
    truth = None
    if "truth" in table:
        truth = files.input((*keys, "truth"), table["truth"], f"truth in {header(keys)}", may_have_shards=True)
    elif is_table and not unknown:
        config.refuse(keys, f'{header(keys)} has no truth (hint: truth = "FILE")')
    entry = find_entry(config, key, table.get("catalogue"))
    options = read_options(config, key, table, top, entry, files) or Options()
    cells = find_cells(config, systems, key, folder)
    return PlannedDataset(key, truth, options, cells, entry)


def _read_testing(config: ConfigFile, overrides: Mapping[str, Any], systems: Sequence[SystemEntry]) -> Testing:
    """Read how differences are tested; `against` becomes a shown name."""
    settings = settings_at_top(config, overrides, Testing)
    values = {name: setting.value for name, setting in settings.items()}
    against = values.get("against")
    if against is not None and systems:
        names = {each.name: each.name for each in systems if not each.method}
        names |= {each.key: each.name for each in systems if not each.method and each.key not in names}
        values["against"] = names.get(against, against)
        if against not in names:
            published = any(each.method and against in {each.name, each.key} for each in systems)
            why = "has published results only" if published else "is not one of the systems"
            config.refuse(
                settings["against"].keys,
                f"against names {against!r}, which {why}: {listed(dict.fromkeys(names.values()))}"
                f"{'' if published else suggest(against, names)}",
            )
    made = blame(
        lambda **own: Testing.of(own),
        values,
        lambda name, why: config.refuse(settings[name].keys if name else OVERRIDE, why),
    )
    return made or Testing()


def _without_lacking(config: ConfigFile, dataset: PlannedDataset) -> PlannedDataset:
    options, notes = without_lacking(config, dataset.name, dataset.options)
    return replace(dataset, options=options, notes=notes)
