"""The forms of a benchmark for programs, its values by name, and when intervals are shown; tables are approved ones."""

import csv
import io
from dataclasses import replace

import pytest
from support.approved import check_answers
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


def test_what_is_not_there_is_named_as_it_was_approved(three):
    def answer(line):
        with pytest.raises(KeyError) as error:
            three[eval(line)]
        return [str(error.value)]

    check_answers(__file__, "keys.txt", answer)


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
