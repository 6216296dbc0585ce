"""Metrics of whole rows on real data: what scikit-learn, trec_eval and torchmetrics say of the same files."""

import json

import numpy as np
import pytest
from support.realdata import SYSTEMS, files_of

import xmceval

WHOLE = ("LRAP", "coverage_error", "ranking_loss")

every_system = pytest.mark.parametrize(("folder", "system"), SYSTEMS)


def real(realdata, tool, folder, system):
    expected = json.loads((realdata / folder / f"expected_{tool}.json").read_text())["results"][system]
    return *(realdata / folder / name for name in files_of(folder, system)), expected


@every_system
def test_real_data_as_scikit_learn(realdata, folder, system):
    truth, scores, expected = real(realdata, "sklearn", folder, system)
    result = xmceval.score(truth, scores, metrics=WHOLE, unscored="zero")
    assert result["LRAP"] == pytest.approx(expected["lrap_list100"], abs=1e-9)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error_list100"], rel=1e-9)
    assert result["ranking_loss"] == pytest.approx(expected["label_ranking_loss_list100"], abs=1e-9)


def test_real_dense_scores_as_scikit_learn(realdata):
    truth, _, expected = real(realdata, "sklearn", "bibtex", "sklearn_ovr")
    scores = np.load(realdata / "bibtex" / "sklearn_ovr.dense.npy")
    result = xmceval.score(truth, scores, metrics=[*WHOLE, "AP@all"])
    assert result["LRAP"] == pytest.approx(expected["lrap_full"], abs=1e-9)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error_full"], rel=1e-9)
    assert result["ranking_loss"] == pytest.approx(expected["label_ranking_loss_full"], abs=1e-9)
    assert result["AP@all"] == pytest.approx(expected["average_precision_samples_full"], abs=1e-9)


@every_system
def test_real_data_as_trec_eval(realdata, folder, system):
    truth, scores, expected = real(realdata, "treceval", folder, system)
    names = {"map": "AP@all", "Rprec": "R@n", "recip_rank": "RR@all"}
    names |= {f"ndcg_cut_{k}": f"nDCG@{k}" for k in (1, 3, 5)} | {f"success_{k}": f"Hit@{k}" for k in (1, 3, 5)}
    result = xmceval.score(truth, scores, metrics=list(names), empty_rows="drop")
    for theirs, ours in names.items():
        assert result[ours] == pytest.approx(expected[theirs], abs=5.1e-5), theirs


@pytest.mark.parametrize(("folder", "system"), SYSTEMS[:5])
def test_real_data_as_torchmetrics(realdata, folder, system):
    truth, scores, expected = real(realdata, "torchmetrics", folder, system)
    options = {"unscored": "zero"}
    if expected["scores"] == "full dense":
        scores, options = np.load(realdata / "bibtex" / "sklearn_ovr.dense.npy"), {}
    result = xmceval.score(truth, scores, metrics=[*WHOLE, "RR@all"], **options)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error"], rel=1e-6)
    assert result["LRAP"] == pytest.approx(expected["ranking_average_precision"], abs=1e-5)
    assert result["RR@all"] == pytest.approx(expected["mrr"], abs=1e-5)
