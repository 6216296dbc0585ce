"""What notebooks show: one screen for a score or a comparison, and tables of all else that has numbers."""

import warnings

import numpy as np
import pytest
from support.markup import parse, read_table

import xmceval
from xmceval.metrics.names import parse as parse_names
from xmceval.report.forms.html import MOST_BESIDE, MOST_LISTS, MOST_NOTES, MOST_SENTENCES, draw
from xmceval.report.forms.markup import raw
from xmceval.report.sheet.model import Cell, Listing, Row, Section, Sheet

TWELVE = "P,nDCG,R,F1,AP,RR,Hit,DCG,PSP,PSnDCG,PSR,PSDCG"
SCREEN = 40  # lines
BINS = {"by_frequency": "head,tail"}


def compared(names, **options):
    rng = np.random.default_rng(3)
    y_true = rng.random((60, 12)) < 0.25
    y_true[0] = False
    systems = {name: rng.random((60, 12)) + 0.3 * i * y_true for i, name in enumerate(names)}
    return xmceval.compare(y_true, systems, train=y_true, threads=1, **options)


@pytest.fixture(scope="module")
def two():
    return compared("ab", k=1, metrics="P", **BINS)


@pytest.fixture(scope="module")
def six():
    return compared("abcdef", **BINS)


def open_lines(root):
    """Count the lines of a fragment with all that is folded closed; a row is as high as its highest cell."""
    if root.tag == "details":
        return 1
    if root.tag == "tr":
        return 1 + any(cell.all("br") for cell in root.inside)
    if root.tag == "div" and not root.inside:
        return 1 + len(root.text) // 130
    return sum(map(open_lines, root.inside)) + (root.tag == "caption")


@pytest.mark.parametrize(("names", "options"), [("ab", {}), ("ab", BINS), ("abcdef", BINS)])
def test_a_comparison_is_one_screen(names, options):
    root = parse(compared(names, **options)._repr_html_())
    assert [each.tag for each in root.inside] == ["div"]
    assert open_lines(root) <= SCREEN
    assert not root.all("script")
    assert not root.all("style")


def test_twelve_metrics_at_three_cutoffs_are_one_screen_that_scrolls_sideways():
    root = parse(compared("abcdef", metrics=TWELVE, k=[1, 3, 5])._repr_html_())
    assert open_lines(root) <= SCREEN
    assert len(root.all("table")[0].all("th", scope="col")) == 36
    boxes = [each for each in root.all("div") if [inner.tag for inner in each.inside] == ["table"]]
    assert len(boxes) == len(root.all("table"))
    assert all("overflow: auto" in each.attributes["style"] for each in boxes)


def test_pairs_and_long_bins_are_folded_and_short_bins_follow_all_labels(two, six):
    root = parse(two._repr_html_())
    titles = [each.text.partition(":")[0] for each in root.all("table")[0].all("th", scope="rowgroup")]
    assert titles == ["all labels", "head", "tail"]
    folded = [each.text for each in root.all("summary")]
    assert [each.startswith("b \N{MINUS SIGN} a") for each in folded] == [True] * 3
    root = parse(six._repr_html_())
    assert root.all("table")[0].all("caption")[0].text == "all labels"
    inner = {id(each) for fold in root.all("details") for each in fold.all("summary")[1:]}
    outer = [each.text.partition(":")[0] for each in root.all("summary") if id(each) not in inner]
    assert outer[:2] + outer[-1:] == ["head", "tail", "36 lists"]


def test_a_score_with_bins_is_one_table(six):
    root = parse(six.results[0]._repr_html_())
    assert len(root.all("table")) == 1
    assert open_lines(root) <= SCREEN


def test_no_interval_wraps_beside_its_value(two, six):
    for comparison in (two, six):
        for table in parse(comparison._repr_html_()).all("table"):
            values = [cell for cell in table.all("td") if "±" in cell.text]
            assert len({bool(cell.all("br")) for cell in values}) <= 1
            assert all("nowrap" in cell.attributes["style"] for cell in values)


def made(n_columns=1, **parts):
    columns = tuple(f"P@{k}" for k in range(1, n_columns + 1))
    row = Row("a", dict.fromkeys(columns, Cell("1.00", "±0.10", marks="ab")))
    return Sheet(**{"above": (), "columns": columns, "sections": (Section("", (row,)),), "below": (), **parts})


def test_many_columns_have_intervals_below_their_values():
    for n, is_below in ((MOST_BESIDE, False), (MOST_BESIDE + 1, True)):
        cells = parse(draw(made(n))).all("tbody")[0].all("td")
        assert [bool(cell.all("br")) for cell in cells] == [is_below] * n
        assert {cell.text for cell in cells} == {"1.00±0.10ab" if is_below else "1.00 ±0.10ab"}


def test_what_is_more_than_a_screen_is_folded():
    listing = Listing("a list · of two", (("x", "1"),))
    sheet = made(
        verdicts=("sentence",) * (MOST_SENTENCES + 3),
        below=("note",) * (MOST_NOTES + 1),
        listings=(listing,) * (MOST_LISTS + 1),
    )
    root = parse(draw(sheet))
    assert [each.text for each in root.all("summary")][::2][:2] == ["3 more", "a list · of two"]
    assert [each.text for each in root.all("summary")][1] == "5 lists: a list"
    assert [each.text for each in root.all("div") if each.text == "note"] == ["note"] * (MOST_NOTES + 1)


def test_as_many_lists_as_fit_are_folded_one_by_one_and_of_more_the_first_are_named():
    def titles(n):
        listings = tuple(Listing(f"list {i} · of two", (("x", "1"),)) for i in range(n))
        return [each.text for each in parse(draw(made(listings=listings))).all("summary")]

    assert titles(MOST_LISTS) == [f"list {i} · of two" for i in range(MOST_LISTS)]
    assert titles(MOST_LISTS + 1)[0] == "5 lists: list 0, list 1, list 2, list 3, ..."


def test_characters_that_html_forbids_are_replaced():
    assert raw("<b>a\x00b</b>") == "<b>a\N{REPLACEMENT CHARACTER}b</b>"


def test_a_difference_is_a_table(two):
    difference = two["P@1", "b", "a"]
    assert repr(difference).splitlines()[0] == f"<Difference of b - a on P@1: {difference.difference:.4f}"
    table = parse(difference._repr_html_()).all("table")[0]
    assert read_table(table)[0] == ["", "difference", "95% interval", "p", "p adjusted", "wins/ties/losses"]
    assert read_table(table)[1][0] == "P@1"
    assert f"{100 * difference.difference:+.2f}" in str(difference)
    untested = compared("ab", k=1, metrics="macroF1")["macroF1@1", "b", "a"]
    assert "not tested" in repr(untested)
    assert "macroF1@1" in str(untested)


def test_the_metrics_are_a_table_of_all_that_can_be_asked_for():
    rows = read_table(parse(xmceval.METRICS._repr_html_()).all("table")[0])
    assert len(rows) == len(xmceval.METRICS) + 1
    assert repr(xmceval.METRICS).startswith(f"<METRICS: {len(xmceval.METRICS)} metrics\n P@k, ")
    assert repr(xmceval.METRICS["P"]) == "<Metric P: precision, hits / k>"
    assert "precision: hits / k" in str(xmceval.METRICS)
    assert [parse_names(name, [1])[0].metric for name in xmceval.METRICS] == list(xmceval.METRICS.values())


def test_what_was_inspected_is_a_table(tmp_path, two):
    truth, scores = tmp_path / "truth.txt", tmp_path / "scores.txt"
    truth.write_text("2 3\n0:1\n1:1\n")
    scores.write_text("2 3\n0:0.5 1:0.25\n1:0.5 2:x\n")
    report = xmceval.inspect([truth, scores])
    assert repr(report).splitlines()[0] == "<InspectionReport of 2 files: not all valid, 1 problem"
    root = parse(report._repr_html_())
    assert "scores.txt: not valid, score refuses it" in root.text
    assert read_table(root.all("table")[0])[1][0] == "truth.txt"
    assert str(report).startswith(f"{truth}: valid\n")


def test_how_instances_were_counted_is_shown_and_not_warned_of():
    y_true, y_score = np.eye(3), np.eye(3)
    y_true[0] = 0
    line = "1 instance has no true label: it counts as 0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = xmceval.score(y_true, y_score, metrics="P", k=1)
        comparison = xmceval.compare(y_true, {"a": y_score, "b": y_score[::-1]}, metrics="P", k=1)
    assert result.warnings == (line,)
    for shown in (result, comparison):
        assert shown.doubts == ()
        assert str(shown).count(line) == 1
        assert shown._repr_html_().count(line) == 1
    assert line not in result.to_markdown()
