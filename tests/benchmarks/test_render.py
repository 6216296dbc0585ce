"""The forms of a benchmark for programs, its values by name, and when intervals are shown; tables are approved ones."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from support.approved import check_answers
from support.benchmarks import benchmark
from support.forms import render

from xmceval.report.sheet import DEFAULT

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


@pytest.fixture(scope="module")
def singles():
    """Return a benchmark of systems without runs, whose ± is sd."""
    sets = {name: THREE[name] for name in ("first", "second")}
    return benchmark({name: {"old": hits["old"], "new": hits["new"][0]} for name, hits in sets.items()})


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
def test_intervals_are_shown_where_they_fit_or_are_asked_for(singles, form, options, value):
    text = render(singles, form, **options)
    assert value in text
    assert ("±" in text) == ("±" in value)


@pytest.mark.parametrize(
    ("form", "options", "value", "mean"),
    [
        ("table", {"width": 150}, "75.00 ± 3.54", "62.08"),
        ("md", {}, "75.00** ± 3.54", "62.08"),
        ("latex", {}, r"\textbf{75.00}~{\scriptsize $\pm$ 3.54}", "62.08"),
        ("table", {"places": 1}, "75.0 ± 3.5", "62.1"),
        ("md", {"percent": False}, "0.7500** ± 0.0354", "0.6208"),
        ("latex", {"intervals": True}, r"\textbf{75.00}\textsuperscript{$+$}\phantom", "62.08"),
    ],
)
def test_means_over_runs_and_data_sets_are_those_of_numpy(three, form, options, value, mean):
    """Of 40 rows, new is right in 29 and 31, again in 29 and 31, and in 14 and 15."""
    runs = np.array([[29, 31], [29, 31], [14, 15]]) / 40
    assert three.means["old"]["P@1"] == pytest.approx(np.mean([20, 12, 15]) / 40)
    assert three.means["new"]["P@1"] == pytest.approx(runs.mean())
    assert np.std(runs[0], ddof=1) == pytest.approx(0.0354, abs=5e-5)
    text = render(three, form, **options)
    assert value in text
    assert mean in text
    lines = ["no mean where a data set lacks a value: raw, Known", "mean over first, second, third"]
    lines.append("over 2 runs of new" if options.get("intervals") else "sd over 2 runs of new")
    assert all(line in text.replace("\n  ", " ") for line in lines)
    recorded = {record["system"]: record["metrics"] for record in three.to_dict()["means"]}
    assert recorded == three.means
    assert [name for name in recorded if not recorded[name]] == ["raw", "Known"]


def test_a_mean_has_at_least_two_data_sets_and_one_system_that_has_all():
    alone = benchmark({"first": {"old": 20, "new": 30}})
    assert (alone.means, "mean" in str(alone)) == ({"old": {}, "new": {}}, False)
    apart = benchmark({"first": {"old": 20, "new": 30}, "second": {"old": 20, "mid": 3}, "third": {"mid": 9, "new": 3}})
    assert (any(apart.means.values()), "mean" in str(apart)) == (False, False)
    named = benchmark({"mean": {"old": 20, "new": 30}, "second": {"old": 10, "new": 3}})
    assert [section.rows[0].cells["P@1"].value for section in named._sheet(DEFAULT).sections] == [
        "50.00",
        "25.00",
        "37.50",
    ]


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


def test_a_mean_without_room_stands_below_data_sets_side_by_side(singles):
    heads = render(singles, "table", width=82).splitlines()
    assert heads[0].split() == ["first", "second"]
    assert [line for line in heads if line.split() == ["mean"]]
