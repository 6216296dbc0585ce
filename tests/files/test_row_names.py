"""Tables with a line per row are joined by an index that pandas stored, in files as in memory."""

import json
from pathlib import Path

import numpy as np
import pytest

import xmceval

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402
from support.tables import LIST_FORMS, as_form, refusal, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N = 14
RNG = np.random.default_rng(5)
TRUTH, PREDS = (pd.DataFrame({"labels": [RNG.choice(9, k, replace=False).tolist() for _ in range(N)]}) for k in (2, 4))
EXPECTED, ORDER = value(TRUTH, PREDS, n_labels=9), RNG.permutation(N)
SHUFFLED = value(TRUTH, PREDS.iloc[ORDER].reset_index(drop=True), n_labels=9)
assert EXPECTED != SHUFFLED

IDS = {
    "numbers": 100 + 7 * np.arange(N),
    "0 to n - 1": np.arange(N),
    "words": [f"case {i}" for i in range(N)],
    "numbers as text": [f"{100 + i}" for i in range(N)],
}
INDEXES = {
    **IDS,
    "named": pd.Index(IDS["numbers"], name="case"),
    "two levels": pd.MultiIndex.from_product([[1, 2], list("abcdefg")]),
}


def score(truth, scores, form, other="pandas", **options):
    return xmceval.score(
        as_form(truth, other, "t"), as_form(scores, form, "p"), metrics="P", k=1, n_labels=9, **options
    )


def message_of(truth, scores, form, other="pandas"):
    return refusal(as_form(truth, other, "t"), as_form(scores, form, "p"), n_labels=9)


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet", "feather"])
@pytest.mark.parametrize("kind", [kind for kind in INDEXES if kind != "0 to n - 1"])
def test_an_index_joins_rows_in_files_as_in_memory(kind, other, form):
    truth, scores = TRUTH.set_axis(INDEXES[kind]), PREDS.set_axis(INDEXES[kind])
    for frame in (scores, scores.iloc[ORDER]):
        result = score(truth, frame, form, other)
        assert result["P@1"] == EXPECTED
        assert "rows by name" in result.inputs[1]
    assert "its index lacks" in message_of(truth, scores.iloc[1:], form, other)
    assert "its index has" in message_of(truth.iloc[1:], scores, form, other)
    for index in (pd.RangeIndex(N), pd.RangeIndex(500, 500 + N)):  # one is no name, the other has other ones
        frame = scores.set_axis(index)
        if index[0]:
            assert "its index has" in message_of(truth, frame, form, other)
        else:
            assert score(truth, frame, form, other)["P@1"] == EXPECTED


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet", "feather"])
def test_numbers_of_rows_in_another_order_are_refused_beside_numbered_ones(other, form):
    message = message_of(TRUTH, PREDS.iloc[ORDER], form, other)
    assert "its index has the numbers of the rows of" in message
    split = PREDS.set_axis(np.arange(N) * 3)
    assert score(TRUTH, split, form, other)["P@1"] == EXPECTED  # by position, and said
    assert "rows by position, as " in score(TRUTH, split, form, other).inputs[1]


@pytest.mark.parametrize("form", ["arrow", "parquet", "feather"])
def test_a_range_that_lines_have_left_since_is_no_index(form):
    table = pa.table(PREDS.set_axis(pd.RangeIndex(7, 7 + 2 * N, 2)))[:-1]
    assert b"pandas" in table.schema.metadata
    scores = table if form == "arrow" else as_form(PREDS[:-1].set_axis(pd.RangeIndex(7, 5 + 2 * N, 2)), form, "p")
    if form == "arrow":
        assert value(TRUTH[:-1], scores, n_labels=9) == value(TRUTH[:-1], PREDS[:-1], n_labels=9)
    else:
        assert (
            "rows by position, as y_true does not name them" in xmceval.score(TRUTH[:-1], scores, n_labels=9).inputs[1]
        )


RANGES = [[{"start": 0, "stop": stop, "step": step}] for stop, step in ((9, 0), (1 << 99, 1))]


@pytest.mark.parametrize("levels", ["?", "[", 7, None, [7], [{}], ["other"], ["labels"], *RANGES])
def test_a_damaged_description_of_an_index_is_none(levels):
    stored = levels if levels == "[" else json.dumps({"index_columns": levels} if levels != "?" else levels)
    table = pa.table(PREDS).replace_schema_metadata({b"pandas": stored.encode()})
    parquet.write_table(table, "p")
    assert value(TRUTH, table, n_labels=9) == value(TRUTH, "p", n_labels=9) == EXPECTED


@pytest.mark.parametrize("form", LIST_FORMS)
def test_groups_by_id_are_those_of_the_index(form):
    scores = PREDS.set_axis(IDS["words"]).iloc[ORDER]
    groups = [f"group {i % 2}" for i in range(N)]
    lines = [f"{IDS['words'][i]}\t{groups[i]}\n" for i in ORDER]
    Path("groups.txt").write_text("".join(lines))
    Path("groups.tsv").write_text("".join(["query_id\tgroup\n", *lines]))
    expected = xmceval.score(TRUTH, PREDS, metrics="P", k=1, n_labels=9, by_group=groups)
    for by_group in ("groups.txt", "groups.tsv", dict(zip(IDS["words"], groups, strict=True))):
        truth = as_form(TRUTH.set_axis(IDS["words"]), form, "t")  # a reader is read once
        found = xmceval.score(truth, scores, metrics="P", k=1, n_labels=9, by_group=by_group)
        assert [slice_.bin.name for slice_ in found.slices] == ["group 0", "group 1"]
        assert "a group per row; rows by name" in " ".join(found.inputs)
        values = [[slice_.estimates["P@1"].value for slice_ in result.slices] for result in (found, expected)]
        assert values[0] == values[1]
    with pytest.raises(xmceval.DataError, match="neither an index nor row_ids has the ids of the rows"):
        xmceval.score(TRUTH, PREDS, metrics="P", k=1, n_labels=9, by_group="groups.txt")


def test_an_id_has_one_group():
    truth, scores = TRUTH.set_axis(IDS["words"]), PREDS.set_axis(IDS["words"])
    lines = [f"{name}\tgroup {i % 2}\n" for i, name in enumerate(IDS["words"])]
    Path("same.txt").write_text("".join([*lines, lines[1]]))
    Path("other.txt").write_text("".join([*lines, lines[1].replace("group 1", "group 0")]))
    options = {"metrics": "P", "k": 1, "n_labels": 9}
    found = xmceval.score(truth, scores, by_group="same.txt", **options)
    assert [slice_.bin.name for slice_ in found.slices] == ["group 0", "group 1"]
    message = rf"^other.txt:{N + 1}: the group of '{IDS['words'][1]}' is 'group 0', but 'group 1' above$"
    with pytest.raises(xmceval.DataError, match=message):
        xmceval.score(truth, scores, by_group="other.txt", **options)


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_weights_and_long_tables_know_the_index(form):
    truth, weights = as_form(TRUTH.set_axis(IDS["numbers"]), form, "t"), pd.Series(np.arange(N) + 1.0, IDS["numbers"])
    expected = value(TRUTH, PREDS, n_labels=9, sample_weight=weights.to_numpy())
    assert value(truth, PREDS, n_labels=9, sample_weight=weights) == expected
    long = (
        PREDS.assign(row=range(N), scores=[[4, 3, 2, 1]] * N)
        .explode(["labels", "scores"])
        .rename(columns={"labels": "label", "scores": "score"})
    )
    long = long.astype({"label": int, "score": float})
    assert value(TRUTH, as_form(long.sample(frac=1, random_state=1), form, "p"), n_labels=9) == EXPECTED
