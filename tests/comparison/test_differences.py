"""Lists of differences, and the marks of values that are compared with a baseline, in every form."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval.comparison.sheet import list_differences
from xmceval.page.page import render_page
from xmceval.report.sheet import Layout

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
    options = {"k": (1, 2), "metrics": "P,coverage_error,macroF1(over=largest)@1", "against": "base"}
    options |= {"train": np.repeat(TRUTH, 2, axis=0), "by_frequency": 2}
    return xmceval.compare(TRUTH, {name: SYSTEMS[name] for name in ("base", "up", "down", "same")}, **options)


def test_an_interval_is_symmetric_up_to_rounding_alone(against):
    """Its ends are rounded; Wilson's and Fieller's intervals are off the middle by more, even of many rows."""
    difference = replace(against["P@1", "up", "base"], difference=0.3, low=0.3 - 0.7, high=0.3 + 0.7)
    assert difference.low + difference.high != 2 * difference.difference
    assert [replace(difference, high=difference.high + off).is_symmetric for off in (0.0, 1e-10, 1e-8)] == [
        True,
        True,
        False,
    ]
    assert not replace(difference, low=None, high=None).is_symmetric


NOTE = "every system was tested against base only"
MARKS = {
    "base": None,
    "up": {"P@1": "better", "P@2": "better", "coverage_error": "better", "macroF1(over=largest)@1": "untested"},
    "down": {"P@1": "worse", "P@2": "worse", "coverage_error": "worse", "macroF1(over=largest)@1": "untested"},
    "same": {"P@1": "none", "P@2": "none", "coverage_error": "none", "macroF1(over=largest)@1": "untested"},
}


def test_json_and_csv_say_how_systems_compare_with_the_baseline(against):
    document = json.loads(against._render("json"))
    assert {each["name"]: each["marks"] for each in document["systems"]} == MARKS
    lines = csv.DictReader(io.StringIO(against._render("csv")))
    found = {(line["system"], f"{line['metric']}@{line['k']}".rstrip("@"), line["bin"]): line["mark"] for line in lines}
    for system, marks in MARKS.items():
        for name, mark in (marks or {}).items():
            assert found[system, name, ""] == mark
    every = replace(against, testing=replace(against.testing, against=None))
    assert [each["marks"] for each in json.loads(every._render("json"))["systems"]] == [None] * 4


def test_the_page_marks_better_and_worse_values(against):
    text = render_page(against.results, against)
    assert text.count(">▲<") == text.count(">▼<") >= 3
    assert NOTE.capitalize() in text


def test_systems_with_runs_are_marked_and_pairs_left_out_are_untested():
    systems = {"base": [SYSTEMS["base"], SYSTEMS["same"]], "up": [SYSTEMS["up"], hits(110, 5, 5)]}
    systems["run"] = systems["base"][0]
    found = xmceval.compare(TRUTH, systems, k=1, metrics="P", against="base")
    assert found.facts == ("base and run are not compared: run is one of the runs of base",)
    document = json.loads(found._render("json"))
    assert {each["name"]: each["marks"] for each in document["runs"]} == {"base": None, "up": {"P@1": "better"}}
    marks = {each["name"]: each["marks"] for each in document["systems"]}
    assert marks == dict.fromkeys(["base (1)", "base (2)", "up (1)", "up (2)"]) | {"run": {"P@1": "untested"}}
    assert re.search(r"^up +[\d.]+ ± [\d.]+ ▲$", str(found), re.M)


# Lists.


@pytest.mark.parametrize(
    ("metrics", "unit"), [("P", "points"), ("DCG", "points or units"), ("P,DCG", "points or units")]
)
def test_units_are_points_where_all_are_shares(metrics, unit):
    systems = {"a": SYSTEMS["base"], "b": SYSTEMS["up"]}
    (listing,) = list_differences(xmceval.compare(TRUTH, systems, k=2, metrics=metrics), WIDE)
    assert listing.title.split(" · ")[-1] == unit


@pytest.mark.parametrize(
    ("detectable", "lines"), [(0.125, ("smallest difference detectable with 80% power: 12.50",)), (None, ())]
)
def test_the_matrix_of_many_pairs_names_what_is_detectable_unless_it_is_nothing(detectable, lines):
    systems = {name: np.roll(SYSTEMS["base"], 30 * i, axis=0) for i, name in enumerate("abcd")}
    comparison = xmceval.compare(TRUTH, systems, k=1, metrics="P")
    differences = tuple(replace(each, detectable=detectable) for each in comparison.differences)
    (listing,) = list_differences(replace(comparison, differences=differences), WIDE)
    assert listing.lines == lines


def test_intervals_of_few_rows_have_a_caution():
    few, enough = (
        xmceval.compare(TRUTH[:n], {name: SYSTEMS[name][-n - 40 :][:n] for name in ("base", "up")}, metrics="P@1")
        for n in (29, 30)
    )
    each = few["P@1", "up", "base"]
    assert each.low is not None
    assert (each.caution, enough["P@1", "up", "base"].caution) == ("few_rows", None)
    assert few.to_dict()["comparisons"][0]["caution"] == "few_rows"
    line = "caution: the intervals are from fewer than 30 instances"
    assert (line in str(few), line in str(enough)) == (True, False)
    runs = {name: [SYSTEMS[name], SYSTEMS["same"], SYSTEMS["down"]] for name in ("base", "up")}
    by_run = xmceval.compare(TRUTH, runs, k=1, metrics="P")["P@1", "up", "base"]
    assert (by_run.low is None, by_run.caution) == (False, None)
    alike = xmceval.compare(TRUTH[:9], {"a": TRUTH[:9] + 0.1, "b": TRUTH[:9] + 0.2}, k=1, metrics="P")
    assert alike["P@1", "b", "a"].caution is None
