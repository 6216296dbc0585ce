"""Queries and documents on the command line: default metrics, words, fractions, and gates in the unit of the table."""

import json
from pathlib import Path

import pytest
from support.files import write_qrels, write_run

QRELS = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1, "d1": 1}, "q3": {"d4": 0}}
BEST = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d1": 0.75, "d3": 0.5, "d9": 0.25}, "q3": {"d4": 1.0}}
NAMES = ["nDCG@10", "AP@all", "RR@10", "R@100"]


@pytest.fixture
def files():
    return write_qrels("qrels.txt", QRELS), write_run("best.txt", BEST)


def test_default_metrics_of_search_are_no_options_that_were_passed(run, files):
    def options(*words):
        return json.loads(run("score", *files, "-o", "json", *words)[1])["options"]

    assert (options(), options("--ties", "expected")) == ({}, {"ties": "expected"})
    assert (options("-k", 2), options("-m", "AP")) == ({"k": [2]}, {"metrics": ["AP@all"]})


def test_definitions_are_of_queries(run, files):
    [system] = json.loads(run("score", *files, "-o", "json", "--page", "page.html")[1])["systems"]
    definitions = [value["definition"] for value in system["metrics"].values()]
    assert all("mean over queries" in definition for definition in definitions)
    page = Path("page.html").read_text(encoding="utf-8")
    assert ("mean over queries" in page, "over instances" in page) == (True, False)


def test_json_has_the_metrics_of_search_and_the_values_of_others(run, files):
    metrics = json.loads(run("score", *files, "-o", "json")[1])["systems"][0]["metrics"]
    assert list(metrics) == NAMES
    asked = run("score", *files, "-o", "json", "-m", "nDCG@10,AP,RR@10,R@100")[1]
    assert run("score", *files, "-o", "json")[1] == asked
