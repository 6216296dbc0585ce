"""NamedList: a list that a command prints whole, or some entries of it in detail, in each form of ``-o``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

from xmceval.report.forms.columns import align_terms, wrap_text
from xmceval.report.forms.layout import WIDTH
from xmceval.report.forms.registry import render_listings
from xmceval.report.sheet.model import Listing

# By command; each module has its LIST.
LISTS: Mapping[str, str] = MappingProxyType(
    {
        "metrics": "xmceval.report.listings.metriclist",
        "datasets": "xmceval.report.listings.datasetlist",
    }
)


@dataclass(frozen=True)
class NamedList:
    """How a list is written; functions of entries get those that were named, or none for the whole list.

    Attributes
    ----------
    find : callable
        Returns the entries of some names.
    table : callable
        Writes the whole list for people; texts are wrapped at a width.
    detail : callable
        Writes one entry for people, at a width.
    written : mapping of str to callable
        The forms that are text of the entries.
    listings : callable
        Returns what the other forms for people draw.
    """

    find: Callable[[Sequence[str]], list[Any]]
    table: Callable[[int], str]
    detail: Callable[[Any, int], str]
    written: Mapping[str, Callable[[list[Any]], str]]
    listings: Callable[[list[Any]], Iterable[Listing]]

    def write(self, names: Sequence[str], form: str, width: int) -> str:
        """Write the list, or the entries of some names in detail."""
        entries = self.find(names)
        if form in self.written:
            return self.written[form](entries)
        if form != "table":
            return render_listings(form, list(self.listings(entries)))
        return "\n".join(self.detail(entry, width) for entry in entries) if entries else self.table(width)


def write_list(command: str, names: Sequence[str], form: str, width: int = WIDTH) -> str:
    """Write the list of a command, or the entries of some names in detail, in one of its forms."""
    own: NamedList = import_module(LISTS[command]).LIST
    return own.write(names, form, width)


def write_entry(title: str, facts: Iterable[tuple[str, str]], width: int, rest: Iterable[str] = ()) -> str:
    """Write an entry in detail: its title, the facts on it, each with its term, and further lines."""
    lines = (f"  {line}" for line in align_terms(list(facts), width - 2))
    return "\n".join([*wrap_text(title, width), *lines, *rest]) + "\n"
