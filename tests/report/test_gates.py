"""Gates: what passes, what is beyond its limit, and what cannot be decided and so never passes."""

import json
from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval import DataError, UsageError
from xmceval.errors import XmcevalWarning
from xmceval.metrics.names import parse
from xmceval.report.forms.layout import Layout
from xmceval.report.gates import (
    check_computed,
    check_decidable,
    check_worse,
    judge_datasets,
    judge_values,
    parse_required,
    parse_worse,
)

N_ROWS = 100
TRUTH = np.tile([1, 0, 0], (N_ROWS, 1))


def hits(n):
    """Scores whose first n rows have the true label first, and others last."""
    is_hit = np.arange(N_ROWS)[:, None] < n
    return np.where(is_hit, [0.9, 0.5, 0.1], [0.1, 0.5, 0.9])


def breaches_of(outcomes):
    return [each.why for each in outcomes if each.is_decided and not each.passed]


def undecided_of(outcomes):
    return [each.why for each in outcomes if not each.is_decided]


def compare(systems, metrics="P@1", **options):
    return xmceval.compare(TRUTH, {name: hits(n) for name, n in systems.items()}, metrics=metrics, **options)


@pytest.fixture(scope="module")
def against():
    """Base has 60 %, less 40, near 59, more 80."""
    return compare({"base": 60, "less": 40, "near": 59, "more": 80}, "P@1,coverage_error", against="base")


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
    assert [each.system for each in outcomes] == ["less", "near", "more"]
    assert {each.system for each in outcomes if not each.passed} == breaches
    assert all(each.is_decided and each.baseline == "base" for each in outcomes)


def test_what_is_not_significant_passes_however_much_worse():
    few = xmceval.compare(TRUTH[:4], {"a": hits(2)[:4], "b": hits(0)[:4]}, metrics="P@1")
    [outcome] = check_worse(few, "P@1:10")
    assert (outcome.value, outcome.p_adjusted, outcome.passed) == (-0.5, 0.5, True)


@pytest.mark.parametrize("adjust", ["holm", "none"])
def test_the_adjusted_p_decides(adjust):
    """p is 0.0136 for each of four systems, and by Holm four times that."""
    comparison = compare({"base": 60, **dict.fromkeys("abcd", 54)}, against="base", adjust=adjust)
    outcomes = check_worse(comparison, "P@1")
    assert [round(each.p_adjusted, 4) for each in outcomes] == ([0.0542] * 4 if adjust == "holm" else [0.0136] * 4)
    assert [each.passed for each in outcomes] == [adjust == "holm"] * 4


def test_the_first_of_two_systems_is_the_baseline():
    [outcome] = check_worse(compare({"old": 40, "new": 60}), "P@1")
    assert (outcome.system, outcome.baseline, outcome.passed) == ("new", "old", True)
    assert not check_worse(compare({"old": 60, "new": 40}), "P@1")[0].passed


def test_a_name_without_a_cutoff_is_every_cutoff_that_was_computed():
    comparison = compare({"old": 60, "new": 40}, "P", k=(1, 2))
    assert [(each.measure.name, each.passed) for each in check_worse(comparison, ["P:19", "R@1"])] == [
        ("P@1", False),
        ("P@2", True),
        ("R@1", False),
    ]


def test_what_was_not_computed_or_not_tested_never_passes():
    with pytest.warns(XmcevalWarning, match="no test"):
        comparison = compare({"old": 60, "new": 40}, "P@1,macroF1@1")
    outcomes = check_worse(comparison, ["P@7:50", "macroF1@1:50"])
    assert not any(each.passed or each.is_decided for each in outcomes)
    assert breaches_of(outcomes) == []
    assert undecided_of(outcomes) == [
        "P@7 was not computed; expected any of P@1, macroF1@1",
        "new was not tested against old on macroF1@1",
    ]
    with pytest.raises(DataError, match="a gate cannot be decided: P@7 was not computed; expected any of P@1"):
        check_computed([parse_worse("P@7")], [parse_worse("P@1").find_in([])[0]])


def test_systems_with_runs_are_judged_by_their_mean_and_what_was_not_compared_is_undecided():
    runs = {"a": hits(60), "S": [hits(60), hits(20), hits(18)], "T": [hits(59), hits(61), hits(60)]}
    with pytest.warns(XmcevalWarning, match="S and a are not compared"):
        comparison = xmceval.compare(TRUTH, {**runs, "S": [runs["a"], *runs["S"][1:]]}, metrics="P@1", against="S")
    outcomes = check_worse(comparison, "P@1")
    assert [(each.system, each.is_decided, each.passed) for each in outcomes] == [
        ("a", False, False),
        ("T", True, True),
    ]
    assert undecided_of(outcomes) == ["a was not compared with S on P@1"]


@pytest.mark.parametrize(
    ("gate", "layout", "line"),
    [
        ("P@1:0.5", Layout(), "less is worse than base on P@1 by 20.00 ± 7.98 points, more than 0.5 (p < 0.0001"),
        ("P@1", Layout(), "less is worse than base on P@1 by 20.00 ± 7.98 points (p < 0.0001"),
        (
            "P@1:0.5",
            Layout(percent=False),
            "less is worse than base on P@1 by 0.2000 ± 0.0798, more than 0.5 points (p < 0.0001",
        ),
        (
            "P@1:19.999",
            Layout(),
            "less is worse than base on P@1 by 20.000 ± 7.977 points, more than 19.999 (p < 0.0001",
        ),
        (
            "coverage_error:0.1",
            Layout(),
            "less is worse than base on coverage_error by 0.40 ± 0.16, more than 0.1 (p < 0.0001",
        ),
    ],
)
def test_a_line_says_how_much_worse_with_so_many_digits_that_it_differs_from_the_limit(against, gate, layout, line):
    outcomes = judge_datasets([parse_worse(gate)], {"": against}, ["base", "less"], "base", layout)
    metric = gate.partition(":")[0]
    assert breaches_of(outcomes) == [f"{line}, adjusted by Holm over the 3 pairs on {metric})"]


def test_each_system_is_judged_on_each_data_set_and_a_missing_cell_is_undecided():
    one, two = compare({"base": 60, "new": 40}, against="base"), compare({"base": 60, "new": 61}, against="base")
    outcomes = judge_datasets(
        [parse_worse("P@1:1")], {"one": one, "two": two, "three": None}, ["base", "new", "old"], "base"
    )
    assert [(each.dataset, each.system) for each in outcomes if each.passed] == [("two", "new")]
    assert breaches_of(outcomes) == [
        "one: new is worse than base on P@1 by 20.00 ± 7.98 points, more than 1 (p < 0.0001)"
    ]
    assert undecided_of(outcomes) == [
        "one: old was not compared with base on P@1",
        "two: old was not compared with base on P@1",
        "three: new was not compared with base on P@1",
        "three: old was not compared with base on P@1",
    ]


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("Foo:1", "unknown metric 'Foo'"),
        ("P@1:x", "gate 'P@1:x': expected a limit of at least 0, such as P@5:0.5"),
        ("P@1:-1", "gate 'P@1:-1': expected a limit of at least 0, such as P@5:0.5"),
        ("P@1:inf", "gate 'P@1:inf': expected a limit of at least 0, such as P@5:0.5"),
    ],
)
def test_a_limit_that_is_none_is_refused(against, gate, message):
    with pytest.raises(UsageError, match=f"^{message}"):
        check_worse(against, gate)


def test_several_systems_need_a_baseline():
    with pytest.raises(
        UsageError, match=r"^a gate of differences needs a baseline, and there are 3 systems \(hint: pass against"
    ):
        check_worse(compare({"a": 1, "b": 2, "c": 3}), "P@1")


@pytest.mark.parametrize(
    ("gate", "in_percent", "passed"),
    [
        ("P@1>=57", True, True),  # 0.57 times 100 is 56.99999999999999
        ("P@1<=57", True, True),
        ("P@1 >= 57.01", True, False),
        ("P@1<=56.99", True, False),
        ("P@1>=0.57", False, True),
        ("P@1>=0.571", False, False),
        ("coverage_error<=1", True, False),
        ("coverage_error<=1.86", True, True),
    ],
)
def test_a_value_is_required_in_the_unit_of_the_table(gate, in_percent, passed):
    result = xmceval.score(TRUTH, hits(57), metrics="P@1,coverage_error")
    [outcome] = judge_values([parse_required(gate, in_percent=in_percent)], result)
    assert outcome.passed == passed


def test_what_is_required_of_a_value_says_its_digits_as_far_as_they_matter():
    result = replace(xmceval.score(TRUTH, hits(57), metrics="P@1"), name="s")
    gates = [parse_required("P@1>=57.001"), parse_required("P@1<=50"), parse_required("P@2>=1.5")]
    outcomes = judge_values(gates, result)
    assert breaches_of(outcomes) == [
        "s has P@1 57.000, and at least 57.001 is required",
        "s has P@1 57.00, and at most 50 is required",
    ]
    assert undecided_of(outcomes) == ["P@2 was not computed; expected any of P@1"]


def test_a_value_that_is_undefined_never_passes():
    with pytest.warns(XmcevalWarning):
        result = xmceval.score(np.zeros((3, 3)), hits(3)[:3], metrics="AUC", empty_rows="drop")
    [outcome] = judge_values([parse_required("AUC<=90")], result)
    assert (outcome.passed, outcome.is_decided) == (False, False)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("P@1=3", "gate 'P@1=3': expected >= or <= and a number, such as P@5>=34"),
        ("P@1>=x", "gate 'P@1>=x': expected >= or <= and a number, such as P@5>=34"),
        ("", "gate '': expected >= or <= and a number"),
        ("Foo>=3", "unknown metric 'Foo'"),
    ],
)
def test_what_cannot_be_required_is_refused(gate, message):
    with pytest.raises(UsageError) as refused:
        parse_required(gate)
    assert message in str(refused.value)


@pytest.mark.parametrize(("gate", "meant"), [("P@1>=0.57", "P@1>=57"), ("P<=.9", "P<=90")])
def test_a_limit_of_a_share_up_to_1_was_meant_as_a_fraction(gate, meant):
    with pytest.raises(
        UsageError, match=rf"{gate}.*: limits of shares are in percent.*hint: pass {meant}, or --fraction"
    ):
        parse_required(gate)
    assert parse_required(gate, in_percent=False).limit < 1


@pytest.mark.parametrize(
    ("gate", "in_percent", "limits"),
    [
        ("P@1<=686", True, "P@1 are from 0 to 100"),
        ("P@1<=100", True, "P@1 are from 0 to 100"),
        ("P@1>=-5", True, "P@1 are from 0 to 100"),
        ("P@1>=0", True, "P@1 are from 0 to 100"),
        ("P@1>=100.1", True, "P@1 are from 0 to 100"),
        ("hamming_loss<=5", False, "hamming_loss are from 0 to 1"),
        ("MCC>=-100", True, "MCC are from -100 to 100"),
        ("coverage_error>=0", True, "coverage_error are from 0 on"),
    ],
)
def test_what_cannot_fail_or_cannot_pass_is_refused(gate, in_percent, limits):
    with pytest.raises(UsageError, match=rf"^gate '{gate}' has no effect: values of {limits}$"):
        parse_required(gate, in_percent=in_percent)


@pytest.mark.parametrize(
    "gate", ["P@1>=100", "P@1<=1.5", "MCC>=-99", "coverage_error<=1e9", "PSP(norm=none)@1<=300", "DCG@5>=0.5"]
)
def test_what_can_fail_is_taken(gate):
    assert parse_required(gate)


@pytest.mark.parametrize(("gate", "most"), [("P@1:100", 100), ("MCC:200", 200), ("P@1:101", 100)])
def test_a_difference_beyond_the_range_is_refused(gate, most):
    metric = gate.partition(":")[0]
    with pytest.raises(
        UsageError, match=f"^gate '{gate}' has no effect: differences of {metric} are from 0 to {most}$"
    ):
        parse_worse(gate)
    assert parse_worse(f"{metric}:{most - 0.01}")


def test_gates_of_differences_need_two_systems():
    with pytest.raises(UsageError, match="a gate of differences needs at least two systems, got only one"):
        check_decidable([parse_worse("P@1")], parse("P@1"), 1, None)


@pytest.mark.parametrize(
    ("options", "family"),
    [
        ({}, ", adjusted by Holm over the 3 pairs on P@1"),
        ({"adjust_over": "all"}, ", adjusted by Holm over 6 tests"),
        ({"adjust": "none"}, ", not adjusted for the 3 pairs on P@1"),
    ],
)
def test_a_line_says_over_which_tests_p_is_adjusted(options, family):
    systems = {"base": 60, "less": 40, "near": 59, "more": 80}
    outcomes = check_worse(compare(systems, "P@1,coverage_error", against="base", **options), "P@1")
    assert breaches_of(outcomes) == [f"less is worse than base on P@1 by 20.00 ± 7.98 points (p < 0.0001{family})"]


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
