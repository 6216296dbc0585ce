"""Metrics of whole rows on real data: what scikit-learn, trec_eval and torchmetrics say of the same files."""

import json

import numpy as np
import pytest

import xmceval

WHOLE = ("LRAP", "coverage_error", "ranking_loss")

SYSTEMS = [
    ("bibtex", "tst_X_Y.txt.gz", "napkinxc_plt.txt.gz", "napkinxc_plt"),
    ("bibtex", "tst_X_Y.txt.gz", "napkinxc_br.txt.gz", "napkinxc_br"),
    ("bibtex", "tst_X_Y.txt.gz", "pecos_xrlinear.npz", "pecos_xrlinear"),
    ("bibtex", "tst_X_Y.txt.gz", "sklearn_ovr-labels.npy", "sklearn_ovr"),
    ("cs771_bonsai", "tst_X_Y.txt.gz", "score_mat.txt.gz", "bonsai_K130_T2"),
    ("eurlex_attentionxml", "tst_X_Y.txt.gz", "attentionxml_tree0.txt.gz", "attentionxml_tree0"),
    ("eurlex_attentionxml", "tst_X_Y.txt.gz", "attentionxml_ensemble.npz", "attentionxml_ensemble"),
]


def real(realdata, tool, system):
    folder, truth, scores, name = system
    expected = json.loads((realdata / folder / f"expected_{tool}.json").read_text())["results"][name]
    return realdata / folder / truth, realdata / folder / scores, expected


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system[3])
def test_real_data_as_scikit_learn(realdata, system):
    truth, scores, expected = real(realdata, "sklearn", system)
    result = xmceval.score(truth, scores, metrics=WHOLE, unscored="zero")
    assert result["LRAP"] == pytest.approx(expected["lrap_list100"], abs=1e-9)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error_list100"], rel=1e-9)
    assert result["ranking_loss"] == pytest.approx(expected["label_ranking_loss_list100"], abs=1e-9)


def test_real_dense_scores_as_scikit_learn(realdata):
    truth, _, expected = real(realdata, "sklearn", SYSTEMS[3])
    scores = np.load(realdata / "bibtex" / "sklearn_ovr.dense.npy")
    result = xmceval.score(truth, scores, metrics=[*WHOLE, "AP@all"])
    assert result["LRAP"] == pytest.approx(expected["lrap_full"], abs=1e-9)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error_full"], rel=1e-9)
    assert result["ranking_loss"] == pytest.approx(expected["label_ranking_loss_full"], abs=1e-9)
    assert result["AP@all"] == pytest.approx(expected["average_precision_samples_full"], abs=1e-9)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system[3])
def test_real_data_as_trec_eval(realdata, system):
    truth, scores, expected = real(realdata, "treceval", system)
    names = {"map": "AP@all", "Rprec": "R@n", "recip_rank": "RR@all"}
    names |= {f"ndcg_cut_{k}": f"nDCG@{k}" for k in (1, 3, 5)} | {f"success_{k}": f"Hit@{k}" for k in (1, 3, 5)}
    result = xmceval.score(truth, scores, metrics=list(names), empty_rows="drop")
    for theirs, ours in names.items():
        assert result[ours] == pytest.approx(expected[theirs], abs=5.1e-5), theirs


@pytest.mark.parametrize("system", SYSTEMS[:5], ids=lambda system: system[3])
def test_real_data_as_torchmetrics(realdata, system):
    truth, scores, expected = real(realdata, "torchmetrics", system)
    options = {"unscored": "zero"}
    if expected["scores"] == "full dense":
        scores, options = np.load(realdata / "bibtex" / "sklearn_ovr.dense.npy"), {}
    result = xmceval.score(truth, scores, metrics=[*WHOLE, "RR@all"], **options)
    assert result["coverage_error"] == pytest.approx(expected["coverage_error"], rel=1e-6)
    assert result["LRAP"] == pytest.approx(expected["ranking_average_precision"], abs=1e-5)
    assert result["RR@all"] == pytest.approx(expected["mrr"], abs=1e-5)
