"""Scores of every metric, option and cutoff against the judge; the grammar of names; constants that appear twice."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from judge import naive
from support import graded, measures
from support.close import close
from support.intervals import check_interval, judged_interval
from support.judged import check_judged
from support.measures import ALIASES, HEADS, parse
from support.strategies import Case, cases, to_csr

from xmceval import METRICS
from xmceval.metrics.names import restore_measure


@st.composite
def problems(draw, **options):
    case = draw(cases(**options))
    cutoffs = sorted(draw(st.sets(st.integers(1, case.n_labels), min_size=1, max_size=3)))
    return case, cutoffs, draw(st.sampled_from(["zero", "drop"]))


def check_values(case, cutoffs, empty_rows="zero", heads=tuple(HEADS)):
    result = measures.score(case, heads, cutoffs, empty_rows=empty_rows)
    predicted = [{label: score for label, score in row.items() if score > -math.inf} for row in case.scores]
    check_judged(result, case.truth, predicted, case.inverse, empty_rows=empty_rows, least=len(heads))


WEIGHTED = [  # in addition to the metrics of the judge
    *("nDCG@all", "LRAP", "coverage_error", "AUC", "GAUC", "microR@n", "AP@all", "ERR(max=4)@1", "RBP@1", "MCC"),
    *(
        "macroBA@1",
        "weightedP@1",
        "coverage@1",
        "confusion",
        *(f"macroF1(zero={zero})@1" for zero in METRICS["macroF1"].options["zero"]),
    ),
]


@given(problem=problems(graded=True), weights=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_a_whole_sample_weight_is_so_many_rows(problem, weights):
    case, cutoffs, empty_rows = problem
    weights = weights[: len(case.truth)]
    assume(sum(weights))
    options = {"metrics": [*HEADS, *WEIGHTED], "k": cutoffs, "empty_rows": empty_rows}

    def repeat(times):
        rows = [row for row, n in enumerate(times) for _ in range(n)]
        truth, scores = ([part[row] for row in rows] for part in (case.truth, case.scores))
        return measures.score(Case(truth, scores, case.n_labels, case.inverse), **options)

    weighted, repeated = measures.score(case, sample_weight=weights, **options), repeat(weights)
    assert dict(weighted) == close(dict(repeated))
    check_judged(weighted, case.truth, case.scores, case.inverse, weights, empty_rows, least=len(HEADS))
    assert weighted.counts == repeat([min(weight, 1) for weight in weights]).counts
    for name in weighted:
        bounds = close(repeated.tie_bounds(name), nan_ok=True)
        assert weighted.tie_bounds(name) == bounds, name


@given(problem=problems(graded=True), head=st.sampled_from(sorted(HEADS)))
def test_intervals_are_the_judges(problem, head):
    (case, cutoffs, empty_rows), (name, options) = problem, HEADS[head]
    result = measures.score(case, [head], cutoffs, empty_rows=empty_rows)
    for k in cutoffs:
        rows = case.truth, case.scores, case.inverse
        pairs = naive.row_values(name, k, options, *rows, empty_rows=empty_rows)
        check_interval(result.interval(f"{head}@{k}"), judged_interval(pairs, head), len(pairs), head)


@given(problem=problems())
def test_counts_are_of_the_rows_that_are_scored(problem):
    case, cutoffs, empty_rows = problem
    counts = measures.score(case, ["P"], cutoffs, empty_rows=empty_rows).counts
    kept = [(y, s) for y, s in zip(case.truth, case.scores, strict=True) if y or empty_rows == "zero"]
    scores = [s for _, s in kept]
    assert counts.n_instances == len(kept)
    assert counts.n_labels == case.n_labels
    assert counts.n_true == sum(len(y) for y, _ in kept)
    assert counts.n_predictions == sum(len(s) for s in scores)
    assert counts.empty_rows == sum(not y for y in case.truth)
    assert counts.short_rows == {k: sum(len(s) < k for s in scores) for k in cutoffs}
    assert counts.tied_rows == {k: naive.rows_with_tie_across(k, scores) for k in cutoffs}
    inside = 0
    for s in scores:
        best = [s[label] for label in naive.ranked(s, max(cutoffs))]
        across = any(naive.rows_with_tie_across(k, [s]) for k in cutoffs)
        inside += len(set(best)) < len(best) and not across
    assert counts.inside_ties == inside


EDGES = {
    "no truth": Case([{}], [{0: 0.5, 2: 0.1}], 3, [1.0, 2.0, 3.0]),
    "no prediction": Case([{0: 1.0}], [{}], 3, [1.0, 2.0, 3.0]),
    "neither": Case([{}], [{}], 3, [1.0, 2.0, 3.0]),
    "fewer predictions than k": Case([{0: 1.0, 2: 1.0}], [{2: 0.5}], 3, [1.0, 2.0, 3.0]),
    "more true labels than k": Case([dict.fromkeys(range(9), 1.0)], [{8: 0.5, 1: 0.4}], 9, [1.0 + i for i in range(9)]),
    "all tied": Case([{1: 1.0, 3: 1.0}], [dict.fromkeys(range(4), 0.5)], 4, [4.0, 3.0, 2.0, 1.0]),
    "tied beyond every cut": Case([{6: 1.0}], [dict.fromkeys(range(7), 0.5)], 7, [1.5] * 7),
    "minus zero ties with zero": Case([{1: 1.0}], [{0: -0.0, 1: 0.0}], 2, [1.0, 2.0]),
    "infinite scores": Case([{1: 1.0}], [{0: -math.inf, 1: math.inf, 2: math.inf}], 3, [1.0, 2.0, 3.0]),
    "negative scores": Case([{1: 1.0}], [{0: -3.0, 1: -2.0}], 3, [1.0, 2.0, 3.0]),
    "one label, hit": Case([{0: 1.0}], [{0: 0.5}], 1, [2.0]),
    "one label, miss": Case([{}], [{0: 0.5}], 1, [2.0]),
    "grades": Case([{0: 3.0, 1: 1.0, 2: 4.0}], [{1: 0.9, 2: 0.5, 3: 0.4}], 4, [1.0, 2.0, 3.0, 4.0]),
    "the largest grade": Case([{0: 2.0**40, 1: 1.0}], [{1: 0.9, 0: 0.5}], 2, [1.0, 2.0]),
    "the largest inverse propensity": Case([{0: 1.0, 1: 1.0}], [{1: 0.9}], 2, [2.0**40, 1.0]),
}


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
@pytest.mark.parametrize("edge", EDGES)
def test_edge_rows_are_the_judges(edge, empty_rows):
    # 2^grade - 1 of the largest grade is beyond all floats
    heads = [head for head in HEADS if edge != "the largest grade" or "exp" not in head]
    check_values(EDGES[edge], range(1, EDGES[edge].n_labels + 1), empty_rows, heads)


def test_edge_rows_together_are_the_judges():
    edges = [case for name, case in EDGES.items() if "largest" not in name]
    truth, scores = [[row for case in edges for row in getattr(case, part)] for part in ("truth", "scores")]
    check_values(Case(truth, scores, 9, [1.0 + i for i in range(9)]), [1, 2, 5, 9])


def test_stored_zeros_of_the_truth_are_no_labels_and_are_counted():
    truth = to_csr([{0: 0.0, 1: 1.0}, {2: 0.0}], 3)
    result = graded.score(truth, np.array([[3, 2, 1], [1, 2, 3]]), k=1, metrics=["P", "R"])
    assert dict(result) == {"P@1": 0.0, "R@1": 0.0}
    assert (result.counts.explicit_zeros, result.counts.n_true, result.counts.empty_rows) == (2, 1, 1)
    assert any("2 stored zeros" in warning for warning in result.warnings)


def test_values_are_plain_floats_and_cutoffs_need_not_be_given_in_order():
    case = EDGES["grades"]
    result = measures.score(case, k=[3, 1])
    assert {type(value) for value in result.values()} == {float}
    assert dict(result) == dict(measures.score(case, k=[1, 3]))


# Names

every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


@every_metric
def test_every_measure_has_a_definition_and_comes_back_by_its_name_with_its_options(metric):
    for name in measures.names_of(metric, 7):
        [measure] = parse(name)
        assert parse(str(measure)) == [measure] == [restore_measure(measure.name)]
        assert restore_measure(measure.name).definition == measure.definition
        options = name.partition("(")[2].partition(")")[0]
        chosen = dict(option.split("=") for option in options.split(",") if option)
        assert {key: measure.option(key) for key in chosen} == chosen
        of_means = measure.option("of") == "means"
        assert (measure.norm.formula in measure.definition) != of_means
        assert ("mean precision P and the mean recall R" in measure.definition) == of_means
        assert measure.k is None or measure.definition.endswith(f"; k = {measure.k}")
        is_cut = measure.k is None and measure.metric.cutoff == "optional"
        assert ("; over the whole list" in measure.definition) == is_cut


@every_metric
def test_canonical_names_leave_defaults_out_and_have_one_case(metric):
    def name_with(options):
        return str(parse(measures.named(metric, options, 5))[0])

    plain = measures.named(metric, {}, 5)
    assert parse(plain)[0].metric is metric
    assert {name_with({}), name_with(measures.options_of(metric)[0])} == {plain}
    assert str(parse(plain.upper())[0]) == str(parse(plain.lower())[0]) == plain
    for key, number in metric.numbers.items():
        other = 2 if number.is_whole else 0.25
        if key == metric.level:  # which has no default
            assert name_with({key: other}) == f"{metric.name}@{other}"
            continue
        if key != "rel":  # by default any grade above 0, which is no number
            assert name_with({key: number.default}) == plain
        assert name_with({key: other}) == measures.named(metric, {key: other}, 5)


@pytest.mark.parametrize("alias", ALIASES)
def test_other_tools_names_mean_a_metric_of_the_table(alias):
    assert [str(m) for m in parse(alias, [3])] == [str(m) for m in parse(ALIASES[alias], [3])]


def test_a_measure_named_twice_is_computed_once():
    assert [str(m) for m in parse(["P@1,3", "precision@3", "p"], [1])] == ["P@1", "P@3"]


def test_a_result_is_asked_by_any_spelling():
    result = measures.score(EDGES["grades"], ["nDCG(discount=ln)"], [2])
    assert result["ndcg(base=e)@2"] == result["nDCG(discount=ln)@2"]
    with pytest.raises(KeyError, match="'P@9' is not one of nDCG"):
        result["P@9"]
