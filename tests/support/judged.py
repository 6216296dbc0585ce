"""Results against the judge, beside what else a test compares them with: no test holds the program to itself alone."""

import pytest
from judge import naive, naive_rows
from support.measures import HEADS, judged
from support.strategies import to_rows

from xmceval.metrics.names import parse


def expected(name, truth, scores, n_labels, inverse=None, weights=None, empty_rows="zero"):
    """Return the judge's value of a metric by name, or None where no judge knows it."""
    measure = parse(name)[0]
    metric, rel = measure.metric, measure.rel
    true = [{label: grade for label, grade in row.items() if grade >= rel} for row in truth]
    rows = zip(true, scores, [1.0] * len(truth) if weights is None else weights, strict=True)
    options = judged({option: measure.option(option) for option in metric.options})
    if metric.name in naive.METRICS and (metric.name, options) in HEADS.values() and measure.number("beta") in {0, 1}:
        pairs = []
        for y, s, weight in rows:
            values = naive.row_values(metric.name, measure.k, options, [y], [s], inverse, n_labels, empty_rows)
            pairs += [(weight * num, weight * den) for num, den in values if weight]
        return naive.ratio(pairs)
    if name in naive_rows.METRICS and not metric.numbers.keys() - {"rel"}:
        return naive_rows.evaluate(name, truth, scores, n_labels, empty_rows=empty_rows, rel=rel, weights=weights)
    return None


def check_judged(result, truth, scores, inverse=None, weights=None, empty_rows="zero", least=1):
    """Compare all values of a result that a judge knows; there must be `least` of them at least."""
    rows = [each if isinstance(each, list) else to_rows(each) for each in (truth, scores)]
    weights = None if weights is None else [float(weight) for weight in weights]
    compared = 0
    for name, value in result.items():
        right = expected(name, *rows, result.counts.n_labels, inverse, weights, empty_rows)
        if right is not None:
            assert value == pytest.approx(right, rel=1e-12, abs=1e-12), name
            compared += 1
    assert compared >= least
