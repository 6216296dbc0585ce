"""Whole tables of benchmarks in every form for people, as they were approved; see support/approved.py."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.approved import check
from support.benchmarks import benchmark, predict
from support.forms import render

import xmceval

LAYOUTS = {
    "wide.txt": ("table", {"width": 150}),
    "narrow.txt": ("table", {"width": 60, "is_unicode": False, "is_terminal": True, "is_styled": True}),
    "md": ("md", {}),
    "tex": ("latex", {"pairs": True}),
    "html": ("html", {}),
}
ALONE = {"bins": "md", "disjoint": "wide.txt", "lacking": "wide.txt", "nothing": "tex"}  # the one layout of a subject


def make_benchmark():
    """Five data sets and a published row; what is missing and what failed."""
    hits = {f"set {i}": {"old": 12 + i, "new": [25 + i, 24], "mid": 16 + i if i else 30} for i in range(4)}
    row = {"P@1": 0.8, "P@2": 0.6}
    made = benchmark(
        {**hits, "set 4": {"old": 20, "new": 9}},
        against="old",
        published={"set 1": {"Known": row}},
        failed={"set 3": "set 3/new.npz is empty"},
    )
    return replace(made, published={"Known": "its paper, 2019"})


def make_bins():
    """Two data sets without a baseline, with propensities, ceilings, bins of labels, and values that are no better."""
    train, options = np.eye(5)[[0, 0, 0, 1, 1, 2]], {"metrics": ["P@1", "PSP@2", "RR"], "ceiling": True}
    hits = {"one": {"a": 10, "b": 30, "c": 12}, "two": {"a": 12, "b": 31}, "alike": {"a": 20, "b": 21, "c": 2}}
    published = {"two": {"Known": {"P@1": 0.9}}}
    return benchmark(hits, train=train, by_frequency="head,tail", published=published, **options)


def make_disjoint():
    """Data sets that share no system, or one; runs of different numbers; groups that are small."""
    hits = {"one": {"a": 10, "b": [30, 31]}, "two": {"c": 12, "b": [20, 22, 24]}, "three": {"d": 7, "c": 3}}
    return benchmark(hits, failed={"three": "it is empty"})


def make_lacking():
    """Matrices in a dict, of data sets that lack training labels, or the baseline."""
    truth = np.eye(5)[np.arange(40) % 5]
    lacking = {"truth": truth, "filter": np.array([[0, 0]])}
    datasets = {"whole": {"truth": truth, "train": truth}, "without train": lacking, "alone": lacking}
    systems = {
        "old": {"paths": {name: predict(20, 40) for name in ("whole", "without train")}},
        "new": [predict(30, 40), predict(31, 40)],
    }
    options = {"metrics": "P@1,PSP@1", "by_frequency": "head,tail", "against": "old"}
    return xmceval.benchmark({**options, "datasets": datasets, "systems": systems})


def make_nothing():
    """Data sets that all failed."""
    hits = {"one": {"a": 10, "b": 30}, "two": {"a": 10, "b": 30}}
    measures = benchmark(hits).measures
    return replace(benchmark(hits, failed=dict.fromkeys(hits, "it is empty")), measures=measures)


MADE = {
    "benchmark": make_benchmark,
    "bins": make_bins,
    "disjoint": make_disjoint,
    "lacking": make_lacking,
    "nothing": make_nothing,
}
CASES = [*ALONE.items(), *(("benchmark", suffix) for suffix in LAYOUTS)]
make = cache(lambda name: MADE[name]())


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_an_output_is_as_it_was_approved(name, suffix):
    form, options = LAYOUTS[suffix]
    check(__file__, f"{name}.{suffix}", render(make(name), form, **options))


def test_what_python_shows_of_objects_is_as_it_was_approved():
    alone = "a data set with a single system"
    made = {name: make(name) for name in MADE} | {alone: make("lacking")["alone"]}
    texts = [f"=== repr, {name}\n{shown!r}\n" for name, shown in made.items()] + [f"=== str, {alone}\n{made[alone]}\n"]
    assert all(str(make(name)) == render(make(name)) for name in MADE)
    check(__file__, "objects.txt", "\n".join(texts))
