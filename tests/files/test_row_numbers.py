"""Numbers of rows in long tables are ids where truth and predictions together have no row 0, or few rows of all."""

import numpy as np
import pytest
import scipy.sparse as sp
from support.executors import PicklingExecutor
from support.pieces import read_in_pieces

import xmceval

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from support.tables import FORMS, as_form, lines, refusal, shell_lines, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N = 20
TRUTH = pd.DataFrame({"sample_id": np.repeat(np.arange(N), 2), "label": np.arange(2 * N) % 7})
PREDS = pd.DataFrame(
    [(row, label, 1 / rank) for row in range(N) for rank, label in enumerate(np.arange(4) + row % 5, 1) if row != 6],
    columns=["sample_id", "label", "score"],
)
EXPECTED = value(TRUTH, PREDS)
IDS = {
    "from 1": lambda row: row + 1,
    "from 80,000": lambda row: row + 80_000,
    "a sample": lambda row: 17 * row,
    "random": lambda row: (row * 7919) % 1009,
}


def numbered(frame, ids):
    return frame.assign(sample_id=IDS[ids](frame.sample_id))


def shuffled(frame):
    return frame.sample(frac=1, random_state=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("order", [lambda frame: frame, shuffled], ids=["sorted", "shuffled"])
@pytest.mark.parametrize("ids", IDS)
def test_ids_of_rows_are_refused_until_they_are_names(ids, order, form):
    frames = [order(numbered(frame, ids)) for frame in (TRUTH, PREDS)]
    message = refusal(*map(as_form, frames, [form] * 2, "tp"))
    assert ("the rows 1 to 20, but rows are counted from 0" if ids == "from 1" else "only 20 of the rows") in message
    truth, scores = map(as_form, frames, ["arrow" if form == "reader" else form] * 2, "tp")
    of_truth = lines(message, y_true=truth)
    of_scores = lines(message.replace("y_true", "y_score").replace("t.", "p."), y_score=scores)
    assert len(of_truth) == (2 if ids == "from 1" else 1)
    assert [value(*pair) for pair in zip(of_truth, of_scores, strict=True)] == [EXPECTED] * len(of_truth)


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("ids", IDS)
def test_the_command_prints_a_line_for_each_reading(ids, form):
    frames = [numbered(frame, ids) for frame in (TRUTH, PREDS)]
    truth, scores = map(as_form, frames, [form] * 2, "tp")
    pairs = zip(shell_lines(truth, scores), shell_lines(truth, scores, likewise=scores), strict=True)
    assert [value(*pair) for pair in pairs] == [EXPECTED] * (2 if ids == "from 1" else 1)


@pytest.mark.parametrize("form", FORMS)
def test_first_rows_that_both_lack_are_doubted(form):
    frames = [frame[frame.sample_id >= 3] for frame in (TRUTH, PREDS)]
    result = xmceval.score(*map(as_form, frames, [form] * 2, "tp"), metrics="P", k=1)
    assert any(
        "have no row before 3, and rows are counted from 0: are the numbers ids?" in line for line in result.doubts
    )
    whole = xmceval.score(as_form(frames[0], form, "t"), as_form(PREDS, form, "p"), metrics="P", k=1)
    assert whole.doubts == ()


@pytest.mark.parametrize("form", FORMS)
def test_truth_that_has_all_rows_leaves_no_doubt(form):
    matrix = sp.coo_array((np.ones(len(TRUTH)), (TRUTH.sample_id, TRUTH.label)), shape=(N, 9)).tocsr()
    lists = TRUTH.groupby("sample_id").label.agg(list).reset_index(drop=True)
    some = PREDS[PREDS.sample_id == 11]
    for truth in (matrix, lists, pd.DataFrame({"labels": lists})):
        result = xmceval.score(truth, as_form(some, form, "p"), metrics="P", k=1)
        assert (result.counts.n_instances, result.doubts) == (N, ())
    with pytest.raises(
        xmceval.DataError, match=r"has an entry in row 20, but the truth has 20 rows \(rows are 0-based\)$"
    ):
        value(matrix, as_form(numbered(PREDS, "from 1"), form, "p"))


@pytest.mark.parametrize("form", FORMS)
def test_rows_beyond_those_of_the_truth_may_be_ids(form):
    truth, scores = TRUTH[TRUTH.sample_id < 15], PREDS
    message = refusal(as_form(truth, form, "t"), as_form(scores, form, "p"))
    assert "has an entry in row 19, but the truth has 15 rows (rows are 0-based) (hint: pass " in message
    message = refusal(as_form(TRUTH.assign(sample_id=TRUTH.sample_id + 33_299_000), form, "t"), PREDS)
    assert "has an entry in row 33299019, in a table of 40 lines (hint: pass" in message


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ids", IDS)
def test_training_labels_are_looked_at_alone(ids, form):
    options = {"metrics": "PSP", "k": 1, "n_labels": 9}
    train = as_form(numbered(TRUTH, ids), form, "train")
    message = refusal(TRUTH, PREDS, train=train, **options)
    assert not message.startswith("y_true")
    again = as_form(numbered(TRUTH, ids), "arrow" if form == "reader" else form, "train")
    expected = value(TRUTH, PREDS, train=TRUTH, **options)
    assert {value(TRUTH, PREDS, train=decided, **options) for decided in lines(message, train=again)} == {expected}
    result = xmceval.score(TRUTH, PREDS, train=as_form(TRUTH[TRUTH.sample_id > 2], form, "train"), **options)
    assert any("no row before 3" in line for line in result.doubts)


def test_shards_are_looked_at_with_the_other_input_of_the_same_shard():
    halves = [[frame[frame.sample_id // 10 == half] for half in (0, 1)] for frame in (TRUTH, PREDS)]
    second = [frame.assign(sample_id=frame.sample_id - 10) for frame in (halves[0][1], halves[1][1])]
    shards = [[halves[i][0], second[i]] for i in (0, 1)]
    assert value(*map(xmceval.Shards, shards)) == EXPECTED
    counted = [[shard.assign(sample_id=shard.sample_id + (i == 1)) for i, shard in enumerate(of)] for of in shards]
    message = refusal(*map(xmceval.Shards, counted))
    assert message.startswith("y_true[1] and y_score[1]: have the rows 1 to 10")


@pytest.mark.parametrize("is_sorted", [True, False])
def test_files_in_parts_and_tasks_are_looked_at_likewise(is_sorted, monkeypatch):
    read_in_pieces(monkeypatch, lines=7)
    for frame, name in ((TRUTH, "t"), (PREDS, "p")):
        frame.to_parquet(f"{name}.parquet", row_group_size=5)
        (numbered(frame, "from 1") if is_sorted else shuffled(numbered(frame, "from 1"))).to_parquet(
            f"{name}1.parquet", row_group_size=5
        )
    executor = PicklingExecutor()
    assert value("t.parquet", "p.parquet", executor=executor) == EXPECTED
    with pytest.raises(xmceval.DataError, match="the rows 1 to 20, but rows are counted from 0"):
        value("t1.parquet", "p1.parquet", executor=executor)


def test_lists_with_the_number_of_their_row_are_looked_at_likewise():
    truth = TRUTH.groupby("sample_id").label.agg(list).reset_index().rename(columns={"label": "labels"})
    scores = PREDS.groupby("sample_id")[["label", "score"]].agg(list).reset_index()
    assert value(truth, scores) == EXPECTED
    assert "have the rows 1 to 20" in refusal(numbered(truth, "from 1"), numbered(scores, "from 1"))
