"""List the catalogue of data sets as text or JSON, or describe one in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from xmceval.labels.catalogue import Dataset, Published, datasets, find_dataset, published
from xmceval.report.forms.data import pick, write_document
from xmceval.report.forms.plain import align_columns, align_terms, write_entry
from xmceval.report.sheet import SUSPECT, WIDTH
from xmceval.version import DATASETS_SCHEMA

SOURCE = "XMLRepository, http://manikvarma.org/downloads/XC/XMLRepository.html"

SHOWN = ("P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "PSnDCG@3", "PSnDCG@5")

HEAD = ("DATASET", "TRAIN", "TEST", "LABELS", "POINTS/LABEL", "LABELS/POINT", "A", "B", "FILTER", "RESULTS")
NUMERIC = frozenset({1, 2, 3, 4, 5, 9})

SOURCE_LINE = f"from {SOURCE}; signs other than {SUSPECT} are footnotes there"
NO_RESULTS = "no published results in the catalogue"

FOOTER = ("* others use other values of A and B", f"sizes and results: {SOURCE}", "one data set: xmceval datasets NAME")


def write_datasets(names: Sequence[str], form: str, width: int = WIDTH) -> str:
    """Write the catalogue, or named data sets with their published results, as text or JSON."""
    entries = [find_dataset(name) for name in names]
    if form == "json":  # values are fractions
        documents = [
            {**asdict(entry), "published": [_record_published(row) for row in published(entry.name)]}
            for entry in entries
        ]
        catalogue = documents or [asdict(entry) for entry in datasets().values()]
        return write_document({"schema": DATASETS_SCHEMA, "source": SOURCE, "datasets": catalogue}, is_ascii=False)
    if not entries:
        rows = map(_table_row, datasets().values())
        return "\n".join([*align_columns([HEAD, *rows], right=NUMERIC), "", *FOOTER]) + "\n"
    return "\n".join(
        write_entry(entry.name, _facts(entry), width, ["", *_list_results(published(entry.name), width)])
        for entry in entries
    )


def _table_row(entry: Dataset) -> tuple[str, ...]:
    a, b = ("?" if constant is None else f"{constant:g}" for constant in (entry.a, entry.b))
    return (
        entry.name,
        *(f"{size:,}" for size in (entry.train, entry.test, entry.labels)),
        f"{entry.points_per_label:.2f}",
        f"{entry.labels_per_point:.2f}",
        f"{a}*" if entry.disagreements else a,
        b,
        entry.filter,
        str(len(published(entry.name)) or "-"),
    )


def _facts(entry: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the facts about a data set, each with its term."""
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
    table = [("published (%)", *SHOWN), *map(_result_row, rows)]
    lines = [*align_columns(table, right=range(1, len(SHOWN) + 1)), "", SOURCE_LINE]
    suspects = [(row.method, row.suspect) for row in rows if row.suspect]
    if suspects:
        lines.extend([f"{SUSPECT} suspect values:", *(f"  {line}" for line in align_terms(suspects, width - 2))])
    return lines


def _result_row(row: Published) -> tuple[str, ...]:
    method = f"{row.method} {row.mark}".strip()
    if row.suspect:
        method += f" {SUSPECT}"
    return method, *(f"{100 * row.values[name]:.2f}" if name in row.values else "-" for name in SHOWN)


def _record_published(row: Published) -> dict[str, Any]:
    record = {"method": row.method, "mark": row.mark or None, "metrics": row.values}
    return {**record, **pick(row, ("model_gb", "train_hours")), "suspect": row.suspect or None}
