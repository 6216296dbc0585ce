"""Pairs: the differences of pairs of systems, how far their lists overlap, and examples of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby

from xmceval.errors import counted
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.markup import Child, Markup, element, isolate, join, name
from xmceval.report.page.pageparts import Section, draw_facts, draw_lines, draw_plain_table, spaced
from xmceval.report.page.valuetables import describe_units
from xmceval.report.sheet.comparesheet import describe_test
from xmceval.report.sheet.differences import describe_cautions
from xmceval.report.sheet.overlaplists import MINUS, cut_off
from xmceval.report.sheet.verdicts import ADJUSTED, format_p, has_many_pairs, summarise, write_verdicts
from xmceval.scoring.comparing.examples import LOSS, Example
from xmceval.scoring.comparing.overlap import PERSISTENCE, Overlap


def show_differences(comparison: Comparison, layout: Layout) -> Section | None:
    """Show for each pair what its differences come to in words, then their table."""
    if not comparison.differences:
        return None
    content: list[Child] = [element("p", _capitalise(describe_test(comparison)), ".", class_="note")]
    if has_many_pairs(comparison):
        return Section("differences", "Differences", join([*content, *_draw_many(comparison, layout)]))
    for system, baseline in comparison.pairs:
        own = [each for each in comparison.differences if (each.system, each.baseline) == (system, baseline)]
        content.append(element("h3", _pair(system, baseline)))
        content.append(draw_lines(_write_sentences(comparison, own, layout), "verdicts"))
        content += _draw_tables(comparison, own, layout)
    return Section("differences", "Differences", join(content))


def _draw_many(comparison: Comparison, layout: Layout) -> Iterator[Child]:
    """Draw one sentence per metric, then the tables of all pairs, which are closed at first."""
    names = {each for pair in comparison.pairs for each in pair}
    yield draw_lines((isolate(f"{line}.", names) for line in summarise(comparison)), "verdicts")
    yield element("h3", "Each pair")
    for system, baseline in comparison.pairs:
        own = [each for each in comparison.differences if (each.system, each.baseline) == (system, baseline)]
        yield element("details", element("summary", _pair(system, baseline)), _draw_tables(comparison, own, layout))


def _write_sentences(comparison: Comparison, own: Sequence[Difference], layout: Layout) -> list[Markup]:
    """Write the sentences on a pair; one that begins with a word, not with a name, gets a capital."""
    names = own[0].system, own[0].baseline
    lines = write_verdicts(replace(comparison, differences=tuple(own)), layout)
    return [isolate(f"{line if line.startswith(names) else _capitalise(line)}.", names) for line in lines]


def _capitalise(words: str) -> str:
    return words[:1].upper() + words[1:]


def _pair(system: str, baseline: str) -> Markup:
    return join([name(system), f" {MINUS} ", name(baseline)])


def _draw_tables(comparison: Comparison, own: Sequence[Difference], layout: Layout) -> Iterator[Markup]:
    """Draw the differences over all labels, then those within each bin, which are closed at first."""
    for bin_, group in groupby(own, lambda each: each.bin):
        table = _draw_differences(comparison, list(group), layout)
        yield element("details", element("summary", f"Labels of {bin_}"), table) if bin_ else table


def _draw_differences(comparison: Comparison, differences: Sequence[Difference], layout: Layout) -> Markup:
    first = differences[0]
    n = max(each.n for each in differences)  # 0 where nothing was tested
    how = "Welch's t test of" if first.unit == "run" else "paired over"
    shares = all(each.measure.metric.unit == "share" for each in differences) and layout.percent
    units = "percentage points" if shares else describe_units([each.measure for each in differences], layout)
    caption = _capitalise("; ".join(part for part in (f"{how} {counted(n, first.unit)}" if n else "", units) if part))
    adjusted = ADJUSTED.get(comparison.testing.adjust)
    heads = ["Metric", "difference", "95% interval", "p", *([adjusted] if adjusted else []), "wins", "ties", "losses"]
    rows = [_difference_row(each, layout, is_adjusted=adjusted is not None) for each in differences]
    label = f"Differences of {first.system} and {first.baseline}" + (f", {first.bin}" if first.bin else "")
    table = draw_plain_table(caption, heads, rows, label=label, numeric=range(1, len(heads)))
    sizes = [
        f"{each.measure.name} {layout.format(each.measure, each.detectable)}" for each in differences if each.detectable
    ]
    lines = [f"Such a test detects with 80% power: {', '.join(sizes)} or more."] if sizes else []
    lines += [f"{_capitalise(each)}." for each in describe_cautions(differences)]
    return join([table, draw_lines(lines) if lines else None])


def _difference_row(each: Difference, layout: Layout, *, is_adjusted: bool) -> list[Child]:
    size: Child = _sign(each, each.difference, layout)
    if each.is_detected:
        size = element("b", size, class_="best")
    interval = ""
    if each.low is not None and each.high is not None:
        interval = f"{_sign(each, each.low, layout)} to {_sign(each, each.high, layout)}"
    counts = ["" if number is None else f"{number:,}" for number in (each.wins, each.ties, each.losses)]
    adjusted = [format_p(each.p_adjusted)] if is_adjusted else []
    return [each.measure.name, size, interval, format_p(each.p), *adjusted, *counts]


def _sign(each: Difference, value: float, layout: Layout) -> str:
    text = layout.format(each.measure, value)
    return f"{MINUS}{text[1:]}" if text.startswith("-") else f"+{text}"


def show_overlaps(comparison: Comparison, layout: Layout) -> Section | None:
    """Show how far the lists of each pair overlap."""
    if not comparison.overlaps:
        return None
    lines = [
        "Jaccard: labels that both lists have, of those that at least one has.",
        "Hits of both, only …: shares of the hits that at least one of the two finds.",
        "Union P, R: of the two lists together; oracle P: of the best k labels of the union.",
    ]
    tables = [_draw_overlap(each, layout) for each in comparison.overlaps]
    return Section("overlap", "Overlap of lists", join([draw_lines(lines), *tables]))


def _draw_overlap(overlap: Overlap, layout: Layout) -> Markup:
    only = [["only ", name(each)] for each in (overlap.system, overlap.baseline)]
    heads: list[Child] = ["k", "Jaccard", "hits of both", *only, "union P", "union R", "oracle P"]
    rows = [[f"@{k}", *(layout.share(value) for value in asdict(each).values())] for k, each in overlap.cutoffs.items()]
    rest = f"rank-biased overlap of the best {overlap.depth} (p = {PERSISTENCE}, extrapolated): "
    caption = [_pair(overlap.system, overlap.baseline), f"; {rest}{layout.share(overlap.rank_biased)}"]
    label = f"Overlap of {overlap.system} and {overlap.baseline}"
    return draw_plain_table(caption, heads, rows, label=label, numeric=range(1, len(heads)))


def show_examples(examples: Sequence[Example], layout: Layout) -> Section | None:
    """Show the rows that systems lose and win most."""
    if not examples:
        return None
    content: list[Child] = [
        element("p", "Rows are counted from 0; ", element("b", "bold"), " labels are hits.", class_="note")
    ]
    for (system, baseline, kind), group in groupby(examples, lambda each: (each.system, each.baseline, each.kind)):
        own = list(group)
        does = "loses" if kind == LOSS else "wins"
        about = f" {does} most on {own[0].measure.name} against "
        content.append(element("h3", "Rows that ", name(system), about, name(baseline)))
        content.extend(_draw_example(each, layout) for each in own)
    return Section("examples", "Examples", join(content))


def _draw_example(example: Example, layout: Layout) -> Markup:
    values = [layout.format(example.measure, each) for each in (example.value, example.baseline_value)]
    facts: list[tuple[Child, Child]] = []
    if example.text is not None:
        facts.append(("Text", element("span", example.text, dir="auto")))
    facts.append(("True labels", spaced(cut_off([_label(example, each) for each in example.true]), ", ")))
    for system, labels in ((example.system, example.ranked), (example.baseline, example.baseline_ranked)):
        facts.append(
            (name(system), spaced(cut_off([_ranked(example, each) for each in labels]), ", ") if labels else "none")
        )
    title = element(
        "p", element("strong", f"Row {example.row:,}"), f": {example.measure.name} {values[0]} against {values[1]}"
    )
    return element("div", title, draw_facts(facts), class_="example")


def _label(example: Example, label: int) -> Markup:
    return name(example.names.get(label, str(label)))


def _ranked(example: Example, label: int) -> Markup:
    drawn = _label(example, label)
    return element("b", drawn) if label in example.true else drawn
