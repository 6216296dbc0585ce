"""Whole tables of benchmarks in every form for people, as they were approved; see support/approved.py."""

from functools import cache

import numpy as np
import pytest
from support.approved import check
from support.benchmarks import benchmark

from xmceval.benchmarks.render import render_benchmark
from xmceval.report.forms.layout import Layout

LAYOUTS = {
    "wide.txt": ("table", {"width": 150}),
    "narrow.txt": ("table", {"width": 60, "is_unicode": False, "is_terminal": True, "is_styled": True}),
    "md": ("md", {}),
    "brief.md": ("md", {"pairs": False, "has_conventions": True}),
    "tex": ("latex", {"pairs": True}),
    "html": ("html", {}),
}
SOME = "wide.txt", "brief.md", "tex", "html"


def make_benchmark():
    """Five data sets and a published row; what is missing and what failed."""
    hits = {f"set {i}": {"old": 12 + i, "new": [25 + i, 24], "mid": 16 + i if i else 30} for i in range(4)}
    row = {"P@1": 0.8, "P@2": 0.6}
    return benchmark(
        {**hits, "set 4": {"old": 20, "new": 9}},
        against="old",
        published={"set 1": {"Known": row}},
        failed={"set 3": "set 3/new.npz is empty"},
    )


def make_propensities():
    """Two data sets without a baseline, with propensities and a ceiling."""
    train, options = np.eye(5)[[0, 0, 0, 1, 1, 2]], {"metrics": ["P@1", "PSP@2", "RR"], "ceiling": True}
    hits = {"one": {"a": 10, "b": 30, "c": 12}, "two": {"a": 12, "b": 31}}
    return benchmark(hits, train=train, why={"c": "no file c.npz"}, **options)


def make_disjoint():
    """Data sets that share no system, or one; runs of different numbers; groups that are small."""
    hits = {"one": {"a": 10, "b": [30, 31]}, "two": {"c": 12, "b": [20, 22, 24]}, "three": {"d": 7, "c": 3}}
    return benchmark(hits, failed={"three": "it is empty"})


MADE = {"benchmark": make_benchmark, "propensities": make_propensities, "disjoint": make_disjoint}
CASES = [(name, suffix) for name in MADE for suffix in (LAYOUTS if name == "benchmark" else SOME)]
make = cache(lambda name: MADE[name]())


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_an_output_is_as_it_was_approved(name, suffix):
    form, options = LAYOUTS[suffix]
    check(__file__, f"{name}.{suffix}", render_benchmark(form, make(name), Layout(**options)))


def test_what_python_shows_of_objects_is_as_it_was_approved():
    texts = (f"=== {how.__name__}, {name}\n{how(make(name))}\n" for name in MADE for how in (repr, str))
    check(__file__, "objects.txt", "\n".join(texts))
