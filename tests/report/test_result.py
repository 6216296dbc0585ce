"""Result: a mapping that knows its figures, can be compared, copied and pickled, and prints as its table."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS
from xmceval.report.scored import shared_lines
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Value

NAMES = ["P", "nDCG(gain=exp)", "PSP", "R@all", "macroF1@3", "LRAP", "hamming_distance", "tp"]


@pytest.fixture
def problem(rng):
    return rng.random((40, 12)) < 0.3, csr_matrix(rng.random((40, 12))), rng.random((60, 12)) < 0.3


@pytest.fixture
def score(problem):
    y_true, y_score, train = problem
    return lambda **options: xmceval.score(
        y_true,
        y_score,
        **{"metrics": NAMES, "k": (1, 3), "train": train, "by_frequency": 2, "ceiling": True, **options},
    )


def test_estimates_definitions_and_units_are_those_of_the_figures_and_slices_have_some_of_them(score):
    result = score()
    assert list(result) == list(result.estimates) == list(result.definitions) == list(result.units)
    assert list(result) == [str(measure) for measure in parse(NAMES, (1, 3))]
    for figure in result.figures:
        assert result.estimates[figure.name] is figure.estimate
        assert result[figure.name] == figure.estimate.value
        assert result.definitions[figure.name] == figure.measure.definition
    assert (result.units["P@1"], result.units["hamming_distance"], result.units["tp"]) == ("share", "count", "cells")
    for part in result.slices:
        assert {figure.measure for figure in part.figures} < {figure.measure for figure in result.figures}
        assert part.estimates == {figure.name: figure.estimate for figure in part.figures}


CHANGES = {"k": (1, 2), "metrics": "P", "b": 2.0, "by_frequency": 3, "ceiling": False, "empty_rows": "drop"}


def test_results_are_equal_where_they_show_the_same(score):
    result = score()
    assert result == score()
    assert result == score(metrics=[name.lower() for name in NAMES])
    for name, value in CHANGES.items():
        assert result != score(**{name: value})
    assert replace(result, notes=("read from a file",)) == result
    assert replace(result, name="other") != result
    assert replace(result, warnings=()) != result
    for other in (None, 3, {}, dict(result), np.ones(3), np.ones(()), [1.0], "P@1"):
        assert (result == other, other == result) == (False, False)
        assert (result != other, other != result) == (True, True)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_is_equal_and_prints_the_same(score, duplicate):
    result = score()
    other = duplicate(result)
    assert other == result
    assert str(other) == str(result)
    assert [repr(each) for each in other.figures] == [repr(each) for each in result.figures]


def test_a_figure_of_any_metric_can_be_pickled():
    for name in METRICS:
        figure = Value(parse(name.replace("@k", "@3"), [3])[0], Estimate(0.5, 0.4, 0.6, None, None))
        assert pickle.loads(pickle.dumps(figure)) == figure


def test_measures_of_one_name_are_equal():
    assert parse("nDCG(gain=linear)@3") == parse("ndcg_cut_3")
    assert len({*parse("nDCG(base=2)@3"), *parse("ndcg@3"), *parse("nDCG(base=e)@3")}) == 2
    assert parse("P@3") != parse("P@5")
    assert parse("P@3")[0] != "P@3"
    assert repr(parse("p@3")[0]) == "<Measure P@3>"


def test_the_name_of_a_single_figure_needs_no_cutoff(score):
    result = score(metrics=["P", "nDCG@3"])
    assert result["nDCG"] == result["ndcg"] == result["nDCG@3"]
    assert score(metrics="P", k=7)["P"] == score(metrics="P", k=7)["P@7"]
    assert not any(name in result for name in ("P@9", "nonsense", ""))


def test_a_value_without_bounds_has_no_interval(score):
    result = score()
    low, high = result.interval("p@3")
    assert low < result["P@3"] < high
    assert np.isnan([result.interval("macroF1@3"), result.tie_bounds("macroF1@3")]).all()
    assert result.to_dict()["systems"][0]["metrics"]["macroF1@3"]["low"] is None
    assert result.tie_bounds("P@3") == (result["P@3"], result["P@3"])


def test_results_are_plain_python_numbers(score):
    result = score(sample_weight=np.linspace(0.5, 1.5, 40))
    assert {type(value) for value in result.values()} == {float}
    estimates = [estimate for part in result.slices for estimate in part.estimates.values()]
    assert {type(estimate.value) for estimate in estimates} == {float}


def test_what_some_systems_share_has_their_names_before_it(score):
    lines = (("all",), ("few", "all"), ("few", "all"), ("b: named", "all"))
    results = [replace(score(), name=name, warnings=each) for name, each in zip("abcd", lines, strict=True)]
    assert list(shared_lines(results, "warnings")) == ["all", "b, c: few", "d: b: named"]
