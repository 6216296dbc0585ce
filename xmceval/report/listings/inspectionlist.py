"""Inspected files as lists: what each contains, and whether truth and predictions belong together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xmceval.files.io.paths import to_path
from xmceval.inspection.file import FileInspection
from xmceval.inspection.pair import PairInspection
from xmceval.inspection.text import describe_order, describe_values
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import Listing


def list_files(files: Iterable[FileInspection]) -> Listing:
    """List what each file contains."""
    head = ("File", "form", "rows", "labels", "entries", "values", "order of entries")
    rows = (
        (
            to_path(file.path).name,
            file.description,
            f"{file.n_rows:,}",
            f"{file.n_labels:,}{'' if file.is_declared else ' (not declared)'}",
            f"{file.n_entries:,}",
            " · ".join(describe_values(file)),
            describe_order(file),
        )
        for file in files
    )
    return Listing("What each file contains", (head, *rows), frozenset({2, 3, 4}), has_head=True)


def list_pairs(pairs: Sequence[PairInspection], layout: Layout) -> Listing:
    """List P@1 and P@5 of the predictions, in pairs of files whose rows were compared."""
    title = f"P@1 and P@5 of the predictions{'; in percent' if layout.percent else ''}"
    rows = []
    for pair in pairs:
        values = (pair.precision_at_1, pair.precision)
        cells = ("" if value is None else layout.share(value) for value in values)
        rows.append((to_path(pair.scores).name, *cells))
    return Listing(title, (("Predictions", "P@1", "P@5"), *rows), frozenset({1, 2}), has_head=True)
