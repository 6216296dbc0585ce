"""Sharded rows: rows continue from shard to shard, and every shard has the rows of its partner."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.approved import check_lines
from support.files import write
from support.pieces import watch

import xmceval
from xmceval import Shards, UsageError

EYE = np.eye(4)


def write_rows(name, *rows, header=True):
    return write(name, "\n".join([f"{len(rows)} 4", *rows] if header else rows) + "\n")


def score(truth, scores, **options):
    return xmceval.score(truth, scores, **({"metrics": "P", "k": 1} | options))


def truth_of(*n_rows):
    return [write_rows(f"t{i}.txt", *["0:1"] * n) for i, n in enumerate(n_rows)]


def sharded(matrix, n_rows):
    ends = np.cumsum([0, *n_rows])
    return Shards([matrix[i:j] for i, j in pairwise(ends)])


@pytest.mark.parametrize(
    ("truth", "scores"), [([1, 2], [3]), ([2, 1], [3]), ([3], [0, 3]), ([3], [1, 1, 1]), ([0, 3], [0, 3]), ([3], [3])]
)
def test_one_source_may_have_all_rows(truth, scores):
    """Rows of truth and scores belong together, and are numbered over all shards."""
    y_true, y_score = np.arange(12).reshape(3, 4) % 2, 0.5 + np.arange(12.0).reshape(3, 4) % 5
    options = {"metrics": "LRAP", "sample_weight": [1, 2, 4], "filter": [[2, 3], [0, 1]]}
    found = score(sharded(y_true, truth), sharded(y_score, scores), **options)
    assert (found.estimates, found.counts) == (score(y_true, y_score, **options).estimates, found.counts)
    assert found.counts.n_instances == 3


def test_shards_are_read_or_refused_in_these_words():
    def rows(name, *lines):
        return write_rows(f"{name}.txt", *lines)

    def p_at_1(*inputs, **options):
        return score(*inputs, **options)["P@1"]

    def facts(*inputs):
        return "\n".join(score(*inputs).facts)

    def npz(name, matrix):
        save_npz(f"{name}.npz", csr_matrix(matrix))
        return f"{name}.npz"

    for i in range(2):
        write(f"q{i}.txt", f"q{i} 0 d1 1\nq{i} 0 d2 0\n")
        write(f"r{i}.txt", f"q{i} Q0 d1 1 0.5 tag\n")
    check_lines(__file__, "shards.txt", globals() | locals())


def test_warnings_of_many_shards_are_counted():
    shards = [write(f"p{i}.txt", "0:1") for i in range(9)]
    many, few = score(truth_of(*[1] * 9), shards), score(truth_of(*[1] * 5), shards[:5])
    assert [sum("no newline" in fact for fact in result.facts) for result in (many, few)] == [5, 5]
    assert "p0.txt to p8.txt: 4 more warnings like these, of other shards" in many.facts
    assert len(few.warnings) == 5


def test_rows_that_are_held_are_read_again_and_freed_and_no_others(monkeypatch):
    save_npz("a.npz", csr_matrix(EYE).tocoo())
    opened = watch(monkeypatch, "read of a held file")
    assert score([EYE, EYE], ["a.npz", csr_matrix(EYE)])["P@1"] == 1.0
    for name, content in (("held in memory.txt", "a\nb\n"), ("t-1.txt", "a\n"), ("t-2.txt", "b\n")):
        write(name, content)
    assert score("t-*.txt", [np.array([[0.9, 0.1]])] * 2, labels="held in memory.txt")["P@1"] == 0.5
    assert [reopen.args[0] for _, reopen in opened] == [Path("a.npz")]


def test_weights_and_filters_count_rows_over_all_shards():
    truth, scores = [EYE, EYE[:2]], [EYE[::-1], EYE[:2]]
    weights, pairs = [1, 1, 1, 1, 0, 4], [[5, 1]]
    together = score(np.vstack(truth), np.vstack(scores), sample_weight=weights, filter=pairs)
    apart = score(truth, scores, sample_weight=weights, filter=pairs)
    assert apart.estimates == together.estimates
    assert apart.filtered == together.filtered
    assert apart.filtered.removed == 1


def test_a_list_in_compare_is_runs_and_shards_have_their_name():
    truth = [EYE, EYE]
    good, bad = [EYE, EYE], [EYE[::-1], EYE[::-1]]
    found = xmceval.compare(truth, {"good": Shards(good), "bad": Shards(bad)}, metrics="P", k=1)
    assert found["P@1", "bad", "good"].difference == -1.0
    again = Shards([part.copy() for part in good])  # the same matrices would be the same run
    runs = {"good": [Shards(good), again], "bad": [np.vstack(bad) for _ in range(3)]}
    assert xmceval.compare(truth, runs, metrics="P", k=1)["P@1", "bad", "good"].difference == -1.0
    with pytest.raises(UsageError, match="good: the truth has 2 shards, so that a list of 2 may be shards or runs"):
        xmceval.compare(truth, {"good": good, "bad": Shards(bad)}, metrics="P")


def test_the_same_shards_twice_are_reported():
    parts = truth_of(2, 2)
    systems = {"a": Shards(parts), "b": Shards([parts[0], EYE[:2]]), "c": Shards(parts)}
    message = r"^a and c are the same files: they tie on every instance$"
    with pytest.warns(xmceval.XmcevalWarning, match=message) as caught:
        xmceval.compare(parts, systems, metrics="P", k=1)
    assert len(caught) == 1
