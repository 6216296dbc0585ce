"""Faults: what is recorded of scripts/faults is of all its cases, held, and what the guide shows."""

import json

import pytest

pytest.importorskip("resource", reason="limits processes")

from faults import damage, endings, inputs, kernelcaches, outputs, workers
from faults.harness import Ended, Tried, summarize
from faults.table import RECORDED, write_guide

MODULES = (outputs, inputs, endings, damage, kernelcaches, workers)
ENTRIES = json.loads(RECORDED.read_text(encoding="utf-8"))["cases"]


def test_every_case_was_tried():
    assert {each["case"] for each in ENTRIES} == {
        case.__name__.replace("_", " ") for module in MODULES for case in module.CASES
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["what"])
def test_what_was_tried_held(entry):
    assert entry["held"] == entry["tries"]
    assert entry["happened"]
    assert entry["tries"] in {0, sum(entry["happened"].values())}


def test_what_does_not_hold_or_is_not_run_is_shown():
    cases = [
        {"case": "a b", "what": "x", "expected": "y", "tries": 3, "held": 2, "happened": {"z": 1, "y": 2}},
        {"case": "a b", "what": "v", "expected": "y", "tries": 0, "held": 0, "happened": {"no root": 1}},
    ]
    text = write_guide({"version": "1", "machine": {"system": "s", "python": "p"}, "cases": cases})
    assert "## A b\n" in text
    assert "| x | y | 2 of 3 |\n| v | y | not run: no root |\n" in text


@pytest.mark.parametrize(
    ("ended", "is_refusal", "words"),
    [
        (Ended(1, "", "Error: x: is damaged\n"), True, "refused with a message"),
        (Ended(1, "", "Traceback (most\nError: x\n"), False, "exit code 1, traceback"),
        (Ended(-9, "", ""), False, "ended by SIGKILL"),
        (Ended(0, "P 1\n", ""), False, "exit code 0"),
    ],
)
def test_ends_are_told_apart(ended, is_refusal, words):
    assert (ended.is_refusal, str(ended)) == (is_refusal, words)


def test_tries_of_one_thing_are_counted_together():
    tries = [Tried("a", "e", "yes", True), Tried("a", "e", "no", False), Tried("b", "e", "cannot", None)]
    first, second = summarize("some_case", tries)
    assert (first["case"], first["tries"], first["held"], first["happened"]) == ("some case", 2, 1, {"yes": 1, "no": 1})
    assert (second["tries"], second["held"]) == (0, 0)
