"""Systems that were trained several times: means over runs, and tests whose unit is the row or the run."""

import csv
import io
import re

import numpy as np
import pytest
from scipy import stats
from support.pieces import read_in_pieces

import xmceval
from xmceval.errors import XmcevalWarning

N_ROWS, N_LABELS = 40, 12


@pytest.fixture(name="data")
def make_data():
    rng = np.random.default_rng(3)
    y_true = (rng.random((N_ROWS, N_LABELS)) < 0.3).astype(float)
    return y_true, [y_true * 0.4 + rng.random(y_true.shape) for _ in range(6)]


def precision_of_rows(y_true, y_score, k):
    top = np.argsort(-y_score, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(y_true, top, axis=1).mean(axis=1)


def check_test(difference, expected, n, unit):
    """Compare p and the interval with those of scipy."""
    assert difference.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (difference.low, difference.high) == pytest.approx(tuple(expected.confidence_interval()), rel=1e-9)
    assert (difference.n, difference.unit) == (n, unit)


def test_few_runs_are_compared_by_rows(data):
    y_true, runs = data
    found = xmceval.compare(y_true, {"a": runs[:2], "b": runs[2:5], "c": runs[5]}, k=3, metrics="P")
    means = {
        name: np.mean([precision_of_rows(y_true, each, 3) for each in own], axis=0)
        for name, own in {"a": runs[:2], "b": runs[2:5], "c": runs[5:]}.items()
    }
    for system, baseline in (("b", "a"), ("c", "a"), ("c", "b")):
        each = found["P@3", system, baseline]
        assert each.difference == pytest.approx(np.mean(means[system] - means[baseline]), abs=1e-14)
        check_test(each, stats.ttest_rel(means[system], means[baseline]), N_ROWS, "row")
        assert each.wins is None


def test_rows_without_a_value_are_left_out_of_means_of_runs_in_blocks_of_any_size(data, monkeypatch):
    """AUC has no value in rows of one class; they are counted to the end, also after many rows differ."""
    y_true, runs = data
    y_true[::3] = 0
    y_true = np.tile(y_true, (10, 1))
    systems = {"a": [np.tile(each, (10, 1)) for each in runs[:2]], "b": np.tile(runs[2], (10, 1))}
    whole = xmceval.compare(y_true, systems, metrics="AUC")
    read_in_pieces(monkeypatch, entries=100)
    parts = xmceval.compare(y_true, systems, metrics="AUC")
    [each] = whole.differences
    assert each.n == np.count_nonzero(y_true.any(axis=1))
    assert parts.differences == whole.differences


def test_three_runs_of_both_are_compared_by_runs(data):
    """From three runs of both systems on the run is the unit: Welch's t test, for metrics of any kind."""
    y_true, runs = data
    found = xmceval.compare(y_true, {"a": runs[:3], "b": runs[3:]}, k=3, metrics="P,macroF1")
    for metric in ("P@3", "macroF1@3"):
        values = [xmceval.score(y_true, each, k=3, metrics="P,macroF1")[metric] for each in runs]
        check_test(found[metric, "b", "a"], stats.ttest_ind(values[3:], values[:3], equal_var=False), 6, "run")
    (first, second) = found.runs
    assert (first.name, first.results) == ("a", ("a (1)", "a (2)", "a (3)"))
    values = [xmceval.score(y_true, each, k=3, metrics="P")["P@3"] for each in runs[3:]]
    assert second.spreads[0].mean == pytest.approx(np.mean(values))
    assert second.spreads[0].sd == pytest.approx(np.std(values, ddof=1))


def test_a_single_run_is_a_system_and_a_run_counts_once(data):
    y_true, runs = data
    options = {"k": 3, "metrics": "P", "against": "a"}
    found = xmceval.compare(y_true, {"a": runs[:1], "b": runs[1:2], "c": runs[2:4]}, **options)
    expected = xmceval.compare(y_true, {"a": runs[0], "b": runs[1], "c": runs[2:4]}, **options)
    assert found.to_dict() == expected.to_dict()
    assert str(found) == str(expected)


def test_a_system_is_not_compared_with_its_own_runs(data):
    y_true, runs = data
    found = xmceval.compare(y_true, {"one": runs[0], "a": runs[:2], "other": runs[2]}, metrics="P@1")
    assert "a and one are not compared: one is one of the runs of a" in found.facts
    assert found.pairs == [("other", "one"), ("other", "a")]
    with pytest.warns(XmcevalWarning, match="b and a share 1 run, but their test assumes independent runs"):
        found = xmceval.compare(y_true, {"a": runs[:2], "b": runs[1:4]}, metrics="P@1")
    assert found.pairs == [("b", "a")]


def test_the_table_lists_runs(data):
    y_true, runs = data
    text = xmceval.compare(y_true, {"a": runs[:3], "b": runs[3:]}, k=3, metrics="P").to_markdown(pairs=True)
    assert "a · 3 runs" in text
    assert "b \N{MINUS SIGN} a · Welch's t test of 6 runs · points" in text
    assert "Welch's t test over runs, p < 0.05; says nothing about other instances" in text


@pytest.fixture(name="decided")
def make_decided(data):
    """Return numerators and denominators of precision by run, which predict different numbers of labels."""
    y_true, runs = data
    runs = [np.where(each >= threshold, each, -np.inf) for each, threshold in zip(runs, (0.4, 0.7, 0.9), strict=False)]
    predicted = [each > 0 for each in runs]
    return y_true, runs, [np.stack([(y_true * each).sum(1), each.sum(1)], axis=1) for each in predicted]


def test_a_mean_of_ratios_is_that_of_the_table(decided):
    """Of runs whose denominators differ, the mean of values is compared, and the mean of their errors tested."""
    y_true, runs, rows = decided
    found = xmceval.compare(y_true, {"a": runs[:2], "b": runs[2]}, metrics="precision_score", threshold=0.0)
    values = [num / den for num, den in (each.sum(axis=0) for each in rows)]
    errors = [(each[:, 0] - value * each[:, 1]) / each[:, 1].sum() for each, value in zip(rows, values, strict=True)]
    error = np.sqrt(N_ROWS / (N_ROWS - 1) * np.sum((errors[2] - (errors[0] + errors[1]) / 2) ** 2))
    each = found["precision_score", "b", "a"]
    assert each.difference == pytest.approx(values[2] - np.mean(values[:2]), abs=1e-14)
    assert each.difference == pytest.approx(found.results[2]["precision_score"] - found.runs[0].spreads[0].mean)
    margin = stats.t.ppf(0.975, N_ROWS - 1) * error
    assert (each.low, each.high) == pytest.approx((each.difference - margin, each.difference + margin), abs=1e-13)
    assert each.p == pytest.approx(2 * stats.t.sf(abs(each.difference) / error, N_ROWS - 1), rel=1e-9)


def test_randomization_of_means_of_runs_gives_about_what_t_gives(data, decided):
    y_true, runs = data
    for name, own, options, error in (
        ("P@3", runs, {"k": 3, "metrics": "P"}, 0.1),  # few values, and therefore many ties
        ("precision_score", decided[1], {"metrics": "precision_score", "threshold": 0.0}, 0.03),
    ):
        systems, key = {"a": own[:2], "b": own[2:4]}, (name, "b", "a")
        t = xmceval.compare(y_true, systems, **options)[key]
        found = xmceval.compare(y_true, systems, test="randomization", resamples=2000, **options)[key]
        assert (found.difference, found.low, found.high) == (t.difference, t.low, t.high)
        assert found.p == pytest.approx(t.p, abs=error)


def test_bins_are_compared_by_runs(data):
    """Where the run is the unit, it is that within bins too; tables and CSV have the means of bins."""
    y_true, runs = data
    options = {"k": 3, "metrics": "P", "train": y_true, "by_frequency": 2}
    of_few = xmceval.compare(y_true, {"a": runs[:2], "b": runs[2:4]}, **options)
    total, *parts = (each.difference for each in of_few.differences)
    assert sum(parts) == pytest.approx(total, abs=1e-12)
    found = xmceval.compare(y_true, {"a": runs[:3], "b": runs[3:]}, **options)
    results = [xmceval.score(y_true, each, **options) for each in runs]
    names = [part.bin.name for part in results[0].slices]
    assert [each.bin for each in found.differences] == ["", *names]
    for b, name in enumerate(names):
        values = [each.slices[b].estimates["P@3"].value for each in results]
        (each,) = found.of_pair("b", "a", name)
        check_test(each, stats.ttest_ind(values[3:], values[:3], equal_var=False), 6, "run")
        assert found.runs[1].spreads_in_bins[b].mean == pytest.approx(np.mean(values[3:]))
        spread = found.to_dict()["runs"][1]["slices"][b]["metrics"]["P@3"]
        assert spread["sd"] == pytest.approx(np.std(values[3:], ddof=1))
        (line,) = (line for line in csv.DictReader(io.StringIO(found.to_csv())) if line["bin"] == name)
        assert float(line["value"]) - float(line["baseline_value"]) == pytest.approx(float(line["difference"]))
    assert len(re.findall(r"^b +[\d.]+ ± [\d.]+$", str(found), re.M)) == 1 + len(names)
    assert f"b · 3 runs · {names[0]}" in found.to_markdown(pairs=True)


def test_runs_that_are_all_alike_show_no_spread(data):
    """Deterministic training says nothing on how far runs vary; scipy's p is NaN there."""
    y_true, runs = data
    alike = {name: [run.copy() for _ in range(3)] for name, run in zip("ab", runs, strict=False)}
    found = xmceval.compare(y_true, alike, k=3, metrics="P")
    assert any("for P@3: the runs of each system are all alike" in fact for fact in found.facts)
    each = found["P@3", "b", "a"]
    assert each.difference != 0
    assert (each.low, each.p, each.p_adjusted, each.is_detected) == (None, None, None, False)
    same = xmceval.compare(y_true, {"a": alike["a"], "b": [runs[0].copy() for _ in range(3)]}, k=3, metrics="P")
    assert (same["P@3", "b", "a"].difference, same["P@3", "b", "a"].p) == (0.0, 1.0)
