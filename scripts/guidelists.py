"""The guide to metrics, as Markdown: what the table of the package says, in the order of a reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agreement.guidetable import write_guide

from xmceval.errors import listed
from xmceval.metrics.entry import FAMILIES
from xmceval.metrics.names import ALIASES
from xmceval.metrics.table import METRICS
from xmceval.report.forms.registry import render_listings
from xmceval.report.listings import metriclist
from xmceval.report.sheet.model import Listing

METRICS_START = """# Metrics: how each is defined, and what other tools call it

```console
xmceval score TRUTH PREDS -m P,nDCG -m 'PSnDCG(norm=sum)@1,3' -k 5
xmceval metrics PSnDCG    # one metric in full: every option, ties, rows without a true label
```

A name is a metric, then its options in parentheses, then its cutoffs after @. Case does not matter, nor do _ and -.

| name | meaning |
| --- | --- |
| `P@5` | precision among the 5 best labels |
| `P@1,3,5` | the same at three cutoffs |
| `P` | at the cutoffs of `-k`, by default 1, 3 and 5 |
| `AP@all` | over the whole list, the default of {whole} |
| `PSnDCG(norm=sum)@5` | with an option; several are separated by commas |
| `P(rel=2)@5` | only labels of grade 2 or above are true, for all metrics that do not use grades themselves |
"""

REL = "rel=1"  # of all metrics that do not use grades themselves, so that it is said once


def list_metrics() -> Iterable[str]:
    """Yield the parts of the guide to metrics."""
    yield METRICS_START.format(whole=listed(name for name, each in METRICS.items() if each.is_of_whole_list))
    for family in FAMILIES:
        own = [each for each in METRICS.values() if each.family == family]
        rows = [
            (
                metriclist.display_name(each),
                f"{each.title}: {each.formula}",
                metriclist.format_range(each),
                "higher" if each.higher_is_better else "lower",
                "; ".join(word for word in metriclist.option_words(each) if word != REL),
            )
            for each in own
        ]
        yield f"## {family}: from {metriclist.INPUTS[family]}\n"
        yield _table([("metric", "what it is", "range", "better", "options"), *rows])
    yield "## Symbols\n"
    yield _table([("symbol", "meaning"), *metriclist.explain_symbols(METRICS.values())])
    yield "## Names in other tools\n"
    yield _table([("name here", "names elsewhere"), *_group((here, there) for there, here in ALIASES.items())])
    metrics = [(metriclist.display_name(each), each) for each in metriclist.sort_by_family()]
    yield "## Where tools agree and differ\n"
    notes = _group((each.note, name) for name, each in metrics if each.note)
    yield _table([("metrics", "note"), *((names, note) for note, names in notes)])
    yield "## Sources\n"
    sources = _group((each.source, name) for name, each in metrics)
    yield _table([("metrics", "source"), *((names, source) for source, names in sources)])


def _group(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Yield each first string once, with a list of the second strings that come with it."""
    groups: dict[str, list[str]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return ((first, listed(seconds)) for first, seconds in groups.items())


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    return render_listings("md", [Listing("", tuple(rows), frozenset(), has_head=True)])


GENERATED = {
    "metrics": "\n".join(list_metrics()),
    "agreement": write_guide(),
}
