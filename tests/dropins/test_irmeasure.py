"""Metrics as measures of ir_measures: the values of `score`, and of its own measures where both have one."""

import random

import numpy as np
import pytest
from support.approved import check_answers, evaluate

import xmceval

ir_measures = pytest.importorskip("ir_measures")
measure = pytest.importorskip("xmceval.ir_measures").measure


pytestmark = pytest.mark.filterwarnings("ignore")
THEIRS = {  # built, not parsed: ir_measures 0.4 cannot parse under Python 3.14
    "P@5": ir_measures.P @ 5,
    "nDCG@10": ir_measures.nDCG @ 10,
    "RR": ir_measures.RR,
    "AP": ir_measures.AP,
    "R@5": ir_measures.R @ 5,
    "R@n": ir_measures.Rprec,
    "IPrec@0.5": ir_measures.IPrec @ 0.5,
}


def draw(seed, n_queries=60):
    """Return judgments and a run with ties, missing and extra queries."""
    rng = random.Random(seed)
    names = [f"d{i}" for i in range(30)]
    qrels = {f"q{i}": {name: rng.randrange(4) for name in rng.sample(names, 8)} for i in range(n_queries)}
    run = {f"q{i}": {d: round(rng.random(), 1) for d in rng.sample(names, 12)} for i in range(1, n_queries + 5)}
    return qrels, run


def by_query(found, of):
    return {each.query_id: each.value for each in found.per_query if each.measure == of}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", THEIRS)
def test_they_agree_with_ir_measures(name, seed):
    qrels, run = draw(seed)
    ours, theirs = measure(name), THEIRS[name]
    found = ir_measures.calc([ours, theirs], qrels, run)
    assert found.aggregated[ours] == pytest.approx(found.aggregated[theirs], abs=1e-12)
    assert by_query(found, ours) == pytest.approx(by_query(found, theirs), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("PSP@3", {}),
        ("PSP@3", {"a": 0.6, "b": 2.6}),
        ("PSnDCG@5", {}),
        ("LRAP", {"n_labels": 30}),
        ("AP@3", {}),
        ("R(rel=2)@n", {}),
        ("IPrec(rel=2)@0.3", {}),
        ("AUC@5", {"n_labels": 30}),
    ],
)
def test_means_are_those_of_score(name, options):
    qrels, run = draw(7)
    made = measure(name, **options)
    expected = xmceval.score(qrels, run, metrics=name, **options)[name]
    assert ir_measures.calc_aggregate([made], qrels, run)[made] == pytest.approx(expected, abs=1e-12)


def test_queries_that_a_metric_leaves_out_are_not_in_its_mean():
    qrels, run = draw(3)
    qrels["q1"] = dict.fromkeys(qrels["q1"], 0)
    made = measure("AUC", n_labels=30)
    found = ir_measures.calc([made], qrels, run)
    assert np.isnan(by_query(found, made)["q1"])
    expected = xmceval.score(qrels, run, metrics="AUC", n_labels=30)["AUC"]
    assert found.aggregated[made] == pytest.approx(expected, abs=1e-12)


def test_a_cutoff_may_come_later_and_options_are_in_the_name():
    assert measure("PSP") @ 5 == measure("PSP@5")
    assert repr(measure("PSP", a=0.6) @ 5) == "PSP(a=0.6)@5"
    assert measure("PSP@5", a=0.6) != measure("PSP@5", a=0.5)


def test_what_is_no_measure_is_refused_as_it_was_approved():
    check_answers(__file__, "measures.txt", lambda line: evaluate(line, {"measure": measure}))
