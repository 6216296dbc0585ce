"""Cautions: each is derived from counts and figures alone, and agrees with its numbers."""

from dataclasses import replace

import pytest

from xmceval.metrics.names import parse
from xmceval.report.cautions import find_cautions
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.options import Options
from xmceval.scoring.summary import Counts, Slice, Summary, Value
from xmceval.scoring.tasks.task import Unscored

FINE = Estimate(0.5, 0.4, 0.6, 0.5, 0.5, ceiling=1.0)
COUNTS = Counts(
    n_instances=100,
    n_labels=50,
    n_true=200,
    n_predictions=500,
    empty_rows=0,
    inside_ties=0,
    explicit_zeros=0,
    short_rows={1: 0, 5: 0},
    tied_rows={1: 3, 5: 9},
)


def figures(*names, estimate=FINE):
    return tuple(Value(measure, estimate) for measure in parse(names))


def cautions(*names, estimate=FINE, slices=(), options=None, **counts):
    """Return the cautions on some metrics of a system with these counts."""
    summary = Summary(figures(*(names or ["P@1"]), estimate=estimate), replace(COUNTS, **counts), slices)
    return list(find_cautions(summary, replace(Options(threshold=0.5), **(options or {}))))


UNDEFINED = Estimate(0.0, None, None, None, None, undefined=True)
DROP = {"options": {"empty_rows": "drop"}}
NO_TRUTH = "no instance has a true label: is this the right truth file?"
OF_GRADE_2 = (
    "75.0% of the labels of grade 2 or above have no score: for AUC(rel=2) they are tied with all other labels "
    "without a score"
)
OF_TABLE = "P@1", "PSP@5", "LRAP", "ranking_loss", "coverage_error", "Abandonment@1", "AUC"
OF_ERRORS = "the best value 0 for ranking_loss and coverage_error"
OF_EACH = f"0 for P; skipped by PSP; the best value 1 for LRAP; {OF_ERRORS}; 1 for Abandonment"
SHORT = "fewer than 5 predictions: empty places count as misses"
LEFT_OUT = "left out because"
LINES = [
    (cautions(short_rows={1: 2, 5: 8}), f"8 of 100 instances have {SHORT}"),
    (cautions(short_rows={5: 1}), f"1 of 100 instances has {SHORT}"),
    (cautions(short_rows={1: 1}, n_instances=1), "1 of 1 instance has no prediction: it counts as a miss"),
    (
        cautions("P@5", "P(norm=returned)@5", short_rows={5: 3}),
        f"3 of 100 instances have {SHORT}, but P(norm=returned) divides by those that there are",
    ),
    (cautions(empty_rows=2), "2 instances have no true labels (0 for P)"),
    (cautions(empty_rows=1), "1 instance has no true labels (0 for P)"),
    (
        cautions("accuracy"),
        "accuracy counts cells; scikit-learn's accuracy_score counts whole instances, as accuracy_score does here",
    ),
    (cautions("macroF1", empty_rows=2), "2 instances have no true labels (their predictions are misses for macroF1)"),
    (
        cautions("macroP", "macroF1", empty_rows=1),
        "1 instance has no true labels (its predictions are misses for macroP and macroF1)",
    ),
    (
        cautions("P@1", "macroF1", empty_rows=2),
        "2 instances have no true labels (0 for P; their predictions are misses for macroF1)",
    ),
    (cautions("macroF1", empty_rows=2, **DROP), "2 instances have no true labels: they are left out"),
    (cautions(empty_rows=2, **DROP), "2 instances have no true labels: they are left out"),
    (cautions(empty_rows=1, **DROP), "1 instance has no true labels: it is left out"),
    # what an instance without a true label counts as is in the table of metrics
    (
        cautions(*OF_TABLE, empty_rows=2),
        f"2 instances have no true labels ({OF_EACH})",
    ),
    (cautions("LRAP", empty_rows=1), "1 instance has no true labels (the best value 1 for LRAP)"),
    (cautions("ranking_loss", empty_rows=1), "1 instance has no true labels (the best value 0 for ranking_loss)"),
    (cautions("PSP@1", "microR@1", empty_rows=1), "1 instance has no true labels (skipped by PSP and microR)"),
    (cautions("microP@1", empty_rows=1), "1 instance has no true labels (its predictions are misses for microP)"),
    (
        cautions("P@1", "nDCG@1", estimate=Estimate(0.5, tie_low=0.35, tie_high=0.5)),
        "P@1 (and 1 other value) depends on how ties are broken: 50.00% here, anywhere from 35.00% to 50.00%",
    ),
    (
        cautions("coverage_error", estimate=Estimate(0.0, tie_low=0.0, tie_high=2.0)),
        "coverage_error depends on how ties are broken: 0 here, anywhere from 0 to 2",
    ),
    (cautions(n_true=0), NO_TRUTH),
    (cautions("PSP@1", "macroF1@5", estimate=UNDEFINED, n_true=0), NO_TRUTH),  # and not that values are undefined
    (
        cautions("P@1", "nDCG@1", "nDCG@3", grades=(1, 1234)),
        "nDCG@1 and nDCG@3 use the grades in the truth (1 to 1,234)",
    ),
    (cautions("ERR(max=3)@1", grades=(3, 3)), "ERR(max=3)@1 uses the grades in the truth (all 3)"),
    (cautions(explicit_zeros=2), "2 stored zeros in the truth are ignored: labels with value 0 are not true"),
    (cautions(explicit_zeros=1), "1 stored zero in the truth is ignored: labels with value 0 are not true"),
    (cautions("PSP@1", "PSR@1", estimate=UNDEFINED), "PSP@1, PSR@1: the ideal sums to 0, reported as 0"),
    (cautions("macroF1@5", estimate=UNDEFINED), "macroF1@5: the denominator is 0, reported as 0"),
    (
        cautions("AUC", left_out={"AUC": 2}),
        f"AUC: 2 of 100 instances are {LEFT_OUT} no label or every label is true",
    ),
    (
        cautions("GAUC", left_out={"GAUC": 1}),
        f"GAUC: 1 of 100 instances is {LEFT_OUT} no candidate or every candidate is true",
    ),
    (
        cautions("P(rel=2)@1", left_out={"P(rel=2)@1": 3}),
        f"P(rel=2)@1: 3 of 100 instances are {LEFT_OUT} no label has grade 2 or above",
    ),
    (
        cautions("AUC(rel=2)", left_out={"AUC(rel=2)": 2}),
        f"AUC(rel=2): 2 of 100 instances are {LEFT_OUT} no label or every label has grade 2 or above",
    ),
    (
        cautions("P@1", "LRAP", "AUC", unscored={1: Unscored(50, 200)}),
        "25.0% of the true labels have no score: for LRAP, AUC they are tied with all other labels without a score",
    ),
    (cautions("LRAP", "AUC(rel=2)", unscored={1: Unscored(0, 200), 2: Unscored(3, 4)}), OF_GRADE_2),
    (
        cautions("P@1", "MCC", options={"threshold": None}),
        "MCC: without a threshold, every label with a score counts as predicted (hint: pass threshold)",
    ),
    (cautions("P@1", "LRAP", slices=(Slice(None, figures("P@1")),)), "no share by frequency is available for LRAP"),
    (
        cautions("P@1", "LRAP", estimate=replace(FINE, ceiling=None), options={"ceiling": True}),
        "no ceiling is available for P@1, LRAP",
    ),
]


@pytest.mark.parametrize(("lines", "expected"), LINES, ids=[expected for _, expected in LINES])
def test_a_caution_says_what_applies(lines, expected):
    assert lines == [expected]


def test_there_is_no_caution_without_cause():
    assert cautions(estimate=Estimate(0.5, tie_low=0.4, tie_high=0.5)) == []  # no wider than a fifth of it
    assert cautions(estimate=Estimate(0.5, tie_low=0.1, tie_high=0.9), options={"ties": "expected"}) == []
    assert cautions("AUC", empty_rows=2) == []  # it says itself which instances are left out
    assert cautions("P@1", "PSP@5", "macroF1@5", "LRAP", "MCC", unscored={1: Unscored(0, 200)}) == []
    assert cautions("P@1", unscored={1: Unscored(50, 200)}) == []


def test_cautions_follow_the_order_of_the_table():
    lines = cautions("MCC", short_rows={5: 3}, empty_rows=2, explicit_zeros=4, options={"threshold": None})
    assert [line.split()[0] for line in lines] == ["3", "2", "4", "MCC:"]
