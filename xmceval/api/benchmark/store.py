"""Store: the results of a benchmark that are kept beside its file, so that only what changed is scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from xmceval.api.benchmark.dependencies import Dependencies, digest_source, find_dependencies
from xmceval.api.benchmark.plan import PlannedDataset
from xmceval.errors import DataError, counted
from xmceval.files.io.paths import to_path
from xmceval.files.saved.inputdigests import InputDigests
from xmceval.files.saved.keptfiles import CELLS, COMPARISONS, KeptFiles

FOLDER = ".xmceval"
DIGESTS, LATEST = "inputs.jsonl", "latest.jsonl"

Keys = Mapping[str, Sequence[str | None]]


class Store:
    """Kept results: for each run of a system a file, for each data set its finished comparison.

    Parameters
    ----------
    folder : path
        It is made if it does not exist.
    file : str
        The name of the benchmark's file: of each, the folder remembers what its cells last depended on.
    verify : bool
        Read all inputs, and do not go by their dates.

    Raises
    ------
    DataError
        A remote folder, or one that cannot be written to.
    """

    def __init__(self, folder: str | Path, *, file: str = "", verify: bool = False) -> None:
        self._kept = KeptFiles(to_path(folder))
        self._file = file
        self._digests = InputDigests(self._read(DIGESTS), verify=verify)
        self._latest: dict[str, Any] = self._read(LATEST)
        self._found: dict[str, dict[str, tuple[Dependencies | None, ...]]] = {}
        self._changes: dict[str, dict[str, str]] = {}
        self._used = set[Path]()

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._kept.folder

    @property
    def n_bytes(self) -> int:
        """The size of all that is kept."""
        return self._kept.n_bytes

    @cached_property
    def _source(self) -> str:
        return digest_source(self._digests)

    def find_keys(self, dataset: PlannedDataset) -> dict[str, tuple[str | None, ...]]:
        """Return the key of each run by system; None for what cannot be kept, as where an input cannot be read.

        Inputs that may have changed are read, in threads.
        """
        source = self._source
        self._digests.begin()
        found = find_dependencies(dataset, self._digests, source, self.folder.parent)
        self._found[dataset.name] = found
        self._changes[dataset.name] = {system: self._list_changes(dataset.name, system) for system in found}
        keys = {system: tuple(None if each is None else each.key for each in runs) for system, runs in found.items()}
        self._used.update(self.cell_path(key) for runs in keys.values() for key in runs if key is not None)
        return keys

    def explain(self, dataset: str, system: str) -> str:
        """Return what has changed since a cell was last scored: ``runs/ours.npz changed``, ``new``, or nothing."""
        return self._changes.get(dataset, {}).get(system, "")

    def _list_changes(self, dataset: str, system: str) -> str:
        before = self._latest.get(self._file, {}).get(dataset, {}).get(system)
        if before is None:
            return "new"
        runs = self._found[dataset][system]
        pairs = [(own, old) for own, old in zip(runs, before, strict=False) if own is not None and old is not None]
        changes = list(dict.fromkeys(change for own, old in pairs for change in own.differences(old)))
        if len(runs) != len(before):
            changes.append(f"{len(runs)} instead of {counted(len(before), 'run')}")
        return ", ".join(changes)

    def cell_path(self, key: str) -> Path:
        """Return where the file of a run is, or is to be written, beside which a temporary file may be."""
        return self._kept.path(CELLS, key)

    def has_cell(self, key: str | None) -> bool:
        """Return whether a run is kept; what its reader finds damaged is to be discarded."""
        return key is not None and self._kept.has_archive(self.cell_path(key))

    def discard(self, keys: Sequence[str | None]) -> None:
        """Forget kept runs."""
        for key in keys:
            if key is not None:
                self._kept.remove(self.cell_path(key))

    def has_same_inputs(self) -> bool:
        """Return whether no local input has changed since the last keys were found.

        Else what was scored meanwhile is not what the keys say, and is to be discarded.
        """
        return self._digests.are_same()

    def load_comparison(self, key: str | None) -> dict[str, Any] | None:
        """Return the document of a comparison; None where it is not kept, or damaged."""
        if key is None:
            return None
        path = self._kept.path(COMPARISONS, key)
        self._used.add(path)
        document: dict[str, Any] | None = self._kept.read(path)
        return document

    def save_comparison(self, key: str | None, document: Mapping[str, Any]) -> None:
        """Keep a finished comparison.

        Raises
        ------
        DataError
            It cannot be written, as on a full disk.
        """
        if key is not None:
            path = self._kept.path(COMPARISONS, key)
            self._used.add(path)
            self._kept.write(path, document)

    def finish_dataset(self, dataset: PlannedDataset) -> None:
        """Record what its cells depend on now, and the digests of inputs that were read.

        Raises
        ------
        DataError
            It cannot be written.
        """
        runs_of = {system: runs for system, runs in self._found[dataset.name].items() if runs}
        found = {system: [each and each.to_dict() for each in runs] for system, runs in runs_of.items()}
        own = self._latest.setdefault(self._file, {})
        latest = {**own.get(dataset.name, {}), **found}
        if own.get(dataset.name) != latest:
            own[dataset.name] = latest
            others = self._read(LATEST)
            others.setdefault(self._file, {})[dataset.name] = latest
            self._kept.write(self.folder / LATEST, others)
        if self._digests.is_changed:
            self._kept.write(self.folder / DIGESTS, {**self._read(DIGESTS), **self._digests.records})
            self._digests.is_changed = False

    def finish(self, *, prune: bool = False) -> None:
        """After a complete run, remove what was not used for 30 days, or with `prune` all that it did not use."""
        with suppress(DataError):
            self._kept.sweep(self._used, prune=prune)

    def _read(self, name: str) -> dict[str, Any]:
        document = self._kept.read(self.folder / name)
        return document if isinstance(document, dict) else {}
