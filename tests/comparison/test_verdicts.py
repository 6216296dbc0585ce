"""Verdicts of many pairs: one sentence per metric."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.approved import check_answers, evaluate

import xmceval
from xmceval.comparison.difference import Difference
from xmceval.comparison.sheet import describe_level, describe_size
from xmceval.metrics.names import parse
from xmceval.report.score_sheet import join_letters
from xmceval.report.sheet import Layout

N_ROWS = 60
HIT, MISS = np.tile([0.9, 0.1], (N_ROWS, 1)), np.tile([0.1, 0.9], (N_ROWS, 1))
TRUTH = np.tile([1, 0], (N_ROWS, 1))
UNDETECTED = "no difference was detected"


def hits(n):
    """Scores whose first n rows are hits; without a number no label has a score."""
    return np.full((N_ROWS, 2), -np.inf) if n is None else np.concatenate([HIT[:n], MISS[n:]])


def compare(numbers, **options):
    """Compare systems with these hits, or of several runs; a run may be one of the systems, by its name."""
    systems = {name: hits(n) for name, n in numbers.items() if not isinstance(n, list)}
    for name, runs in numbers.items():
        if isinstance(runs, list):
            systems[name] = [systems[n] if isinstance(n, str) else hits(n) for n in runs]
    return xmceval.compare(TRUTH, {name: systems[name] for name in numbers}, **{"k": 1, "metrics": "P", **options})


def named(*numbers):
    return dict(zip("abcdef", numbers, strict=False))


def test_metrics_of_which_the_same_is_said_share_a_sentence():
    compared = compare(named(50, 20, 10, 5), metrics="P@1,nDCG@1,MRR@2")
    assert compared.to_dict()["verdicts"] == ["P@1, nDCG@1 and RR@2: a is better than all others"]


def test_a_sentence_says_what_the_best_are_better_than_and_against_a_baseline_what_was_not_tested():
    """A system and one of its own runs are not compared: they are no ties, whatever their values."""
    check_answers(__file__, "verdicts.txt", lambda line: eval(line).to_dict()["verdicts"])


def test_metrics_with_few_rows_follow_the_others():
    truth, other = np.tile([1, 1, 0, 0], (N_ROWS, 1)), np.tile([0.1, 0.2, 0.3, 0.4], (N_ROWS, 1))
    a, b = other.copy(), other.copy()
    a[:, 0], b[:4, 1] = 0.9, 0.8
    a[::2, 1] = 0.7
    b[:, 0] = np.where(np.arange(N_ROWS) < 3, 0.0, 0.9)
    b[1::2, 1] = 0.7
    comparison = xmceval.compare(truth, {"a": a, "b": b}, k=(1, 2), metrics="P")
    assert comparison["P@1", "b", "a"].n_differing == 0
    assert comparison.to_dict()["verdicts"] == [
        "no difference between b and a was detected on P@2, and on P@1, where no instances differ"
    ]


def test_an_interval_has_a_margin_or_two_ends_in_the_direction_of_the_difference():
    systems = {"a": hits(12), "b": np.concatenate([HIT[:50], HIT])[:N_ROWS]}
    for system, baseline, sign in (("b", "a", 1), ("a", "b", -1)):
        pair = {baseline: systems[baseline], system: systems[system]}
        each = xmceval.compare(TRUTH, pair, k=1, metrics="P")["P@1", system, baseline]
        low, high = sorted((100 * sign * each.low, 100 * sign * each.high))
        assert describe_size(each, Layout()) == f"80.00 ±{(high - low) / 2:.2f}"
        assert describe_size(each, Layout(percent=False)).startswith("0.8000 ")
        skewed = replace(each, **{"high" if sign == 1 else "low": each.difference + sign * 0.05})
        assert describe_size(skewed, Layout()) == f"80.00 ({low:.2f}..85.00)"
        assert describe_size(skewed, Layout(percent=False)).startswith("0.8000 ")
    for interval in ((0.05, 0.01, 0.08), (-0.05, -0.08, -0.01)):
        each = Difference(parse("P@1")[0], "b", "a", *interval, n=N_ROWS)
        assert describe_size(each, Layout()) == "5.00 (1.00..8.00)"


def level(n_systems, **options):
    """Return what is said of the level of tests, which is in the text too."""
    comparison = compare(named(*(50, 20, 5)[:n_systems]), **options)
    assert describe_level([comparison]) in str(comparison)
    return describe_level([comparison])


def test_the_level_says_how_p_was_adjusted_as_it_was_approved():
    check_answers(__file__, "levels.txt", lambda line: evaluate(line, globals()))


@pytest.mark.parametrize("numbers", [named(50, 20), named(50, 20, 5)])
def test_what_was_tested_for_no_pair_is_said_once_without_names(numbers):
    for metrics, line in (
        ("P,macroF1(over=largest)", "macroF1(over=largest)@1 was"),
        ("P,macroP(over=largest),macroAUC", "macroP(over=largest)@1 and macroAUC were"),
    ):
        comparison = compare(numbers, metrics=metrics)
        assert len(comparison.to_dict()["verdicts"]) == len(comparison.pairs)
        assert f"\n{line} not tested\n" in str(comparison)


def test_a_pair_has_one_sentence_for_all_metrics_and_one_in_each_bin():
    """The first label is frequent, the second is rare: each system finds one of them."""
    truth = np.tile([1, 1, 0], (N_ROWS, 1))
    frequent, rare = np.tile([0.9, 0.1, 0.5], (N_ROWS, 1)), np.tile([0.1, 0.9, 0.5], (N_ROWS, 1))
    rare[::3] = frequent[::3]
    train = np.repeat([[1, 1, 0], [1, 0, 0]], [5, 95], axis=0)
    systems = {"frequent": frequent, "rare": rare}
    options = {"metrics": "P,PSP", "k": 1, "train": train, "by_frequency": [50]}
    assert xmceval.compare(truth, systems, **options).to_dict()["verdicts"] == [
        f"rare is better than frequent on PSP@1 by 35.37 ±6.52; {UNDETECTED} on P@1, where no instances differ",
        "50 or more: rare is worse than frequent on P@1 by 66.67 ±12.28 and PSP@1 by 31.30 ±5.77",
        "0 to 49: rare is better than frequent on P@1 by 66.67 ±12.28 and PSP@1 by 66.67 ±12.28",
    ]
    of_three = xmceval.compare(truth, {**systems, "again": rare}, **options).to_dict()["verdicts"]
    assert [line.partition(":")[0] for line in of_three if ": " in line] == ["50 or more"] * 3 + ["0 to 49"] * 3


@pytest.mark.parametrize("n_systems", [2, 3, 4])
@pytest.mark.parametrize("parts", ["by_frequency", "by_group"])
@pytest.mark.parametrize("against", [None, "a"])
def test_verdicts_name_every_difference_in_every_bin_whether_it_was_detected_or_not(n_systems, parts, against):
    rng = np.random.default_rng(3)
    truth = (rng.random((N_ROWS, 12)) < 0.5 / np.arange(1, 13)).astype(int)
    groups = rng.integers(3, size=N_ROWS)
    systems = {
        name: rng.random(truth.shape) + (1 + i) * 0.4 * truth * (np.arange(12) < 2 + 5 * i)
        for i, name in enumerate("abcd"[:n_systems])
    }
    of_parts = {"by_frequency": [4, 9], "train": truth} if parts == "by_frequency" else {"by_group": groups}
    comparison = xmceval.compare(truth, systems, k=(1, 2), metrics="P,R,nDCG", against=against, **of_parts)
    verdicts, in_bins = comparison.to_dict()["verdicts"], [each for each in comparison.differences if each.bin]
    assert {each.mark == "none" for each in in_bins} == {True, False}
    assert not any(line.startswith("None") or not line for line in verdicts)
    for difference in in_bins:
        metric = re.compile(rf"(?<!\w){difference.measure.name}(?!\w)")
        if len(comparison.pairs) > 3:  # a sentence per metric
            lines = [line for line in verdicts if re.match(rf"{difference.bin}, [^:]*{metric.pattern}[^:]*: ", line)]
            assert len(lines) == 1
            continue
        lines = [line for line in verdicts if re.match(rf"{difference.bin}: .*\b[abcd]\b", line)]
        lines = [line for line in lines if set(re.findall(r"\b[abcd]\b", line)) == set(difference.pair)]
        assert len(lines) == 1
        detected, _, undetected = lines[0].partition("no difference")
        assert bool(metric.search(undetected)) == (difference.mark == "none")
        assert bool(metric.search(detected)) == (difference.mark != "none")


@pytest.mark.parametrize("n_systems", [2, 4])
def test_verdicts_say_what_was_not_tested_in_a_group(n_systems):
    """A group of one row has no test."""
    verdicts = compare(named(*(50, 20, 10, 30)[:n_systems]), by_group=[0, *[1] * (N_ROWS - 1)]).to_dict()["verdicts"]
    expected = {2: "0: P@1 was not tested between b and a", 4: "0, P@1: not tested"}
    assert [line for line in verdicts if line.startswith("0")] == [expected[n_systems]]


def test_four_letters_in_a_row_are_a_range():
    texts = {"abc": "abc", "dcba": "a-d", "abde": "abde", "bdefgh": "bd-h", "": ""}
    assert {letters: join_letters(letters) for letters in texts} == texts
    assert join_letters(["2", "10"]) == "2,10"
