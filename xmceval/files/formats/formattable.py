"""FORMATS: the formats of files that are read, by name; what is opened refers to one of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.files.formats.arrayformats import ARRAYS
from xmceval.files.formats.format import Format
from xmceval.files.formats.recordformats import HELD, RANKING
from xmceval.files.formats.sidecarformats import BESIDE
from xmceval.files.formats.textformats import TEXT

FORMATS: Mapping[str, Format] = MappingProxyType(
    {each.name: each for each in (*TEXT, *HELD, *RANKING, *ARRAYS, *BESIDE)}
)


def list_tools() -> list[str]:
    """Return the tools that write files of some format, sorted."""
    return sorted({tool for each in FORMATS.values() for tool in each.tools}, key=str.lower)


def find_formats(word: str) -> tuple[str, dict[str, Format]]:
    """Find a format by its name, or all formats of a tool, in any case and with any dashes.

    Of a format and a tool of one name, such as fasttext and fastText, the one is found that is written like the word.

    Returns
    -------
    name : str
        The name of the format or of the tool.
    formats : dict of str to Format

    Raises
    ------
    UsageError
        A word that is neither.
    """
    tools = list_tools()
    names = {_normalize(name): name for name in [*tools, *FORMATS]}
    name = word if word in tools else names.get(_normalize(word))
    if name is None:
        near = difflib.get_close_matches(_normalize(word), names, 1)
        hint = f" (did you mean {names[near[0]]}?)" if near else ""
        raise UsageError(f"unknown format or tool {word!r}{hint}; expected a tool, or one of {listed(FORMATS)}")
    if name in FORMATS:
        return name, {name: FORMATS[name]}
    return name, {each.name: each for each in FORMATS.values() if name in each.tools}


def _normalize(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum() or letter == "+")
