"""Merging shards: mix-ups are refused, and warnings, filters and names are those of all; see test_ways for values."""

import numpy as np

import xmceval

RNG = np.random.default_rng(5)
TRUTH = (RNG.random((3, 8, 9)) < 0.4).astype(float)  # three shards, of enough labels to be recognised
SCORES = TRUTH * 0.5 + RNG.random(TRUTH.shape)
FIRST = {"metrics": "P", "k": 1}


def save_state(name, i, **options):
    """Score a shard, save its state and return its result."""
    return xmceval.score(TRUTH[i], SCORES[i], **FIRST | {"save_state": name} | options)


def evaluate(i, rows=slice(None), **options):
    """Return an Evaluator of rows of a shard."""
    evaluator = xmceval.Evaluator(**FIRST, **options)
    evaluator.update(TRUTH[i][rows], SCORES[i][rows])
    return evaluator


def test_more_rows_are_added_to_saved_totals_or_by_another_evaluator():
    save_state("1.state", 0)
    saved, evaluator = xmceval.Evaluator.load("1.state"), evaluate(1)
    expected = xmceval.score(list(TRUTH[:2]), list(SCORES[:2]), **FIRST)
    assert evaluator.merge(saved).result().figures == expected.figures
    evaluator.update(TRUTH[2], SCORES[2])
    assert evaluator.result().counts.n_instances == 24
    saved.update(TRUTH[1], SCORES[1])
    assert saved.result().figures == expected.figures


def test_what_filters_did_adds_up():
    for i, pairs in enumerate(([[0, 1], [7, 2]], [[0, 1], [0, 1], [0, 2], [7, 3]])):
        save_state(f"{i}.state", i, filter=pairs)
    merged = xmceval.merge(["0.state", "1.state"]).filtered
    assert str(merged).startswith("filter: 5 pairs in 4 rows from filter, 5 predictions removed from 4 rows, ")
    evaluator = evaluate(2, slice(7), filter=[[7, 3]])
    evaluator.update(TRUTH[2][7:], SCORES[2][7:])
    assert xmceval.merge([evaluator, "1.state"]).filtered.pairs == 4


def test_evaluators_and_files_merge():
    save_state("b.state", 1)
    expected = xmceval.score(np.vstack(TRUTH[:2]), np.vstack(SCORES[:2]), **FIRST)
    result = xmceval.merge([evaluate(0), "b.state"], name="both")
    assert result.estimates == expected.estimates
    assert result.name == "both"
