"""Ties: the mean, the best and the worst over all orders of equally scored labels, against the judge."""

import json

import numpy as np
import pytest
from hypothesis import given
from judge import naive
from support import measures
from support.measures import HEADS
from support.strategies import cases

import xmceval
from xmceval.errors import UsageError

CUTS = (1, 2, 3)


def arguments(head, k, case):
    name, options = HEADS[head]
    return name, k, options, case.truth, case.scores, case.inverse


@given(cases(max_rows=3, max_labels=5, graded=True))
def test_expected_is_the_mean_over_all_orders_of_ties(case):
    cutoffs = [k for k in CUTS if k <= case.n_labels]
    result = measures.score(case, k=cutoffs, ties="expected")
    for head in HEADS:
        for k in cutoffs:
            mean = naive.tie_mean(*arguments(head, k, case))
            assert result[f"{head}@{k}"] == pytest.approx(mean, rel=1e-12, abs=1e-12), f"{head}@{k}"


@given(cases(graded=True))
def test_best_and_worst_are_the_bounds_of_the_default(case):
    cutoffs = [k for k in CUTS if k <= case.n_labels]
    plain, best, worst = (measures.score(case, k=cutoffs, ties=ties) for ties in ("label", "best", "worst"))
    for name in plain:
        low, high = plain.tie_bounds(name)
        ends = sorted([best[name], worst[name]])
        assert ends == pytest.approx([low, high], rel=1e-12, abs=1e-12), name
        assert best.tie_bounds(name) == pytest.approx((low, high), rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_without_ties_every_choice_gives_the_same_bits(rng, ties):
    y_true = rng.random((50, 20)) < 0.2
    y_score = rng.permuted(np.arange(20.0) * np.ones((50, 1)), axis=1)
    assert dict(xmceval.score(y_true, y_score, ties=ties)) == dict(xmceval.score(y_true, y_score))


def test_an_unknown_choice_is_refused():
    with pytest.raises(UsageError, match="ties must be one of label, expected, best, worst, got 'random'"):
        xmceval.score(np.eye(3), np.eye(3), k=1, ties="random")


@pytest.mark.parametrize("folder", ["bibtex", "cs771_bonsai", "eurlex_attentionxml"])
def test_real_predictions_have_the_recorded_bounds_and_means(realdata, folder):
    files = {
        "pecos_xrlinear": "pecos_xrlinear.npz",
        "napkinxc_plt": "napkinxc_plt.txt.gz",
        "napkinxc_br": "napkinxc_br.txt.gz",
        "bonsai_K130_T2": "score_mat.txt.gz",
        "attentionxml_tree0": "attentionxml_tree0.txt.gz",
        "attentionxml_ensemble": "attentionxml_ensemble.npz",
    }
    recorded = json.loads((realdata / folder / "expected_tie_bounds.json").read_text())
    known = [name for name in recorded if name in files and (realdata / folder / files[name]).exists()]
    assert known
    for name in known:
        paths = realdata / folder / "tst_X_Y.txt.gz", realdata / folder / files[name]
        of = {
            ties: xmceval.score(*paths, k=(1, 3, 5, 10), metrics=["P", "R"], ties=ties)
            for ties in ("worst", "expected", "best")
        }
        for cut, values in recorded[name].items():
            for metric in ("P", "R"):
                for ties, end in (("worst", "min"), ("expected", "expected"), ("best", "max")):
                    assert of[ties][f"{metric}{cut}"] == pytest.approx(values[f"{metric}_{end}"], abs=1e-12)
            assert of["best"].counts.tied_rows[int(cut[1:])] == values["rows_with_tie_at_cut"]


TIED = np.array([[0, 1, 0, 1]] * 3), np.ones((3, 4))


@pytest.mark.parametrize("metric", ["AP@all", "RR@all", "nDCG@all", "R@n", "ERR@2", "AUC@2", "macroP@2", "coverage@2"])
def test_a_mean_over_orders_that_is_not_to_be_had_is_refused(metric):
    with pytest.raises(UsageError, match=f"ties=expected .* is not available for {metric}"):
        xmceval.score(*TIED, ties="expected", metrics=metric)


def test_best_and_worst_of_metrics_along_the_list_are_their_bounds():
    names = ["AP@all", "RR@all", "R@n", "microR@n", "ERR@2"]
    plain, best, worst = (xmceval.score(*TIED, metrics=names, ties=ties) for ties in ("label", "best", "worst"))
    assert {name: (worst[name], best[name]) for name in names} == {name: plain.tie_bounds(name) for name in names}
    assert best["AP@all"] == 1.0


def test_what_settles_ties_itself_stands_and_what_has_no_bounds_says_so():
    assert xmceval.score(*TIED, metrics="LRAP", ties="best") == xmceval.score(*TIED, metrics="LRAP")
    assert xmceval.score(*TIED, metrics="AUC@2").tie_bounds("AUC@2") is None
