"""What notebooks show: tables of a score, a comparison, and all else that has numbers."""

import warnings

import numpy as np
from support.markup import parse, read_table

import xmceval
from xmceval.metrics.names import parse as parse_names
from xmceval.page.tables import draw
from xmceval.report.forms.html import raw
from xmceval.report.sheet import Cell, Listing, Row, Section, Sheet


def compared(names, **options):
    rng = np.random.default_rng(3)
    y_true = rng.random((60, 12)) < 0.25
    y_true[0] = False
    systems = {name: rng.random((60, 12)) + 0.3 * i * y_true for i, name in enumerate(names)}
    return xmceval.compare(y_true, systems, train=y_true, threads=1, **options)


def test_a_sheet_is_drawn_in_order_and_whatever_it_holds_is_text():
    assert raw("<b>a\x00b</b>") == "<b>a\N{REPLACEMENT CHARACTER}b</b>"
    row = Row("<a>", {"P@1": Cell("1.00", "±0.10", "best", "b"), "P@3": Cell("2.00", emphasis="second")})
    listing = Listing("a list", ("", "n"), (("<x>", "1"),), lines=("its end",))
    sheet = Sheet(("above",), ("P@1", "P@3", "P@5"), (Section("", (row,)),), ("a < b",), (listing,), verdicts=("&",))
    [root] = parse(draw(sheet)).inside
    assert [element.tag for element in root.inside] == ["style", "ul", "div", "ul", "div"]
    assert [line.text for line in root.all("li")] == ["&", "above", "a < b", "Its end."]
    assert [caption.text for caption in root.all("caption")] == ["A list"]
    table, listed = map(read_table, root.all("table"))
    assert table == [["", "P@1", "P@3", "P@5"], ["<a>", "1.00 ±0.10b", "2.00", ""]]
    assert [root.all(tag)[0].text for tag in ("b", "u", "sup")] == ["1.00", "2.00", "b"]
    assert listed == [["", "n"], ["<x>", "1"]]


def test_a_difference_is_a_table():
    comparison = compared("ab", k=1, metrics="P,macroF1(over=largest)")
    _, head, line = str(comparison["P@1", "b", "a"]).splitlines()[:3]
    assert head.split("  ")[-1] == "wins/ties/losses"
    assert line.split()[0] == "P@1"
    untested = comparison["macroF1(over=largest)@1", "b", "a"]
    assert "not tested" in repr(untested)
    assert "macroF1(over=largest)@1" in str(untested)


def test_the_metrics_are_a_table_of_all_that_can_be_asked_for():
    names = {line.split(" ")[0].partition("@")[0] for line in str(xmceval.METRICS).splitlines() if line}
    assert {name.partition("@")[0] for name in xmceval.METRICS} <= names
    assert repr(xmceval.METRICS).startswith(f"<METRICS: {len(xmceval.METRICS)} metrics\n P@k, ")
    assert repr(xmceval.METRICS["P"]) == "<Metric P: precision, hits / k>"
    assert "precision: hits / k" in str(xmceval.METRICS)
    assert [parse_names(name, [1])[0].metric for name in xmceval.METRICS] == list(xmceval.METRICS.values())


def test_what_was_inspected_is_in_the_same_lines(tmp_path):
    truth, scores = tmp_path / "truth.txt", tmp_path / "scores.txt"
    truth.write_text("2 3\n0:1\n1:1\n")
    scores.write_text("2 3\n0:0.5 1:0.25\n1:0.5 2:x\n")
    report = xmceval.inspect([truth, scores])
    assert repr(report).splitlines()[0] == "<InspectionReport of 2 files: not all valid, 1 problem"
    assert "scores.txt: not valid, score refuses it" in str(report)
    assert str(report).startswith(f"{truth}: valid: 2 rows, 3 labels, 2 true labels; ")


def test_how_instances_were_counted_is_shown_and_not_warned_of():
    y_true, y_score = np.eye(3), np.eye(3)
    y_true[0] = 0
    line = "1 instance has no true labels (0 for P)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = xmceval.score(y_true, y_score, metrics="P", k=1)
        comparison = xmceval.compare(y_true, {"a": y_score, "b": y_score[::-1]}, metrics="P", k=1)
    assert result.warnings == result.facts == (line,)
    for shown in (result, comparison):
        assert shown.doubts == ()
        assert str(shown).count(line) == 1
        assert shown._repr_html_().count(line) == 1
    assert line in result.to_markdown()
