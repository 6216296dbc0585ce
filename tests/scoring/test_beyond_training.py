"""Labels beyond the training table weigh as labels never seen: in the ranking, the ideal, the bins, and over=train.

The tables are views of longer arrays with other codes behind them, so that a look-up beyond the end is seen.
"""

import numpy as np
import pytest
from judge import naive, naive_labels, naive_slices
from support.close import close
from support.intervals import check_interval, judged_interval
from support.measures import HEADS
from support.strategies import to_csr

from xmceval import METRICS
from xmceval.labels.bins import make_bins
from xmceval.labels.propensity import Propensities
from xmceval.metrics.names import parse
from xmceval.rows.matrices.source import as_scores, as_truth
from xmceval.rows.width import Width
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import OpenedSystem, Setup
from xmceval.scoring.summary import finish_totals

N_LABELS, N_TRAIN = 12, 40
INVERSE = np.array(naive.inverse_propensities(range(30), N_TRAIN, 0.55, 1.5))
TABLES = {
    "by label": [5, 0, 2, 9, 1],  # labels 5 to 11 are beyond it
    "by id": {1: 4, 2: 7, 6: 1, 9: 12},  # all others are unknown
}
TRUTH = [{4: 1.0, 5: 1.0}, {1: 1.0, 9: 1.0, 10: 1.0}, {11: 1.0}, {0: 1.0, 2: 1.0, 6: 1.0, 7: 1.0}, {3: 1.0, 8: 1.0}]
SCORES = [
    {5: 0.9, 4: 0.8, 0: 0.8, 11: 0.2},
    {1: 0.9, 10: 0.9, 9: 0.8, 8: 0.8, 2: 0.7},
    {1: 0.5, 11: 0.5, 5: 0.5, 2: 0.5},
    {7: 0.6, 6: 0.5, 2: 0.5, 0: 0.4, 11: 0.4},
    {8: 0.3, 3: 0.2, 9: 0.2, 10: 0.1},
]


def view(values, dtype):
    """Return the first elements of a longer array, behind which the code is 20."""
    longer = np.full(len(values) + 30, 20, dtype=dtype)
    longer[: len(values)] = values
    return longer[: len(values)]


def propensities(kind):
    table = TABLES[kind]
    if kind == "by label":
        return Propensities(INVERSE, view(table, np.int32), "the test", a=0.55, b=1.5, n=N_TRAIN)
    ids = np.array([*sorted(table), 10, 11], dtype=np.int64)[: len(table)]
    codes = view([table[label] for label in sorted(table)], np.int32)
    return Propensities(INVERSE, codes, "the test", ids, a=0.55, b=1.5, n=N_TRAIN)


def counts_of(kind):
    table = TABLES[kind]
    known = dict(enumerate(table)) if isinstance(table, list) else table
    return [known.get(label, 0) for label in range(N_LABELS)]


def summary(kind, names, k=(1, 2, 3), bins=None, ties="label"):
    own = propensities(kind)
    options = Options(metrics=names, k=k, ceiling=True, ties=ties)
    given = Setup(
        options=options,
        program=compile_program(options.measures),
        width=Width(N_LABELS, "the test has"),
        propensities=own,
        bins=None if bins is None else make_bins(bins, own, N_LABELS),
    )
    truth, scores = to_csr(TRUTH, N_LABELS), to_csr(SCORES, N_LABELS, np.float64)
    [totals] = evaluate(as_truth(truth), [OpenedSystem(as_scores(scores), given)], threads=1)
    return finish_totals(totals, given)


def inverse_of(kind):
    return [INVERSE[count] for count in counts_of(kind)]


PROPENSITY_SCORED = [head for head, (name, _) in HEADS.items() if name in naive.PROPENSITY_SCORED]
every_kind = pytest.mark.parametrize("kind", TABLES)


@every_kind
def test_values_and_ceilings_of_labels_beyond_the_table_are_the_judges(kind):
    inverse = inverse_of(kind)
    ideal = [{label: inverse[label] for label in row} for row in TRUTH]
    for figure in summary(kind, PROPENSITY_SCORED).figures:
        name, options = figure.measure.metric.name, {"norm": figure.measure.option("norm")}
        options["discount"] = figure.measure.option("discount") or "log2"
        k = figure.measure.k
        expected = naive.evaluate(name, k, options, TRUTH, SCORES, inverse)
        assert figure.estimate.value == close(expected), figure.name
        best = naive.evaluate(name, k, options, TRUTH, ideal, inverse)
        assert figure.estimate.ceiling == close(best), figure.name
        bounds = naive.tie_bounds(name, k, options, TRUTH, SCORES, inverse)
        assert (figure.estimate.tie_low, figure.estimate.tie_high) == close(bounds), figure.name


@every_kind
def test_expected_values_of_labels_beyond_the_table_are_the_judges(kind):
    for figure in summary(kind, ["PSP(norm=none)", "PSDCG"], ties="expected").figures:
        name, options = figure.measure.metric.name, {"norm": "none"}
        expected = naive.tie_mean(name, figure.measure.k, options, TRUTH, SCORES, inverse_of(kind))
        assert figure.estimate.value == close(expected), figure.name


@every_kind
@pytest.mark.parametrize("edges", [[1, 6], [1, 2, 5], [3, 8]])
def test_labels_beyond_the_table_are_in_the_last_bin(kind, edges):
    counts, inverse = counts_of(kind), inverse_of(kind)
    bins = naive_slices.bins_from_edges(counts, edges)
    heads = [head for head, (name, _) in HEADS.items() if not METRICS[name].complement]
    slices = summary(kind, heads, [3], bins=edges).slices
    assert [each.bin.n_labels for each in slices] == [bins.count(number) for number in range(len(edges) + 1)]
    for head in heads:
        name, options = HEADS[head]
        judged = naive_slices.shares(name, 3, options, TRUTH, SCORES, bins, len(slices), inverse=inverse)
        for each, pairs in zip(slices, judged, strict=True):
            found = each.estimates[str(parse(head, [3])[0])]
            assert found.value == close(naive.ratio(pairs)), head
            check_interval(found.interval, judged_interval(pairs, head), len(pairs), head)


@every_kind
def test_labels_beyond_the_table_are_no_training_labels(kind):
    counts = counts_of(kind)
    sets = naive_labels.at_cut(TRUTH, SCORES, 2)
    found = summary(kind, ["macroR(over=train)", "macroP(over=train)", "coverage(over=ideal)"], [2], bins=[1, 6])
    values = {figure.name.partition("@")[0]: figure.estimate.value for figure in found.figures}
    for rate, name in (("recall", "macroR(over=train)"), ("precision", "macroP(over=train)")):
        expected = naive_labels.evaluate(rate, "macro", sets, N_LABELS, over="train", train=counts)
        assert values[name] == close(expected)
    ideal = [(set(), set(sorted(row, key=lambda label: (counts[label], label))[:2])) for row in TRUTH]
    assert values["coverage(over=ideal)"] == naive_labels.coverage(sets, "ideal", N_LABELS, ideal)
    by_bin = naive_slices.labels_of(naive_slices.bins_from_edges(counts, [1, 6]), 3)
    for number, each in enumerate(found.slices):
        expected = naive_slices.label_mean("recall", "macro", sets, by_bin[number], counts, over="train")
        assert each.estimates["macroR(over=train)@2"].value == close(expected or 0.0)


@every_kind
def test_the_code_of_a_label_beyond_the_table_is_0(kind):
    labels = np.array([*range(N_LABELS), 4, 0, 1 << 40], dtype=np.int64)
    expected = [counts_of(kind)[label] if label < N_LABELS else 0 for label in labels]
    assert propensities(kind).codes_of(labels).tolist() == expected
