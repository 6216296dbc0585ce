"""The picture of a benchmark: what it shows, and what it refuses."""

import pytest
from support.benchmarks import benchmark

from xmceval.errors import DataError, UsageError

pytest.importorskip("matplotlib")

HITS = {"first $1$": {"old": 20, "new": [29, 31]}, "second": {"old": 12, "new": 30}, "third": {"old": 1, "new": 2}}


@pytest.fixture(scope="module")
def made():
    return benchmark(HITS, published={"second": {"Known": {"P@1": 0.8}}}, failed={"third": "it is empty"})


def points(panel):
    """Return where points are, by colour."""
    lines = [line for line in panel.get_lines() if line.get_linestyle() == "None"]
    return {(line.get_color(), float(line.get_ydata()[0])): float(line.get_xdata()[0]) for line in lines}


def test_each_value_is_a_point_with_its_interval(made):
    panels = made.plot().axes
    assert [panel.get_title() for panel in panels] == ["P@1, %", "P@2, %", "coverage_error"]
    colors = dict(zip(made.systems, ("#0072b2", "#d55e00", "#009e73"), strict=True))
    expected = {
        (colors["old"], 0.0): 50,
        (colors["new"], 1.0): 75,
        (colors["old"], 4.0): 30,
        (colors["new"], 5.0): 75,
        (colors["Known"], 6.0): 80,
    }
    assert points(panels[0]) == pytest.approx(expected)
    faces = {
        line.get_color(): line.get_markerfacecolor() for line in panels[0].get_lines() if line.get_marker() != "None"
    }
    assert [faces[colors[name]] == "none" for name in ("old", "new", "Known")] == [False, False, True]
    low, high = made["second"].results[0].interval("P@1")
    ends = [list(line.get_xdata()) for line in panels[0].get_lines() if line.get_linestyle() == "-"]
    assert any(end == pytest.approx([100 * low, 100 * high]) for end in ends)
    assert points(panels[2])[colors["old"], 4.0] == made["second", "old", "coverage_error"]


def test_names_are_whole_and_what_was_not_scored_says_so(made):
    figure = made.plot(metrics=["P@1"])
    [panel] = figure.axes
    assert [label.get_text() for label in panel.get_yticklabels()] == list(HITS)
    by_column = [label.get_text() for label in figure.legends[0].get_texts()]
    assert by_column == ["old", "Known (published)", "new"]
    assert [text.get_text() for text in panel.texts] == ["not scored"]


def test_what_cannot_be_drawn_is_refused(made):
    with pytest.raises(UsageError, match="metrics: R@1 was not computed; expected any of P@1, P@2, coverage_error"):
        made.plot(metrics="R@1")
    with pytest.raises(DataError, match="no data set has values"):
        benchmark({"one": {"a": 3, "b": 4}}, failed={"one": "it is empty"}).plot()
