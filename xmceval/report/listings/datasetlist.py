"""The catalogue of data sets as text: the list, one data set in detail, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from xmceval.labels.catalogue import Dataset, Published, datasets, published
from xmceval.report.forms.columns import align_columns, align_terms
from xmceval.report.forms.csvlines import write_lines
from xmceval.report.forms.layout import WIDTH
from xmceval.report.sheet.model import Listing
from xmceval.version import DATASETS_SCHEMA

SOURCE = "XMLRepository, http://manikvarma.org/downloads/XC/XMLRepository.html"

SHOWN = ("P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "PSnDCG@3", "PSnDCG@5")

HEAD = ("DATASET", "TRAIN", "TEST", "LABELS", "POINTS/LABEL", "LABELS/POINT", "A", "B", "FILTER", "RESULTS")
NUMERIC = frozenset({1, 2, 3, 4, 5, 9})

NO_RESULTS = "no published results in the catalogue"

SUSPECT = "!"  # marks published rows with suspect values

FOOTER = (
    "* others use other values of A and B",
    f"sizes and results: {SOURCE}",
    "one data set: xmceval datasets NAME",
)


def datasets_table() -> str:
    """Write all data sets as a table, one per line."""
    rows = [HEAD, *(_table_row(entry) for entry in datasets().values())]
    return "\n".join([*align_columns(rows, right=NUMERIC), "", *FOOTER]) + "\n"


def dataset_text(entry: Dataset, width: int = WIDTH) -> str:
    """Write one data set in detail, with its published results; texts are wrapped at a width."""
    facts = (f"  {line}" for line in align_terms(list(_facts(entry)), width - 2))
    return "\n".join([entry.name, *facts, "", *_list_results(published(entry.name), width)]) + "\n"


def datasets_json(entries: Iterable[Dataset], *, with_published: bool) -> str:
    """Write data sets as JSON, in full precision; values of results are fractions."""
    documents = [_make_document(entry, with_published) for entry in entries]
    document = {"schema": DATASETS_SCHEMA, "source": SOURCE, "datasets": documents}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def list_datasets() -> Listing:
    """List all data sets, one per line."""
    rows = (_table_row(entry) for entry in datasets().values())
    return Listing("", (tuple(map(str.lower, HEAD)), *rows), NUMERIC, FOOTER, has_head=True)


def list_dataset(entry: Dataset) -> Iterator[Listing]:
    """List the facts on a data set, then its published results in percent."""
    yield Listing(entry.name, tuple(_facts(entry)), frozenset())
    rows = published(entry.name)
    if not rows:
        yield Listing(NO_RESULTS, ())
        return
    suspects = (f"{SUSPECT} {row.method}: {row.suspect}" for row in rows if row.suspect)
    yield Listing(
        f"published results for {entry.name}, in percent",
        (("", *SHOWN), *map(_result_row, rows)),
        frozenset(range(1, len(SHOWN) + 1)),
        (f"from {SOURCE}; other signs are footnotes there", *suspects),
        has_head=True,
    )


def datasets_csv(entries: Iterable[Dataset]) -> str:
    """Write data sets as CSV, one per line; lists are JSON."""
    lines = [asdict(entry) for entry in entries]
    return write_lines(list(lines[0]), lines)


def published_csv(entries: Iterable[Dataset]) -> str:
    """Write the published results for data sets as CSV in long form, one line per value."""
    head = ("dataset", "method", "mark", "metric", "k", "value", "model_gb", "train_hours", "suspect")
    return write_lines(
        head, (line for entry in entries for row in published(entry.name) for line in _list_values(entry, row))
    )


def _list_values(entry: Dataset, row: Published) -> Iterator[dict[str, Any]]:
    about = {name: getattr(row, name) for name in ("method", "mark", "model_gb", "train_hours", "suspect")}
    for name, value in row.values.items():
        metric, _, k = name.partition("@")
        yield {"dataset": entry.name, "metric": metric, "k": k, "value": value, **about}


def _table_row(entry: Dataset) -> tuple[str, ...]:
    return (
        entry.name,
        *(f"{size:,}" for size in (entry.train, entry.test, entry.labels)),
        f"{entry.points_per_label:.2f}",
        f"{entry.labels_per_point:.2f}",
        _format_constant(entry.a) + ("*" if entry.disagreements else ""),
        _format_constant(entry.b),
        entry.filter,
        str(len(published(entry.name)) or "-"),
    )


def _format_constant(number: float | None) -> str:
    return "?" if number is None else f"{number:g}"


def _facts(entry: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the facts on a data set, each with its term."""
    yield "instances", f"{entry.train:,} for training, {entry.test:,} for testing"
    means = f"{entry.labels_per_point:g} per instance, {entry.points_per_label:g} instances per label"
    yield "labels", f"{entry.labels:,}; {means}"
    if entry.features is not None:
        yield "features", f"{entry.features:,}"
    for split in entry.variants:
        yield "other split", f"{split.train:,} + {split.test:,} instances, {split.labels:,} labels: {split.who}"
    yield "propensities", entry.constants
    for constants in entry.disagreements:
        yield "propensities", f"A={constants.a:g} B={constants.b:g}: {constants.who}"
    yield "filter", entry.filter
    for alias in entry.aliases:
        yield "also called", alias
    for note in entry.notes.split("; "):
        if note:
            yield "note", note


def _list_results(rows: Sequence[Published], width: int) -> list[str]:
    """Write published results in percent, suspect rows marked and explained."""
    if not rows:
        return [NO_RESULTS]
    table = [("published (%)", *SHOWN), *(_result_row(row) for row in rows)]
    lines = [*align_columns(table, right=range(1, len(SHOWN) + 1)), ""]
    lines.append(f"from {SOURCE}; other signs are footnotes there")
    suspects = [(row.method, row.suspect) for row in rows if row.suspect]
    if suspects:
        lines.extend([f"{SUSPECT} suspect values:", *(f"  {line}" for line in align_terms(suspects, width - 2))])
    return lines


def _result_row(row: Published) -> tuple[str, ...]:
    method = f"{row.method} {row.mark}".strip() + (f" {SUSPECT}" if row.suspect else "")
    return method, *(f"{100 * row.values[name]:.2f}" if name in row.values else "-" for name in SHOWN)


def _make_document(entry: Dataset, with_published: bool) -> dict[str, Any]:
    document = asdict(entry)
    if with_published:
        document["published"] = [
            {
                "method": row.method,
                "mark": row.mark or None,
                "metrics": dict(row.values),
                "model_gb": row.model_gb,
                "train_hours": row.train_hours,
                "suspect": row.suspect or None,
            }
            for row in published(entry.name)
        ]
    return document
