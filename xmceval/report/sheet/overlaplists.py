"""Lists of labels in a comparison: how far those of two systems overlap, and examples of rows."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby

from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import MINUS, Listing
from xmceval.scoring.comparing.examples import LOSS, Example
from xmceval.scoring.comparing.overlap import PERSISTENCE, Overlap

HIT = "*"
MOST_LABELS = 20  # of a list, that a table shows
LONGEST_TEXT = 100  # that a table shows


def list_overlap(overlap: Overlap, layout: Layout) -> Listing:
    """List how far the lists of a pair overlap, one line per cutoff."""
    hits = ("hits of both", f"only {overlap.system}", f"only {overlap.baseline}")
    head = ("", "Jaccard", *hits, "union P", "union R", "oracle P")
    rows = ((f"@{k}", *(layout.share(value) for value in asdict(each).values())) for k, each in overlap.cutoffs.items())
    value = layout.share(overlap.rank_biased)
    line = f"rank-biased overlap of the best {overlap.depth} (p={PERSISTENCE}, extrapolated): {value}"
    unit = " · percent" if layout.percent else ""
    title = f"{overlap.system} {MINUS} {overlap.baseline} · overlap of the k best labels{unit}"
    return Listing(title, (head, *rows), frozenset(range(1, len(head))), (line,), has_head=True)


def list_examples(examples: Sequence[Example], layout: Layout, longest: int | None = LONGEST_TEXT) -> Iterator[Listing]:
    """List the examples of each pair: losses, then wins; texts are cut to `longest` characters, or shown whole."""
    for (system, baseline, kind), group in groupby(examples, lambda each: (each.system, each.baseline, each.kind)):
        own = list(group)
        does = "loses" if kind == LOSS else "wins"
        counting = ", counted from 0" if own[0].id is None else ""
        title = (
            f"{system} {MINUS} {baseline} · instances that {system} {does} by most on {own[0].measure.name}{counting}"
            f" · {HIT} marks hits"
        )
        yield Listing(title, tuple(row for each in own for row in _example_rows(each, layout, longest)), frozenset())


def _example_rows(example: Example, layout: Layout, longest: int | None) -> Iterator[tuple[str, str, str]]:
    """Write an example as lines of a table: its values, its text, its true labels and both lists."""
    value, other = (layout.format(example.measure, each) for each in (example.value, example.baseline_value))
    yield example.called, example.measure.name, f"{value} against {other}"
    if example.text is not None:
        yield (
            "",
            "text",
            example.text if longest is None else textwrap.shorten(example.text, longest, placeholder=" ..."),
        )
    yield "", "true", _join([_called(example, label) for label in example.true])
    for name, labels in ((example.system, example.ranked), (example.baseline, example.baseline_ranked)):
        yield "", name, _join([f"{HIT * (label in example.true)}{_called(example, label)}" for label in labels])


def _join(labels: Sequence[str]) -> str:
    """Join the labels of a list that a table shows, and how many more there are."""
    n_more = len(labels) - MOST_LABELS
    return ", ".join([*labels[:MOST_LABELS], *([f"and {n_more} more"] if n_more > 0 else [])]) or "none"


def _called(example: Example, label: int) -> str:
    return example.names.get(label, str(label))
