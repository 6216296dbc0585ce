"""Results against the judge, so that no test compares the program with itself alone."""

import numpy as np
import pytest
from judge import naive, naive_labels, naive_rows, table
from support.strategies import to_rows

import xmceval

METRICS = ["P", "nDCG", "PSP", "PSnDCG", "AP"]


def estimates(truth, scores, **options):
    """Return what a form of input is compared by."""
    return xmceval.score(truth, scores, **{"k": [1, 3], "metrics": METRICS, "grades": True, **options}).estimates


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


def row_values(name, truth, scores, inverse, threshold=None):
    """Return numerators and denominators of rows by the plain judge: of dense scores, where -inf is none."""
    true = [dict.fromkeys(np.flatnonzero(row), 1.0) for row in truth]
    found = [{label: row[label] for label in np.flatnonzero(row > -np.inf)} for row in scores]
    n_labels = len(truth[0])
    if name == "GAUC":  # nothing in rows without a value
        pairs = (naive_rows.row_pairs(name, [y], [s], n_labels) for y, s in zip(true, found, strict=True))
        return [pair[0] if pair else (0.0, 0.0) for pair in pairs]
    if name == "precision_score":
        return naive_labels.decision_pairs(
            "precision", "micro", naive_labels.at_threshold(true, found, threshold), n_labels
        )
    head, k = name.rsplit("@", 1)
    metric, _, option = head.rstrip(")").partition("(")
    options = dict(item.split("=") for item in option.split(",") if item)
    return [tuple(map(float, row)) for row in naive.row_values(metric, int(k), options, true, found, inverse)]
