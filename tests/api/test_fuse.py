"""Fusion: each rule against plain Python, streamed, scored and compared without being written."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from support.strategies import score_rows, to_csr

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError
from xmceval.rows import matrices
from xmceval.rows.fusion import RULES

N_LABELS = 6


def fused_row(lists, by, weights):
    """Fuse one row, given as dictionaries of label and score."""
    total = {}
    for label in sorted(set().union(*lists)):
        value = 0.0
        for each, weight in zip(lists, weights, strict=True):
            order = sorted(each, key=lambda one: (-each[one], one))
            low, high = (min(each.values()), max(each.values())) if each else (0.0, 0.0)
            if by == "score":
                worth = each.get(label, low)
            elif by == "normalized":
                worth = 0.0 if label not in each else (each[label] - low) / (high - low) if high > low else 1.0
            else:
                rank = order.index(label) + 1 if label in each else None
                if by == "rank":
                    worth = -(len(each) + 1) if rank is None else -rank
                else:
                    worth = 0.0 if rank is None else 1 / (60 + rank)
            value += weight * worth
        total[label] = value
    return total


def rows_of(matrix):
    return [
        dict(zip(matrix.indices[a:b].tolist(), matrix.data[a:b].tolist(), strict=True))
        for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


def read_back(path):
    found = np.load(path)
    return rows_of(csr_matrix((found["data"], found["indices"], found["indptr"]), shape=found["shape"]))


@given(st.lists(st.tuples(score_rows(N_LABELS, True), score_rows(N_LABELS, True)), min_size=1, max_size=5), st.data())
def test_each_rule_is_that_of_plain_python(tmp_path_factory, rows, data):
    by = data.draw(st.sampled_from(sorted(RULES)))
    weights = data.draw(st.sampled_from([(1.0, 1.0), (2.0, 1.0), (0.0, 0.5)]))
    systems = [to_csr(list(each), N_LABELS, np.float64) for each in zip(*rows, strict=True)]
    path = tmp_path_factory.mktemp("fused") / "f.npz"
    xmceval.fuse(systems, by=by, weights=weights).write(path, n_labels=N_LABELS)
    for row, lists in zip(read_back(path), rows, strict=True):
        expected = fused_row(lists, by, weights)
        assert row.keys() == expected.keys()
        assert row == pytest.approx(expected, abs=1e-12)


def test_a_fused_list_is_scored_and_compared_without_being_written(rng, monkeypatch, tmp_path):
    truth = rng.random((60, 9)) < 0.3
    a, b = (rng.random((60, 9)) + truth * rng.random() for _ in "ab")
    both = xmceval.fuse([a, b])
    expected = xmceval.score(truth, a + b, k=3, metrics="P")["P@3"]
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 40)
    assert xmceval.score(truth, both, k=3, metrics="P")["P@3"] == expected
    comparison = xmceval.compare(truth, {"a": a, "both": both}, k=3, metrics="P")
    assert comparison["P@3", "both", "a"].difference == pytest.approx(
        expected - xmceval.score(truth, a, k=3, metrics="P")["P@3"]
    )
    both.write(tmp_path / "f.npz")
    assert xmceval.score(truth, tmp_path / "f.npz", k=3, metrics="P")["P@3"] == expected


def test_the_commands_fuse(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("2 4\n1:1\n3:1\n")
    (tmp_path / "a.txt").write_text("2 4\n0:0.9 1:0.8\n2:0.5 3:0.4\n")
    (tmp_path / "b.txt").write_text("2 4\n1:0.6 2:0.5\n3:0.9\n")
    with pytest.raises(SystemExit, match="0"):
        main(["fuse", "a.txt", "b.txt", "f.txt", "--by", "reciprocal-rank", "--top", "1", "-q"])
    assert (tmp_path / "f.txt").read_text().splitlines()[0] == "2 4"
    assert [line.split(":")[0] for line in (tmp_path / "f.txt").read_text().splitlines()[1:]] == ["1", "3"]
    with pytest.raises(SystemExit, match="0"):
        main(["score", "t.txt", "a.txt", "-k", "1", "-m", "P", "--fuse", "both=rank:a.txt,b.txt", "-q", "-o", "csv"])
    out = capsys.readouterr().out
    assert "a.txt,P,1" in out
    assert [line.split(",")[:3] for line in out.splitlines()][-1] == ["both", "P", "1"]


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        (2, {"by": "sum"}, "by must be one of score, normalized, rank, reciprocal-rank, got 'sum'"),
        (1, {}, "fusion needs at least two systems"),
        (2, {"weights": [1.0]}, "got 1 weight for 2 systems; expected one each"),
        (2, {"weights": [-1.0, 1.0]}, "weights must be at least 0"),
        (2, {"weights": [0.0, 0.0]}, "weights must be at least 0 and not all 0"),
    ],
)
def test_wrong_arguments_are_refused(systems, options, message):
    with pytest.raises(UsageError, match=message):
        xmceval.fuse([np.ones((2, 3))] * systems, **options)


def test_systems_of_other_rows_or_labels_are_refused():
    truth = np.eye(3)
    with pytest.raises(DataError, match="they must be of the same instances"):
        xmceval.score(truth, xmceval.fuse([np.ones((3, 3)), np.ones((2, 3))]), k=1)
    with pytest.raises(DataError, match="has 4 columns, but y_score has 3 labels"):
        xmceval.score(truth, xmceval.fuse([np.ones((3, 3)), np.ones((3, 4))]), k=1)


def test_a_declared_width_is_kept_as_in_convert(tmp_path):
    for name, width in (("a", 5), ("b", 6)):
        (tmp_path / f"{name}.txt").write_text(f"2 {width}\n0:0.9 1:0.8\n2:0.5 3:0.4\n")
    fused = xmceval.fuse([tmp_path / "a.txt", tmp_path / "b.txt"])
    written = fused.write(tmp_path / "f.txt")
    assert ((tmp_path / "f.txt").read_text().splitlines()[0], written.warnings) == ("2 6", ())
