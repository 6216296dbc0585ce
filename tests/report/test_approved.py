"""Whole outputs of every form for people, as they were approved; see support/approved.py."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from support.approved import check

import xmceval
from xmceval.report.forms import load_form
from xmceval.report.score_sheet import build_sheet
from xmceval.report.sheet import Layout, Listing

NAMES = "One & only", "second_system", "a system of a name that is rather long", "4", *(f"s{i}" for i in range(5, 11))
LAYOUTS = {
    "wide.txt": ("table", {"width": 150}),
    "narrow.txt": ("table", {"width": 60, "is_unicode": False, "is_terminal": True, "is_styled": True, "pairs": True}),
    "fractions.txt": ("table", {"percent": False, "places": 3, "transpose": True, "intervals": False}),
    "md": ("md", {"pairs": True}),
    "transposed.md": ("md", {"transpose": True, "percent": False, "intervals": False}),
    "tex": ("latex", {"pairs": True}),
    "transposed.tex": ("latex", {"transpose": True, "intervals": True, "caption": "A caption", "label": "tab:a"}),
    "html": ("html", {}),
}


def make_scores(n_systems, n_rows, n_labels):
    """Return a truth and systems that find it less well, one after the other, in whole numbers."""
    rng = np.random.default_rng(5)
    y_true = (rng.random((n_rows, n_labels)) < np.geomspace(0.6, 0.01, n_labels)).astype(int)
    y_true[2] = 0
    noise = rng.integers(0, 8, (n_systems, n_rows, n_labels))
    return y_true, {
        name: 5 * y_true + (1 + i) * noise[i] + np.arange(n_labels) % 3 for i, name in enumerate(NAMES[:n_systems])
    }


def make_score():
    """One system: bins, propensities, decisions, and a coverage error above 1,000."""
    y_true, systems = make_scores(1, 24, 1600)
    options = {"train": y_true[:20], "threshold": 0.3, "by_frequency": 2, "ceiling": True, "threads": 1}
    metrics = "P,nDCG,PSP,coverage_error,LRAP,macroF1,microF1"
    scores = (systems["One & only"] - 4 * y_true) / 50
    return [xmceval.score(y_true, scores, metrics=metrics, k=(1, 3), **options)]


def make_groups():
    """One system, by groups of rows, without rows that have no labels."""
    y_true, systems = make_scores(1, 30, 7)
    options = {"by_group": ["en", "de"] * 15, "empty_rows": "drop", "threads": 1}
    return [xmceval.score(y_true, systems["One & only"], metrics="P,AP,macroF1", k=1, **options)]


def make_two():
    """Two systems, not compared."""
    y_true, systems = make_scores(2, 40, 9)
    options = {"metrics": "P,PSP,macroF1,PSnDCG", "k": (1, 3, 5), "train": y_true, "threads": 1}
    return xmceval.compare(y_true, systems, **options).results


def make_letters():
    """Four systems, each tested against each, in bins."""
    y_true, systems = make_scores(4, 60, 12)
    options = {"metrics": "P@1,coverage_error,macroF1@1", "train": y_true, "threads": 1}
    return xmceval.compare(y_true, systems, by_frequency=2, ceiling=True, **options)


def make_baseline():
    """Three systems against the first, one with two runs, and what a filter removes."""
    y_true, systems = make_scores(3, 50, 8)
    first, second, third = systems
    runs = {first: systems[first], second: [systems[second], systems[third]], third: systems[third]}
    options = {"metrics": "P,nDCG,coverage_error", "k": (1, 2), "threads": 1}
    return xmceval.compare(y_true, runs, against=first, filter=[[0, 1], [3, 0], [7, 2]], **options)


def make_ten():
    """Ten systems, each tested against each."""
    y_true, systems = make_scores(10, 60, 12)
    return xmceval.compare(y_true, systems, metrics="P", k=(1, 3), threads=1)


def make_against_one():
    """Five systems, with more pairs than have a list each, against one of them: better, worse and neither, in bins."""
    y_true, systems = make_scores(5, 60, 12)
    options = {"metrics": "P@1,macroF1@1", "train": y_true, "threads": 1}
    return xmceval.compare(y_true, systems, against=NAMES[1], by_frequency="head,tail", **options)


def make_small_groups():
    """Two systems in groups of few rows, more of them than are named."""
    y_true, systems = make_scores(2, 40, 6)
    options = {"metrics": "P@1", "by_group": [f"g{i % 11}" for i in range(40)], "threads": 1}
    return xmceval.compare(y_true, systems, **options)


def make_negative():
    """Two systems with values that are below 0 for one metric, and an interval on both sides of 0."""
    y_true, systems = make_scores(2, 40, 6)
    with TemporaryDirectory() as folder:
        files = [Path(folder, f"{i}.csv") for i in range(len(systems))]
        for file, y_score in zip(files, systems.values(), strict=True):
            hits = np.take_along_axis(y_true, np.argsort(-y_score, axis=1, kind="stable"), axis=1)
            shares = [hits[:, :k].mean(axis=1) for k in (1, 3)]
            columns = [*(each - y_true.sum(axis=1) / 2.5 for each in shares), *shares]
            rows = [
                f"{i},{file.name},1,{','.join(map(repr, map(float, row)))}"
                for i, row in enumerate(zip(*columns, strict=True))
            ]
            file.write_text("\n".join(["row,system,weight,DCG@1,DCG@3,P@1,P@3", *rows]) + "\n", encoding="utf-8")
        return xmceval.compare_rows(files, names=[*systems], against="One & only", threads=1)


def make_listings():
    """Lists with numbers, lines below, and a long table."""
    return [
        Listing(
            "Numbers & names",
            ("name", "n", "p"),
            (("a_b", "1,200", "-0.5*"), ("c", "3", "12.25")),
            numeric=frozenset({1, 2}),
            lines=("p < 0.05",),
        ),
        Listing("Forty rows", ("", "n"), tuple((f"row {i}", str(i)) for i in range(40)), lines=("of numbers",)),
    ]


def render_results(form, results, layout):
    return xmceval.Results(results)._render(form, layout)


def render_lists(form, listings, layout):
    """Draw lists below a table."""
    sheet = build_sheet(make("score"), layout)
    return str(load_form(form).draw(replace(sheet, listings=tuple(listings))))


def render_one(form, shown, layout):
    return shown._render(form, layout)


MADE = {
    "score": (make_score, render_results),
    "groups": (make_groups, render_results),
    "two": (make_two, render_results),
    "letters": (make_letters, render_one),
    "baseline": (make_baseline, render_one),
    "small groups": (make_small_groups, render_one),
    "negative": (make_negative, render_one),
    "ten": (make_ten, render_one),
    "against one": (make_against_one, render_one),
    "listings": (make_listings, render_lists),
}

ALONE = {  # the one layout of a subject; the letters have all
    "score": "wide.txt",
    "groups": "fractions.txt",
    "two": "transposed.md",
    "baseline": "narrow.txt",
    "small groups": "html",
    "negative": "tex",
    "ten": "wide.txt",
    "against one": "md",
    "listings": "md",
}
CASES = [*ALONE.items(), *(("letters", suffix) for suffix in LAYOUTS)]
make = cache(lambda name: MADE[name][0]())


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_an_output_is_as_it_was_approved(name, suffix):
    form, options = LAYOUTS[suffix]
    check(__file__, f"{name}.{suffix}", MADE[name][1](form, make(name), Layout(**options)))


def test_what_python_shows_of_objects_is_as_it_was_approved():
    """Of what prints as its table, how it is represented alone."""
    first, *_, last = make("baseline").differences
    both = {
        "results, the best last": xmceval.Results(make("two")[::-1]),
        "letters, a difference": make("letters").differences[-1],
        "baseline, a difference": first,
        "baseline, the last": last,
    }
    shown = [(repr, name, make(name)) for name in ("letters", "small groups", "negative", "baseline")]
    shown += [(repr, "score", make("score")[0])]
    shown += [(how, name, value) for name, value in both.items() for how in (repr, str)]
    texts = (f"=== {how.__name__}, {name}\n{how(value)}\n" for how, name, value in shown)
    check(__file__, "objects.txt", "\n".join(texts))
