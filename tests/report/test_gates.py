"""Gates: what passes, what is beyond its limit, and what cannot be decided and so never passes."""

import json
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from support.approved import check_answers, evaluate

import xmceval
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


def compare(systems, metrics="P@1", n_rows=N_ROWS, **options):
    scores = {name: hits(n)[:n_rows] for name, n in systems.items()}
    return xmceval.compare(TRUTH[:n_rows], scores, metrics=metrics, **options)


@cache
def against():
    return compare(SYSTEMS, "P@1,coverage_error", against="base")


def describe(outcomes):
    """Return the verdict of each outcome, and why."""
    verdicts = {(True, True): "passed", (False, True): "breached", (False, False): "undecided"}
    lines = ((f"{x.system}, {x.measure.name}:", verdicts[x.passed, x.is_decided], x.why) for x in outcomes)
    return [" ".join(line).strip() for line in lines]


def worse(gates, comparison=None, percent=True, **gates_of_drops):
    """Judge a comparison; limits have the unit of the table, in which the lines are."""
    comparison = comparison or against()
    if gates_of_drops or percent:
        return describe(check_worse(comparison, gates, **gates_of_drops))
    return describe(judge_comparison([parse_worse(gates)], comparison, Layout(percent=False)))


def required(gate, **unit):
    result = replace(xmceval.score(TRUTH, hits(57), metrics="P@1,coverage_error"), name="s")
    return describe(judge_values([parse_required(gate, **unit)], result))


def test_gates_pass_or_fail_with_a_reason_as_it_was_approved():
    check_answers(__file__, "gates.txt", lambda line: evaluate(line, globals()))


def breaches_of(outcomes):
    return [outcome.why for outcome in outcomes if outcome.is_decided and not outcome.passed]


def undecided_of(outcomes):
    return [outcome.why for outcome in outcomes if not (outcome.is_decided or outcome.passed)]


def test_systems_with_runs_are_judged_by_their_mean_and_what_was_not_compared_is_undecided():
    runs = {"a": hits(60), "S": [hits(60), hits(20), hits(18)], "T": [hits(59), hits(61), hits(60)]}
    comparison = xmceval.compare(TRUTH, {**runs, "S": [runs["a"], *runs["S"][1:]]}, metrics="P@1", against="S")
    outcomes = check_worse(comparison, "P@1")
    assert [(outcome.system, outcome.passed) for outcome in outcomes] == [("a", False), ("T", True)]
    assert undecided_of(outcomes) == ["P@1: not decided, because a was not tested against S"]


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


def test_json_has_what_gates_came_to_only_where_they_were_asked_for():
    assert "gates" not in against().to_dict()
    gated = replace(against(), gates=check_worse(against(), "P@1:0.5"))
    assert json.loads(gated.to_json())["gates"][0] == {
        "kind": "worse",
        "system": "less",
        "baseline": "base",
        "dataset": None,
        "metric": "P@1",
        "limit": 0.005,
        "value": pytest.approx(-0.2),
        "p_adjusted": against()["P@1", "less", "base"].p_adjusted,
        "passed": False,
    }
