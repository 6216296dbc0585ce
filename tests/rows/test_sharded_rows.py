"""Sharded rows: rows continue from shard to shard, and every shard has the rows of its partner."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz
from support.files import write
from support.pieces import watch

import xmceval
from xmceval import DataError, Shards, UsageError

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


def test_a_row_too_few_in_one_shard_is_refused_where_another_has_one_too_many():
    truth = truth_of(2, 3, 2)
    parts = [write_rows("a.txt", *["0:1"] * 2), write_rows("b.txt", *["0:1"] * 2), write_rows("c.txt", *["0:1"] * 3)]
    with pytest.raises(DataError, match=r"^t1.txt has 3 rows, b.txt has 2 rows; they must be of the same instances$"):
        score(truth, parts)


def test_of_one_file_beside_shards_all_rows_are_counted():
    truth = truth_of(2, 2, 2)
    for n in (3, 4, 7):
        with pytest.raises(DataError, match=rf" has 6 rows, p.txt has {n} rows; they must be of the same instances$"):
            score(truth, write_rows("p.txt", *["0:1"] * n))
    one, less = write_rows("p.txt", *["0:1"] * 6), write_rows("q.txt", "0:1")
    systems = {"one": one, "shards": Shards(truth_of(2, 2, 2)), "less": less}
    with pytest.raises(DataError, match=r" has 6 rows, q.txt has 1 row; "):
        xmceval.compare(truth, systems, metrics="P", k=1)
    del systems["less"]
    assert xmceval.compare(truth, systems, metrics="P", k=1)["P@1", "shards", "one"].ties == 6


def test_blank_lines_at_the_end_of_a_shard_are_not_rows():
    parts = [write_rows(f"p{i}.txt", "0:1", "1:1", "", "", header=False) for i in range(2)]
    assert score(truth_of(2, 2), parts)["P@1"] == 0.5


def test_errors_have_the_place_in_the_shard():
    parts = [write_rows("a.txt", "0:1", "1:1"), write_rows("b.txt", "0:1", "9:1"), write_rows("c.txt", "0:x")]
    with pytest.raises(DataError) as error:
        score(truth_of(2, 2, 1), parts)
    assert [line.partition(" ")[0] for line in str(error.value).splitlines()] == ["b.txt:3:", "c.txt:2:"]
    with pytest.raises(DataError, match=r"^y_score\[1\] row 1: the score value of label 2 is NaN"):
        score([EYE, EYE], [EYE, np.where(np.arange(16).reshape(4, 4) == 6, np.nan, EYE)])


def test_numbers_of_labels_must_agree():
    save_npz("a.npz", csr_matrix(np.eye(4)))
    save_npz("b.npz", csr_matrix(np.eye(4, 5)))
    with pytest.raises(DataError, match=r"^b.npz has 5 labels, but a.npz has 4 labels$"):
        score(["a.npz", "b.npz"], [EYE, EYE])
    with pytest.raises(DataError, match=r"^b.npz has 5 columns, but a.npz has 4 labels$"):
        score([write_rows(f"t{i}.txt", *["0"] * 4, header=False) for i in range(2)], ["a.npz", "b.npz"])
    # One column more than there are labels is dropped in each shard that has it.
    extra = csr_matrix(([0.5, 0.9], ([0, 1], [4, 1])), shape=(4, 5))
    save_npz("b.npz", extra)
    result = score([EYE, EYE], ["a.npz", "b.npz"])
    assert result["P@1"] == 5 / 8
    assert any(fact.startswith("b.npz: dropped 1 entry in extra column 4") for fact in result.facts)


def test_a_header_of_one_column_more_than_a_matrix_is_refused():
    save_npz("a.npz", csr_matrix(EYE))
    n_labels = EYE.shape[1]
    write("b.txt", f"1 {n_labels + 1}\n0:1\n")
    with pytest.raises(DataError, match=f"b.txt declares {n_labels + 1} labels, but a.npz has {n_labels} labels"):
        score([[i] for i in range(len(EYE))] + [[0]], ["a.npz", "b.txt"])


def test_each_header_declares_its_own_row_length():
    truth = [write_rows(f"t{i}.txt", "0:1", "1:1") for i in range(2)]
    for name, k, rows in (("a", 2, "0:2 1:1\n0:1\n"), ("b", 1, "1:1\n1:1\n")):
        write(f"{name}.txt", f"2 {k}\n{rows}")
    assert score(truth, ["a.txt", "b.txt"])["P@1"] == 0.5
    write("b.txt", "2 1\n1:1\n1:1 0:2\n")
    with pytest.raises(DataError, match=r"^b.txt:3: the header declares 1 column, and this row has 2 predictions$"):
        score(truth, ["a.txt", "b.txt"])


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


def test_a_threshold_must_be_one_number_in_all_shards():
    types = r"y_score\[0\] has scores of type float32, y_score\[1\] of type float64"
    with pytest.raises(DataError, match=f"{types}: the threshold 0.7 is not the same number"):
        score([EYE, EYE], [EYE.astype(np.float32), EYE], metrics="f1_score", threshold=0.7)
    assert score([EYE, EYE], [EYE.astype(np.float32), EYE], metrics="f1_score", threshold=0.5)["f1_score"] == 1.0


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


def test_shards_are_a_list():
    for wrong, problem in (("p.txt", "got the path 'p.txt'"), ([], "got none")):
        with pytest.raises(UsageError, match=f"shards must be a list of paths or matrices, {problem}"):
            Shards(wrong)


def test_ranking_files_are_no_shards():
    for i in range(2):
        write(f"q{i}.txt", f"q{i} 0 d1 1\nq{i} 0 d2 0\n")
        write(f"r{i}.txt", f"q{i} Q0 d1 1 0.5 tag\n")
    for truth in (["q0.txt", "q1.txt"], "q0.txt"):
        with pytest.raises(DataError, match=r"cannot be shards, as their rows are joined by query"):
            score(truth, ["r0.txt", "r1.txt"])


def test_tables_of_queries_may_be_shards_and_count_as_one_table():
    for folder in ("truth", "preds"):
        Path(folder).mkdir()
    for i in range(2):
        write(f"truth/part-{i}.csv", f"query_id,doc_id\nq{i},d1\nq2,d{i}\n")
        write(f"preds/part-{i}.csv", f"query_id,doc_id,score\nq{1 - i},d1,0.5\nq2,d{2 * i},0.{i + 1}\n")
        write("preds/_SUCCESS", "")
    assert score("truth", "preds", metrics="P", k=1)["P@1"] == pytest.approx(2 / 3)
