"""Base class of results that print() and notebooks show as a table, with a short repr."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

from xmceval.report.forms.layout import DEFAULT, WIDTH, Layout

LONGEST_NAME = 24  # of a system, in a repr


class Displayed:
    """Base class of objects that ``print()`` and notebooks show as a table, and a shell in a few lines."""

    __slots__ = ()

    @abstractmethod
    def _render(self, form: str, layout: Layout) -> str:
        """Write it in one of the FORMS."""

    @abstractmethod
    def _describe(self) -> tuple[str, ...]:
        """Return the lines of the repr: what it is, its main numbers, how to see more."""

    def __str__(self) -> str:
        return self._render("table", DEFAULT)

    def __repr__(self) -> str:
        return "<{}>".format("\n ".join(self._describe()))

    def _repr_html_(self) -> str:
        return self._render("html", DEFAULT)


def render(thing: Displayed, form: str, layout: Layout = DEFAULT) -> str:
    """Write what can be displayed in one of the FORMS."""
    return thing._render(form, layout)


def fit_line(items: Iterable[str], total: int, separator: str = ", ") -> str:
    """Join as many items as fit on a line of a repr; `total` counts them and those that were not even listed."""
    line, n = "", 0
    for item in items:
        longer = f"{line}{separator}{item}" if line else item
        if line and len(longer) + len(f"{separator}and {total:,} more") > WIDTH - 1:
            break
        line, n = longer, n + 1
    return line + (f"{separator}and {total - n:,} more" if n < total else "")


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten the name of a system for a repr to its end, of a path to whole parts, without what would break the line.

    Examples
    --------
    >>> shorten("results/wiki10/predictions.txt"), shorten("a" * 30)
    ('.../predictions.txt', '...aaaaaaaaaaaaaaaaaaaaa')
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(plain) <= longest:
        return plain
    end = plain[3 - longest :]
    _, separator, parts = end.partition("/")
    return f".../{parts}" if separator and parts else f"...{end}"


def join_facts(what: str, facts: Iterable[str], name: str = "{}") -> str:
    """Join what a report is of and the facts on it to the first line of a repr; a name fills the room that is left."""
    rest = f"{what}: {', '.join(fact for fact in facts if fact)}"
    return rest.replace("{}", shorten(name, max(LONGEST_NAME, WIDTH - len(rest) + 1)))
