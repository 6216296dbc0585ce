"""Tables with a line per row are joined by an index, or by a column of ids, known by its name."""

import itertools
import json
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse
from support.executors import PicklingExecutor
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval.files.tables.table import Table

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
    "floats": 100.0 + 7 * np.arange(N),
    "decimals": [Decimal(100 + i) for i in range(N)],
}


def score(truth, scores, form, other="pandas", **options):
    pair = as_form(truth, other, "t"), as_form(scores, form, "p")
    return xmceval.score(*pair, metrics="P", k=1, n_labels=9, **options)


def shuffled(frame):
    return frame.iloc[ORDER].reset_index(drop=True)


def named(kind, name="id"):
    """Return truth, and predictions in order and in another one, with a column of ids."""
    truth, scores = (frame.assign(**{name: IDS[kind]}) for frame in (TRUTH, PREDS))
    return truth, scores, shuffled(scores)


def message_of(truth, scores, form, other="pandas"):
    return refusal(as_form(truth, other, "t"), as_form(scores, form, "p"), n_labels=9)


every_form = pytest.mark.parametrize("form", LIST_FORMS)


def in_pairs(kinds, others):
    """Let every kind of ids meet every form, and every form every other one, though not all three at once."""
    triples = [
        (kind, others[(i + j) % len(others)], form) for i, kind in enumerate(kinds) for j, form in enumerate(LIST_FORMS)
    ]
    return pytest.mark.parametrize(("kind", "other", "form"), triples)


beside = pytest.mark.parametrize("other", ["pandas", "parquet"])


def refused(y_true, y_score):
    with pytest.raises(xmceval.DataError) as caught:
        value(y_true, y_score, n_labels=9)
    return str(caught.value)


@in_pairs(IDS, ["pandas", "reader", "parquet"])
def test_a_column_of_ids_joins_rows_by_its_known_name(kind, other, form):
    truth, *orders = named(kind, "ID")
    for frame in (*orders, orders[0].sample(frac=1, random_state=2, ignore_index=True)):
        result = score(truth, frame, form, other)
        assert result["P@1"] == EXPECTED
        assert "besides ID" in result.inputs[0]
        assert "rows by column 'ID'" in result.inputs[1]


@every_form
@pytest.mark.parametrize("kind", IDS)
def test_systems_in_several_orders_are_compared(kind, form):
    truth, scores, other = named(kind)
    orders = scores, other, scores.iloc[::-1].reset_index(drop=True)
    systems = {f"s{i}": as_form(frame, form, f"s{i}") for i, frame in enumerate(orders)}
    compared = xmceval.compare(as_form(truth, form, "t"), systems, metrics="P", k=1, n_labels=9)
    assert [result["P@1"] for result in compared.results] == [EXPECTED] * 3


@every_form
def test_whole_numbers_are_the_same_ids_in_every_type(form):
    kinds = [np.asarray(IDS["numbers"], dtype) for dtype in ("int32", "float32", "float64", object, str)]
    for ours, theirs in itertools.product(kinds, kinds):
        assert score(TRUTH.assign(id=ours), shuffled(PREDS.assign(id=theirs)), form)["P@1"] == EXPECTED


@every_form
@beside
@pytest.mark.parametrize("dtype", [int, float, str])
def test_numbers_of_rows_in_another_order_join_rows_only_if_both_have_them(dtype, other, form):
    numbers = ORDER.astype(dtype)
    truth, scores = TRUTH.assign(id=np.arange(N).astype(dtype)), shuffled(PREDS).assign(id=numbers)
    assert score(truth, scores, form, other)["P@1"] == EXPECTED
    assert "rows by position" in score(TRUTH, scores, form, other).inputs[1]
    array = sparse.csr_array(np.eye(9)[[row[0] for row in TRUTH.labels]])
    assert value(array, as_form(scores, form, "q")) == value(array, shuffled(PREDS))


@every_form
@beside
def test_columns_of_other_names_must_be_the_same_in_both(other, form):
    truth, scores = (frame.assign(PMID=IDS["numbers"]) for frame in (TRUTH, PREDS))
    assert score(truth, scores, form, other)["P@1"] == EXPECTED
    message = message_of(truth, shuffled(scores), form, other)
    assert "its 'PMID' differs from 'PMID' of " in message
    assert "(hint: name it id to join the rows by it, or leave it out of one)" in message
    assert score(truth.assign(id=IDS["words"]), shuffled(scores.assign(id=IDS["words"])), form)["P@1"] == EXPECTED


@every_form
@beside
def test_other_ids_are_refused_with_examples(other, form):
    truth, scores = (frame.assign(id=100 + np.arange(N)) for frame in (TRUTH, PREDS))
    message = message_of(truth, scores.assign(id=scores.id + 1), form, other)
    assert "its column 'id' has 114, which" in message
    assert "lacks 100 of" in message
    message = message_of(truth, scores.drop(index=3), form, other)
    assert "its column 'id' lacks 103 of" in message
    assert "to go by position" not in message  # as one has more rows
    assert "has 14 rows, but the truth has 13 rows" in message_of(truth.drop(index=3), scores, form, other)


@every_form
@beside
def test_what_is_no_column_of_ids_in_both_is_left_out(other, form):
    truth, _, scores = named("numbers")
    twice = np.arange(N) // 2
    for pair in (
        (TRUTH, scores),
        (truth, scores.drop(columns="id")),
        (truth, scores.rename(columns={"id": "case"})),
        (truth, scores.assign(id=twice)),
        (truth.assign(id=twice), scores),
        (truth.rename(columns={"id": "timestamp"}), scores.rename(columns={"id": "timestamp"})),
    ):
        result = score(*pair, form, other)
        assert result["P@1"] == SHUFFLED
        assert "rows by position" in result.inputs[1]
        assert pair[0] is not truth or "besides id" in result.inputs[0]
    missing = refusal(truth.assign(id=IDS["words"]), scores.assign(id=[None, *IDS["words"][1:]]), n_labels=9)
    assert "its column 'id' has None, which y_true lacks" in missing
    few = truth[:9], PREDS[:9].assign(id=IDS["numbers"][:9])[::-1].reset_index(drop=True)
    assert score(*few, form, other)["P@1"] == value(*(frame[["labels"]] for frame in few), n_labels=9)


@every_form
def test_ids_in_an_index_meet_those_in_a_column(form):
    truth, scores, other = named("numbers")
    for pair in ((truth.set_index("id"), other), (truth, scores.iloc[ORDER].set_index("id"))):
        assert score(*pair, form)["P@1"] == EXPECTED


def halves(frame, form, name):
    return xmceval.Shards([as_form(part, form, f"{name}-{i}") for i, part in enumerate((frame[:5], frame[5:]))])


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize("form", ["pandas", "arrow", "parquet", "feather"])
def test_shards_beside_one_table_are_joined_or_refused_with_what_joins_them(form, kind):
    truth, scores, other = named(kind)
    one, parts = as_form(truth, form, "t"), halves(truth, form, "t")
    assert score(truth, scores, form)["P@1"] == value(parts, halves(scores, form, "p"), n_labels=9) == EXPECTED
    for pair in ((parts, as_form(other, form, "p")), (one, halves(scores, form, "p"))):
        result = xmceval.score(*pair, metrics="P", k=1, n_labels=9)
        assert result["P@1"] == EXPECTED
        assert "rows by column 'id'" in result.inputs[1]
    y_score = halves(other, form, "p")
    message = refused(one, y_score)
    assert "its shards have the rows of" in message
    strange = other.assign(id=[*other.id[:-1], type(other.id[0])(999)])
    assert "its column 'id' has " in refused(one, halves(strange, form, "other"))
    without = [as_form(part, form, f"w-{i}") for i, part in enumerate((other[:5], other[5:].drop(columns="id")))]
    assert value(one, xmceval.Shards(without), n_labels=9) == SHUFFLED  # no column of all shards


@pytest.mark.parametrize("form", ["pandas", "parquet"])
def test_an_index_of_numbers_in_another_order_is_refused_in_shards(form):
    message = refused(TRUTH, [*halves(PREDS.iloc[ORDER], form, "p").parts])
    assert "its index has the numbers of the rows of y_true in another order" in message
    assert "y_true: its index" in refused(TRUTH.iloc[ORDER], [PREDS[:5], PREDS[5:].reset_index(drop=True)])


def long(frame):
    entries = [(i, label, 9 - j) for i, row in enumerate(frame.labels) for j, label in enumerate(row)]
    return pd.DataFrame(entries, columns=["row", "label", "score"])


def shards_of(form):
    """Return a function that writes two shards in a form: the lines where a condition holds, and the others."""

    def shards(frame, where, name):
        return xmceval.Shards([as_form(frame[part], form, f"{name}-{i}") for i, part in enumerate((where, ~where))])

    return shards


@pytest.mark.parametrize("form", ["pandas", "parquet", "csv"])
def test_shards_whose_rows_are_numbered_over_all_shards_are_read_as_one_table(form):
    shards = shards_of(form)
    scores, truth = long(PREDS), long(TRUTH).drop(columns="score")
    in_halves, in_turn, within_a_row = scores.row < 5, scores.row % 2 == 0, scores.index < 18
    for where in (in_halves, in_turn, within_a_row):
        y_score = shards(scores, where, "p")
        for y_true in (TRUTH, truth, shards(truth, truth.row < 5, "t"), shards(truth, truth.row % 2 == 0, "t")):
            assert value(y_true, y_score, n_labels=9) == EXPECTED
    shuffled_lines = scores.sample(frac=1, random_state=0)
    assert value(TRUTH, shards(shuffled_lines, shuffled_lines.row < 5, "p"), n_labels=9) == EXPECTED


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("in_turn", [False, True])
def test_row_numbers_of_shards_are_read_once_before_the_lines(monkeypatch, form, in_turn):
    scores = long(PREDS)
    where = scores.row % 2 == 0 if in_turn else scores.row < 5
    y_score = shards_of(form)(scores, where, "p")
    read, batches = list[str](), Table.batches

    def note(table, names):
        read.extend([table.name] if names == ["row"] else [])
        return batches(table, names)

    monkeypatch.setattr(Table, "batches", note)
    assert value(TRUTH, y_score, n_labels=9) == EXPECTED
    assert sorted(read) == sorted(str(part) for part in y_score.parts)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_rows_are_numbered_in_the_same_way_in_the_shards_of_truth_and_predictions(form):
    shards = shards_of(form)

    def from_0(frame):
        return frame.assign(row=frame.row - 5 * (frame.row >= 5))

    scores, truth = long(PREDS), long(TRUTH).drop(columns="score")
    over_all = shards(truth, truth.row < 5, "t"), shards(scores, scores.row < 5, "p")
    in_each = shards(from_0(truth), truth.row < 5, "u"), shards(from_0(scores), scores.row < 5, "q")
    for y_true, y_score in (over_all, in_each, (TRUTH, over_all[1]), (TRUTH, in_each[1])):
        assert value(y_true, y_score, n_labels=9) == EXPECTED
    assert "no row number is in two of its shards, but" in refused(in_each[0], over_all[1])
    assert "a row number is in two of its shards, but no number is" in refused(over_all[0], in_each[1])
    other = xmceval.Shards([over_all[1].parts[0], as_form(scores[scores.row > 5].assign(more=1), form, "m")])
    assert "; expected the same in all shards" in refused(TRUTH, other)


def test_text_labels_scores_parts_shards_and_tasks_are_joined_likewise(monkeypatch):
    truth, scores = (frame.assign(id=IDS["words"]) for frame in (TRUTH, PREDS.assign(scores=[[1, 2, 3, 4]] * N)))
    expected, other = value(TRUTH, scores[["labels", "scores"]], n_labels=9), shuffled(scores)
    assert value(truth, other, n_labels=9) == expected
    words = [frame.assign(labels=frame.labels.map(lambda row: [f"l{i}" for i in row])) for frame in (truth, other)]
    assert value(*words) == expected
    shards = [xmceval.Shards([frame, frame.assign(id=frame.id + "'")]) for frame in (truth, other)]
    assert value(*shards, n_labels=9) == expected
    read_in_pieces(monkeypatch, lines=3)
    truth.to_parquet("t", row_group_size=4)
    other.to_parquet("p", row_group_size=5)
    assert value("t", "p", n_labels=9) == value("t", "p", n_labels=9, executor=PicklingExecutor()) == expected


# An index that pandas stored

INDEXES = {
    **{kind: IDS[kind] for kind in ("numbers", "words", "numbers as text")},
    "named": pd.Index(IDS["numbers"], name="case"),
    "two levels": pd.MultiIndex.from_product([[1, 2], list("abcdefg")]),
}


@in_pairs(INDEXES, ["pandas", "parquet", "feather"])
def test_an_index_joins_rows_in_files_as_in_memory(kind, other, form):
    truth, scores = TRUTH.set_axis(INDEXES[kind]), PREDS.set_axis(INDEXES[kind])
    for frame in (scores, scores.iloc[ORDER]):
        result = score(truth, frame, form, other)
        assert result["P@1"] == EXPECTED
        assert "rows by name" in result.inputs[1]
    assert "its index lacks" in message_of(truth, scores.iloc[1:], form, other)
    assert "has 14 rows, but the truth has 13 rows" in message_of(truth.iloc[1:], scores, form, other)
    assert score(truth, scores.set_axis(pd.RangeIndex(N)), form, other)["P@1"] == EXPECTED  # which is no name
    assert "its index has" in message_of(truth, scores.set_axis(pd.RangeIndex(500, 500 + N)), form, other)


@every_form
@pytest.mark.parametrize("other", ["pandas", "parquet", "feather"])
def test_an_index_of_row_numbers_in_another_order_is_refused_beside_numbered_ones(other, form):
    assert "its index has the numbers of the rows of" in message_of(TRUTH, PREDS.iloc[ORDER], form, other)
    result = score(TRUTH, PREDS.set_axis(np.arange(N) * 3), form, other)
    assert result["P@1"] == EXPECTED
    assert "rows by position, as " in result.inputs[1]


def test_a_range_that_lines_have_left_since_is_no_index():
    table = pa.table(PREDS.set_axis(pd.RangeIndex(7, 7 + 2 * N, 2)))[:-1]
    assert b"pandas" in table.schema.metadata
    assert value(TRUTH[:-1], table, n_labels=9) == value(TRUTH[:-1], PREDS[:-1], n_labels=9)
    for form in ("parquet", "feather"):
        scores = as_form(PREDS[:-1].set_axis(pd.RangeIndex(7, 5 + 2 * N, 2)), form, "p")
        how = xmceval.score(TRUTH[:-1], scores, n_labels=9).inputs[1]
        assert "rows by position, as y_true does not name them" in how


RANGES = [[{"start": 0, "stop": stop, "step": step}] for stop, step in ((9, 0), (1 << 99, 1))]


@pytest.mark.parametrize("levels", ["?", "[", 7, None, [7], [{}], ["other"], ["labels"], *RANGES])
def test_a_damaged_description_of_an_index_is_none(levels):
    stored = levels if levels == "[" else json.dumps({"index_columns": levels} if levels != "?" else levels)
    table = pa.table(PREDS).replace_schema_metadata({b"pandas": stored.encode()})
    parquet.write_table(table, "p")
    assert value(TRUTH, table, n_labels=9) == value(TRUTH, "p", n_labels=9) == EXPECTED


GROUPS = [f"group {i % 2}" for i in range(N)]


@every_form
def test_groups_by_id_are_those_of_the_index(form):
    content = "".join(f"{IDS['words'][i]}\t{GROUPS[i]}\n" for i in ORDER)
    expected = xmceval.score(TRUTH, PREDS, metrics="P", k=1, n_labels=9, by_group=GROUPS)
    as_text, below_names = write("groups.txt", content), write("groups.tsv", f"query_id\tgroup\n{content}")
    for by_group in (as_text, below_names, dict(zip(IDS["words"], GROUPS, strict=True))):
        truth, scores = TRUTH.set_axis(IDS["words"]), PREDS.set_axis(IDS["words"]).iloc[ORDER]
        result = score(truth, scores, "pandas", form, by_group=by_group)
        assert "a group per row; rows by name" in " ".join(result.inputs)
        for part, other in zip(result.slices, expected.slices, strict=True):
            assert (part.bin.name, part.estimates["P@1"].value) == (other.bin.name, other.estimates["P@1"].value)
    assert [part.bin.name for part in expected.slices] == ["group 0", "group 1"]
    with pytest.raises(xmceval.DataError, match="neither an index nor row_ids has the ids of the rows"):
        value(TRUTH, PREDS, n_labels=9, by_group="groups.txt")


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_weights_and_long_tables_know_the_index(form):
    truth, weights = as_form(TRUTH.set_axis(IDS["numbers"]), form, "t"), pd.Series(np.arange(N) + 1.0, IDS["numbers"])
    expected = value(TRUTH, PREDS, n_labels=9, sample_weight=weights.to_numpy())
    assert value(truth, PREDS, n_labels=9, sample_weight=weights) == expected
    assert value(TRUTH, as_form(long(PREDS).sample(frac=1, random_state=1), form, "p"), n_labels=9) == EXPECTED


def test_an_id_has_one_group():
    truth, scores = TRUTH.set_axis(IDS["words"]), PREDS.set_axis(IDS["words"])
    rows = [f"{name}\t{group}\n" for name, group in zip(IDS["words"], GROUPS, strict=True)]
    same, other = (
        write("same.txt", "".join([*rows, rows[1]])),
        write("other.txt", "".join([*rows, "case 1\tgroup 0\n"])),
    )
    result = score(truth, scores, "pandas", by_group=same)
    assert [part.bin.name for part in result.slices] == ["group 0", "group 1"]
    message = rf"^other.txt:{N + 1}: the group of 'case 1' is 'group 0', but 'group 1' above$"
    with pytest.raises(xmceval.DataError, match=message):
        score(truth, scores, "pandas", by_group=other)
