"""The guide to agreement and the table of the README, from datasets/agreement.tsv."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.errors import listed
from xmceval.metrics.entry import Metric
from xmceval.metrics.table import METRICS
from xmceval.report.listings.agreementlist import Agreement, agrees, exceptions, recorded
from xmceval.report.listings.metriclist import display_name

Lines = tuple[Agreement, ...]
NAMES = {display_name(metric): metric for metric in METRICS.values()}
MICRO = ("microP", "microR", "microF1")
MANY = 20  # functions of one tool that agree on the same inputs; more are named without their options
GROUPS = {  # of metrics, in the README
    "rankings: P, nDCG, AP ...": lambda metric: metric.family in {"top-k", "row"},
    "with propensities: PSP, PSnDCG ...": lambda metric: metric.needs_propensities,
    "all labels: LRAP, AUC ...": lambda metric: metric.needs_labels or metric.family == "column",
    "by label at k: macroF1, coverage ...": lambda metric: metric.family == "label" or metric.name in MICRO,
    "decisions: F1, hamming loss ...": lambda metric: metric.family == "confusion",
}
START = """# Agreement: which functions of other tools give our values

{functions} functions of {peers} were run on the same inputs as xmceval, {values} values in all: random ones of each
kind that is named below, and parts of real data (Bibtex, EUR-Lex, Wiki10-31K and a set of Bonsai). A function agrees if
every value is equal to 1e-9, relative to the larger of the value and 1; to 1e-6 for torchmetrics, which computes in
32-bit floats (its MCC, of differences of large products, to 1e-4).

Many still differ on inputs of some kinds:

- *ties*: equal scores. "Within tie bounds" means that the value is ours for some order of them; tools that sort in no
  stated order are not compared where we have no such bounds.
- *labels without a score*, *no prediction*, *nothing judged*: what a sparse matrix or a run leaves out, and dense
  arrays cannot.
- *stored zeros in the truth*: entries of a sparse matrix whose value is 0.
- *scores equal in 32 bits*: those that differ in 64-bit floats only.

The metric here is in parentheses; `xmceval metrics NAME` has the functions of one metric with all options. This page is
written from `datasets/agreement.tsv`, which `python scripts/agreement` checks: it installs the tools in a temporary
environment, and each example is computed by both, and by hand.
"""


def readme_table() -> str:
    """Return how many functions of each tool agree, by kind of metric, as Markdown."""
    peers: dict[str, dict[str, list[Lines]]] = {}
    for (peer, metric, _), lines in recorded().items():
        peers.setdefault(peer, {}).setdefault(_group(NAMES[metric]), []).append(lines)
    rows = [("agreeing", *peers), ("---",) * (len(peers) + 1)]
    rows += [(group, *(_share(peers[peer].get(group, [])) for peer in peers)) for group in GROUPS]
    return _table(rows)


def _group(metric: Metric) -> str:
    """Return the last group that a metric is in."""
    return [name for name, holds in GROUPS.items() if holds(metric)][-1]


def _share(functions: Sequence[Lines]) -> str:
    agreeing = sum(map(agrees, functions))
    return f"{agreeing} of {len(functions)}" if functions else "–"


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_guide() -> str:
    """Return the guide as Markdown."""
    functions = recorded()
    peers = {lines[0].peer: lines[0].version for lines in functions.values()}
    values = sum(int(line.values) for lines in functions.values() for line in lines)
    start = START.format(
        functions=len(functions),
        peers=listed((f"{peer} {version}" for peer, version in peers.items()), "and"),
        values=f"{values:,}",
    )
    parts = ("\n".join(_part(f"{peer} {peers[peer]}", _of(peer))) for peer in peers)
    return "\n".join([start, *parts])


def _of(peer: str) -> list[Lines]:
    return [lines for (name, _, _), lines in recorded().items() if name == peer]


def _part(title: str, functions: Sequence[Lines]) -> Iterator[str]:
    """Yield the part on one tool: its functions, then why some differ."""
    yield f"## {title}\n"
    groups: dict[str, list[Lines]] = {}
    for lines in functions:
        inputs = listed(each.inputs for each in exceptions(lines))
        options = listed(f"{each.option} on {each.inputs}" for each in lines[1:] if _adds_option(lines[0], each))
        group = "agree" if agrees(lines) else "differ"
        group += f", with {options}" if options else ""
        groups.setdefault(group + (f", except on {inputs}" if inputs else ""), []).append(lines)
    for group, own in groups.items():
        yield f"- {group}: {_name(own)}"
    yield ""
    reasons: dict[tuple[str, str, str], list[Agreement]] = {}
    for line in (each for lines in functions for each in lines if each.reason):
        reasons.setdefault((line.inputs, line.verdict, line.reason), []).append(line)
    for (inputs, verdict, reason), own in reasons.items():
        yield f"- {inputs}: {verdict}; {reason}"
        example = next((each for each in own if each.example), None)
        if example:
            yield f"  - `{example.function}`, {example.example}"
    yield ""


def _name(functions: Sequence[Lines]) -> str:
    """Name functions, and what they are here unless there are many of them."""
    first = [lines[0] for lines in functions]
    if len(first) > MANY:
        return listed(dict.fromkeys(f"`{line.function.partition('(')[0]}`" for line in first))
    return listed(f"`{line.function}` ({line.option or line.metric})" for line in first)


def _adds_option(first: Agreement, line: Agreement) -> bool:
    return line.verdict == "equal with option" and line.option != first.option
