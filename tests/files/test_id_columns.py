"""Tables with a line per row are joined by an index, or by columns of ids that both have, known by their values."""

import json
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.executors import PicklingExecutor
from support.pieces import read_in_pieces

import xmceval

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402
from support.tables import LIST_FORMS, as_form, lines, refusal, shell_lines, value  # noqa: E402

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
    "floats": 100.0 + 7 * np.arange(N),
    "decimals": [Decimal(100 + i) for i in range(N)],
}


def score(truth, scores, form, other="pandas", **options):
    return xmceval.score(
        as_form(truth, other, "t"), as_form(scores, form, "p"), metrics="P", k=1, n_labels=9, **options
    )


def message_of(truth, scores, form, other="pandas"):
    return refusal(as_form(truth, other, "t"), as_form(scores, form, "p"), n_labels=9)


def refused(y_true, y_score):
    with pytest.raises(xmceval.DataError) as caught:
        value(y_true, y_score, n_labels=9)
    return str(caught.value)


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "reader", "parquet"])
@pytest.mark.parametrize("kind", IDS)
def test_a_column_of_ids_joins_rows_whatever_its_name(kind, other, form):
    truth, scores = (frame.assign(**{"PMID x": IDS[kind]}) for frame in (TRUTH, PREDS))
    for frame in (
        scores,
        scores.iloc[ORDER].reset_index(drop=True),
        scores.sample(frac=1, random_state=2, ignore_index=True),
    ):
        result = score(truth, frame, form, other)
        assert result["P@1"] == EXPECTED
        assert "besides PMID x" in result.inputs[0]
        assert "rows by column 'PMID x'" in result.inputs[1]


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("kind", IDS)
def test_systems_in_several_orders_are_compared(kind, form):
    truth, scores = (frame.assign(id=IDS[kind]) for frame in (TRUTH, PREDS))
    orders = scores, scores.iloc[ORDER].reset_index(drop=True), scores.iloc[::-1].reset_index(drop=True)
    systems = {f"s{i}": as_form(frame, form, f"s{i}") for i, frame in enumerate(orders)}
    found = xmceval.compare(as_form(truth, form, "t"), systems, metrics="P", k=1, n_labels=9)
    assert [result["P@1"] for result in found.results] == [EXPECTED] * 3


@pytest.mark.parametrize("form", LIST_FORMS)
def test_whole_numbers_are_the_same_ids_in_every_type(form):
    kinds = [np.asarray(IDS["numbers"], dtype) for dtype in ("int32", "float32", "float64", object, str)]
    for ours in kinds:
        for theirs in kinds:
            truth, scores = TRUTH.assign(id=ours), PREDS.assign(id=theirs).iloc[ORDER].reset_index(drop=True)
            assert score(truth, scores, form)["P@1"] == EXPECTED


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet"])
@pytest.mark.parametrize("dtype", [int, float, str])
def test_numbers_of_rows_in_another_order_are_refused_beside_no_names_or_others(dtype, other, form):
    def numbered(frame, name="PMID"):
        return frame.assign(**{name: ORDER.astype(dtype)})

    truth, scores = TRUTH.iloc[ORDER].reset_index(drop=True), PREDS.iloc[ORDER].reset_index(drop=True)
    words = [frame.set_axis(IDS["words"]) for frame in (TRUTH, PREDS)]
    assert score(numbered(truth), numbered(scores), form, other)["P@1"] == EXPECTED
    for pair in (
        (TRUTH, numbered(scores)),
        (words[0], numbered(scores)),
        (numbered(truth), PREDS),
        (numbered(truth), words[1]),
        (numbered(truth), PREDS[::-1]),
        (numbered(truth), numbered(scores, "case")),
        (numbered(truth), numbered(scores).assign(PMID=7)),
    ):
        message = message_of(*pair, form, other)
        assert re.search(r"its column '(PMID|case)' has the numbers of the rows of \S+ in another order, ", message)
    array = np.eye(9)[[row[0] for row in TRUTH.labels]]
    hint = refusal(array, numbered(scores)).partition("(hint: ")[2]
    codes = hint.partition(" puts ")[0], hint.partition("numbers, ")[2].partition(" leaves ")[0]
    by_number, by_position = (eval(code, {"y_score": numbered(scores)}) for code in codes)
    assert value(array, by_number) == value(array, PREDS)
    assert value(array, by_position) == value(array, scores) != value(array, PREDS)
    for matrix in (array, sparse.csr_array(array)):
        assert "y_true: its column 'PMID' has the numbers" in refusal(numbered(truth), matrix)


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet"])
def test_other_ids_are_refused_with_examples(other, form):
    truth, scores = (frame.assign(id=100 + np.arange(N)) for frame in (TRUTH, PREDS))
    message = message_of(truth, scores.assign(id=scores.id + 1), form, other)
    assert "its column 'id' has 114, which" in message
    assert "lacks 100 of" in message
    message = message_of(truth, scores.drop(index=3), form, other)
    assert "its column 'id' lacks 103 of" in message
    assert "to go by position" not in message  # as there are more rows
    message = message_of(truth.drop(index=3), scores, form, other)
    assert "its column 'id' has 103, which" in message
    assert "to go by position" not in message
    names = {"pandas": pd, "pyarrow": pa, "y_true": truth.drop(index=3), "y_score": as_form(scores, form, "p")}
    if form != "reader":
        left = eval(message.partition("(hint: pass ")[2].partition(" to leave out")[0], names)
        assert value(names["y_true"], left, n_labels=9) == value(TRUTH.drop(index=3), PREDS.drop(index=3), n_labels=9)


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet"])
def test_several_columns_of_ids_must_agree(other, form):
    truth, scores = (frame.assign(id=IDS["numbers"], title=IDS["words"]) for frame in (TRUTH, PREDS))
    shuffled = scores.iloc[ORDER].reset_index(drop=True)
    assert score(truth, shuffled, form, other)["P@1"] == EXPECTED
    message = message_of(truth, shuffled.assign(title=IDS["words"]), form, other)
    assert "its columns 'id' and 'title' say otherwise which row of" in message


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet"])
def test_what_is_no_column_of_ids_in_both_is_left_out(other, form):
    truth, scores = (frame.assign(id=IDS["numbers"]) for frame in (TRUTH, PREDS))
    shuffled = scores.iloc[ORDER].reset_index(drop=True)
    twice, missing = np.arange(N) // 2, [None, *IDS["words"][1:]]
    for pair in (
        (TRUTH, shuffled),
        (truth, shuffled.drop(columns="id")),
        (truth, shuffled.rename(columns={"id": "case"})),
        (truth, shuffled.assign(id=twice)),
        (truth.assign(id=twice), shuffled),
        (truth.assign(id=IDS["words"]), shuffled.assign(id=missing)),
        (truth.assign(id=0.5 + truth.id), shuffled.assign(id=0.5 + shuffled.id)),  # no whole numbers
        (truth.rename(columns={"id": "timestamp"}), shuffled.rename(columns={"id": "timestamp"})),
    ):
        result = score(*pair, form, other)
        assert result["P@1"] == SHUFFLED
        assert "rows by position" in result.inputs[1]
    few = [frame.assign(id=IDS["numbers"])[:9] for frame in (TRUTH, PREDS)]
    assert score(few[0], few[1][::-1].reset_index(drop=True), form, other)["P@1"] == value(
        TRUTH[:9], PREDS[:9][::-1].reset_index(drop=True), n_labels=9
    )
    assert "besides id" in score(truth, shuffled.drop(columns="id"), form, other).inputs[0]


@pytest.mark.parametrize("form", LIST_FORMS)
def test_ids_in_an_index_meet_those_in_a_column(form):
    truth, scores = (frame.assign(id=IDS["numbers"]) for frame in (TRUTH, PREDS))
    for pair in ((truth.set_index("id"), scores.iloc[ORDER]), (truth, scores.iloc[ORDER].set_index("id"))):
        assert (
            score(pair[0], pair[1] if pair[1].index.name else pair[1].reset_index(drop=True), form)["P@1"] == EXPECTED
        )


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("form", ["pandas", "arrow", "parquet", "feather"])
def test_shards_beside_one_table_are_joined_or_refused_with_what_joins_them(form, kind):
    def shards(frame, name):
        return xmceval.Shards([as_form(part, form, f"{name}-{i}") for i, part in enumerate((frame[:5], frame[5:]))])

    truth, scores = TRUTH.assign(id=IDS[kind]), PREDS.assign(id=IDS[kind])
    shuffled = scores.iloc[ORDER].reset_index(drop=True)
    assert score(truth, scores, form)["P@1"] == value(shards(truth, "t"), shards(scores, "p"), n_labels=9) == EXPECTED
    result = xmceval.score(shards(truth, "t"), as_form(shuffled, form, "p"), metrics="P", k=1, n_labels=9)
    assert result["P@1"] == EXPECTED
    assert "rows by column 'id'" in result.inputs[1]
    result = xmceval.score(as_form(truth, form, "t"), shards(scores, "p"), metrics="P", k=1, n_labels=9)
    assert result["P@1"] == EXPECTED
    assert "rows by column 'id'" in result.inputs[1]
    y_score = shards(shuffled, "p")
    message = refused(as_form(truth, form, "t"), y_score)
    assert "its shards have the rows of" in message
    (joined,) = lines(message, y_score=y_score.parts)
    assert value(as_form(truth, form, "t"), joined, n_labels=9) == EXPECTED
    other = shuffled.assign(id=[*shuffled.id[:-1], type(shuffled.id[0])(999)])
    assert "its column 'id' has " in refused(as_form(truth, form, "t"), shards(other, "other"))
    without = shuffled[:5], shuffled[5:].drop(columns="id")
    without = xmceval.Shards([as_form(part, form, f"w-{i}") for i, part in enumerate(without)])
    assert value(as_form(truth, form, "t"), without, n_labels=9) == SHUFFLED  # no column of all shards


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("form", ["pandas", "parquet"])
def test_shards_of_numbers_in_another_order_are_joined_before_they_are_sorted(form, index):
    numbered = PREDS.assign(id=np.arange(N)).iloc[ORDER]
    frame = numbered.drop(columns="id") if index else numbered.reset_index(drop=True)
    y_score = [as_form(part, form, f"p-{i}") for i, part in enumerate((frame[:5], frame[5:]))]
    message = refused(TRUTH, y_score)
    assert f"its {'index' if index else 'column'} " in message
    hint = message.partition("(hint: ")[2]
    codes = hint.partition(" puts ")[0], hint.partition("numbers, ")[2].partition(" leaves ")[0]
    by_number, by_position = (eval(code, {"y_score": y_score, "pandas": pd}) for code in codes)
    assert value(TRUTH, by_number, n_labels=9) == EXPECTED
    assert value(TRUTH, by_position, n_labels=9) == SHUFFLED
    truth = TRUTH.iloc[ORDER] if index else TRUTH.assign(id=np.arange(N)).iloc[ORDER].reset_index(drop=True)
    assert "y_true: its " in refused(truth, [PREDS[:5], PREDS[5:].reset_index(drop=True)])


def test_a_command_joins_shards_by_a_line_of_the_shell():
    truth, scores = TRUTH.assign(id=IDS["words"]), PREDS.assign(id=IDS["words"]).iloc[ORDER]
    truth.to_parquet("t.parquet")
    for i, part in enumerate((scores[:5], scores[5:])):
        part.to_parquet(f"p-{i}.parquet")
    (joined,) = shell_lines("t.parquet", "p-*.parquet")
    assert joined.endswith("joined-new.parquet")
    assert value("t.parquet", joined, n_labels=9) == EXPECTED


@pytest.mark.parametrize("form", ["pandas", "parquet", "csv"])
def test_rows_that_count_on_from_shard_to_shard_are_refused(form):
    def long(frame):
        return pd.DataFrame(
            [(i, label, 9 - j) for i, row in enumerate(frame.labels) for j, label in enumerate(row)],
            columns=["row", "label", "score"],
        )

    scores, truth = long(PREDS), long(TRUTH).drop(columns="score")
    for split in (scores.row < 5, scores.row % 2 == 0):
        y_score = xmceval.Shards(
            [as_form(part, form, f"p-{i}") for i, part in enumerate((scores[split], scores[~split]))]
        )
        message = refused(TRUTH, y_score)
        assert "no row is in two shards by their column 'row', which counts from 0 in each shard" in message
        (joined,) = lines(message, y_score=y_score.parts)
        assert value(TRUTH, joined.astype(int), n_labels=9) == EXPECTED
    y_score = xmceval.Shards([scores[scores.row < 5], scores[scores.row >= 5]])
    paired = xmceval.Shards([TRUTH[:5], TRUTH[5:].reset_index(drop=True)])
    assert "(rows are 0-based, in each shard: join those of " in refused(paired, y_score)
    y_true = [as_form(part, form, f"t-{i}") for i, part in enumerate((truth[truth.row < 5], truth[truth.row >= 5]))]
    assert "no row is in two shards" in refused(xmceval.Shards(y_true), PREDS)
    local = [
        as_form(part.assign(row=part.row - i), form, f"p-{i}")
        for i, part in ((0, scores[scores.row < 5]), (5, scores[scores.row >= 5]))
    ]
    assert value(TRUTH, xmceval.Shards(local), n_labels=9) == EXPECTED


def test_text_labels_scores_parts_shards_and_tasks_are_joined_likewise(monkeypatch):
    truth, scores = (frame.assign(id=IDS["words"]) for frame in (TRUTH, PREDS))
    scores["scores"] = [[1, 2, 3, 4]] * N
    expected = value(TRUTH, scores[["labels", "scores"]], n_labels=9)
    shuffled = scores.iloc[ORDER].reset_index(drop=True)
    assert value(truth, shuffled, n_labels=9) == expected
    words = [frame.assign(labels=frame.labels.map(lambda row: [f"l{i}" for i in row])) for frame in (truth, shuffled)]
    assert value(*words) == expected
    long_truth, long_scores = (pd.concat([frame, frame.assign(id=frame.id + "'")]) for frame in (truth, shuffled))
    shards = [
        [frame[frame.id.str.endswith("'") == half] for half in (False, True)] for frame in (long_truth, long_scores)
    ]
    assert value(*map(xmceval.Shards, shards), n_labels=9) == expected
    read_in_pieces(monkeypatch, lines=3)
    truth.to_parquet("t", row_group_size=4)
    shuffled.to_parquet("p", row_group_size=5)
    assert value("t", "p", n_labels=9) == value("t", "p", n_labels=9, executor=PicklingExecutor()) == expected


# An index that pandas stored

INDEXES = {
    **{kind: IDS[kind] for kind in ("numbers", "words", "numbers as text")},
    "named": pd.Index(IDS["numbers"], name="case"),
    "two levels": pd.MultiIndex.from_product([[1, 2], list("abcdefg")]),
}


@pytest.mark.parametrize("form", LIST_FORMS)
@pytest.mark.parametrize("other", ["pandas", "parquet", "feather"])
@pytest.mark.parametrize("kind", INDEXES)
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
def test_an_index_of_row_numbers_in_another_order_is_refused_beside_numbered_ones(other, form):
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
