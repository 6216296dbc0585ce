"""Slices and ceilings against judges of their own: values, intervals, bins, means, with weights and rows dropped."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive, naive_labels, naive_slices
from support import graded, measures
from support.close import close
from support.intervals import check_interval, judged_interval
from support.measures import HEADS, parse
from support.strategies import few, random_case, random_weights, to_csr, weighted_cases, without

from xmceval import METRICS

OVER = METRICS["macroP"].options["over"]
SHARED = [head for head, (name, _) in HEADS.items() if not METRICS[name].complement]
EDGES = ([1], [2], [1, 3], [2, 3, 5], [7])


@st.composite
def problems(draw):
    """Return a case, the training count of each label, and what scoring takes."""
    case, weights, empty_rows = draw(weighted_cases())
    counts = draw(st.lists(st.integers(0, 6), min_size=case.n_labels, max_size=case.n_labels))
    return case, counts, {"sample_weight": weights, "empty_rows": empty_rows}


WITH_REL = [name for name in naive.METRICS if "rel" in METRICS[name].numbers and not METRICS[name].complement]


def score(case, counts, metrics, spec, k, **options):
    truth, scores = (to_csr(rows, case.n_labels, np.float64) for rows in (case.truth, case.scores))
    given_ = {"counts": np.array(counts), "n_train": 9, "by_frequency": spec, "k": k, "metrics": metrics}
    return graded.score(truth, scores, **given_, **options)


def check_slices(problem, spec, bins, n_bins, k, rels=()):
    """Compare the shares of bins with the judge's, of labels whose grade is at least `rel` too."""
    case, counts, options = problem
    inverse = naive.inverse_propensities(counts, 9, 0.55, 1.5)
    rules = {"inverse": inverse, "weights": options["sample_weight"], "empty_rows": options["empty_rows"]}
    asked = {head: (*HEADS[head], case.truth) for head in SHARED}
    for rel in rels:
        truth = [naive.at_least(row, rel) for row in case.truth]
        asked |= {f"{name}(rel={rel})": (name, {}, truth) for name in WITH_REL}
    result = score(case, counts, list(asked), spec, k, **options)
    assert len(result.slices) == n_bins
    for head, (metric, chosen, truth) in asked.items():
        name = str(parse(head, [k])[0])
        expected = naive_slices.shares(metric, k, chosen, truth, case.scores, bins, n_bins, **rules)
        for part, pairs in zip(result.slices, expected, strict=True):
            estimate, where = part.estimates[name], (name, part.bin.name)
            if part.bin.is_empty:
                assert math.isnan(estimate.value), where
                continue
            assert estimate.value == close(naive.ratio(pairs)), where
            check_interval(estimate.interval, judged_interval(pairs, name), len(pairs), where)


@few
@given(problem=problems(), edges=st.sampled_from(EDGES), k=st.integers(1, 4))
def test_shares_of_bins_at_edges_are_the_judges(problem, edges, k):
    case, counts, _ = problem
    k = min(k, case.n_labels)
    spec = ",".join(map(str, edges)) if len(edges) > 1 else [edges[0], 10**6]
    bins = naive_slices.bins_from_edges(counts, edges if len(edges) > 1 else spec)
    check_slices(problem, spec, bins, max(len(edges), 2) + 1, k)


@few
@given(problem=problems(), n_bins=st.integers(1, 5), k=st.integers(1, 4))
def test_shares_of_bins_of_equal_mass_are_the_judges(problem, n_bins, k):
    case, counts, _ = problem
    bins = naive_slices.bins_of_equal_mass(counts, n_bins)
    check_slices(problem, n_bins, bins, n_bins, min(k, case.n_labels))


@few
@given(problem=problems(), edges=st.sampled_from(EDGES[2:4]))
def test_bins_have_the_labels_counts_and_mass_that_they_say(problem, edges):
    case, counts, _ = problem
    bins = naive_slices.bins_from_edges(counts, edges)
    result = score(case, counts, "P", edges, 1)
    for number, each in enumerate(result.slices):
        of_bin = [count for count, its in zip(counts, bins, strict=True) if its == number]
        assert each.bin.n_labels == len(of_bin)
        assert (each.bin.low, each.bin.high) == ((min(of_bin), max(of_bin)) if of_bin else (0, 0))
        assert each.bin.mass == pytest.approx(sum(of_bin) / max(sum(counts), 1))


COUNTS = [5, 0, 3, 1, 1, 8, 2, 0, 1, 5, 4, 2]
many_rows = pytest.mark.parametrize(
    ("n_rows", "seed", "empty_rows"), [*itertools.product((40, 120), (None, 9), ("zero", "drop"))]
)


def options_of(n_rows, seed, empty_rows):
    return {"sample_weight": seed and random_weights(seed, n_rows), "empty_rows": empty_rows}


@many_rows
def test_shares_of_many_rows_are_the_judges(n_rows, seed, empty_rows):
    problem = random_case(4, n_rows), COUNTS, options_of(n_rows, seed, empty_rows)
    check_slices(problem, [2, 5], naive_slices.bins_from_edges(COUNTS, [2, 5]), 3, 4, rels=(2, 4))
    check_slices(problem, 4, naive_slices.bins_of_equal_mass(COUNTS, 4), 4, 2)


RATES = {"precision": "P", "recall": "R", "F": "F1", "Jaccard": "Jaccard", "balanced": "BA"}
LABELWISE = {f"macro{RATES[rate]}(over={over})": (rate, over) for rate in RATES for over in OVER if over != "largest"}


@few
@given(problem=problems(), edges=st.sampled_from(EDGES[2:4]), k=st.integers(1, 3))
def test_means_over_the_labels_of_a_bin_are_the_judges(problem, edges, k):
    check_means(problem, edges, k)


@many_rows
@pytest.mark.parametrize("filtered", [False, True])
def test_means_over_the_labels_of_a_bin_of_many_rows_leave_out_filtered_pairs(n_rows, seed, empty_rows, filtered):
    problem = random_case(5, n_rows), COUNTS, options_of(n_rows, seed, empty_rows)
    for k in (2, 3):
        check_means(problem, [2, 5], k, filtered_pairs(n_rows) if filtered else None)


def filtered_pairs(n_rows):
    """Return filtered labels of each row."""
    return [set(np.flatnonzero(row).tolist()) for row in np.random.default_rng(8).random((n_rows, 12)) < 0.3]


def check_means(problem, edges, k, filtered=None):
    case, counts, options = problem
    if filtered is not None:
        options |= {"filter": [(row, label) for row, out in enumerate(filtered) for label in out]}
    k = min(k, case.n_labels)
    weights, empty_rows = options["sample_weight"] or [1.0] * len(case.truth), options["empty_rows"]
    kept = [i for i, row in enumerate(case.truth) if weights[i] and (row or empty_rows == "zero")]
    truth, scores = [case.truth[i] for i in kept], [case.scores[i] for i in kept]
    if filtered is not None:
        filtered = [filtered[i] for i in kept]
        scores = without(scores, filtered)
    sets, own = naive_labels.at_cut(truth, scores, k), [weights[i] for i in kept]
    by_bin = naive_slices.labels_of(naive_slices.bins_from_edges(counts, edges), len(edges) + 1)
    coverages = [f"coverage(over={over})" for over in ("truth", "all", "ideal")]
    result = score(case, counts, [*LABELWISE, "weightedR", *coverages], edges, k, **options)
    ideal = [(set(), set(sorted(row, key=lambda x: (counts[x], x))[:k])) for row in truth]
    for number, part in enumerate(result.slices):
        labels, rules = by_bin[number], {"train": counts, "weights": own, "filtered": filtered}
        expected = {
            name: naive_slices.label_mean(rate, "macro", sets, labels, over=over, **rules)
            for name, (rate, over) in LABELWISE.items()
        }
        expected["weightedR"] = naive_slices.label_mean("recall", "weighted", sets, labels, **rules)
        inside, best = naive_slices.within(sets, labels), naive_slices.within(ideal, labels)
        for over in ("truth", "all", "ideal"):
            expected[f"coverage(over={over})"] = naive_labels.coverage(inside, over, len(labels), best)
        for name, value in expected.items():
            estimate = part.estimates[str(parse(name, [k])[0])]
            if part.bin.is_empty:
                assert math.isnan(estimate.value), (name, number)
                continue
            assert estimate.value == close(value or 0.0), (name, number)


OF_LABELS = [
    *("macroP", "macroR(over=truth)", "macroF1(over=seen,rel=2)", "macroBA(over=train)", "macroJaccard(zero=skip)"),
    *("macroF1", "macroP(over=truth,rel=2)", "weightedF1"),
    *("coverage", "coverage(over=all)", "coverage(over=ideal,rel=3)"),
]


@many_rows
def test_one_bin_equals_the_whole(n_rows, seed, empty_rows):
    names = [*SHARED, "RBP", *(f"{name}(rel={rel})" for name in WITH_REL for rel in (2, 3, 4)), *OF_LABELS]
    result = score(random_case(11, n_rows), COUNTS, names, 1, (1, 3, 5), **options_of(n_rows, seed, empty_rows))
    [only] = result.slices
    assert list(only.estimates) == list(result)
    for name, whole in result.estimates.items():
        part = only.estimates[name]
        assert part.value == close(whole.value), name
        assert part.undefined == whole.undefined, name
        for own, other in ((part.low, whole.low), (part.high, whole.high)):
            assert own == (None if other is None else close(other)), name


# Ceilings: the value of the perfect ranking, with rows dropped, weights and grades from rel on

NO_CEILING = {"microP", "microF1"}


def perfect(name, row, inverse):
    """Return scores that put the labels of a row in the best order for a metric."""
    return {label: inverse[label] if name in naive.PROPENSITY_SCORED else grade for label, grade in row.items()}


def judged(name, k, options, case, truth, weights, empty_rows, filtered):
    """Return the weighted mean, or ratio of sums, of the perfect rankings' values."""
    pairs = []
    for row, weight, out in zip(truth, weights or [1.0] * len(truth), filtered, strict=True):
        best = perfect(name, {label: grade for label, grade in row.items() if label not in out}, case.inverse)
        values = naive.row_values(name, k, options, [row], [best], case.inverse, empty_rows=empty_rows)
        pairs += [(weight * num, weight * den) for num, den in values]
    return naive.ratio(pairs)


@given(problem=weighted_cases(), k=st.integers(1, 4), rel=st.sampled_from([0, 1, 2.5]))
def test_the_ceiling_of_every_metric_is_the_value_of_the_perfect_ranking(problem, k, rel):
    check_ceilings(*problem, k, rel)


@pytest.mark.parametrize("weights", [None, random_weights(7)], ids=["plain", "weighted"])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
@pytest.mark.parametrize("filtered", [None, filtered_pairs(40)], ids=["no filter", "a filter"])
def test_the_ceilings_of_many_rows_are_those_of_perfect_rankings_without_filtered_pairs(weights, empty_rows, filtered):
    for k in (1, 3, 7):
        check_ceilings(random_case(6), weights, empty_rows, k, 3, filtered)


def check_ceilings(case, weights, empty_rows, k, rel, filtered=None):
    k = min(k, case.n_labels)
    pairs = None
    if filtered is not None:
        pairs = [(row, label) for row, out in enumerate(filtered) for label in out]
    asked = {f"{head}@{k}": (*HEADS[head], 0) for head in HEADS}
    if rel:
        asked |= {f"{name}(rel={rel})@{k}": (name, {}, rel) for name in naive.METRICS if "rel" in METRICS[name].numbers}
    options = {"sample_weight": weights, "empty_rows": empty_rows, "filter": pairs}
    result = measures.score(case, list(asked), ceiling=True, **options)
    filtered = filtered or [set()] * len(case.truth)
    for name, (metric, chosen, grade) in asked.items():
        found = result.estimates[str(parse(name)[0])].ceiling
        truth = [naive.at_least(row, grade) for row in case.truth]
        if metric in NO_CEILING or chosen.get("norm") == "returned":
            assert found is None
        elif not result.estimates[str(parse(name)[0])].undefined:
            expected = judged(metric, k, chosen, case, truth, weights, empty_rows, filtered)
            assert found == close(expected), name


def test_ceilings_by_hand():
    # Row 0 has 1 true label, row 1 none, row 2 three: within k = 2, at most 1, 0 and 2 hits.
    y_true, y_score = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]), np.ones((3, 4))
    names = ["P", "R", "Hit", "Abandonment", "microR"]
    expected = {"zero": [3 / 6, (1 + 2 / 3) / 3, 2 / 3, 1 / 3, 3 / 4], "drop": [3 / 4, (1 + 2 / 3) / 2, 1, 0, 3 / 4]}
    for empty_rows, ceilings in expected.items():
        result = graded.score(y_true, y_score, k=2, metrics=names, ceiling=True, empty_rows=empty_rows)
        assert [each.ceiling for each in result.estimates.values()] == pytest.approx(ceilings)
