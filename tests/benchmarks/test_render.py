"""The sheet of a benchmark: groups of data sets, marks, notes; and what its forms have in common."""

import csv
import io
import re
from dataclasses import replace

import pytest
from support.benchmarks import benchmark
from support.markup import parse

from xmceval.benchmarks.outcome import MISSING, Benchmark
from xmceval.benchmarks.render import build_benchmark_sheet, render_benchmark
from xmceval.errors import UsageError, naming_flags
from xmceval.report.forms.layout import Layout
from xmceval.report.forms.registry import MODULES
from xmceval.report.sheet.model import BEST, SECOND, UP

THREE = {
    "first": {"old": 20, "new": [29, 31], "raw": 21},
    "second": {"old": 12, "new": [29, 31], "raw": 4},
    "third": {"old": 15, "new": [14, 15]},
    "bad": {"old": 15, "new": [14, 15]},
}
WHY = {"raw": "no file raw.npz"}
SIX = {f"set {i}": {"old": 12 + i, "new": 25 + i, "mid": 16 + i if i else 30, "low": 3} for i in range(6)}

TABLE = """\
              P@1       P@2    coverage_error
first · 40 instances · 5 labels
  old       50.00     37.50            2.25
  new       75.00 ▲   49.38 ▲          1.29 ▲
  raw       52.50     38.75            2.15
  Known ♦   80.00         –               –

second · 40 instances · 5 labels
  old       30.00     27.50            3.05
  new       75.00 ▲   49.38 ▲          1.29 ▲
  raw       10.00 ▼   17.50 ▼          3.85 ▼
  Known ♦       –         –               –

third · 40 instances · 5 labels
  old       37.50     31.25            2.75
  new       36.25     30.63            2.80
  raw           –         –               –
  Known ♦       –         –               –

bad
  old       error     error           error
  new       error     error           error
  raw           –         –               –
  Known ♦       –         –               –

lower is better: coverage_error
▲ better, ▼ worse than old, p (Holm) < 0.05: 9 of 15 tests
differences: paired t test · does not cover training-seed variance
each metric on each data set is a family of its own: p (Holm) is adjusted for its pairs, intervals are not
♦ published: not tested, but may be best or second
missing: Known ♦ on second, third, bad
missing: raw on third, bad: no file raw.npz
error: bad: bad/old.npz is empty
new: mean of 2 runs, sd over runs 0.88 to 3.54 points
"""


@pytest.fixture(scope="module")
def three():
    failed = {"bad": "bad/old.npz is empty"}
    return benchmark(THREE, against="old", published={"first": {"Known": {"P@1": 0.8}}}, why=WHY, failed=failed)


@pytest.fixture(scope="module")
def six():
    return benchmark(SIX, against="old")


def cells(sheet, section, column):
    found = next(each for each in sheet.sections if each.name == section)
    return {row.head: row.cells.get(column) for row in found.rows}


def test_the_table_has_data_sets_as_groups_and_says_what_is_missing(three):
    assert render_benchmark("table", three, Layout(intervals=False)) == TABLE


def test_a_benchmark_is_not_transposed(three):
    with pytest.raises(UsageError, match=r"^transpose=True is not available"):
        three.to_markdown(transpose=True)


def test_best_and_second_include_published_values_which_are_never_tested(three):
    sheet = build_benchmark_sheet(three)
    first = {head: (cell.emphasis, cell.marks) for head, cell in cells(sheet, "first", "P@1").items()}
    assert first == {"old": ("", ""), "new": (SECOND, UP), "raw": ("", ""), "Known ♦": (BEST, "")}


def test_without_baseline_only_a_best_value_that_is_better_than_the_second_is_marked():
    hits = {"a": {"x": 30, "y": 10, "z": 2}, "b": {"x": 20, "y": 21, "z": 2}, "c": {"x": 20, "y": 20, "z": 2}}
    sheet = build_benchmark_sheet(benchmark(hits))
    marked = {(name, head) for name in hits for head, cell in cells(sheet, name, "P@1").items() if cell.marks}
    assert marked == {("a", "x")}
    words = "▲ the best tested system is significantly better than the second, p (Holm) < 0.05"
    assert sheet.notes[1] == f"{words}: 3 of 9 best values"


def test_bins_follow_the_main_table():
    options = {"by_frequency": "head,tail", "counts": [9, 9, 1, 1, 1], "n_train": 20, "metrics": ["P@1", "R@all"]}
    pair = {name: {"x": 30, "y": 10} for name in ("a", "b")}
    known = {"a": {"Known": {"P@1": 0.8}}}
    made = benchmark({**pair, "b": {**pair["b"], "z": 4}}, published=known, **options)
    other = made["a"].results[0].options | {"dataset": "a", "ties": "best"}
    first = replace(made["a"], results=tuple(replace(each, options=other) for each in made["a"].results))
    made = replace(made, datasets=(replace(made.datasets[0], comparison=first), made.datasets[1]))
    sheet = build_benchmark_sheet(made)
    assert [each.name for each in sheet.sections] == ["a", "b", "a, head", "b, head", "a, tail", "b, tail"]
    assert sheet.sections[2].title.startswith("a, head: 2 labels with 9 to 9 training instances, ")
    assert [row.head for row in sheet.sections[2].rows] == ["x", "y", "z"]
    assert cells(sheet, "a, tail", "P@1")["z"].value == "–"
    assert set(cells(sheet, "b, tail", "R@all").values()) == {None}
    assert "options: ties=best (a) · by_frequency=head,tail" in sheet.below


def test_intervals_are_shown_where_they_fit_or_are_asked_for(three):
    narrow, wide = (render_benchmark("table", three, Layout(width=width)) for width in (40, 66))
    assert "±" not in narrow
    with naming_flags():
        hinted = " ".join(render_benchmark("table", three, Layout(width=40)).split())
    assert re.search(r"intervals would make the table \d+ columns wide \(hint: pass --intervals\)", hinted)
    assert "50.00 ±16.19" in wide
    assert "±16.19" in render_benchmark("table", three, Layout(width=40, intervals=True))
    assert "±" not in three.to_markdown()
    assert "50.00 ±16.19" in three.to_markdown(intervals=True)
    line = next(each for each in wide.splitlines() if each.startswith("  new"))
    assert "±" not in line, "a mean over runs has no interval over instances"


def test_a_data_set_that_lacks_a_column_shows_so_and_says_why(six):
    first, *others = six.datasets
    results = tuple(replace(each, figures=each.figures[:2]) for each in first.comparison.results)
    less = replace(first, comparison=replace(first.comparison, results=results), notes=("coverage_error: no",))
    partial = replace(six, datasets=(less, *others))
    sheet = build_benchmark_sheet(partial)
    assert {cell.value for cell in cells(sheet, "set 0", "coverage_error").values()} == {"–"}
    assert sheet.below[0] == "set 0: coverage_error: no"


KEYS = {
    "x": "'x' is not one of the data sets first, second, third, bad",
    "bad": "bad: bad/old.npz is empty",
    ("first", "old"): r"\('first', 'old'\) is not a data set, or a data set, a system and a metric",
    ("x", "old", "P@1"): "'x' is not one of the data sets first, second, third, bad",
    ("first", "x", "P@1"): "'x' is not one of the systems old, new, raw, Known",
    ("first", "old", "R@1"): "'R@1' is not one of P@1, P@2, coverage_error",
    ("third", "raw", "P@1"): "third, raw: missing: no file raw.npz",
    ("bad", "old", "P@1"): "bad, old: could not be scored: bad/old.npz is empty",
    ("first", "Known", "P@2"): "first, Known: no value of P@2; there is P@1",
}


@pytest.mark.parametrize(("key", "message"), KEYS.items())
def test_what_is_not_there_is_named(three, key, message):
    with pytest.raises(KeyError, match=message):
        three[key]


def test_values_are_found_by_name(three):
    assert list(three) == ["first", "second", "third"]
    assert three["first", "new", "precision@1"] == three["first"].systems["new"]["P@1"] == 0.75
    assert three["first", "Known", "P@1"] == 0.8


def test_a_benchmark_is_two_lines_in_a_shell(three):
    assert repr(three) == (
        "<Benchmark of 4 systems on 4 data sets: 8 scored, 1 published, 5 missing, 2 error\n"
        ' print() shows the table, ["first"] one Comparison, .to_frame() all>'
    )


def test_a_data_set_with_a_single_system_has_no_differences_to_show(three):
    both = three["third"]
    alone = replace(both, results=both.results[:1], differences=(), runs=())
    assert repr(alone) == (
        "<Comparison of old: nothing to compare with, 40 instances, 5 labels\n"
        " no differences\n"
        " print() shows tables, [metric, system, baseline] one difference, .to_frame() all>"
    )
    assert len(alone.to_frame()) == 0
    assert str(alone).splitlines()[-1] == "lower is better: coverage_error"
    dataset = replace(three.datasets[2], comparison=alone)
    assert "9 of" in str(replace(three, datasets=(*three.datasets[:2], dataset)))


def test_markdown_and_notebooks_have_one_table_with_names_of_data_sets_in_it(three):
    text = three.to_markdown()
    assert "| **second** · 40 instances · 5 labels |" in text
    assert text.count("\n| ---") == 1
    assert "<ins>75.00</ins> <sup>▲</sup>" in text
    [table] = parse(three._repr_html_()).all("table")
    assert "second · 40 instances · 5 labels" in [each.text for each in table.all("th", scope="rowgroup")]


def test_csv_and_frames_have_every_value(three):
    lines = list(csv.DictReader(io.StringIO(three.to_csv())))
    found = {(each["dataset"], each["system"], f"{each['metric']}@{each['k']}".rstrip("@")): each for each in lines}
    assert len(found) == len(lines) == 8 * 3 + 1
    for (dataset, system, metric), line in found.items():
        assert float(line["value"]) == three[dataset, system, metric]
        assert line["kind"] == ("published" if system == "Known" else "total")
    new = found["first", "new", "P@1"]
    assert (new["n_runs"], new["mark"], new["low"]) == ("2", "better", "")
    assert float(new["sd"]) == pytest.approx(0.0353553, abs=1e-6)
    frame = three.to_frame()
    assert frame.index.names == ["dataset", "metric", "k", "system"]
    assert frame.loc[("first", "P", 1, "Known"), "kind"] == "published"
    assert len(frame) == 25


def test_a_benchmark_without_any_values_is_shown(three):
    empty = [
        replace(each, comparison=None, published={}, cells=tuple(replace(cell, status=MISSING) for cell in each.cells))
        for each in three.datasets[:2]
    ]
    nothing = Benchmark(tuple(empty), three.systems, three.measures, three.testing, three.published)
    assert set(build_benchmark_sheet(nothing).cells_of("P@1")) == {
        cells(build_benchmark_sheet(three), "third", "P@1")["raw"]
    }
    assert len(nothing) == 0
    assert nothing.to_dict()["datasets"][0]["comparison"] is None
    for form in MODULES:
        assert render_benchmark(form, nothing)


def test_one_spread_of_runs_is_said_once():
    found = benchmark({"first": {"old": 20, "new": [25, 30]}}, metrics=["P@1"])
    assert "\nnew: mean of 2 runs, sd over runs 8.84 points\n" in f"{found}"


def test_a_published_system_keeps_its_sign_where_it_has_no_values_and_its_source_is_named(three):
    made = replace(three, published={"Known": "its paper, 2019"})
    assert "Known ♦" in {row.head for row in build_benchmark_sheet(made).sections[1].rows}
    assert "♦ published (Known: its paper, 2019): not tested, but may be best or second" in str(made)
