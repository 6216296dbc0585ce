"""Check a table of published results for values that cannot be right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import counted, escaped
from xmceval.files.io.paths import as_input
from xmceval.files.records.papertables import TableRow, read_table
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.plausibility import IMPOSSIBLE, Finding, Printed, check_row, find_copies
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.registry import render_listings
from xmceval.report.renderable import Displayed
from xmceval.report.sheet.model import Listing


@dataclass(frozen=True, repr=False)
class TableCheck(Displayed):
    """What was found in a table: ``print(check)`` lists it.

    Attributes
    ----------
    path : str
    n_rows, n_values : int
        What was read.
    findings : tuple of Finding
    """

    path: str
    n_rows: int
    n_values: int
    findings: tuple[Finding, ...]

    @property
    def is_possible(self) -> bool:
        """Whether nothing in the table contradicts a definition."""
        return not any(each.severity == IMPOSSIBLE for each in self.findings)

    def to_json(self) -> str:
        """Return the JSON document."""
        from xmceval.report.fields.filefields import CHECK_TABLE

        return CHECK_TABLE.write(self)

    def _render(self, form: str, layout: Layout) -> str:
        read, found = self._count()
        if form == "table":
            lines = (f"  {each.row}: {each.text} ({each.severity})" for each in self.findings)
            return "\n".join(map(escaped, (read, *lines, f"  {found}")))
        rows = tuple((each.row, each.text, each.severity) for each in self.findings)
        return render_listings(form, [Listing(read, rows, frozenset(), (found,))], layout)

    def _count(self) -> tuple[str, str]:
        """Describe what was read, and how many problems were found."""
        read = f"{self.path}: {counted(self.n_rows, 'row')}, {counted(self.n_values, 'value')}"
        return read, counted(len(self.findings), "problem") if self.findings else "no problems found"

    def _describe(self) -> tuple[str, ...]:
        return "TableCheck of {}: {}".format(*self._count()), "print() shows them, .findings has each"


def check_table(path: str | Path, *, dataset: str | None = None) -> TableCheck:
    """Check a table of results: as papers have them, or in any form in which this package writes its own.

    Parameters
    ----------
    path : path
        A table whose header names metrics, such as ``P@1``, ``N@3``, ``PSP@5``; values are in percent or fractions.
        LaTeX, Markdown, tab- or comma-separated, or text in aligned columns.
    dataset : str, optional
        A public data set: its mean number of labels per instance bounds P@k. Default: the data set that a row names.

    Returns
    -------
    TableCheck

    Raises
    ------
    DataError
        A file without such a table, or a row with other cells than the header, with its place.
    UsageError
        A data set that is not in the catalogue.

    Notes
    -----
    The rules are those of `xmceval.labels.plausibility.check_row`: P@1 is nDCG@1, PSP@1 is PSnDCG@1, the hits within k
    never decrease with k, and so on.
    """
    rows = read_table(path)
    scale = 0.01 if any(value > 1.5 for row in rows for value, _ in row.values.values()) else 1.0
    printed = [(f"line {row.line}: {row.name}".rstrip(" :"), _printed(row, scale)) for row in rows]
    findings = [
        finding
        for row, (name, values) in zip(rows, printed, strict=True)
        for finding in check_row(name, values, _ceilings(row, values, dataset))
    ]
    findings.extend(find_copies(printed))
    return TableCheck(
        str(as_input(path)), len({row.line for row in rows}), sum(len(row.values) for row in rows), tuple(findings)
    )


def _printed(row: TableRow, scale: float) -> Mapping[str, Printed]:
    return {name: Printed(value * scale, 0.5 * 10.0**-places * scale) for name, (value, places) in row.values.items()}


def _ceilings(row: TableRow, values: Mapping[str, Printed], dataset: str | None) -> dict[str, float]:
    """Return an upper bound of each P@k on a data set: its labels per instance / k."""
    entry = None if dataset is None else find_dataset(dataset)
    if entry is None:
        entry = next(_datasets_named(row.name), None)
    if entry is None:
        return {}
    cutoffs = {name: int(name.partition("@")[2]) for name in values if name.startswith("P@")}
    return {name: min(1.0, entry.labels_per_point / k) for name, k in cutoffs.items()}


def _datasets_named(name: str) -> Iterator[Any]:
    from xmceval.labels.catalogue import datasets

    for entry in datasets().values():
        if entry.name in name.split():
            yield entry
