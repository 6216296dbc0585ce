"""Few rows that differ, or rows that all differ alike: p is that of all exchanges, and there is no interval."""

import itertools
import math

import numpy as np
import pytest
from judge import naive_pairs
from support.executors import PicklingExecutor
from support.judged import row_values
from support.pieces import read_in_pieces

import xmceval

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
N_LABELS = 8
INVERSE = 1 + np.arange(N_LABELS) / 3
AT_K = ["P@1", "P@3", "nDCG@3", "PSP@3", "PSnDCG@3", "RR@3", "Abandonment@1"]
OPTIONS = {"metrics": [*AT_K, "precision_score", "GAUC"], "threshold": 0.55, "inverse_propensities": INVERSE}
TESTS = [{}, {"test": "randomization", "resamples": 100}, {"adjust": "none"}]


def make(rng, n_rows, n_other, n_systems=2):
    """Return a truth, and scores of systems that are equal in all rows but `n_other`."""
    truth = (rng.random((n_rows, N_LABELS)) < 0.3).astype(float)
    scores = np.repeat(rng.random((1, n_rows, N_LABELS)), n_systems, axis=0)
    rows = rng.permutation(n_rows)[:n_other]
    scores[1:, rows] = rng.random((n_systems - 1, n_other, N_LABELS))
    return truth, {name: np.where(each > 0.2, each, -np.inf) for name, each in zip("abc", scores, strict=False)}


@pytest.mark.parametrize("options", TESTS)
@pytest.mark.parametrize("seed", range(2))
def test_p_of_few_rows_is_that_of_all_exchanges(seed, options):
    rng, n_exact = np.random.default_rng(seed), 0
    for n_rows, n_other in itertools.product([4, 90], [0, 1, 3, 4, 5, 7]):
        truth, scores = make(rng, n_rows, min(n_other, n_rows))
        comparison = xmceval.compare(truth, scores, **OPTIONS, **options)
        for name in OPTIONS["metrics"]:
            a, b = (row_values(name, truth, scores[each], INVERSE, OPTIONS["threshold"]) for each in "ba")
            m, found = naive_pairs.count_differing(a, b), comparison[name, "b", "a"]
            if m >= 6:
                assert found.n_differing is None
                assert found.low is not None
                continue
            n_exact += 1
            assert found.p == naive_pairs.exact_p(a, b)
            assert found.n_differing == m
            assert (found.low, found.high, found.effect, found.detectable) == (None,) * 4
            assert not found.is_detected
    assert n_exact > 60


@pytest.mark.parametrize("options", TESTS)
@pytest.mark.parametrize("n", [2, 5, 6, 40, 3000])
def test_differences_that_are_all_equal_show_no_spread(n, options):
    """Also of a ratio of sums, in which they are equal to the ratio times each denominator."""
    truth = np.eye(N_LABELS)[np.arange(n) % N_LABELS]
    scores = {name: np.where(np.roll(truth, by, axis=1), 1.0, -np.inf) for name, by in (("bad", 1), ("good", 0))}
    comparison = xmceval.compare(truth, scores, **OPTIONS, **options)
    for name in ("P@1", "PSP@3", "nDCG@3", "precision_score"):
        found = comparison[name, "good", "bad"]
        assert (found.n_differing, found.low, found.high, found.effect, found.detectable) == (n, *(None,) * 4)
        if n >= 6 and "randomization" in options.values():  # from resamples, as always
            assert found.p == pytest.approx(max(math.ldexp(2.0, -n), 1 / 101), abs=0.04)
        else:
            assert found.p == max(math.ldexp(2.0, -n), 5e-324)
            assert found.is_detected == (n >= 6)


def test_differences_that_are_equal_but_for_rounding_are_equal():
    """3/5 - 2/5 and 2/5 - 1/5 differ in the last digit."""
    truth, hits = np.tile(np.repeat([1.0, 0.0], 5), (12, 1)), {"a": (2, 1), "b": (3, 2)}
    scores = {name: np.zeros((12, 10)) for name in hits}
    for name, row in itertools.product(hits, range(12)):
        n = hits[name][row % 2]
        scores[name][row, :n] = scores[name][row, 5 : 10 - n] = 1.0
    found = xmceval.compare(truth, scores, k=5, metrics="P")["P@5", "b", "a"]
    assert (0.6 - 0.4) != (0.4 - 0.2)
    assert (found.p, found.low, found.n_differing) == (2.0**-11, None, 12)


def test_equal_differences_of_rows_with_other_ideals_have_no_interval():
    truth = np.zeros((9, N_LABELS))
    for row in range(9):
        truth[row, : 1 + row % 4] = 1
    best, none = np.zeros((9, N_LABELS)), np.zeros((9, N_LABELS))
    best[:, 0] = none[:, 7] = 1
    scores = {"none": np.where(none, 1.0, -np.inf), "best": np.where(best, 1.0, -np.inf)}
    found = xmceval.compare(truth, scores, k=3, metrics="PSP", inverse_propensities=np.ones(N_LABELS))
    assert found["PSP@3", "best", "none"].p == 2.0**-8
    assert found["PSP@3", "best", "none"].low is None


def test_six_rows_that_differ_are_tested_by_t():
    truth, scores = make(np.random.default_rng(5), 300, 0)
    for row in range(6):
        best, worst = np.argmax(truth[row]), np.argmin(truth[row])
        scores["a"][row, worst] = scores["b"][row, best] = 2.0
    found = xmceval.compare(truth, scores, k=1, metrics="P")["P@1", "b", "a"]
    assert (found.wins, found.losses, found.n_differing) == (6, 0, None)
    assert found.low < found.difference < found.high
    assert found.detectable > 0


def in_bins(truth):
    options = {name: value for name, value in OPTIONS.items() if name != "inverse_propensities"}
    return {**options, "by_frequency": 2, "train": truth}


def check_executor(truth, systems):
    """Compare with an executor, which changes nothing."""
    one = xmceval.compare(truth, systems, **in_bins(truth))
    assert xmceval.compare(truth, systems, **in_bins(truth), executor=PicklingExecutor()).to_json() == one.to_json()
    return one


@pytest.mark.parametrize("testing", TESTS[:2])
@pytest.mark.parametrize("n_other", [0, 1, 3, 5, 6, 9, 200])
def test_blocks_threads_and_executors_keep_the_same_rows(n_other, testing, monkeypatch):
    truth, scores = make(np.random.default_rng(n_other), 300, n_other, 3)
    options = in_bins(truth) | testing
    expected = xmceval.compare(truth, scores, **options, threads=1).to_dict()
    read_in_pieces(monkeypatch, entries=100, parts=4000)
    assert xmceval.compare(truth, scores, **options, threads=2).to_dict() == expected
    if not testing:  # resampling needs the values of rows, which stay where they are computed
        assert check_executor(truth, scores).to_dict()["comparisons"] == expected["comparisons"]


@pytest.mark.parametrize("form", ["npz", "csv"])
@pytest.mark.parametrize("options", TESTS[:2])
def test_saved_rows_give_the_same_p(form, options, tmp_path):
    truth, scores = make(np.random.default_rng(2), 60, 4)
    file = str(tmp_path / f"both.rows.{form}")
    together = xmceval.compare(truth, scores, **OPTIONS, **options, save_rows=file)
    found = xmceval.compare_rows([file], **options)
    assert {each.n_differing for each in found.values()} <= {0, 1, 2, 3, 4}
    for key, each in together.items():
        assert vars(found[key]) | {"measure": None} == vars(each) | {"measure": None}


# Systems that are means of runs.


@pytest.mark.parametrize("n_other", [0, 2, 5, 6])
def test_means_of_runs_are_exchanged_as_rows(n_other):
    """Rows in which two runs differ from a system, each as far but in the other direction, do not differ."""
    truth, first, second = (np.tile(row, (40, 1)).astype(float) for row in ([1, 0, 0], [1, 0, 0], [0, 1, 0]))
    plus, minus, both = first.copy(), second.copy(), first.copy()
    plus[:10], minus[:10] = second[:10], first[:10]  # each is right where the other is not
    other = [first.copy(), second.copy()]
    other[1][:n_other] = first[:n_other]
    found = xmceval.compare(truth, {"a": [plus, minus], "b": other, "c": both}, k=1, metrics="P")
    each = found["P@1", "b", "a"]
    assert each.difference == pytest.approx(n_other / 80)
    if n_other < 6:
        assert (each.n_differing, each.p, each.low) == (n_other, 2.0 ** (1 - n_other) if n_other else 1.0, None)
    else:
        assert each.n_differing is None
        assert each.low > 0
    assert found["P@1", "c", "a"].n_differing == 40  # all differ by one half
    assert found["P@1", "c", "a"].p == 2.0**-39


def test_executors_keep_the_rows_of_means_of_runs(monkeypatch):
    read_in_pieces(monkeypatch, entries=100, parts=4000)
    truth, scores = make(np.random.default_rng(3), 300, 4, 3)
    comparison = check_executor(truth, {"runs": [scores["a"], scores["b"]], "c": scores["c"]})
    assert any(each.n_differing is not None for each in comparison.differences)


# Rows that only one system has a value in.


def test_rows_without_a_value_in_one_system_are_no_ties(tmp_path):
    """GAUC leaves out rows by the predictions: of 12 rows, five have a value in a only, five in b only, one in both."""
    truth = np.tile([1.0, 0.0, 0.0], (12, 1))
    has = np.where(np.tile([True, True, False], (12, 1)), [[0.9, 0.5, 0.0]], -np.inf)
    lacks = np.full((12, 3), -np.inf)
    rows = np.arange(12)[:, None]
    scores = {"a": np.where(rows < 6, has, lacks), "b": np.where((rows >= 5) & (rows < 11), has, lacks)}
    scores["b"][7, :2] = 0.1, 0.3
    file = str(tmp_path / "both.rows.npz")
    for found in (
        xmceval.compare(truth, scores, metrics="GAUC", save_rows=file)["GAUC", "b", "a"],
        xmceval.compare_rows([file])["GAUC", "b", "a"],
    ):
        assert (found.n, found.wins, found.ties, found.losses) == (11, 0, 1, 0)
        assert found.degrees == 10


def test_runs_count_the_rows_with_a_value_in_any():
    truth = np.tile([1.0, 0.0, 0.0], (60, 1))
    rows, rng = np.arange(60)[:, None], np.random.default_rng(1)
    scores = [np.where((rows >= start) & (rows < start + 20), rng.random((60, 3)), -np.inf) for start in (0, 10, 25)]
    found = xmceval.compare(truth, {"a": scores[:2], "b": scores[2]}, metrics="GAUC")["GAUC", "b", "a"]
    assert found.n == 45


def test_saved_rows_tell_what_is_not_tested(tmp_path):
    truth = np.eye(20, 6)
    scores = {"a": np.full((20, 6), -np.inf), "b": np.eye(20, 6) + np.linspace(0.1, 0.6, 6)}
    file = tmp_path / "both.rows.npz"
    message = "no test and no interval for microP@1: a system has nothing to divide by"
    together = xmceval.compare(truth, scores, k=1, metrics="P,microP", save_rows=file)
    found = xmceval.compare_rows([file])
    assert message in together.facts
    assert message in found.facts
    assert list(found) == list(together)
    assert found["microP@1", "b", "a"].difference == together["microP@1", "b", "a"].difference
    assert "microP@1 was not tested" in str(found)
