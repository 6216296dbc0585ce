"""Cautions: each is derived from counts and figures alone, and agrees with its numbers."""

from dataclasses import replace

from support.approved import check_answers

from xmceval.metrics.names import parse
from xmceval.report.cautions import find_cautions
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.options import Options
from xmceval.scoring.summary import Counts, Slice, Summary, Value  # noqa: F401 - in cautions.txt
from xmceval.scoring.tasks.task import Unscored  # noqa: F401 - likewise

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
OF_TABLE = "P@1", "PSP@5", "LRAP", "ranking_loss", "coverage_error", "Abandonment@1", "AUC"


def test_a_caution_says_what_applies_and_there_is_none_without_cause():
    check_answers(__file__, "cautions.txt", lambda line: eval(line, globals()))
