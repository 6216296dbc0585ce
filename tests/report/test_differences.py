"""Lists of differences, and the marks of values that are compared with a baseline, in every form."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval.errors import XmcevalWarning
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.registry import DRAWN, render_comparison
from xmceval.report.page import render_page
from xmceval.report.sheet.differences import list_differences

N_ROWS = 120
TRUTH = np.tile([1, 0, 0], (N_ROWS, 1))
WIDE = Layout(width=1000)


def hits(*places):
    """Scores whose rows have the true label first, second or third, with the given shares of the rows."""
    ranks = np.repeat(np.arange(len(places)), places)
    scores = np.tile([0.5, 0.4, 0.3], (N_ROWS, 1))
    scores[:, 0] -= 0.15 * ranks
    return scores


SYSTEMS = {
    "base": hits(60, 20, 40),
    "up": hits(100, 10, 10),
    "down": hits(20, 20, 80),
    "same": hits(62, 20, 38),
    "base_run": hits(60, 20, 40),
}


@pytest.fixture(scope="module")
def against():
    options = {"k": (1, 2), "metrics": "P,coverage_error,macroF1@1", "against": "base"}
    options |= {"train": np.repeat(TRUTH, 2, axis=0), "by_frequency": 2}
    with pytest.warns(XmcevalWarning, match="no test and no interval for macroF1@1"):
        return xmceval.compare(TRUTH, {name: SYSTEMS[name] for name in ("base", "up", "down", "same")}, **options)


NOTE = "only differences from base were tested"
MARKS = {
    "base": None,
    "up": {"P@1": "better", "P@2": "better", "coverage_error": "better", "macroF1@1": "untested"},
    "down": {"P@1": "worse", "P@2": "worse", "coverage_error": "worse", "macroF1@1": "untested"},
    "same": {"P@1": "none", "P@2": "none", "coverage_error": "none", "macroF1@1": "untested"},
}


def test_json_and_csv_say_how_systems_compare_with_the_baseline(against):
    document = json.loads(render_comparison("json", against))
    assert {each["name"]: each["marks"] for each in document["systems"]} == MARKS
    lines = csv.DictReader(io.StringIO(render_comparison("csv", against)))
    found = {(line["system"], f"{line['metric']}@{line['k']}".rstrip("@"), line["bin"]): line["mark"] for line in lines}
    for system, marks in MARKS.items():
        for name, mark in (marks or {}).items():
            assert found[system, name, ""] == mark
    every = replace(against, testing=replace(against.testing, against=None))
    assert [each["marks"] for each in json.loads(render_comparison("json", every))["systems"]] == [None] * 4


def marks_of(form, text):
    """Return by system what stands after the values of P@1, P@2 and coverage_error."""
    rows = {name: re.search(rf"^(?:\| )?{name} .*$", text, re.MULTILINE)[0] for name in MARKS}
    interval = r"(?:±|\d\.\.)[\d.]+"
    pattern = {"table": rf"{interval}(?: +([▲▼+-]))?(?=  |$)", "md": rf"{interval}(?: <sup>(.)</sup>)? +\|"}[form]
    return {name: re.findall(pattern, row) for name, row in rows.items()}


@pytest.mark.parametrize(("is_unicode", "signs"), [(True, "▲▼"), (False, "+-")])
def test_the_table_marks_better_and_worse_values(against, is_unicode, signs):
    up, down = signs
    expected = {"base": [""] * 3, "up": [up] * 3, "down": [down] * 3, "same": [""] * 3}
    for form in ("table", "md"):
        text = render_comparison(form, against, replace(WIDE, is_unicode=is_unicode))
        assert marks_of(form, text) == expected
        assert f"{up} significantly better, {down} significantly worse than base, p (Holm) < 0.05\n" in text
        assert f"{NOTE}\n" in text
        assert "(a)" not in text


def test_latex_marks_better_and_worse_values(against):
    for layout in (WIDE, replace(WIDE, is_unicode=False)):
        text = render_comparison("latex", against, layout)
        up, down = (re.search(rf"^ *{name} +&.*$", text, re.MULTILINE)[0] for name in ("up", "down"))
        plus, minus = r"\textsuperscript{$+$}", r"\textsuperscript{$-$}"
        assert (up.count(plus), up.count(minus), down.count(plus), down.count(minus)) == (3, 0, 0, 3)
        assert f"; {NOTE};" in text
        assert all(line.isascii() or line.startswith("%") for line in text.splitlines())
    note = r"; $^{+}$ significantly better, $^{-}$ significantly worse than base, p (Holm) $<$ 0.05;"
    assert note in render_comparison("latex", against, WIDE)


def test_a_notebook_and_the_page_mark_better_and_worse_values(against):
    for text in (render_comparison("html", against), render_page(against.results, against)):
        assert text.count(">▲<") == text.count(">▼<") >= 3
        assert NOTE in text or NOTE.capitalize() in text


def test_systems_with_runs_are_marked_and_pairs_left_out_are_untested():
    systems = {"base": [SYSTEMS["base"], SYSTEMS["same"]], "up": [SYSTEMS["up"], hits(110, 5, 5)]}
    systems["run"] = systems["base"][0]
    with pytest.warns(XmcevalWarning, match="base and run are not compared"):
        found = xmceval.compare(TRUTH, systems, k=1, metrics="P", against="base")
    document = json.loads(render_comparison("json", found))
    assert {each["name"]: each["marks"] for each in document["runs"]} == {"base": None, "up": {"P@1": "better"}}
    marks = {each["name"]: each["marks"] for each in document["systems"]}
    assert marks == dict.fromkeys(["base (1)", "base (2)", "up (1)", "up (2)"]) | {"run": {"P@1": "untested"}}
    assert re.search(r"^up, mean of 2 runs +[\d.]+ +▲$", str(found), re.M)


def test_marks_of_bins_are_of_their_differences(against):
    lines = render_comparison("table", against, WIDE).split("\nbin ")[1].splitlines()
    up = next(line for line in lines if line.startswith("up "))
    of_bin = [each for each in against.differences if each.bin and each.system == "up" and each.is_detected]
    assert up.count("▲") == len({each.measure.name for each in of_bin if each.bin == of_bin[0].bin}) > 0


# Lists.


def listed(comparison, layout=WIDE):
    return list(list_differences(comparison, layout))


def test_units_are_points_where_all_are_shares():
    systems = {"a": SYSTEMS["base"], "b": SYSTEMS["up"]}
    for metrics, unit in (("P", "points"), ("DCG", "points or units"), ("P,DCG", "points or units")):
        (listing,) = listed(xmceval.compare(TRUTH, systems, k=2, metrics=metrics))
        assert listing.title.split(" · ")[-1] == unit


def test_the_matrix_of_many_pairs_names_least_and_most_detectable():
    names = ("base", "up", "down", "same")
    comparison = xmceval.compare(TRUTH, {name: SYSTEMS[name] for name in names}, k=1, metrics="P")
    (listing,) = listed(comparison)
    sizes = sorted(100 * each.detectable for each in comparison.values() if each.detectable)
    assert len(sizes) == 5  # of base and same only two instances differ
    assert listing.lines == (f"smallest difference detectable with 80% power: {sizes[0]:.2f} to {sizes[-1]:.2f}",)
    assert listing.numeric == {1, 2, 3}
    equal = xmceval.compare(
        TRUTH, {name: np.roll(SYSTEMS["base"], 30 * i, axis=0) for i, name in enumerate("abcd")}, k=1, metrics="P"
    )
    one = [replace(each, detectable=0.125) for each in equal.differences]
    (listing,) = listed(replace(equal, differences=tuple(one)))
    assert listing.lines == ("smallest difference detectable with 80% power: 12.50",)
    none = [replace(each, detectable=None) for each in equal.differences]
    (listing,) = listed(replace(equal, differences=tuple(none)))
    assert listing.lines == ()


def test_the_columns_of_a_matrix_are_aligned():
    names = ("base", "up", "down", "same")
    comparison = xmceval.compare(TRUTH, {name: SYSTEMS[name] for name in names}, k=1, metrics="P")
    text = render_comparison("table", comparison, WIDE).partition("row \N{MINUS SIGN} column")[2]
    _, head, *rows = text.splitlines()[:5]
    ends = [found.end() for found in re.finditer(r"\(\w\)", head)]
    assert len(ends) == 3
    for row in rows:
        numbers = re.finditer(r"[+-]\d+\.\d\d", row)
        assert all(found.end() in ends for found in numbers)


def test_intervals_of_few_rows_have_a_caution(tmp_path):
    few, enough = (
        xmceval.compare(
            TRUTH[:n], {"a": SYSTEMS["base"][-n - 40 :][:n], "b": SYSTEMS["up"][-n - 40 :][:n]}, metrics="P@1"
        )
        for n in (29, 30)
    )
    each = few["P@1", "b", "a"]
    assert each.low is not None
    assert (each.caution, enough["P@1", "b", "a"].caution) == ("few_rows", None)
    assert few.to_dict()["comparisons"][0]["caution"] == "few_rows"
    line = "caution: the intervals are from fewer than 30 instances"
    for form in DRAWN:
        assert line in render_comparison(form, few, Layout(pairs=True))
        assert line not in render_comparison(form, enough)
    assert f"; {line}.}}\n" in render_comparison("latex", few, Layout(intervals=True))
    assert line.capitalize() in render_page(few.results, few)
    assert line.capitalize() not in render_page(enough.results, enough)
    runs = {name: [SYSTEMS[name], SYSTEMS["same"], SYSTEMS["down"]] for name in ("base", "up")}
    by_run = xmceval.compare(TRUTH, runs, k=1, metrics="P")["P@1", "up", "base"]
    assert (by_run.low is None, by_run.caution) == (False, None)
    alike = xmceval.compare(TRUTH[:9], {"a": TRUTH[:9] + 0.1, "b": TRUTH[:9] + 0.2}, k=1, metrics="P")
    assert alike["P@1", "b", "a"].caution is None


THREE = {"a": hits(100, 20), "b": hits(90, 30), "c": hits(50, 70)}
FAMILIES = {
    "pairs": (THREE, {}, "each metric is a family of its own: p (Holm) is adjusted for its pairs, intervals are not"),
    "all": (THREE, {"adjust_over": "all"}, "all 6 tests are one family: p (Holm) is adjusted for their number, inter"),
    "none": (THREE, {"adjust": "none"}, "neither p nor intervals are adjusted for the number of tests (6)"),
    "one pair": (
        {name: THREE[name] for name in "ab"},
        {},
        "each metric is a family of its own: neither p nor intervals are adjusted for the number of metrics",
    ),
}


@pytest.mark.parametrize("case", FAMILIES)
def test_the_family_that_p_is_adjusted_for_is_said_in_every_form_for_people(case):
    systems, options, line = FAMILIES[case]
    comparison = xmceval.compare(TRUTH, systems, metrics="P@1,P@2", **options)
    assert line in str(comparison)
    assert line in render_comparison("md", comparison, Layout())
    assert line[1:] in re.sub(r"<[^>]+>", "", render_page(comparison.results, comparison))
    single = xmceval.compare(TRUTH, {name: THREE[name] for name in "ab"}, metrics="P@1", adjust="none")
    assert "adjusted for" not in str(single)
