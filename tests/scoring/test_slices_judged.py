"""Slices against a judge of their own: values, intervals, bins, and label-wise means, with weights and rows dropped."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive, naive_labels, naive_slices
from support.intervals import check_interval, judged_interval
from support.measures import HEADS
from support.strategies import cases, few, random_case, random_weights, to_csr

import xmceval
from xmceval.metrics.cells import OVER
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS

SHARED = [head for head, (name, _) in HEADS.items() if not METRICS[name].complement]
EDGES = ([1], [2], [1, 3], [2, 3, 5], [7])


@st.composite
def problems(draw, **options):
    """Return a case, the training count of each label, and what scoring takes."""
    case = draw(cases(graded=True, **options))
    counts = draw(st.lists(st.integers(0, 6), min_size=case.n_labels, max_size=case.n_labels))
    n = len(case.truth)
    weights = draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n).filter(any))
    return case, counts, {"sample_weight": weights, "empty_rows": draw(st.sampled_from(["zero", "drop"]))}


def score(case, counts, metrics, spec, k, **options):
    truth, scores = (to_csr(rows, case.n_labels, np.float64) for rows in (case.truth, case.scores))
    given_ = {"counts": np.array(counts), "n_train": 9, "by_frequency": spec, "k": k, "metrics": metrics}
    return xmceval.score(truth, scores, **given_, **options)


def judged(head, k, case, counts, bins, n_bins, sample_weight, empty_rows, rel=1):
    """Return the judge's pairs for each bin."""
    name, options = HEADS[head]
    inverse = naive.inverse_propensities(counts, 9, 0.55, 1.5)
    rules = {"inverse": inverse, "weights": sample_weight, "empty_rows": empty_rows, "rel": rel}
    return naive_slices.shares(name, k, options, case.truth, case.scores, bins, n_bins, **rules)


def check_slices(problem, spec, bins, n_bins, k):
    case, counts, options = problem
    result = score(case, counts, SHARED, spec, k, **options)
    assert len(result.slices) == n_bins
    for head in SHARED:
        name = str(parse(head, [k])[0])
        expected = judged(head, k, case, counts, bins, n_bins, **options)
        for each, pairs in zip(result.slices, expected, strict=True):
            found = each.estimates[name]
            assert found.value == pytest.approx(naive.ratio(pairs), rel=1e-12, abs=1e-12), (name, each.bin.name)
            check_interval(found.interval, judged_interval(pairs, name), len(pairs), (name, each.bin.name))


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


@many_rows
def test_shares_of_many_rows_are_the_judges(n_rows, seed, empty_rows):
    weights = seed and random_weights(seed, n_rows)
    problem = random_case(4, n_rows), COUNTS, {"sample_weight": weights, "empty_rows": empty_rows}
    check_slices(problem, [2, 5], naive_slices.bins_from_edges(COUNTS, [2, 5]), 3, 4)
    check_slices(problem, 4, naive_slices.bins_of_equal_mass(COUNTS, 4), 4, 2)


RATES = {"precision": "P", "recall": "R", "F": "F1", "Jaccard": "Jaccard", "balanced": "BA"}
LABELWISE = {
    **{f"macro{RATES[rate]}(over={over})": (rate, over) for rate in RATES for over in OVER if over != "largest"}
}


@few
@given(problem=problems(), edges=st.sampled_from(EDGES[2:4]), k=st.integers(1, 3))
def test_means_over_the_labels_of_a_bin_are_the_judges(problem, edges, k):
    check_means(problem, edges, k)


@many_rows
def test_means_over_the_labels_of_a_bin_of_many_rows_are_the_judges(n_rows, seed, empty_rows):
    weights = seed and random_weights(seed, n_rows)
    problem = random_case(5, n_rows), COUNTS, {"sample_weight": weights, "empty_rows": empty_rows}
    for k in (2, 3):
        check_means(problem, [2, 5], k)


def check_means(problem, edges, k):
    case, counts, options = problem
    k = min(k, case.n_labels)
    weights, empty_rows = options["sample_weight"] or [1.0] * len(case.truth), options["empty_rows"]
    kept = [i for i, row in enumerate(case.truth) if weights[i] and (row or empty_rows == "zero")]
    truth, scores = [case.truth[i] for i in kept], [case.scores[i] for i in kept]
    sets, own = naive_labels.at_cut(truth, scores, k), [weights[i] for i in kept]
    by_bin = naive_slices.labels_of(naive_slices.bins_from_edges(counts, edges), len(edges) + 1)
    names = [
        f"{name}@{k}" for name in (*LABELWISE, "weightedR", "coverage", "coverage(over=all)", "coverage(over=ideal)")
    ]
    result = score(case, counts, names, edges, k, **options)
    ideal = [(set(), set(sorted(row, key=lambda x: (counts[x], x))[:k])) for row in truth]
    for number, each in enumerate(result.slices):
        labels, found = by_bin[number], {name: estimate.value for name, estimate in each.estimates.items()}
        for name, (rate, over) in LABELWISE.items():
            expected = naive_slices.label_mean(rate, "macro", sets, labels, counts, over=over, weights=own)
            assert found[str(parse(name, [k])[0])] == pytest.approx(expected or 0.0, rel=1e-12, abs=1e-12), (
                name,
                number,
            )
        expected = naive_slices.label_mean("recall", "weighted", sets, labels, counts, weights=own)
        assert found[f"weightedR@{k}"] == pytest.approx(expected or 0.0, rel=1e-12, abs=1e-12)
        inside, best = naive_slices.within(sets, labels), naive_slices.within(ideal, labels)
        for over in ("truth", "all", "ideal"):
            expected = naive_labels.coverage(inside, over, len(labels), best)
            assert found[str(parse(f"coverage(over={over})@{k}")[0])] == pytest.approx(expected or 0.0, rel=1e-12), (
                over,
                number,
            )
