"""Lockstep: several systems on one truth give what each gives alone, and the truth is read once."""

from pathlib import Path

import numpy as np
import pytest
from judge import naive
from scipy.sparse import csr_matrix, random, save_npz
from support.judged import check_judged
from support.pieces import read_in_pieces, watch
from support.strategies import to_rows

import xmceval
from xmceval import DataError


@pytest.fixture
def systems(rng):
    truth = csr_matrix((rng.random((200, 30)) < 0.1).astype(np.float32))
    return truth, [random(200, 30, density, "csr", np.float32, random_state=7) for density in (0.3, 0.05, 1.0)]


def score(truth, scores, threads=2, **options):
    systems = {str(i): system for i, system in enumerate(scores)}
    return list(xmceval.score_all(truth, systems, threads=threads, **options).values())


def without(rows, pairs):
    return [{label: value for label, value in row.items() if (i, label) not in pairs} for i, row in enumerate(rows)]


@pytest.mark.parametrize("entries", [50, 1 << 17])
@pytest.mark.parametrize("threads", [1, 2])
def test_systems_together_score_as_each_alone(systems, monkeypatch, entries, threads, rng):
    truth, scores = systems
    options = {
        "metrics": ["P", "PSnDCG", "AP@all", "macroF1@3", "f1_score"],
        "sample_weight": rng.integers(0, 3, 200),
        "filter": np.argwhere(rng.random((200, 30)) < 0.05),
        "filter_truth": True,
    }
    alone = [score(truth, [each], 1, **options)[0] for each in scores]
    read_in_pieces(monkeypatch, entries=entries)
    together = score(truth, scores, threads, **options)
    removed = {tuple(pair) for pair in options["filter"].tolist()}
    left = [without(to_rows(each), removed) for each in (truth, *scores)]
    inverse = naive.inverse_propensities(naive.label_counts(to_rows(truth), 30), 200, 0.55, 1.5)
    for one, other, rows in zip(alone, together, left[1:], strict=True):
        check_judged(one, left[0], rows, inverse, options["sample_weight"], least=6)
        assert one.estimates == other.estimates
        assert one.counts == other.counts
        assert one.filtered == other.filtered


def test_the_truth_is_read_once(systems, monkeypatch):
    truth, scores = systems
    read_in_pieces(monkeypatch, block=100)  # a single block is not read as a stream
    reads = watch(monkeypatch, "read")
    score(truth, scores, metrics="P")
    assert [source.name for _, source in reads].count("y_true") == 1


def test_each_system_has_the_number_of_labels_it_has_alone():
    Path("truth.txt").write_text("0:1\n1:1\n")
    Path("open.txt").write_text("0:1 5:0.5\n1:1\n")
    save_npz("wide.npz", csr_matrix(([1.0, 0.5], ([0, 1], [0, 8])), shape=(2, 9)))
    save_npz("narrow.npz", csr_matrix(([1.0, 0.5], ([0, 1], [0, 1])), shape=(2, 2)))
    files = [Path("open.txt"), Path("wide.npz"), Path("narrow.npz")]
    together = score("truth.txt", files, k=1, metrics="P")
    assert [each.counts.n_labels for each in together] == [6, 9, 2]
    alone = [score("truth.txt", [each], k=1, metrics="P")[0] for each in files]
    assert [each.counts for each in alone] == [each.counts for each in together]


def test_a_system_with_other_rows_is_named(systems):
    truth, scores = systems
    with pytest.raises(DataError, match=r"y_true has 200 rows, y_score has 199 rows; they must be of the same inst"):
        score(truth, [scores[0], scores[1][:199]])
    with pytest.raises(DataError, match="y_true has 150 rows, y_score has 200 rows"):
        score(truth[:150], scores)
