"""Files that a benchmark names: relative to its own file, and with the folder of a data set filled in."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.files.io.addresses import shown
from xmceval.files.io.paths import beside, to_path
from xmceval.files.io.presence import is_present
from xmceval.files.io.shardfiles import find_beside
from xmceval.files.text.configfile import (
    OVERRIDE,
    ConfigFile,
    Keys,
    describe_escape,
    has_escapes,
    show_value,
    unescape,
)
from xmceval.rows.shards import Shards

PLACEHOLDER = "{dataset}"


@dataclass(frozen=True)
class NamedFiles:
    """The files that a benchmark names for one data set; `folder` stands for ``{dataset}`` in their names."""

    config: ConfigFile
    folder: str

    def fill(self, name: str) -> str:
        """Return a name with the folder of the data set in it."""
        return name.replace(PLACEHOLDER, self.folder)

    def _search(self, file: Path | None, name: str) -> Any:
        """Return the path or shards of a name, in which the folder is no pattern; None if there are no such files."""
        folder = glob.escape(self.folder) if glob.has_magic(name) else self.folder
        return find_beside(file, name.replace(PLACEHOLDER, folder))

    def input(self, keys: Keys, value: Any, what: str, *, may_have_shards: bool = False) -> Any:
        """Return an input of a data set: a path that exists, shards, or a matrix; None where it is a mistake.

        `keys` are OVERRIDE for what is relative to the current folder; `what` begins the messages.
        """
        if isinstance(value, (str, Path)) and value != "":
            return self._find(keys, str_of(value), what, may_have_shards=may_have_shards)
        if may_have_shards and are_names(value):
            parts = [self._find(keys, str_of(each), what, may_have_shards=False) for each in value]
            return None if None in parts else Shards(parts)
        if not self.is_matrix(value):
            self.config.refuse(keys, f"{what} must be a path{' or a list of paths' * may_have_shards}, "
                                     f"got {show_value(value)}")  # fmt: skip
            return None
        return value

    def is_matrix(self, value: Any) -> bool:
        """Return whether a value may be a matrix in memory: a TOML file has none."""
        return self.config.path is None and not isinstance(value, (bool, int, float, str, Path, Mapping, type(None)))

    def _find(self, keys: Keys, name: str, what: str, *, may_have_shards: bool) -> Any:
        if not self.is_readable(keys, name):
            return None
        file = None if keys == OVERRIDE else self.config.path
        try:
            found = self._search(file, name) if may_have_shards else _find_one(file, self.fill(name))
        except DataError as error:
            self.config.refuse(keys, f"{what}: {error}")
            return None
        if found is None:
            self.config.refuse(keys, f"{what}: {describe_absence(self.fill(name))}")
        return found

    def is_readable(self, keys: Keys, name: str) -> bool:
        """Return whether a name has no control characters, which are a mistake."""
        if has_escapes(name):
            self.config.refuse(keys, describe_escape(unescape(name)))
        return not has_escapes(name)

    def predictions(self, name: str) -> Any:
        """Return the path or shards of predictions; None if there are no such files."""
        return self._search(self.config.path, name)


def _find_one(file: Path | None, name: str) -> Path | None:
    path = beside(file, name)
    return path if is_present(path) else None


def describe_absence(name: str) -> str:
    """Return that there is no file of a name, or none that matches a pattern: ``no file runs/eurlex4k/br.npz``."""
    return f"no file {'matches ' * glob.has_magic(name)}{shown(name)}"


def are_names(value: Any) -> bool:
    """Return whether a value is a list of paths."""
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(each, (str, Path)) and each != "" for each in value)
    )


def str_of(name: str | Path) -> str:
    """Return a path as text, with the credentials of an address."""
    return getattr(to_path(name), "address", str(name))
