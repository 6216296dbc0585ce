"""AUC of flat data: worked examples, scikit-learn, ties, groups, files, the function and the command."""

from __future__ import annotations

import csv
import gzip
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import example, given, strategies as st
from support.examples import examples

import xmceval
from xmceval.cli import cli
from xmceval.files.records.logs import read_log


def naive(y_true, y_score, weight=None):
    """Every pair, in fractions."""
    weight = [1] * len(y_true) if weight is None else weight
    got = most = Fraction(0)
    for true, score, w in zip(y_true, y_score, weight, strict=True):
        for other, below, v in zip(y_true, y_score, weight, strict=True):
            if true > 0 and other <= 0:
                most += Fraction(w) * Fraction(v)
                got += Fraction(w) * Fraction(v) * (Fraction(1, 2) if score == below else int(score > below))
    return got / most if most else None


entries = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf]), st.integers(-1, 3)),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize(
    ("y_true", "y_score", "expected"),
    [
        ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], 0.75),
        ([1, 1, 0, 0], [0.9, 0.5, 0.5, 0.1], 0.875),
        ([1, 0, 1, 0, 1, 0, 0], [3, 3, 2, 1, 2, 2, 0], 8.5 / 12),
        ([1, 0, 1, 0, 1, 0, 0], [5, 4, 4, 2, 2, 1, 0], 10 / 12),
    ],
)
def test_worked_examples(y_true, y_score, expected):
    assert xmceval.roc_auc(y_true, y_score) == expected == float(naive(y_true, y_score))


@examples(5)
@given(entries)
@example([(1, 0.0, 0), (0, -0.0, 0)])
def test_every_pair_counts_once_and_a_tie_half(rows):
    y_true, y_score, groups = (list(column) for column in zip(*rows, strict=True))
    expected = naive(y_true, y_score)
    found = xmceval.group_aucs(y_true, y_score, groups)
    if expected is None:
        with pytest.warns(xmceval.UndefinedMetricWarning, match="one class"):
            assert math.isnan(xmceval.roc_auc(y_true, y_score))
    else:
        assert xmceval.roc_auc(y_true, y_score) == float(expected)
    sizes, total = 0, Fraction(0)
    for group, value in zip(found.groups.tolist(), found.values.tolist(), strict=True):
        inside = [row for row in rows if row[2] == group]
        own = naive([row[0] for row in inside], [row[1] for row in inside])
        assert (own is None) == math.isnan(value)
        if own is not None:
            assert value == float(own)
            sizes += len(inside)
            total += own * len(inside)
    assert found.groups.tolist() == sorted(set(groups))
    assert found.n_entries_left_out == len(rows) - sizes
    if sizes:
        assert xmceval.group_auc(y_true, y_score, groups) == pytest.approx(float(total / sizes), abs=1e-14)
    else:
        with pytest.warns(xmceval.UndefinedMetricWarning, match="no group"):
            assert math.isnan(xmceval.group_auc(y_true, y_score, groups))


@examples(2)
@given(entries, st.data())
def test_weight_2_repeats_and_weight_0_removes(rows, data):
    weight = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    if not any(weight):
        weight[0] = 1
    repeated = [row for row, times in zip(rows, weight, strict=True) for _ in range(times)]
    one = xmceval.group_aucs(*zip(*rows, strict=True), sample_weight=weight)
    two = xmceval.group_aucs(*zip(*repeated, strict=True))
    np.testing.assert_array_equal(one.groups, two.groups)
    np.testing.assert_allclose(one.values, two.values, rtol=1e-14)
    np.testing.assert_array_equal(one.positive, two.positive)


def test_many_entries_have_scikit_learns_value():
    sklearn_metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    y_score = np.round(rng.normal(size=200_000), 3)
    y_true = (y_score + rng.normal(size=y_score.size) > 0.5).astype(int)
    weight = rng.random(y_true.size)
    assert xmceval.roc_auc(y_true, y_score) == pytest.approx(sklearn_metrics.roc_auc_score(y_true, y_score), abs=1e-12)
    expected = sklearn_metrics.roc_auc_score(y_true, y_score, sample_weight=weight)
    assert xmceval.roc_auc(y_true * 2 - 1, y_score, sample_weight=weight) == pytest.approx(expected, abs=1e-12)
    groups = rng.integers(0, 500, y_true.size).astype(str)
    found = xmceval.group_aucs(y_true, y_score, groups)
    for group in ("0", "17", "499"):
        rows = groups == group
        expected = sklearn_metrics.roc_auc_score(y_true[rows], y_score[rows])
        assert found.values[found.groups == group] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([0, 2], [1, 2]), "2 at entry 1"),
        (([0, 1], [1, math.nan]), "NaN at entry 1"),
        (([0, 1], [1]), "1 entry, but y_true has 2"),
        (([], []), "no entries"),
        (([[0, 1]], [[1, 2]]), "one number per entry"),
        ((["a", "b"], [1, 2]), "one number per entry"),
    ],
)
def test_wrong_arrays_are_refused(args, message):
    with pytest.raises(xmceval.DataError, match=message):
        xmceval.roc_auc(*args)
    with pytest.raises(xmceval.DataError, match=message):
        xmceval.group_auc(*args, np.zeros(len(args[0]), dtype=int))


def test_wrong_groups_and_weights_are_refused():
    with pytest.raises(xmceval.DataError, match="groups has 1 entry, but y_true has 2"):
        xmceval.group_auc([0, 1], [1, 2], [1])
    with pytest.raises(xmceval.DataError, match="one integer or string"):
        xmceval.group_auc([0, 1], [1, 2], [1.5, 2])
    with pytest.raises(xmceval.DataError, match="-1 at entry 1"):
        xmceval.roc_auc([0, 1], [1, 2], sample_weight=[1, -1])


def test_wide_integers_are_compared_as_integers():
    assert xmceval.roc_auc([0, 1], [2**62, 2**62 + 1]) == 1


def written(tmp_path, text, name="log.csv"):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return path


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(lambda s: s.strip())
scores = st.floats(allow_nan=False) | st.integers(-(10**25), 10**25).map(float) | st.sampled_from([0.5, 1e22, -0.0])


@given(
    st.lists(st.tuples(words | st.integers(0, 10**20).map(str), st.integers(0, 1), scores), min_size=1, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_any_csv_is_read_as_it_was_written(tmp_path_factory, rows, end, has_header):
    path = tmp_path_factory.mktemp("log") / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator=end)
        if has_header:
            writer.writerow(["group", "label", "score"])
        writer.writerows([group, label, repr(score)] for group, label, score in rows)
    log = read_log(path)
    assert log.header == ("group,label,score" if has_header else "")
    assert log.labels.tolist() == [bool(label) for _, label, _ in rows]
    assert [x.hex() for x in log.scores.tolist()] == [score.hex() for _, _, score in rows]
    names, numbers = [group for group, _, _ in rows], log.groups.tolist()
    assert len(set(zip(names, numbers, strict=True))) == len(set(names)) == len(set(numbers))


def test_many_chunks_keep_groups_apart(tmp_path):
    rng = np.random.default_rng(1)
    users = rng.integers(0, 40_000, 200_000)
    labels, values = rng.integers(0, 2, users.size), rng.random(users.size)
    lines = (
        f"{'u' * (user % 2)}{user},{label},{value!r}\n"
        for user, label, value in zip(users.tolist(), labels.tolist(), values.tolist(), strict=True)
    )
    log = read_log(written(tmp_path, "".join(lines), "log.csv.gz"))
    np.testing.assert_array_equal(log.scores, values)
    assert xmceval.group_auc(log.labels, log.scores, log.groups) == pytest.approx(
        xmceval.group_auc(labels, values, users), abs=1e-12
    )
    assert np.unique(log.groups).size == np.unique(users).size


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,1,0.5\na,1\n", r"log.csv:2: expected group,label,score, found 2 fields: 'a,1'"),
        ("a,1,0.5\na,0,1,2\n", r":2: expected group,label,score, found 4 fields"),
        ("group,label,score\na,2,0.5\n", r":2: the label is '2'; expected 0 or 1"),
        ("a,1,0.5\nb,0,x\n", r":2: the score is 'x'; expected a number"),
        ("a,1,0.5\n\nb,0,nan\n", r":3: the score is 'nan'"),
        ("a,1,0.5\nb,0,1.2.3\n", r":2: the score is '1.2.3'"),
        ("a,1,0.5\nb,0,\n", r":2: the score is ''"),
        ("a,1,0.5\nb,0,1_0\n", r":2: the score is '1_0'"),
        ("a,1,0.5\n,0,1\n", r":2: the group is empty"),
        ("label,group,score\n1,a,0.5\n", r":1: the columns are label,group,score; expected group,label,score"),
        ("group,label,score\n", r"has no rows"),
        ("", r"the file is empty"),
    ],
)
def test_bad_lines_are_refused_with_their_place(tmp_path, text, message):
    with pytest.raises(xmceval.DataError, match=message):
        read_log(written(tmp_path, text))


LOG = "user,clicked,score\n7,0,0.1\n7,0,0.4\n7,1,0.35\n7,1,0.8\n8,1,0.3\n8,0,0.3\n9,1,0.9\n"


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_the_command_prints_a_table(tmp_path, name):
    result = CliRunner().invoke(cli, ["auc", str(written(tmp_path, LOG, name)), "-q"])
    assert result.exit_code == 0
    assert result.output == (
        "7 rows · 4 positive · 3 groups\nGAUC   66.67\nAUC    79.17\n"
        "groups with only one class, left out of GAUC: 1 (1 row)\n"
        "the first line is the header user,clicked,score\n"
    )


def test_the_command_prints_json_without_nan(tmp_path):
    path = written(tmp_path, "1,1,0.5\n2,1,0.25")
    result = CliRunner().invoke(cli, ["auc", str(path), "-o", "json", "-q"])
    assert json.loads(result.stdout) == {
        "schema": "xmceval/auc/1",
        "name": "log.csv",
        "header": None,
        "columns": None,
        "n_rows": 2,
        "n_positive": 2,
        "n_groups": 2,
        "n_groups_left_out": 2,
        "n_rows_left_out": 2,
        "metrics": {"GAUC": {"value": None}, "AUC": {"value": None}},
    }


def test_a_file_has_values_counts_and_forms(tmp_path):
    path = written(tmp_path, LOG)
    result = xmceval.auc(path)
    groups, labels, scores = zip(*(line.split(",") for line in LOG.splitlines()[1:]), strict=True)
    labels, scores = [int(label) for label in labels], [float(score) for score in scores]
    assert result.auc == xmceval.roc_auc(labels, scores)
    assert result.gauc == xmceval.group_auc(labels, scores, groups)
    assert (result.n_rows, result.n_positive, result.n_groups) == (7, 4, 3)
    assert (result.n_groups_left_out, result.n_rows_left_out, result.warnings) == (1, 1, ())
    for form, text in (("table", str(result)), ("json", result.to_json())):
        assert CliRunner().invoke(cli, ["auc", str(path), "-o", form, "-q"]).stdout == text


def test_a_file_of_one_class_has_no_auc_and_a_warning(tmp_path):
    path = written(tmp_path, "1,1,0.5\n2,1,0.25")
    result = xmceval.auc(path)
    assert math.isnan(result.auc)
    assert math.isnan(result.gauc)
    assert result.warnings == ("no group has both classes: GAUC is not defined",)
    assert "warning: no group has both classes" in CliRunner().invoke(cli, ["auc", str(path)]).stderr


def test_group_aucs_can_be_compared():
    data = [0, 1, 1, 1], [0.1, 0.4, 0.3, 0.8], ["a", "a", "b", "b"]
    assert xmceval.group_aucs(*data) == xmceval.group_aucs(*data)
    assert xmceval.group_aucs(*data) != xmceval.group_aucs(*data, sample_weight=[1, 1, 1, 2])
    assert (xmceval.group_aucs(*data) == np.ones(2)) is False
