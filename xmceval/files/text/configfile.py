"""TOML files: their tables, the line of each key, and the mistakes that are found in them."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from xmceval.errors import DataError, UsageError
from xmceval.files.io.addresses import redacted
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes

Keys: TypeAlias = tuple[str, ...]  # of a table or a value, from the top of the file on

OVERRIDE: Keys = ()  # the place of what was passed beside the file

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_WORD = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED = rf"{_WORD}(?:\s*\.\s*{_WORD})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")
_DECLARED = re.compile(r"Cannot declare \((.*)\) twice")
_QUOTED = re.compile(r"'([^']*)'")
_REWORDED = MappingProxyType(
    {
        "Cannot overwrite a value": "this key is there twice",
        "Invalid value": "invalid value (hint: write text in quotes)",
    }
)
_ESCAPED = re.compile(r'"([^"]*\\[^"]*)"')
_ESCAPES = MappingProxyType({"\b": r"\b", "\t": r"\t", "\n": r"\n", "\f": r"\f", "\r": r"\r", "\x1b": r"\e"})


@dataclass(frozen=True)
class ConfigFile:
    """The tables of a TOML file, or of a dict that stands for one, and where each of their keys is written.

    Attributes
    ----------
    tables : mapping
    path : Path or None
        None for a dict.
    lines : mapping of Keys to int
        The lines of the keys that are written once.
    mistakes : list of (Keys, str)
        Those that were found so far.
    """

    tables: Mapping[str, Any]
    path: Path | None = None
    lines: Mapping[Keys, int] = field(default_factory=dict)
    mistakes: list[tuple[Keys, str]] = field(default_factory=list)

    def refuse(self, keys: Keys, message: str) -> None:
        """Note a mistake in the value of a key, to be reported with all others, without credentials of addresses."""
        self.mistakes.append((keys, redacted(message)))

    def is_broken(self, keys: Keys) -> bool:
        """Return whether there is a mistake in a table, so that what follows from it is none of its own."""
        return any(place[: len(keys)] == keys for place, _ in self.mistakes)

    def check(self) -> None:
        """Report all mistakes, in the order of their lines."""
        if not self.mistakes:
            return
        lines = {keys: self._find_line(keys) for keys, _ in self.mistakes}
        ordered = sorted(self.mistakes, key=lambda mistake: lines[mistake[0]] or sys.maxsize)
        places = {keys: self.place(keys) for keys in lines}
        messages = dict.fromkeys(f"{places[keys]}: {message}" if places[keys] else message for keys, message in ordered)
        kind = UsageError if all(keys == OVERRIDE for keys in lines) else DataError
        raise kind(*messages)

    def place(self, keys: Keys) -> str:
        """Return where a key is written, such as ``benchmark.toml:12``; empty for a dict, or what was passed."""
        if self.path is None or keys == OVERRIDE:
            return ""
        line = self._find_line(keys)
        return f"{self.path}:{line}" if line else str(self.path)

    def _find_line(self, keys: Keys) -> int:
        """Return the line of a key, of the first within its table, or of what it is within; 0 if there is none."""
        if not keys:
            return 0
        inside = [line for path, line in self.lines.items() if path[: len(keys)] == keys]
        return self.lines.get(keys) or min(inside, default=0) or self._find_line(keys[:-1])

    def table(self, keys: Keys, value: Any, expected: str) -> Mapping[str, Any]:
        """Return a value that is a table; anything else is a mistake, and stands for an empty one."""
        if isinstance(value, Mapping):
            return value
        self.refuse(keys, f"{'.'.join(keys)} must be {expected}, got {show_value(value)}")
        return {}

    def check_keys(self, keys: Keys, table: Iterable[str], choices: Iterable[str] | Mapping[str, str]) -> None:
        """Note the keys of a table that are none of the choices; a mapping says what other spellings of them mean."""
        known = set(choices.values()) if isinstance(choices, Mapping) else set(choices)
        for key in (str(key) for key in table):
            if key not in known:
                place = f"in {header(keys)}" if keys else "at the top"
                self.refuse((*keys, key), f"unknown key {key!r} {place}{suggest(key, choices)}")


def header(keys: Keys) -> str:
    """Return the header of a table: ``[datasets.Bibtex]``."""
    return f"[{'.'.join(key if _BARE.match(key) else repr(key) for key in keys)}]"


def suggest(word: str, choices: Iterable[str] | Mapping[str, str]) -> str:
    """Return the hint at the choice that is most like a word; a mapping says what each spelling means."""
    spellings = dict(choices) if isinstance(choices, Mapping) else {each: each for each in choices}
    by_key = {_plain(each): meaning for each, meaning in spellings.items()}
    near = difflib.get_close_matches(_plain(word), by_key, 1)
    return f" (hint: {by_key[near[0]]})" if near else ""


def _plain(word: str) -> str:
    return word.lower().strip("-").replace("-", "_")


def show_value(value: Any) -> str:
    """Return a value for a message."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and not value:
        return "an empty list"
    return repr(value) if isinstance(value, (int, float, str)) else f"a {type(value).__name__}"


def read_config(source: str | Path | Mapping[str, Any]) -> ConfigFile:
    """Read a TOML file, local or remote; a dict is taken as it is."""
    if isinstance(source, Mapping):
        return ConfigFile(source)
    path = to_path(source)
    content = read_all_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}:{line}: is not UTF-8 text") from None
    return ConfigFile(_parse(text, path), path, _find_lines(text))


def _parse(text: str, path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, found = _PLACE.sub("", str(error)), _PLACE.search(str(error))
        if found is None or not found[1]:
            raise DataError(f"{path}: {_uncapitalized(message)}") from None
        number, column = int(found[1]), int(found[2])
        strings = _ESCAPED.finditer(text.split("\n")[number - 1])
        written = next((each[1] for each in strings if each.start() < column <= each.end() + 1), None)
        message = _reworded(message) if written is None else redacted(describe_escape(written))
        hint = (
            " (hint: is this a TOML file? xmceval/guide/benchmark.md has an example)" if path.suffix != ".toml" else ""
        )
        raise DataError(f"{path}:{number}: {message}{hint}") from None


def _uncapitalized(text: str) -> str:
    return text[:1].lower() + text[1:]


def _reworded(message: str) -> str:
    """Return a message of the TOML reader as one who does not know its parts would read it."""
    table = _DECLARED.fullmatch(message)
    if table:
        return f"{header(tuple(re.findall(_QUOTED, table[1])))} is there twice"
    return _REWORDED.get(message, _uncapitalized(message))


def describe_escape(text: str) -> str:
    """Return the message on a backslash in double quotes, for a text as it is written."""
    return (
        f'"{text}": a backslash in double quotes begins an escape '
        f"(hint: write '{text}' or \"{text.replace(chr(92), '/')}\")"
    )


def has_escapes(text: str) -> bool:
    """Return whether a text has control characters, which no path has on purpose."""
    return not _ESCAPES.keys().isdisjoint(text)


def unescape(text: str) -> str:
    """Return a text as it was written in double quotes."""
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def _find_lines(text: str) -> Mapping[Keys, int]:
    """Return the line of each key and header, as far as lines show them; none of those that are written twice."""
    lines: dict[Keys, list[int]] = {}
    table: Keys = ()
    for number, line in enumerate(text.split("\n"), 1):
        heading, key = _HEADER.match(line), _KEY.match(line)
        if heading:
            table = _split_keys(heading[1])
            lines.setdefault(table, []).append(number)
        elif key:
            lines.setdefault((*table, *_split_keys(key[1])), []).append(number)
    return {keys: places[0] for keys, places in lines.items() if len(places) == 1}


def _split_keys(text: str) -> Keys:
    """Return the keys of ``a."b c".d``."""
    try:
        value: Any = tomllib.loads(f"{text} = 0")
    except tomllib.TOMLDecodeError:
        return (text,)
    keys = list[str]()
    while isinstance(value, dict):
        [(key, value)] = value.items()
        keys.append(key)
    return tuple(keys)
