"""Fusion: each rule against plain Python, streamed, scored and compared without being written."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from support.strategies import score_rows, to_csr

import xmceval
from xmceval.cli import main
from xmceval.errors import DataError, UsageError
from xmceval.rows.fusion import RULES
from xmceval.rows.matrices import matrices

N_LABELS = 6


def fused_row(lists, by, weights):
    """Fuse one row, given as dictionaries of label and score."""
    total = {}
    for label in sorted(set().union(*lists)):
        value = 0.0
        for each, weight in zip(lists, weights, strict=True):
            order = sorted(each, key=lambda one: (-each[one], one))
            if by == "score":
                worth = each.get(label, min(each.values(), default=0.0))
            elif by == "normalized":
                worth = scaled(each, label)
            else:
                rank = order.index(label) + 1 if label in each else None
                if by == "rank":
                    worth = -(len(each) + 1) if rank is None else -rank
                else:
                    worth = 0.0 if rank is None else 1 / (60 + rank)
            value += weight * worth
        total[label] = value
    return total


def scaled(scores, label):
    """Scale the score of a label to 0..1 among the finite ones, exactly."""
    if scores.get(label, -math.inf) == -math.inf:
        return 0.0
    finite = [Fraction(score) for score in scores.values() if math.isfinite(score)]
    span = max(finite) - min(finite)
    return float((Fraction(scores[label]) - min(finite)) / span) if span else 1.0


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


def csr(rows):
    """Store rows, given as dictionaries of label and score, with all their entries."""
    indices = [label for row in rows for label in row]
    data = [score for row in rows for score in row.values()]
    indptr = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.array(data, dtype=float), indices, indptr), shape=(len(rows), N_LABELS))


INF, HUGE = math.inf, 1.7e308
MASKED = [
    ({0: -INF, 1: 1.0, 2: 2.0}, {0: 1.0, 3: 2.0}),
    ({0: -INF, 1: 3.0}, {0: -INF, 1: -2.0, 2: 5.0}),
    ({0: -INF, 1: -INF}, {0: 1.0, 1: 2.0, 2: 4.0}),
    ({4: -INF}, {4: 2.0}),
    ({4: 7.0}, {}),
]


@pytest.mark.parametrize("by", RULES)
def test_masked_scores_and_single_ones_are_fused(by, tmp_path):
    systems = [csr(rows) for rows in zip(*MASKED, strict=True)]
    xmceval.fuse(systems, by=by, weights=[1.0, 0.5]).write(tmp_path / "f.npz", n_labels=N_LABELS)
    for row, lists in zip(read_back(tmp_path / "f.npz"), MASKED, strict=True):
        assert row == pytest.approx(fused_row(lists, by, [1.0, 0.5]), abs=1e-12)


@pytest.mark.parametrize("low", [-HUGE, -1e308, -1.0])
def test_spans_that_no_float_holds_are_scaled(low, tmp_path):
    row = {0: low, 1: HUGE, 2: 0.0, 3: HUGE / 2}
    xmceval.fuse([csr([row]), csr([{0: 1.0}])], by="normalized").write(tmp_path / "f.npz", n_labels=N_LABELS)
    assert read_back(tmp_path / "f.npz") == [pytest.approx(fused_row([row, {0: 1.0}], "normalized", [1, 1]))]


NO_SUM = [
    ("score", "1:1", "1:0.5\n0:inf 3:1", 0, "-inf at a.txt:3", "inf at b.txt:3"),
    ("score", "0:inf 2:1", "2:-inf\n", 0, "inf at a.txt:2", "none (its lowest is -inf) at b.txt:2"),
    ("score", "3:1.7e308", "3:1.7e308\n", 3, "1.7e+308 at a.txt:2", "1.7e+308 at b.txt:2"),
    ("normalized", "1:2 3:inf", "1:1\n", 3, "inf at a.txt:2", "none (its lowest is 1) at b.txt:2"),
    ("normalized", "1:2 3:inf", "\n", 3, "inf at a.txt:2", "none (it is empty) at b.txt:2"),
]


@pytest.mark.parametrize(("by", "a", "b", "label", "first", "second"), NO_SUM)
def test_scores_without_a_sum_are_named_with_their_files(by, a, b, label, first, second, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text(f"2 {N_LABELS}\n{a}\n0:-inf 2:3\n")
    (tmp_path / "b.txt").write_text(f"2 {N_LABELS}\n{b}\n")
    with pytest.raises(SystemExit, match="1"):
        main(["fuse", "a.txt", "b.txt", "f.txt", "--by", by, "-q"])
    error = capsys.readouterr().err
    systems = f"system 1 has {first}, system 2 has {second}"
    assert (
        f"fused(a.txt, b.txt): the scores of label {label} cannot be fused by {by}: {systems} (hint: fuse by" in error
    )
    assert "NaN" not in error
    assert not (tmp_path / "f.txt").exists()
    with pytest.raises(SystemExit, match="0"):
        main(["fuse", "a.txt", "b.txt", "f.txt", "--by", "rank", "-q"])


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
    assert "a,P,1" in out
    assert [line.split(",")[:3] for line in out.splitlines()][-1] == ["both", "P", "1"]


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        (2, {"by": "sum"}, "by must be one of score, normalized, rank, reciprocal-rank, got 'sum'"),
        (1, {}, "fusion needs at least two files of predictions"),
        (2, {"weights": [1.0]}, "got 1 weight for 2 systems; expected one per system"),
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
