"""Read a benchmark from a TOML file or a dict, and collect its mistakes together with the tables they are in."""

from __future__ import annotations

import difflib
import glob
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from xmceval.errors import DataError, XmcevalError, describe_type
from xmceval.files.io.addresses import redacted, shown
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes
from xmceval.files.shards import find_beside

Keys: TypeAlias = tuple[str, ...]  # path of a table from the top of the file; () is the top itself

PLACEHOLDER = "{dataset}"

_QUOTES = " (hint: write text in quotes, paths with backslashes in single ones)"


@dataclass(frozen=True)
class Config:
    """The tables of a benchmark file, and the mistakes noted so far."""

    tables: Mapping[str, Any]
    path: Path | None = None  # None for a dict, which may have matrices instead of files
    mistakes: list[str] = field(default_factory=list)

    def refuse(self, keys: Keys, message: str) -> None:
        """Note a mistake in a table, with the credentials in addresses removed."""
        place = str(self.path or "")
        if keys:
            place = f"{place} [{'.'.join(map(quote_key, keys))}]".lstrip()
        if place:
            message = f"{place}: {message}"
        self.mistakes.append(redacted(message))

    @contextmanager
    def noting(self, keys: Keys) -> Iterator[None]:
        """Note an error about an option or a file as a mistake in a table."""
        try:
            yield
        except XmcevalError as error:
            self.refuse(keys, str(error))

    def check(self) -> None:
        """Report all mistakes together."""
        if self.mistakes:
            raise DataError(*dict.fromkeys(self.mistakes))

    def table(self, keys: Keys, value: Any, expected: str) -> Mapping[str, Any]:
        """Return a value that is a table; note anything else as a mistake, and return an empty table."""
        if isinstance(value, Mapping):
            return {str(key): entry for key, entry in value.items()}
        self.refuse(keys[:-1], f"{keys[-1]} must be {expected}, got {show(value)}")
        return {}

    def check_keys(self, keys: Keys, table: Iterable[str], choices: Iterable[str]) -> None:
        """Note keys of a table that are not among the choices."""
        known = list(choices)
        for key in table:
            if key not in known:
                self.refuse(keys, f"unknown key {key!r}{suggest(key, known)}")

    def find_file(self, path: str | Path, folder: str) -> Any:
        """Return the path of a file, or the Shards of a pattern or ``@LIST``; `folder` stands for ``{dataset}``."""
        text = getattr(to_path(path), "address", str(path))  # includes the credentials that str() leaves out
        is_pattern = glob.has_magic(text)
        file = find_beside(self.path, text.replace(PLACEHOLDER, glob.escape(folder) if is_pattern else folder))
        if file is None:
            name = text.replace(PLACEHOLDER, folder)
            raise DataError(f"no file {'matches ' * is_pattern}{shown(name)}{'' if name.isprintable() else _QUOTES}")
        return file

    def is_matrix(self, value: Any) -> bool:
        """Return whether a value may be a matrix in memory, which only a dict can hold."""
        plain = (bool, int, float, str, Path, Mapping, type(None))
        return self.path is None and not isinstance(value, plain) and not are_paths(value)


def is_path(value: Any) -> bool:
    """Return whether a value is a non-empty path."""
    return isinstance(value, (str, Path)) and str(value) != ""


def are_paths(value: Any) -> bool:
    """Return whether a value is a list of paths."""
    return isinstance(value, (list, tuple)) and bool(value) and all(map(is_path, value))


def quote_key(key: str) -> str:
    """Return a key as TOML writes it."""
    if re.fullmatch(r"[A-Za-z0-9_-]+", key):
        return key
    return quote(key)


def quote(value: str | list[str]) -> str:
    """Return a string, or a list of strings, as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


def suggest(word: str, choices: Iterable[str]) -> str:
    """Return a hint that names the choice most similar to a word, or an empty string."""
    by_spelling = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower().strip("-").replace("-", "_"), by_spelling, 1)
    return "".join(f" (hint: {by_spelling[spelling]})" for spelling in near)


def show(value: Any) -> str:
    """Format a value for a message."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float, str)):
        return repr(value)
    return describe_type(value)


def read_config(source: str | Path | Mapping[str, Any]) -> Config:
    """Read a TOML file, local or remote; a dict is used unchanged."""
    if isinstance(source, Mapping):
        return Config(source)
    path = to_path(source)
    content = read_all_bytes(path)
    try:
        return Config(tomllib.loads(content.decode("utf-8-sig")), path)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"at line (\d+)", str(error))
        place = f"{path}:{position[1]}" if position else path
        words = str(error).partition(" (at ")[0]
        hint = _QUOTES if re.match("Invalid|Unescaped", words) else ""
        raise DataError(f"{place}: is not valid TOML: {words}{hint}") from None
