"""Slices by training frequency and ceilings: shares that add up, means within bins, the best that can be reached."""

import csv
import io
import math
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from judge import naive
from support.judged import check_judged
from support.strategies import to_rows

import xmceval
from xmceval import METRICS

ADDITIVE = [name for name, metric in METRICS.items() if metric.family == "top-k" and not metric.complement]


@pytest.fixture(scope="module")
def zipf():
    rng = np.random.default_rng(5)
    weights = 1 / np.arange(1, 41)
    train, y_true = (rng.random((n, 40)) < 0.6 * weights for n in (400, 120))
    return scipy.sparse.csr_array(train), scipy.sparse.csr_array(y_true), rng.random((120, 40)) + weights


@pytest.fixture(scope="module")
def score(zipf):
    """Return a function that scores them."""
    train, y_true, y_score = zipf
    return partial(xmceval.score, y_true, y_score, train=train)


@pytest.mark.parametrize("bins", ["head,torso,tail", 4, "10,50", [5, 20, 100], 1])
def test_shares_of_bins_add_up_to_the_metric(score, bins):
    result = score(k="1,3,5", metrics=ADDITIVE, by_frequency=bins)
    for name in result:
        parts = [each.estimates[name].value for each in result.slices]
        assert sum(parts) == pytest.approx(result[name], rel=1e-12), name
        assert min(parts) >= 0, name


def test_the_default_numbers_do_not_change(score, zipf):
    train, y_true, y_score = zipf
    plain = score()
    assert dict(plain) == dict(score(by_frequency=3, ceiling=True))
    inverse = naive.inverse_propensities(np.asarray(train.sum(axis=0)).tolist(), 400, 0.55, 1.5)
    check_judged(plain, to_rows(y_true), to_rows(y_score), inverse, least=12)
    assert plain.slices == ()


def test_bins_of_equal_mass_part_no_frequency_and_hold_like_shares(score):
    result = score(metrics="P", by_frequency=3)
    head, torso, tail = (each.bin for each in result.slices)
    assert head.low > torso.high >= torso.low > tail.high
    assert head.n_labels + torso.n_labels + tail.n_labels == 40
    assert max(abs(each.mass - 1 / 3) for each in (head, torso, tail)) < 0.15


def test_the_ceiling_of_a_set_with_few_true_labels_is_known(realdata):
    truth = realdata / "lf_amazontitles_131k" / "tst_X_Y.txt.gz"
    result = xmceval.score(truth, truth, metrics=["P@3", "P@5"], ceiling=True)
    assert round(100 * result.estimates["P@5"].ceiling, 2) == 42.02
    assert round(100 * result.estimates["P@3"].ceiling, 2) == 63.75
    assert result["P@5"] == result.estimates["P@5"].ceiling


@pytest.mark.parametrize(
    ("bins", "same"),
    [(np.int64(3), 3), (np.array(3), 3), ("3", 3), (np.array([10, 50]), "10,50"), ([np.int32(10), 50], "10,50")],
)
def test_bins_may_be_of_numpys_types(score, bins, same):
    found, expected = (score(by_frequency=each) for each in (bins, same))
    assert found == expected


def test_one_training_count_makes_two_bins(score, zipf):
    result = score(metrics="P", by_frequency=[30])
    counts = zipf[0].sum(axis=0)
    assert [each.bin.name for each in result.slices] == ["30 or more", "0 to 29"]
    assert [each.bin.n_labels for each in result.slices] == [(counts >= 30).sum(), (counts < 30).sum()]


@pytest.mark.parametrize(
    ("bins", "names"),
    [
        ("10,100", ["100 or more", "10 to 99", "0 to 9"]),
        ("0,10,100", ["100 or more", "10 to 99", "0 to 9"]),
        ([0, 1, 2], ["2 or more", "1", "0"]),
        ([1000], ["1,000 or more", "0 to 999"]),
    ],
)
def test_bins_by_counts_have_the_same_name_everywhere_which_says_what_they_hold(score, zipf, bins, names):
    result = score(metrics="macroF1", k=1, by_frequency=bins)
    counts = zipf[0].sum(axis=0)
    for part in result.slices:
        low, _, high = part.bin.name.replace(",", "").removesuffix(" or more").partition(" to ")
        is_open = part.bin.name.endswith("or more")
        inside = (counts >= int(low)) & (counts <= (np.inf if is_open else int(high or low)))
        assert part.bin.n_labels == inside.sum()
    record = result.to_dict()["systems"][0]
    assert [part.bin.name for part in result.slices] == names
    assert [part["name"] for part in record["slices"]] == names
    assert list(dict.fromkeys(line["bin"] for line in csv.DictReader(io.StringIO(result.to_csv())))) == ["", *names]
    assert [key.partition("/")[0] for key in result.flat() if "/" in key] == names
    for text in (str(result), result.to_markdown(), result.to_latex()):
        assert all(f"{name}: " in text for name in names)


def test_what_holds_nothing_has_no_value_in_any_form(zipf):
    """A bin without labels, and a group whose rows are all left out."""
    train, y_true, y_score = zipf
    scores = {name: [y_score + shift, y_score - shift, y_score] for name, shift in (("a", 0.2), ("b", y_score))}
    alone = {name: runs[0] for name, runs in scores.items()}
    first = np.flatnonzero(y_true.sum(axis=1) == 0)
    groups = np.where(np.isin(np.arange(120), first), "none", "some")
    assert first.size
    options = {"metrics": "P,PSP,macroF1", "k": 3, "train": train}
    of_bins = {"by_frequency": [1, 10_000]}, "10,000 or more: no labels"
    of_groups = {"by_group": groups, "empty_rows": "drop"}, "none: 0 instances"
    for parts, title in (of_bins, of_groups):
        for systems in (alone, scores):
            comparison = xmceval.compare(y_true, systems, **options, **parts)
            result, (empty, *_) = comparison.results[0], comparison.results[0].slices
            assert not [each for each in comparison.differences if each.bin == empty.bin.name]
            for text in (str(result), str(comparison), comparison.to_latex(), comparison.to_markdown()):
                assert title in text
                assert "nan" not in text
            assert not [line for line in comparison.to_dict()["verdicts"] if line.startswith(empty.bin.name)]
            for estimate in empty.estimates.values():
                assert math.isnan(estimate.value)
                assert estimate.undefined
                assert estimate.low is None
            values = result.to_dict()["systems"][0]["slices"][0]["metrics"].values()
            assert {value["value"] for value in values} == {None}
            lines = [line for line in csv.DictReader(io.StringIO(result.to_csv())) if line["bin"] == empty.bin.name]
            assert [line["value"] for line in lines] == [""] * 3


def test_bins_alone_ask_for_no_propensities_and_say_whose_frequencies_they_are_of(zipf):
    _, y_true, y_score = zipf
    result = xmceval.score(y_true, y_score, k=1, metrics="P", by_frequency=2)
    assert result.doubts == ()
    assert "instances of y_true itself, " in str(result)
    assert "label frequencies: N=120 from y_true itself\n" in str(result)
    assert "propensities" not in str(result)
    weighed = xmceval.score(y_true, y_score, k=1, metrics="PSP", by_frequency=2)
    assert [doubt.partition(" from")[0] for doubt in weighed.doubts] == ["propensities are estimated"]


@pytest.mark.parametrize("threshold", [None, 0.35])
def test_shares_are_the_values_of_bins_that_add_up(zipf, threshold):
    train, y_true, y_score = zipf
    of_decisions = threshold is not None
    metrics = [name for name, metric in METRICS.items() if (metric.family == "confusion") == of_decisions]
    metrics = ["IPrec@0.5" if name == "IPrec" else name.removesuffix("@k") for name in metrics]  # else of eleven levels
    result = xmceval.score(y_true, y_score / 2, train=train, by_frequency=3, metrics=metrics, k=3, threshold=threshold)
    kinds = {figure.name: figure.kind for figure in result.slices[0].figures}
    for name, kind in kinds.items():
        parts = [part.estimates[name].value for part in result.slices]
        adds_up = sum(parts) == pytest.approx(result[name])
        assert adds_up == (kind == "share"), name
    assert {"share", "mean"} & set(kinds.values())
