"""Verdicts of many pairs: one sentence per metric."""

from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval.comparison.difference import Difference
from xmceval.comparison.sheet import describe_level, describe_size, list_untested, write_verdicts
from xmceval.metrics.names import parse
from xmceval.report.forms.layout import Layout
from xmceval.report.score_sheet import join_letters

N_ROWS = 60
HIT, MISS = np.tile([0.9, 0.1], (N_ROWS, 1)), np.tile([0.1, 0.9], (N_ROWS, 1))
TRUTH = np.tile([1, 0], (N_ROWS, 1))
UNDETECTED = "no difference was detected"
ONE_DIFFERS, TWO_DIFFER = "1 instance differs", "2 instances differ"
NO_OTHER = "no difference from any other was detected"
ONE = " (c: only 1 instance differs)"


def hits(n):
    """Scores whose first n rows are hits."""
    return np.concatenate([HIT[:n], MISS[n:]])


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((50, 20, 10, 5), "a is better than all others"),
        ((50, 49, 10, 5), "a is better than c and d; no difference from b was detected (b: only 1 instance differs)"),
        (
            (50, 49, 48, 48),
            f"a is best, but {NO_OTHER} (b: only 1 instance differs; c: only {TWO_DIFFER}; d: only {TWO_DIFFER})",
        ),
        ((50, 50, 10, 5), "a and b have equal values and are better than all others"),
        ((50, 50, 49, 5), f"a and b have equal values and are better than d; no difference from c was detected{ONE}"),
        (
            (50, 50, 49, 49),
            f"a and b have equal values and are best, but {NO_OTHER} (c: only {ONE_DIFFERS}; d: only {ONE_DIFFERS})",
        ),
        ((50, 50, 50, 50), "all systems have the same value"),
    ],
)
def test_a_sentence_says_what_the_best_are_better_than(numbers, sentence):
    systems = {name: hits(n) for name, n in zip("abcd", numbers, strict=True)}
    assert write_verdicts(xmceval.compare(TRUTH, systems, k=1, metrics="P")) == [f"P@1: {sentence}"]


def test_many_pairs_of_few_rows_are_counted():
    systems = {name: hits(n) for name, n in zip("abcdef", (50, 49, 48, 47, 46, 45), strict=True)}
    assert write_verdicts(xmceval.compare(TRUTH, systems, k=1, metrics="P")) == [
        "P@1: a is best, but no difference from any other was detected (few instances differ from 5 of them)"
    ]


def test_systems_that_are_not_compared_are_no_ties():
    """A system and one of its own runs are left out, whatever their values."""
    systems = {"s1": hits(50), "x": hits(10), "y": hits(5), "z": hits(3)}
    runs = {**systems, "A": [systems["s1"], hits(40)]}
    comparison = xmceval.compare(TRUTH, runs, k=1, metrics="P")
    assert write_verdicts(comparison) == [
        "P@1: s1 and A, which are not compared with each other, are better than all others"
    ]
    second = hits(20)
    runs = {"x": hits(28), "y": hits(5), "s2": second, "A": [hits(59), second]}
    comparison = xmceval.compare(TRUTH, runs, k=1, metrics="P")
    assert write_verdicts(comparison) == ["P@1: A is better than all others; s2 was not compared with it"]


def test_a_sentence_against_a_baseline_names_what_was_not_tested():
    systems = {name: hits(n) for name, n in zip("abcde", (20, 50, 5, 22, 20), strict=True)}
    (sentence,) = write_verdicts(xmceval.compare(TRUTH, systems, k=1, metrics="P", against="a"))
    assert sentence == (
        "P@1: better than a: b; worse than a: c; "
        "no difference was detected: d, e (d: only 2 instances differ; e: no instances differ)"
    )
    nothing = np.full((N_ROWS, 2), -np.inf)
    systems = {"a": hits(20), "b": hits(50), "c": hits(5), "d": hits(30), "none": nothing}
    comparison = xmceval.compare(TRUTH, systems, k=1, metrics="microP", against="a")
    assert write_verdicts(comparison) == ["microP@1: better than a: b, d; worse than a: c; not tested: none"]


@pytest.mark.parametrize(
    ("n", "sentence"),
    [
        (50, "no difference between b and a was detected on P@1, where no instances differ"),
        (49, "no difference between b and a was detected on P@1, where only 1 instance differs"),
        (45, "no difference between b and a was detected on P@1, where only 5 instances differ"),
        (44, "b is worse than a on P@1 by 10.00 ±7.82"),
    ],
)
def test_a_verdict_says_that_few_rows_differ(n, sentence):
    comparison = xmceval.compare(TRUTH, {"a": hits(50), "b": hits(n)}, k=1, metrics="P")
    assert write_verdicts(comparison) == [sentence]


def test_a_verdict_says_that_all_rows_differ_alike():
    comparison = xmceval.compare(TRUTH, {"a": hits(0), "b": hits(N_ROWS)}, k=1, metrics="P")
    assert write_verdicts(comparison) == [
        "b is better than a on P@1 by 100.00 (all 60 instances that differ do so by the same amount)"
    ]


def test_metrics_with_few_rows_follow_the_others():
    truth, other = np.tile([1, 1, 0, 0], (N_ROWS, 1)), np.tile([0.1, 0.2, 0.3, 0.4], (N_ROWS, 1))
    a, b = other.copy(), other.copy()
    a[:, 0], b[:4, 1] = 0.9, 0.8
    a[::2, 1] = 0.7
    b[:, 0] = np.where(np.arange(N_ROWS) < 3, 0.0, 0.9)
    b[1::2, 1] = 0.7
    comparison = xmceval.compare(truth, {"a": a, "b": b}, k=(1, 2), metrics="P")
    assert comparison["P@1", "b", "a"].n_differing == 0
    assert write_verdicts(comparison) == [
        "no difference between b and a was detected on P@2, and on P@1, where no instances differ"
    ]


def test_an_interval_that_is_not_symmetric_has_two_ends():
    systems = {"a": hits(12), "b": np.concatenate([hits(50)[:50], hits(10)[:10]])}
    for system, baseline, sign in (("b", "a", 1), ("a", "b", -1)):
        pair = {baseline: systems[baseline], system: systems[system]}
        each = xmceval.compare(TRUTH, pair, k=1, metrics="P")["P@1", system, baseline]
        low, high = sorted((100 * sign * each.low, 100 * sign * each.high))
        assert describe_size(each, Layout()) == f"80.00 ±{(high - low) / 2:.2f}"
        assert describe_size(each, Layout(percent=False)).startswith("0.8000 ")
        skewed = replace(each, **{"high" if sign == 1 else "low": each.difference + sign * 0.05})
        assert describe_size(skewed, Layout()) == f"80.00 ({low:.2f}..85.00)"
        assert describe_size(skewed, Layout(percent=False)).startswith("0.8000 ")


@pytest.mark.parametrize("interval", [(0.05, 0.01, 0.08), (-0.05, -0.08, -0.01)])
def test_the_ends_of_an_interval_are_in_the_direction_of_the_difference(interval):
    each = Difference(parse("P@1")[0], "b", "a", *interval, n=N_ROWS)
    assert describe_size(each, Layout()) == "5.00 (1.00..8.00)"


@pytest.mark.parametrize(
    ("names", "options", "level"),
    [
        ("ab", {}, "p < 0.05"),
        ("ab", {"adjust": "none"}, "p < 0.05"),
        ("ab", {"metrics": "P,R"}, "p < 0.05, not adjusted across metrics"),
        ("abc", {"adjust": "none"}, "p < 0.05, not adjusted for 3 tests"),
        ("abc", {}, "p < 0.05 (Holm, within each metric)"),
        ("abc", {"adjust_over": "all"}, "p < 0.05 (Holm, over all 3 tests)"),
    ],
)
def test_the_level_says_how_p_was_adjusted(names, options, level):
    systems = {name: hits(n) for name, n in zip("abc", (50, 20, 5), strict=True) if name in names}
    assert describe_level([xmceval.compare(TRUTH, systems, k=1, **{"metrics": "P"} | options)]) == level


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_what_was_tested_for_no_pair_is_said_once_without_names(names):
    systems = {name: hits(n) for name, n in zip("abc", (50, 20, 5), strict=True)}
    comparison = xmceval.compare(TRUTH, {name: systems[name] for name in names}, k=1, metrics=["P", "macroF1"])
    assert len(write_verdicts(comparison)) == len(names) * (len(names) - 1) // 2
    assert list_untested(comparison) == ["macroF1@1 was not tested"]


def test_a_pair_has_one_sentence_for_all_metrics_and_bins_one_where_they_decide_otherwise():
    """The first label is frequent, the second is rare: each system finds one of them."""
    truth = np.tile([1, 1, 0], (N_ROWS, 1))
    frequent, rare = np.tile([0.9, 0.1, 0.5], (N_ROWS, 1)), np.tile([0.1, 0.9, 0.5], (N_ROWS, 1))
    rare[::3] = frequent[::3]
    train = np.repeat([[1, 1, 0], [1, 0, 0]], [5, 95], axis=0)
    systems = {"frequent": frequent, "rare": rare}
    options = {"metrics": "P,PSP", "k": 1, "train": train, "by_frequency": [50]}
    assert write_verdicts(xmceval.compare(truth, systems, **options)) == [
        f"rare is better than frequent on PSP@1 by 35.37 ±6.52; {UNDETECTED} on P@1, where no instances differ",
        "from 50: rare is worse than frequent on P@1 by 66.67 ±12.28 and PSP@1 by 31.30 ±5.77",
        "below 50: rare is better than frequent on P@1 by 66.67 ±12.28",
    ]


@pytest.mark.parametrize(
    ("letters", "text"),
    [("abc", "abc"), ("dcba", "a-d"), ("abde", "abde"), ("bdefgh", "bd-h"), (["2", "10"], "2,10"), ("", "")],
)
def test_four_letters_in_a_row_are_a_range(letters, text):
    assert join_letters(letters) == text
