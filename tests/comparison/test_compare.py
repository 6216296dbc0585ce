"""Compare: differences, tests and sentences against plain formulas, scipy, and the recorded tests of real systems."""

import itertools
import json
import math
from inspect import signature

import numpy as np
import pytest
from judge import naive_pairs
from scipy import stats
from scipy.sparse import csr_matrix
from support.judged import row_values

import xmceval

METRICS = ["P", "nDCG", "PSP", "PSnDCG", "PSnDCG(norm=sum)", "Abandonment", "AP", "LRAP", "coverage_error", "Jaccard"]


@pytest.fixture
def made(rng):
    truth = rng.random((120, 15)) < 0.2
    scores = {name: truth * rng.random() + rng.random((120, 15)) for name in "abc"}
    return truth, {name: np.where(each > 0.3, each, -np.inf) for name, each in scores.items()}, 1 + 4 * rng.random(15)


def stored(scores):
    """Return dense scores as CSR without those of -inf: Jaccard counts the labels that are stored."""
    return csr_matrix(np.where(scores > -np.inf, scores, 0))


def compare(made, **options):
    truth, scores, inverse = made
    options = {"metrics": METRICS, "k": [1, 3], "inverse_propensities": inverse} | options
    return xmceval.compare(truth, {name: stored(each) for name, each in scores.items()}, **options)


def judged(made, name, systems):
    """Return numerators and denominators of each row by the plain judge, of each system."""
    truth, scores, inverse = made
    return [np.array(row_values(name, truth, scores[system], inverse)) for system in systems]


@pytest.mark.parametrize(
    "metric", ["P@1", "P@3", "nDCG@3", "Abandonment@1", "PSP@1", "PSP@3", "PSnDCG@3", "PSnDCG(norm=sum)@3"]
)
def test_differences_are_those_of_the_delta_method(made, metric):
    comparison = compare(made)
    for baseline, system in itertools.combinations("abc", 2):
        a, b = judged(made, metric, (system, baseline))
        num, ideal = a[:, 0] - b[:, 0], a[:, 1]
        n, ratio = len(a), num.sum() / ideal.sum()
        error = math.sqrt(np.sum((num - ratio * ideal) ** 2) / (n * (n - 1))) / ideal.mean()
        difference = comparison[metric, system, baseline]
        assert difference.difference == pytest.approx(ratio, abs=1e-14)
        if naive_pairs.count_differing(a.tolist(), b.tolist()) < 6:  # only c and b on P@1 and Abandonment@1
            assert (difference.p, difference.low) == (naive_pairs.exact_p(a.tolist(), b.tolist()), None)
            assert (metric, system, baseline) in {("P@1", "c", "b"), ("Abandonment@1", "c", "b")}
            continue
        margin = stats.t.ppf(0.975, n - 1) * error
        assert (difference.low, difference.high) == pytest.approx((ratio - margin, ratio + margin), abs=1e-12)
        assert difference.p == pytest.approx(2 * stats.t.sf(abs(ratio / error), n - 1), abs=1e-12)
        assert difference.effect == pytest.approx(ratio / error / math.sqrt(n), abs=1e-11)
        power = stats.t.ppf(1 - 0.05 / 6, n - 1) + stats.t.ppf(0.8, n - 1)  # one of three pairs
        assert difference.detectable == pytest.approx(power * error, abs=1e-12)
        better = num if metric != "Abandonment@1" else -num
        wins, losses = int((better > 1e-12).sum()), int((better < -1e-12).sum())
        assert (difference.wins, difference.ties, difference.losses) == (wins, n - wins - losses, losses)


@pytest.mark.parametrize("options", [{}, {"empty_rows": "drop"}, {"ties": "expected"}, {"threshold": 0.5}])
def test_differences_are_those_of_the_results(made, options):
    metrics = ["P", "PSP", "microF1", "macroF1"] if "threshold" not in options else ["f1_score", "Jaccard", "MCC"]
    if options.get("ties"):
        metrics = ["P", "PSP"]
    comparison = compare(made, metrics=metrics, **options)
    by_name = {result.name: result for result in comparison.results}
    assert len(comparison) == 3 * len(by_name["a"])
    for (metric, system, baseline), difference in comparison.items():
        assert difference.difference == pytest.approx(by_name[system][metric] - by_name[baseline][metric], abs=1e-14)


def test_a_system_against_itself_ties_in_every_row(made):
    truth, scores, inverse = made
    comparison = compare((truth, {"a": scores["a"], "b": scores["a"]}, inverse))
    for difference in comparison.values():
        assert (difference.difference, difference.wins, difference.losses) == (0.0, 0, 0)
        assert difference.p == 1.0
        assert not difference.is_detected
    assert "no difference between b and a was detected on P@1, P@3" in str(comparison)


def test_holm_is_over_the_pairs_within_a_metric_or_over_all(made):
    comparison = compare(made, metrics=["P", "PSP"])
    ps = sorted(each.p for each in comparison.values() if each.measure.name == "P@1")
    adjusted = sorted(each.p_adjusted for each in comparison.values() if each.measure.name == "P@1")
    assert adjusted[0] == pytest.approx(min(3 * ps[0], 1.0))
    assert max(ps) <= adjusted[-1]
    smallest = min(each.p for each in comparison.values())
    over_all = compare(made, metrics=["P", "PSP"], adjust_over="all")
    assert min(each.p_adjusted for each in over_all.values()) == pytest.approx(min(12 * smallest, 1.0))
    assert all(each.p_adjusted is None for each in compare(made, adjust="none").values())


# Older versions of scipy call the argument for a seed otherwise.
SEEDED = {"rng" if "rng" in signature(stats.permutation_test).parameters else "random_state": 0}


def test_randomization_agrees_with_scipy(made):
    comparison = compare(made, metrics=["P", "PSP"], test="randomization", resamples=20_000)
    for metric in ("P@3", "PSP@3"):
        a, b = (rows[:, 0] for rows in judged(made, metric, "ca"))
        how = {"permutation_type": "samples", "n_resamples": 20_000, "vectorized": True, **SEEDED}
        expected = stats.permutation_test((a - b,), lambda d, axis: d.mean(axis), **how).pvalue
        error = math.sqrt(expected * (1 - expected) / 20_000)
        assert comparison[metric, "c", "a"].p == pytest.approx(expected, abs=6 * error + 1e-3)


def test_p_of_a_resampling_test_is_never_0(rng):
    truth = np.eye(200)
    scores = {"bad": np.roll(truth, 1, axis=1), "good": truth}
    nearly = {**scores, "bad": np.concatenate([truth[:1], scores["bad"][1:]])}  # differences are not all equal
    for systems in (scores, nearly):
        comparison = xmceval.compare(truth, systems, k=1, metrics="P", test="randomization", resamples=999)
        assert comparison["P@1", "good", "bad"].p == 1 / 1000
    alike = xmceval.compare(np.eye(1200), {"bad": np.eye(1200)[::-1], "good": np.eye(1200)}, k=1, metrics="P")
    assert alike["P@1", "good", "bad"].p > 0


def test_bins_say_where_a_system_wins(rng):
    counts = np.array([90, 80, 5, 4, 3, 2])
    truth = np.zeros((60, 6))
    truth[np.arange(60), np.arange(60) % 6] = 1
    head, tail = truth.copy(), truth.copy()
    head[:, 2:], tail[:, :2] = 0.1, 0.1
    options = {"k": 1, "metrics": "P", "counts": counts, "n_train": 200, "by_frequency": "h,t"}
    comparison = xmceval.compare(csr_matrix(truth), {"head": head, "tail": tail}, **options)
    parts = {each.bin: each for each in comparison.differences}
    assert parts["h"].difference < 0 < parts["t"].difference
    assert parts[""].difference == pytest.approx(parts["h"].difference + parts["t"].difference)
    assert parts["h"].losses > parts["h"].wins == 0


def test_metrics_without_rows_have_a_difference_and_no_test(made):
    comparison = compare(made, metrics=["P", "macroF1(over=largest)"], k=1)
    (fact,) = comparison.facts
    assert fact == (
        "no test and no interval for macroF1(over=largest)@1: only means over instances and most rates of labels in "
        "single runs have them, or any metric of 3 runs of each system"
    )
    difference = comparison["macroF1(over=largest)@1", "b", "a"]
    assert (difference.p, difference.low, difference.wins) == (None, None, None)
    assert difference.difference != 0


def test_expected_tests_of_real_systems(realdata):
    folder = realdata / "bibtex"
    files = {
        "napkinxc_plt": folder / "napkinxc_plt.txt.gz",
        "pecos_xrlinear": folder / "pecos_xrlinear.npz",
        "sklearn_ovr": folder / "sklearn_ovr-labels.npy",
    }
    comparison = xmceval.compare(folder / "tst_X_Y.txt.gz", files, metrics="P")
    for pair, metrics in json.loads((folder / "expected_paired.json").read_text()).items():
        baseline, system = pair.split("__vs__")
        for metric, expected in metrics.items():
            found = comparison[metric, system, baseline]
            assert found.difference == pytest.approx(expected["diff_b_minus_a"], abs=1e-9)
            assert found.p == pytest.approx(expected["t_p"], abs=1e-9)
            assert [found.low, found.high] == pytest.approx(expected["t_ci95"], abs=1e-9)
            counts = expected["wins_b"], expected["ties"], expected["wins_a"]
            assert (found.wins, found.ties, found.losses) == counts


@pytest.mark.parametrize("options", [{}, {"test": "randomization"}])
def test_one_row_tests_nothing(options):
    """All resamples of one row are that row: no spread is known, and no difference is significant."""
    systems = {"a": np.eye(1, 3), "b": np.eye(1, 3, 2)}
    comparison = xmceval.compare(np.eye(1, 3), systems, k=1, metrics="P", **options)
    assert comparison.facts == ("no test and no interval for P@1: there is only one instance",)
    each = comparison["P@1", "b", "a"]
    assert (each.difference, each.n, each.wins, each.losses) == (-1.0, 1, 0, 1)
    assert (each.low, each.high, each.p, each.p_adjusted, each.effect) == (None,) * 5


def test_a_system_that_decides_nothing_is_not_tested(made):
    truth, scores, _ = made
    systems = {"a": scores["a"], "b": scores["a"] - 9}
    found = xmceval.compare(truth, systems, metrics="precision_score", threshold=0.5, test="randomization")
    assert any("for precision_score: a system has nothing to divide by" in fact for fact in found.facts)


@pytest.mark.parametrize("function", [xmceval.compare, xmceval.score_all])
def test_a_matrix_that_is_two_systems_is_reported(function):
    same, other = np.eye(6)[::-1].copy(), np.eye(6)[::-1].copy()
    message = r"^a and c are the same matrix: they tie on every instance$"
    with pytest.warns(xmceval.XmcevalWarning, match=message) as caught:
        function(np.eye(6), {"a": same, "b": other, "c": same}, metrics="P", k=1)
    assert len(caught) == 1


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_metrics_without_values_of_rows_are_compared_by_group_without_tests(test):
    systems = {"a": np.eye(6)[::-1], "b": np.eye(6)}
    found = xmceval.compare(np.eye(6), systems, k=1, metrics="macroP(over=largest)", by_group=list("xxyyzz"), test=test)
    difference = found["macroP(over=largest)@1", "b", "a"]
    assert (difference.difference, difference.p) == (1.0, None)
    assert [part.bin.name for part in found["b"].slices] == ["x", "y", "z"]
