"""Gates: what passes, what is beyond its limit, and what cannot be decided and so never passes."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import xmceval
from xmceval import DataError
from xmceval.comparison.gates import check_worse, judge_comparison, judge_datasets
from xmceval.errors import XmcevalWarning
from xmceval.metrics.names import parse
from xmceval.report.gates import judge_values, parse_required, parse_worse
from xmceval.report.sheet import Layout

N_ROWS = 100
TRUTH = np.tile([1, 0, 0], (N_ROWS, 1))
SYSTEMS = {"base": 60, "less": 40, "near": 59, "more": 80}
POINTS = "20.00 ±7.98 points"
as_fraction = partial(parse_required, in_percent=False)


def hits(n):
    """Scores whose first n rows have the true label first, and others last."""
    is_hit = np.arange(N_ROWS)[:, None] < n
    return np.where(is_hit, [0.9, 0.5, 0.1], [0.1, 0.5, 0.9])


def breaches_of(outcomes):
    return [outcome.why for outcome in outcomes if outcome.is_decided and not outcome.passed]


def undecided_of(outcomes):
    return [outcome.why for outcome in outcomes if not (outcome.is_decided or outcome.passed)]


def compare(systems, metrics="P@1", **options):
    return xmceval.compare(TRUTH, {name: hits(n) for name, n in systems.items()}, metrics=metrics, **options)


@pytest.fixture(scope="module")
def against():
    return compare(SYSTEMS, "P@1,coverage_error", against="base")


@pytest.mark.parametrize(
    ("gate", "breaches"),
    [
        ("P@1", {"less"}),
        ("P@1:19.99", {"less"}),
        ("P@1:20", set()),  # worse by 20 points is not worse than 20
        ("precision@1 : 1", {"less"}),
        ("coverage_error", {"less"}),  # lower is better: 2.2 against 1.8
        ("coverage_error:0.39", {"less"}),
        ("coverage_error:0.4", set()),
        ("P@1:", {"less"}),
    ],
)
def test_a_breach_is_significant_and_worse_than_the_limit(against, gate, breaches):
    outcomes = check_worse(against, gate)
    assert [outcome.system for outcome in outcomes] == ["less", "near", "more"]
    assert {outcome.system for outcome in outcomes if not outcome.passed} == breaches
    assert all(outcome.is_decided and outcome.baseline == "base" for outcome in outcomes)


def test_what_is_not_significant_passes_however_much_worse():
    few = xmceval.compare(TRUTH[:4], {"a": hits(2)[:4], "b": hits(0)[:4]}, metrics="P@1")
    [outcome] = check_worse(few, "P@1:10")
    assert (outcome.value, outcome.p_adjusted, outcome.passed) == (-0.5, 0.5, True)


@pytest.mark.parametrize(("adjust", "p"), [("holm", 0.0542), ("none", 0.0136)])
def test_the_adjusted_p_decides(adjust, p):
    comparison = compare({"base": 60, **dict.fromkeys("abcd", 54)}, against="base", adjust=adjust)
    outcomes = check_worse(comparison, "P@1")
    assert [(round(outcome.p_adjusted, 4), outcome.passed) for outcome in outcomes] == [(p, adjust == "holm")] * 4


def test_the_first_of_two_systems_is_the_baseline_and_a_name_is_every_cutoff_that_was_computed():
    [outcome] = check_worse(compare({"old": 40, "new": 60}), "P@1")
    assert (outcome.system, outcome.baseline, outcome.passed) == ("new", "old", True)
    outcomes = check_worse(compare({"old": 60, "new": 40}, "P,R@1", k=(1, 2)), ["P:19", "R@1"])
    judged = [(outcome.measure.name, outcome.passed) for outcome in outcomes]
    assert judged == [("P@1", False), ("P@2", True), ("R@1", False)]


def test_what_was_not_tested_never_passes_and_what_was_not_computed_is_refused():
    comparison = compare({"old": 60, "new": 40}, "P@1,macroF1@1")
    outcomes = check_worse(comparison, "macroF1@1:50")
    why = "macroF1@1: not decided, because new was not tested against old"
    assert (breaches_of(outcomes), undecided_of(outcomes)) == ([], [why])
    with pytest.raises(DataError) as refused:
        check_worse(comparison, ["P@7:50", "P@1", "R", "P@1,3:1"])
    assert str(refused.value).splitlines() == [
        f"{name}: not decided, because it was not computed; expected any of P@1, macroF1@1"
        for name in ("P@7", "R", "P@1,3")
    ]


def test_systems_with_runs_are_judged_by_their_mean_and_what_was_not_compared_is_undecided():
    runs = {"a": hits(60), "S": [hits(60), hits(20), hits(18)], "T": [hits(59), hits(61), hits(60)]}
    comparison = xmceval.compare(TRUTH, {**runs, "S": [runs["a"], *runs["S"][1:]]}, metrics="P@1", against="S")
    outcomes = check_worse(comparison, "P@1")
    assert [(outcome.system, outcome.passed) for outcome in outcomes] == [("a", False), ("T", True)]
    assert undecided_of(outcomes) == ["P@1: not decided, because a was not tested against S"]


ON_P, ON_ERROR = (f"adjusted by Holm over the 3 pairs on {name}" for name in ("P@1", "coverage_error"))


@pytest.mark.parametrize(
    ("gate", "layout", "testing", "line"),
    [
        ("P@1:0.5", {}, {}, f"P@1 by {POINTS}, more than 0.5 (p < 0.0001, {ON_P})"),
        ("P@1", {}, {}, f"P@1 by {POINTS} (p < 0.0001, {ON_P})"),
        ("P@1:0.5", {"percent": False}, {}, f"P@1 by 0.2000 ±0.0798, more than 0.5 points (p < 0.0001, {ON_P})"),
        ("P@1:19.999", {}, {}, f"P@1 by 20.000 ±7.977 points, more than 19.999 (p < 0.0001, {ON_P})"),
        ("coverage_error:0.1", {}, {}, f"coverage_error by 0.40 ±0.16, more than 0.1 (p < 0.0001, {ON_ERROR})"),
        ("P@1", {}, {"adjust_over": "all"}, f"P@1 by {POINTS} (p < 0.0001, adjusted by Holm over the 6 tests)"),
        ("P@1", {}, {"adjust": "none"}, f"P@1 by {POINTS} (p < 0.0001, not adjusted for the 3 pairs on P@1)"),
    ],
)
def test_a_line_says_how_much_worse_and_over_which_tests_p_is_adjusted(gate, layout, testing, line):
    comparison = compare(SYSTEMS, "P@1,coverage_error", against="base", **testing)
    outcomes = judge_comparison([parse_worse(gate)], comparison, Layout(**layout))
    assert breaches_of(outcomes) == [f"less is worse than base on {line}"]


def test_each_system_is_judged_on_each_data_set_and_a_missing_cell_is_undecided():
    one, two = compare({"base": 60, "new": 40}, against="base"), compare({"base": 60, "new": 61}, against="base")
    datasets, systems = {"one": one, "two": two, "three": None}, ["base", "new", "old"]
    outcomes = list(judge_datasets([parse_worse("P@1:1")], datasets, parse("P@1"), systems, "base"))
    assert [(outcome.dataset, outcome.system) for outcome in outcomes if outcome.passed] == [("two", "new")]
    assert breaches_of(outcomes) == [f"one: new is worse than base on P@1 by {POINTS}, more than 1 (p < 0.0001)"]
    assert undecided_of(outcomes) == [
        f"P@1: not decided, because {system} was not tested against base on {dataset}"
        for system, dataset in (("old", "one"), ("old", "two"), ("new", "three"), ("old", "three"))
    ]


@pytest.mark.parametrize(
    ("gate", "parse_gate", "breach"),
    [
        ("P@1>=57", parse_required, None),  # 0.57 times 100 is 56.99999999999999
        ("P@1<=57", parse_required, None),
        ("P@1 >= 57.01", parse_required, "P@1 57.00, and at least 57.01"),
        ("P@1>=57.001", parse_required, "P@1 57.000, and at least 57.001"),
        ("P@1<=56.99", parse_required, "P@1 57.00, and at most 56.99"),
        ("P@1<=50", parse_required, "P@1 57.00, and at most 50"),
        ("P@1>=0.57", as_fraction, None),
        ("P@1>=0.571", as_fraction, "P@1 57.00, and at least 0.571"),
        ("coverage_error<=1", parse_required, "coverage_error 1.86, and at most 1"),
        ("coverage_error<=1.86", parse_required, None),
    ],
)
def test_a_value_is_required_in_the_unit_of_the_table(gate, parse_gate, breach):
    result = replace(xmceval.score(TRUTH, hits(57), metrics="P@1,coverage_error"), name="s")
    [outcome] = judge_values([parse_gate(gate)], result)
    assert outcome.passed == (breach is None)
    assert breaches_of([outcome]) == ([] if outcome.passed else [f"s has {breach} is required"])


def test_a_value_is_not_beyond_a_limit_that_differs_by_rounding_alone():
    for n in range(1, 49):
        result, limit = xmceval.score(TRUTH[:49], hits(n)[:49], metrics="P@1"), repr(100 * (n / 49))
        gates = [parse_required(f"P@1{sign}{limit}") for sign in (">=", "<=")]
        assert all(outcome.passed for outcome in judge_values(gates, result))


def test_a_value_that_is_undefined_never_passes():
    with pytest.warns(XmcevalWarning):
        result = xmceval.score(np.zeros((3, 3)), hits(3)[:3], metrics="AUC", empty_rows="drop")
    outcomes = judge_values([parse_required("AUC<=90")], result)
    assert undecided_of(outcomes) == [f"AUC: not decided, because it is undefined for {result.name}"]


@pytest.mark.parametrize(
    ("parse_gate", "gates"),
    [
        (parse_required, "P@1>=100 P@1<=1.5 MCC>=-99 coverage_error<=1e9 PSP(norm=none)@1<=300 DCG@5>=0.5"),
        (as_fraction, "P@1>=0.57 P<=.9"),
        (parse_worse, "P@1:99.99 MCC:199.99"),
    ],
)
def test_what_can_fail_is_taken(parse_gate, gates):
    for gate in gates.split():
        assert parse_gate(gate).number == float(gate.rpartition("=")[2].rpartition(":")[2])


def test_json_has_what_gates_came_to_only_where_they_were_asked_for(against):
    assert "gates" not in against.to_dict()
    gated = replace(against, gates=check_worse(against, "P@1:0.5"))
    assert json.loads(gated.to_json())["gates"][0] == {
        "kind": "worse",
        "system": "less",
        "baseline": "base",
        "dataset": None,
        "metric": "P@1",
        "limit": 0.005,
        "value": pytest.approx(-0.2),
        "p_adjusted": against["P@1", "less", "base"].p_adjusted,
        "passed": False,
    }


def test_a_loss_that_is_not_significant_passes_with_its_reason(against):
    [outcome] = [each for each in check_worse(against, "P@1:0.5") if each.system == "near"]
    assert outcome.passed
    assert outcome.why.startswith("near is worse than base on P@1 by 1.00 ")
    evidence = "more than 0.5, which is not significant (p = 1.000, adjusted by Holm over the 3 pairs on P@1)"
    assert outcome.why.endswith(f"{evidence}; fail_if_drop='P@1:0.5' fails on the difference alone")
    outcomes = check_worse(against, "P@1:1")  # not beyond the limit
    assert [each.why for each in outcomes if each.passed] == ["", ""]


@pytest.mark.parametrize("limit", ["P@1:0.5", "macroF1@1", "coverage_error"])
def test_a_gate_of_the_drop_needs_no_test(limit):
    metric = limit.partition(":")[0]
    comparison = compare({"base": 60, "near": 59}, metric)
    [outcome] = check_worse(comparison, fail_if_drop=limit)
    assert (outcome.kind, outcome.passed, outcome.is_decided) == ("drop", False, True)
    assert outcome.why.startswith(f"near is worse than base on {metric} by ")
    assert outcome.why.endswith("(not tested)") == (metric == "macroF1@1")
    assert all(each.passed for each in check_worse(compare({"near": 59, "base": 60}, metric), fail_if_drop=[limit]))
    assert all(each.passed for each in check_worse(compare({"a": 60, "b": 60}, metric), fail_if_drop=[metric]))


def test_a_gate_of_the_drop_decides_on_one_row_and_not_without_values():
    one_row = xmceval.compare(np.eye(2)[:1], {"a": np.eye(2)[:1], "b": np.eye(2)[1:]}, metrics="P@1")
    [outcome] = check_worse(one_row, fail_if_drop="P@1:1%")
    assert (outcome.passed, outcome.is_decided, outcome.value) == (False, True, -1.0)
