"""The catalogue of public sets as text: the list, one set in detail, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from xmceval.labels.catalogue import Dataset, Published, datasets, published
from xmceval.labels.standings import SUSPECT
from xmceval.report.columns import columns, labelled

SCHEMA = "xmceval-datasets/1"

SOURCE = "XMLRepository, http://manikvarma.org/downloads/XC/XMLRepository.html"

SHOWN = ("P@1", "P@3", "P@5", "nDCG@3", "nDCG@5", "PSP@1", "PSP@3", "PSP@5", "PSnDCG@3", "PSnDCG@5")


def datasets_table() -> str:
    """Write every set as a line of a table."""
    head = ("DATASET", "TRAIN", "TEST", "LABELS", "POINTS/LABEL", "LABELS/POINT", "A", "B", "FILTER", "RESULTS")
    rows: list[tuple[str, ...]] = [head]
    rows.extend(
        (
            entry.name,
            *(f"{size:,}" for size in (entry.train, entry.test, entry.labels)),
            f"{entry.points_per_label:.2f}",
            f"{entry.labels_per_point:.2f}",
            _known(entry.a) + ("*" if entry.disagreements else ""),
            _known(entry.b),
            entry.filter,
            str(len(published(entry.name)) or "-"),
        )
        for entry in datasets().values()
    )
    told = ["* others use other values of A and B", f"sizes and results: {SOURCE}", "one set: xmceval datasets NAME"]
    return "\n".join([*columns(rows, right=frozenset(range(1, 6)) | {9}), "", *told]) + "\n"


def dataset_text(entry: Dataset) -> str:
    """Write one set in detail, with its published results."""
    constants = "not settled" if entry.a is None else f"A={entry.a:g} B={entry.b:g}"
    pairs = [
        ("instances", f"{entry.train:,} for training, {entry.test:,} for testing"),
        (
            "labels",
            f"{entry.labels:,}; {entry.labels_per_point:g} an instance, {entry.points_per_label:g} instances each",
        ),
    ]
    pairs.extend(("features", f"{entry.features:,}") for _ in range(entry.features is not None))
    pairs.extend(
        ("other split", f"{each.train:,} + {each.test:,} instances, {each.labels:,} labels: {each.who}")
        for each in entry.variants
    )
    pairs.append(("propensities", constants))
    pairs.extend(("", f"A={each.a:g} B={each.b:g}: {each.who}") for each in entry.disagreements)
    pairs.append(("filter", entry.filter))
    pairs.extend(("also called", alias) for alias in entry.aliases)
    pairs.extend(("note", each) for each in entry.notes.split("; ") if each)
    lines = [entry.name, *(f"  {line}" for line in labelled(pairs)), "", *_results(published(entry.name))]
    return "\n".join(lines) + "\n"


def datasets_json(entries: Iterable[Dataset], *, with_published: bool) -> str:
    """Write sets as JSON, in full precision; values of results are fractions."""
    document = {"schema": SCHEMA, "source": SOURCE, "datasets": [_as_dict(each, with_published) for each in entries]}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _as_dict(entry: Dataset, with_published: bool) -> dict[str, Any]:
    told = asdict(entry)
    if with_published:
        told["published"] = [
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
    return told


def _results(rows: Sequence[Published]) -> list[str]:
    """Write published results in percent, suspect rows marked and explained."""
    if not rows:
        return ["no published results in the catalogue"]
    table: list[tuple[str, ...]] = [("published (%)", *SHOWN)]
    table.extend(
        (
            f"{row.method} {row.mark}".strip() + (f" {SUSPECT}" if row.suspect else ""),
            *(f"{100 * row.values[name]:.2f}" if name in row.values else "-" for name in SHOWN),
        )
        for row in rows
    )
    lines = [*columns(table, right=frozenset(range(1, len(SHOWN) + 1))), ""]
    lines.append(f"from {SOURCE}; other signs are its footnotes'")
    suspects = [(row.method, row.suspect) for row in rows if row.suspect]
    if suspects:
        lines.extend([f"{SUSPECT} suspect figures:", *(f"  {line}" for line in labelled(suspects))])
    return lines


def _known(number: float | None) -> str:
    return "?" if number is None else f"{number:g}"
