"""Base classes of what print() shows: Displayed, as text; Tabular, in several forms; Renderable, pictures too."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, Unpack, overload

from xmceval.errors import counted
from xmceval.report.forms import load_form
from xmceval.report.forms.data import Record, write_document, write_lines
from xmceval.report.sheet import DEFAULT, WIDTH, Layout, Sheet, transpose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST_NAME = 24  # of a system, in a repr


class Displayed:
    """Base class of objects that ``print()`` shows as text, and a shell in a few lines."""

    __slots__ = ()

    @abstractmethod
    def __str__(self) -> str:
        """Write it as text."""

    @abstractmethod
    def _describe(self) -> tuple[str, ...]:
        """Return the lines of the repr: what it is, its main numbers, and how to see more."""

    def __repr__(self) -> str:
        return "<{}>".format("\n ".join(self._describe()))


# Keywords of the methods that write forms, for the overloads by path: a text is returned only without one.
class TableWords(TypedDict, total=False):  # noqa: D101 - documented by the methods
    places: int | None
    percent: bool | None
    intervals: bool | None
    pairs: bool
    force: bool


class MarkdownWords(TableWords, total=False):  # noqa: D101
    transpose: bool


class LatexWords(MarkdownWords, total=False):  # noqa: D101
    caption: str | None
    label: str | None


class PageWords(TableWords, total=False):  # noqa: D101
    title: str | None


class Tabular(Displayed):
    """Base class of objects that can be written in several forms: as text, and as tables of other programs."""

    __slots__ = ()

    _columns: ClassVar[Sequence[str]]  # of CSV

    @abstractmethod
    def _sheet(self, layout: Layout) -> Sheet:
        """Return the sheet that tables for people show."""

    @abstractmethod
    def _records(self) -> Record:
        """Return the JSON document."""

    @abstractmethod
    def _lines(self) -> Iterator[Record]:
        """Yield the lines of CSV and frames."""

    def __str__(self) -> str:
        return self._render("table")

    def _repr_html_(self) -> str:
        return self._render("html")

    def _render(self, form: str, layout: Layout = DEFAULT) -> str:
        """Write it in one of the FORMS."""
        if form == "json":
            return write_document(self._records())
        if form == "csv":
            return write_lines(self._columns, self._lines())
        if form == "latex":  # only the table of a paper, unless more is asked for
            layout = replace(layout, intervals=bool(layout.intervals))
        sheet = self._sheet(layout)
        if layout.transpose:
            sheet = transpose(sheet)
        return str(load_form(form).draw(sheet))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as dicts and lists."""
        document: dict[str, Any] = json.loads(self._render("json"))
        return document

    @overload
    def to_json(self, path: None = None) -> str: ...
    @overload
    def to_json(self, path: str | Path, *, force: bool = False) -> None: ...
    def to_json(self, path: str | Path | None = None, *, force: bool = False) -> str | None:
        """Return everything as JSON, in full precision and with all definitions.

        Parameters
        ----------
        path : path, optional
            A file to write instead.
        force : bool
            Overwrite the file.

        Raises
        ------
        UsageError
            A file that exists, without `force`.
        """
        return _put(self._render("json"), path, force=force)

    @overload
    def to_csv(self, path: None = None) -> str: ...
    @overload
    def to_csv(self, path: str | Path, *, force: bool = False) -> None: ...
    def to_csv(self, path: str | Path | None = None, *, force: bool = False) -> str | None:
        """Return the numbers as CSV, one per line, in full precision.

        Parameters
        ----------
        path, force : optional
            As in `to_json`.
        """
        return _put(self._render("csv"), path, force=force)

    @overload
    def to_markdown(self, path: None = None, **layout: Unpack[MarkdownWords]) -> str: ...
    @overload
    def to_markdown(self, path: str | Path, **layout: Unpack[MarkdownWords]) -> None: ...
    def to_markdown(
        self,
        path: str | Path | None = None,
        *,
        places: int | None = None,
        percent: bool | None = None,
        intervals: bool | None = None,
        transpose: bool = False,
        pairs: bool = False,
        force: bool = False,
    ) -> str | None:
        """Return a Markdown table.

        Parameters
        ----------
        path : path, optional
            A file to write instead.
        places : int, optional
            Decimal places; default 2, and 4 of fractions.
        percent : bool, optional
            Whether shares are in percent, else they are fractions; default True, but False where rows are queries.
        intervals : bool, optional
            Whether to show the half width of the 95% interval of each value; default True, but False for a benchmark.
        transpose : bool
            Whether systems are columns and metrics are lines; not for a benchmark.
        pairs : bool
            Whether a comparison shows each run, and lists of the differences of pairs.
        force : bool
            Overwrite the file.

        Raises
        ------
        UsageError
            A file that exists, without `force`.
        """
        layout = Layout(places=places, percent=percent, intervals=intervals, transpose=transpose, pairs=pairs)
        return _put(self._render("md", layout), path, force=force)

    @overload
    def to_latex(self, path: None = None, **layout: Unpack[LatexWords]) -> str: ...
    @overload
    def to_latex(self, path: str | Path, **layout: Unpack[LatexWords]) -> None: ...
    def to_latex(
        self,
        path: str | Path | None = None,
        *,
        places: int | None = None,
        percent: bool | None = None,
        intervals: bool | None = False,
        transpose: bool = False,
        pairs: bool = False,
        caption: str | None = None,
        label: str | None = None,
        force: bool = False,
    ) -> str | None:
        r"""Return a LaTeX table for a document that loads booktabs.

        Parameters
        ----------
        path, places, percent : optional
            As in `to_markdown`.
        intervals, transpose, pairs : bool
            As in `to_markdown`; intervals and lists are left out unless they are asked for.
        caption, label : str, optional
            The caption, itself LaTeX, and the ``\label`` of the table.
        force : bool
            As in `to_markdown`.
        """
        layout = Layout(
            places=places,
            percent=percent,
            intervals=intervals,
            transpose=transpose,
            pairs=pairs,
            caption=caption,
            label=label,
        )
        return _put(self._render("latex", layout), path, force=force)


class Renderable(Tabular):
    """Base class of objects that can also be drawn as pictures and as a page."""

    __slots__ = ()

    @property
    @abstractmethod
    def _subject(self) -> tuple[Sequence[Any], Any]:
        """The results that are shown, and the comparison of them or None."""

    @overload
    def to_html(self, path: None = None, **layout: Unpack[PageWords]) -> str: ...
    @overload
    def to_html(self, path: str | Path, **layout: Unpack[PageWords]) -> None: ...
    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        places: int | None = None,
        percent: bool | None = None,
        intervals: bool | None = None,
        pairs: bool = True,
        force: bool = False,
    ) -> str | None:
        """Return a page with tables, pictures and definitions that needs nothing else.

        ``--page`` of the command adds the files that were read, with their SHA-256, and the command.

        Parameters
        ----------
        path : path, optional
            A file to write instead.
        title : str, optional
            Default: the names of the systems and of the data set.
        places, percent, intervals, pairs, force : optional
            As in `to_markdown`.

        Raises
        ------
        DataError
            matplotlib is not installed.
        """
        layout = Layout(places=places, percent=percent, intervals=intervals, pairs=pairs)
        return _put(load_form("page").render_page(*self._subject, title=title, layout=layout), path, force=force)

    def plot(
        self,
        kind: str | None = None,
        *,
        metrics: str | Iterable[str] | None = None,
        size: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw a picture; needs matplotlib.

        Parameters
        ----------
        kind : {"curves", "bins", "differences"}, optional
            Default: differences for a comparison, else bins if there are any, else curves.
        metrics : str or iterable of str, optional
            Only these, such as ``"P,PSP"`` or ``["P@5"]``.
        size : {"column", "page"}, optional
            As wide as a column of a paper (3.3 inches) or its page (6.9 inches); default a page for several panels.
        ax : Axes, optional
            Draw there, for pictures of one panel.

        Returns
        -------
        matplotlib.figure.Figure
            ``figure.axes`` are the panels; `xmceval.report.pictures.save` writes files that are the same each time.

        Raises
        ------
        UsageError
            The kind cannot show this.
        DataError
            matplotlib is not installed.
        """
        figure: Figure = load_form("picture").plot(*self._subject, kind, metrics=metrics, size=size, ax=ax)
        return figure


def _put(text: str, path: str | Path | None, *, force: bool) -> str | None:
    """Return a text, or write it to a file."""
    if path is None:
        return text
    from xmceval.files.io.write import write_output  # not loaded by lists

    write_output(path, text, force=force)
    return None


def render(thing: Tabular, form: str, layout: Layout = DEFAULT) -> str:
    """Write an object in one of the FORMS."""
    return thing._render(form, layout)


def fit_line(items: Iterable[str], total: int, separator: str = ", ") -> str:
    """Join as many items as fit on a line of a repr; `total` also counts items that were not passed."""
    shown = list[str]()
    for item in items:
        line = separator.join([*shown, item, f"and {total:,} more"])
        if shown and len(line) > WIDTH - 1:
            break
        shown.append(item)
    if len(shown) < total:
        shown.append(f"and {total - len(shown):,} more")
    return separator.join(shown)


def shorten(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten the name of a system for a repr: keep its end, of a path whole parts, on one line.

    Examples
    --------
    >>> shorten("results/wiki10/predictions.txt"), shorten("a" * 30)
    ('.../predictions.txt', '...aaaaaaaaaaaaaaaaaaaaa')
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(plain) <= longest:
        return plain
    end = plain[3 - longest :]
    _, _, parts = end.partition("/")
    if parts:
        return f".../{parts}"
    return f"...{end}"


def join_facts(what: str, facts: Iterable[str], doubts: Collection[str] = (), name: str = "{}") -> str:
    """Write the first line of a repr: what the report is about, and facts; a name takes the room that is left."""
    rest = f"{what}: {', '.join(facts)}"
    if doubts:
        rest += f", {counted(len(doubts), 'doubt')}"
    return rest.replace("{}", shorten(name, max(LONGEST_NAME, WIDTH - len(rest) + 1)))
