"""Results against the judge, beside what else a test compares them with: no test holds the program to itself alone."""

import pytest
from judge import table
from support.strategies import to_rows

import xmceval

METRICS = ["P", "nDCG", "PSP", "PSnDCG", "AP"]


def estimates(truth, scores, **options):
    """Return what a form of input is compared by."""
    return xmceval.score(truth, scores, **{"k": [1, 3], "metrics": METRICS, **options}).estimates


def check_judged(result, truth, scores, inverse=None, weights=None, empty_rows="zero", unscored="bottom", least=1):
    """Compare all values of a result that the judge computes of a ranking; there must be `least` of them at least."""
    rows = [each if isinstance(each, list) else to_rows(each) for each in (truth, scores)]
    weights = None if weights is None else [float(weight) for weight in weights]
    rules = table.Rules(result.counts.n_labels, inverse, weights, empty_rows, unscored)
    compared = 0
    for name, value in result.items():
        if table.of_rows(name):
            assert value == pytest.approx(table.evaluate(name, *rows, rules) or 0.0, rel=1e-12, abs=1e-12), name
            compared += 1
    assert compared >= least
