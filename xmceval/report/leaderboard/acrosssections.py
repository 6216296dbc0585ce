"""Across sections: what a metric comes to over all data sets: a picture of mean ranks, tests in words, and wins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.forms.markup import Child, Markup, element, join
from xmceval.report.leaderboard.board import Board
from xmceval.report.page.drawings import draw_figure
from xmceval.report.page.pageparts import draw_listing, write_sentence
from xmceval.report.sheet.acrosslists import describe_reach, list_wins
from xmceval.report.sheet.model import Listing
from xmceval.report.sheet.verdicts import format_p
from xmceval.scoring.comparing.testoptions import BETTER, WORSE
from xmceval.statistics.across import Across
from xmceval.statistics.multiplicity import LEVEL

FEWEST = 2  # data sets over which anything is counted
MOST_BESIDE = 8  # systems whose wins fit beside the picture


def show_across(board: Board, measure: Measure) -> Markup | None:
    """Show what a metric comes to over all data sets."""
    one = replace(board.benchmark, measures=(measure,))
    across, wins = one.across(measure.name), [*list_wins(one)]
    if len(across.datasets) < FEWEST or not wins:
        return None
    drawn: list[Child] = []
    if across.nemenyi is not None:
        caption = "Mean ranks; systems that a bar joins are not told apart (Nemenyi test, 5%)."
        anchor = f"cd-{board.benchmark.measures.index(measure)}"
        drawn.append(draw_figure("cd", one, caption, anchor=anchor))
    sentences = _write_sentences(across, board.benchmark.systems)
    drawn += (element("p", write_sentence(each, board.names)) for each in sentences)
    if across.signed_ranks:
        drawn.append(draw_listing(_list_signed_ranks(across, measure, board.benchmark.systems), board.names))
    matrices = [draw_listing(each, board.names) for each in wins]
    is_narrow = len(wins[0].body) <= MOST_BESIDE
    parts = [element("div", each) for each in (drawn, matrices)]
    return join(
        [element("h3", "Across the data sets"), element("div", parts, class_="across" if is_narrow else "across long")]
    )


def _list_signed_ranks(across: Across, measure: Measure, systems: Sequence[str]) -> Listing:
    """List the tests of signed ranks, a line for each system."""
    tests = across.signed_ranks
    rows = []
    for each in tests:
        found = (BETTER if each.is_better else WORSE) if each.is_detected else "not detected"
        rows.append((systems[each.system], format_p(each.p_adjusted), found))
    head = "System", "p (Holm)" if len(tests) > 1 else "p", ""
    title = f"{measure.name} \N{MIDDLE DOT} against {systems[tests[0].baseline]}, exact Wilcoxon test of signed ranks"
    return Listing(title, (head, *rows), lines=tuple(describe_reach({measure: across})), has_head=True)


def _write_sentences(across: Across, systems: Sequence[str]) -> Iterator[str]:
    """Write whether the systems differ, and which of them are told apart; or why that was not tested."""
    if across.untested:
        yield f"not tested: {across.untested}"
    if across.friedman is None or across.nemenyi is None:
        return
    friedman = across.friedman
    f = "inf" if friedman.f is None else f"{friedman.f:.2f}"
    what = "the systems differ" if friedman.p < LEVEL else "no difference between the systems was detected"
    sizes = f"{len(across.datasets)} data sets, {len(across.systems)} systems"
    df, p = "{}, {}".format(*friedman.df), f"p {format_p(friedman.p, relation=True)}"
    yield f"{sizes}: {what} (Friedman test, F({df}) = {f}, {p})"
    ahead: dict[str, list[str]] = {}
    for i, j in across.nemenyi.ahead:
        ahead.setdefault(systems[i], []).append(systems[j])
    parts = [f"{name} is ahead of {listed(others)}" for name, others in ahead.items()]
    yield "; ".join([*parts, "no other pair is told apart" if ahead else "no pair is told apart"])
