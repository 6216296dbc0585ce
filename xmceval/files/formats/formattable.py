"""KNOWN: the formats of files that are read, by name; the readers take from it how they call them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from types import MappingProxyType

from xmceval.errors import UsageError, listed
from xmceval.files.formats.arrayformats import ARRAYS
from xmceval.files.formats.format import Known
from xmceval.files.formats.recordformats import HELD, RANKING
from xmceval.files.formats.sidecarformats import BESIDE
from xmceval.files.formats.textformats import TEXT

KNOWN: Mapping[str, Known] = MappingProxyType({**TEXT, **HELD, **RANKING, **ARRAYS, **BESIDE})


def title_of(name: str) -> str:
    """Return how readers begin to describe a file of a format."""
    return KNOWN[name].title


def list_tools() -> list[str]:
    """Return the tools that write files of some format, sorted."""
    return sorted({tool for each in KNOWN.values() for tool in each.tools}, key=str.lower)


def find_known(word: str) -> tuple[str, dict[str, Known]]:
    """Find a format by its name, or all formats of a tool, in any case and with any dashes.

    Of a format and a tool of one name, such as fasttext and fastText, the one is found that is written like the word.

    Returns
    -------
    name : str
        The name of the format or of the tool.
    formats : dict of str to Known

    Raises
    ------
    UsageError
        A word that is neither.
    """
    tools = list_tools()
    names = {_normalize(name): name for name in [*tools, *KNOWN]}
    name = word if word in tools else names.get(_normalize(word))
    if name is None:
        near = difflib.get_close_matches(_normalize(word), names, 1)
        hint = f" (did you mean {names[near[0]]}?)" if near else ""
        raise UsageError(f"unknown format or tool {word!r}{hint}; expected a tool, or one of {listed(KNOWN)}")
    if name in KNOWN:
        return name, {name: KNOWN[name]}
    return name, {each: known for each, known in KNOWN.items() if name in known.tools}


def _normalize(word: str) -> str:
    return "".join(letter for letter in word.lower() if letter.isalnum() or letter == "+")
