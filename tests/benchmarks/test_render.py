"""The forms of a benchmark for programs, its values by name, and when intervals are shown; tables are approved ones."""

import csv
import io
from dataclasses import replace

import pytest
from support.benchmarks import benchmark
from support.forms import render

THREE = {
    "first": {"old": 20, "new": [29, 31], "raw": 21},
    "second": {"old": 12, "new": [29, 31], "raw": 4},
    "third": {"old": 15, "new": [14, 15]},
    "bad": {"old": 15, "new": [14, 15]},
}


@pytest.fixture(scope="module")
def three():
    why, failed = {"raw": "no file raw.npz"}, {"bad": "bad/old.npz is empty"}
    return benchmark(THREE, against="old", published={"first": {"Known": {"P@1": 0.8}}}, why=why, failed=failed)


@pytest.mark.parametrize(
    ("form", "options", "value"),
    [
        ("table", {"width": 40}, "50.00 "),
        ("table", {"width": 66}, "50.00 ±16.19"),
        ("table", {"width": 40, "intervals": True}, "50.00 ±16.19"),
        ("md", {}, "50.00 "),
        ("md", {"intervals": True}, "50.00 ±16.19"),
    ],
)
def test_intervals_are_shown_where_they_fit_or_are_asked_for(three, form, options, value):
    text = render(three, form, **options)
    assert value in text
    assert ("±" in text) == ("±" in value)


KEYS = {
    "x": "'x' is not one of the data sets first, second, third, bad",
    "bad": "bad: bad/old.npz is empty",
    ("first", "old"): r"\('first', 'old'\) is not a data set, or a data set, a system and a metric",
    ("x", "old", "P@1"): "'x' is not one of the data sets first, second, third, bad",
    ("first", "x", "P@1"): "'x' is not one of the systems old, new, raw, Known",
    ("first", "old", "R@1"): "'R@1' is not one of P@1, P@2, coverage_error",
    ("second", "Known", "P@1"): "second, Known: missing'",
    ("third", "raw", "P@1"): "third, raw: missing: no file raw.npz",
    ("bad", "old", "P@1"): "bad, old: bad/old.npz is empty",
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


def test_csv_and_frames_have_every_value(three):
    lines = list(csv.DictReader(io.StringIO(three.to_csv())))
    by_place = {(line["dataset"], line["system"], f"{line['metric']}@{line['k']}".rstrip("@")): line for line in lines}
    assert len(by_place) == len(lines) == 8 * 3 + 1
    for (dataset, system, metric), line in by_place.items():
        assert float(line["value"]) == three[dataset, system, metric]
        assert line["kind"] == ("published" if system == "Known" else "total")
    new = by_place["first", "new", "P@1"]
    assert (new["n_runs"], new["mark"], new["low"]) == ("2", "better", "")
    assert float(new["sd"]) == pytest.approx(0.0353553, abs=1e-6)
    frame = three.to_frame()
    assert frame.index.names == ["dataset", "metric", "k", "system"]
    assert frame.loc[("first", "P", 1, "Known"), "kind"] == "published"
    assert len(frame) == 25


def test_a_benchmark_without_any_values_is_written_in_every_form(three):
    nothing = replace(three, datasets=three.datasets[3:])
    assert len(nothing) == 0
    assert nothing.to_dict()["datasets"][0]["comparison"] is None
    assert all(render(nothing, form) for form in ("table", "md", "latex", "csv", "json", "html"))
