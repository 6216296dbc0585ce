"""Tables in which two columns may have the scores, and numbers of rows that may be ids: refused or doubted."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from support.asked import doubts_of, refused
from support.files import write

import xmceval

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from support.tables import FILES, FORMS, as_form, refusal, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N = 12
TRUTH = pd.DataFrame({"query_id": [f"q{i}" for i in range(N)], "doc_id": "d0", "relevance": 1})
PREDS = pd.DataFrame(
    [(f"q{i}", f"d{d}", 0.5**d, 9.0 - d if i < 8 else d) for i in range(N) for d in range(3)],
    columns=["query_id", "doc_id", "score", "noise"],
)  # the first document is the best by score in all queries, by noise in eight of twelve
N_ROWS = 20
ROWS = pd.DataFrame({"sample_id": np.repeat(np.arange(N_ROWS), 2), "label": np.arange(2 * N_ROWS) % 7})
BY_ROW = pd.DataFrame(
    [
        (row, label, 1 / rank)
        for row in range(N_ROWS)
        for rank, label in enumerate(np.arange(4) + row % 5, 1)
        if row != 6
    ],
    columns=["sample_id", "label", "score"],
)
OF_ROWS = value(ROWS, BY_ROW)


def by_row(frame):
    numbers = {name: frame[name].str[1:].astype(int) for name in ("query_id", "doc_id")}
    return frame.assign(**numbers).rename(columns={"query_id": "row", "doc_id": "label"})


def ranked(frame, name):
    ranks = frame.groupby("query_id").noise.rank(ascending=False).astype(int)
    return frame.assign(rank=ranks).drop(columns="noise").rename(columns={"score": name})


def numbered(frame, ids):
    return frame.assign(sample_id=IDS[ids](frame.sample_id))


def shuffled(frame):
    return frame.sample(frac=1, random_state=1)


TWO_SCORES = {
    "rating and weight": PREDS.rename(columns={"score": "rating", "noise": "weight"}),
    "rating and value": PREDS.rename(columns={"noise": "rating", "score": "value"}),
    **{f"rank and {name}": ranked(PREDS, name) for name in ("confidence", "logit", "weight")},
}
IDS = {
    "from 1": lambda row: row + 1,
    "from 80,000": lambda row: row + 80_000,
    "a sample": lambda row: 17 * row,
    "random": lambda row: (row * 7919) % 1009,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("keys", ["by query", "by row"])
@pytest.mark.parametrize("names", TWO_SCORES)
def test_two_columns_that_may_have_the_scores_are_refused_or_doubted(names, keys, form):
    truth, scores = (TRUTH, TWO_SCORES[names]) if keys == "by query" else map(by_row, (TRUTH, TWO_SCORES[names]))
    y_true, y_score = as_form(truth, form, "t"), as_form(scores, form, "p")
    first, second = names.split(" and ")
    if first == "rating":
        assert "may both have the scores (hint: keep one of them)" in refusal(y_true, y_score)
    else:
        assert f"{first} and {second} order the lines differently" in doubts_of(y_true, y_score)
        assert value(truth, as_form(scores.drop(columns=second), form, "ranks")) == 8 / N


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ids", IDS)
def test_numbers_of_rows_that_may_be_ids_are_doubted(ids, form):
    frames = numbered(ROWS, ids), numbered(BY_ROW, ids)
    doubt = "only 20 of the rows 0 to" if ids in {"a sample", "random"} else "no row before"
    for pair in (frames, tuple(map(shuffled, frames))):
        doubts = doubts_of(*map(as_form, pair, [form] * 2, "tp"))
        assert re.search(f"{doubt}.*rename 'sample_id' to query_id if its numbers are ids", doubts)
        as_ids = [frame.rename(columns={"sample_id": "query_id"}) for frame in pair]
        assert value(*map(as_form, as_ids, [form] * 2, ("t-ids", "p-ids"))) == OF_ROWS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("other", ["weight", "value"])
def test_scores_beside_weights_are_refused_as_grades(other, form):
    truth = TRUTH.rename(columns={"relevance": "score"}).assign(**{other: 1.0})
    message = refusal(as_form(truth, form, "t"), PREDS[["query_id", "doc_id", "score"]])
    assert f"{other} and score may both have the grades" in message
    assert value(as_form(TRUTH.assign(**{other: 0}), form, "t"), PREDS[["query_id", "doc_id", "score"]]) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # by pandas 2.2 as it writes, with numpy 1.24
def test_columns_that_say_which_is_meant_are_read(form):
    columns = PREDS.drop(columns="noise")
    ranks = columns.assign(rank=columns.groupby("query_id").score.rank(ascending=False).astype(int))
    unknown = ranks.rename(columns={"score": "confidence"})
    for scores in (
        PREDS.rename(columns={"noise": "weight"}),  # the column score next to it is the score
        ranks.rename(columns={"score": "value"}),
        unknown,
        unknown.assign(confidence=-unknown.confidence),  # a distance
        unknown.assign(confidence=unknown.confidence.where(unknown.index % 3 > 0)),  # some are missing
        unknown.assign(confidence=np.arange(len(ranks)) % 2),  # which lines are hits, maybe
        unknown.rename(columns={"confidence": "timestamp"}).assign(timestamp=np.arange(len(ranks)) % 7),
    ):
        result = xmceval.score(TRUTH, as_form(scores, form, "p"), metrics="P", k=1)
        assert (result["P@1"], result.doubts) == (1, ())


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("keys", ["by query", "by row"])
def test_one_table_may_have_both_grades_and_scores(keys, form):
    both = PREDS[["query_id", "doc_id", "score"]].assign(relevance=(PREDS.doc_id == "d0").astype(int))
    path = as_form(both if keys == "by query" else by_row(both), form, "b")
    result = xmceval.score(path, path, metrics="P", k=1)
    assert (result["P@1"], result.doubts) == (1, ())
    path = as_form(both.drop(columns="score").assign(query_id=range(len(both))), form, "b")
    assert "itself: the values look like a perfect model's" in doubts_of(path, path)


# Numbers of rows


@pytest.mark.parametrize("form", FORMS)
def test_first_rows_that_both_lack_are_doubted(form):
    frames = [frame[frame.sample_id >= 3] for frame in (ROWS, BY_ROW)]
    result = xmceval.score(*map(as_form, frames, [form] * 2, "tp"), metrics="P", k=1)
    doubt = "have no row before 3, and rows are counted from 0"
    assert any(doubt in line for line in result.doubts)
    whole = xmceval.score(as_form(frames[0], form, "t"), as_form(BY_ROW, form, "p"), metrics="P", k=1)
    assert whole.doubts == ()


@pytest.mark.parametrize("form", FORMS)
def test_truth_that_has_all_rows_leaves_no_doubt(form):
    matrix = sp.coo_array((np.ones(len(ROWS)), (ROWS.sample_id, ROWS.label)), shape=(N_ROWS, 9)).tocsr()
    lists = ROWS.groupby("sample_id").label.agg(list).reset_index(drop=True)
    some = BY_ROW[BY_ROW.sample_id == 11]
    for truth in (matrix, lists, pd.DataFrame({"labels": lists})):
        result = xmceval.score(truth, as_form(some, form, "p"), metrics="P", k=1)
        assert (result.counts.n_instances, result.doubts) == (N_ROWS, ())
    with pytest.raises(xmceval.DataError, match=r"has an entry in row 20, but the truth has 20 rows .*0-based\)"):
        value(matrix, as_form(numbered(BY_ROW, "from 1"), form, "p"))


@pytest.mark.parametrize("form", FORMS)
def test_rows_beyond_those_of_the_truth_may_be_ids(form):
    truth, scores = ROWS[ROWS.sample_id < 15], BY_ROW
    message = refusal(as_form(truth, form, "t"), as_form(scores, form, "p"))
    assert "has an entry in row 19, but the truth has 15 rows (rows are 0-based) (hint: rename the column" in message
    message = refusal(as_form(ROWS.assign(sample_id=ROWS.sample_id + 33_299_000), form, "t"), BY_ROW)
    assert "has an entry in row 33299019, in a table of 40 lines (hint: rename the column" in message


# Data frames that pandas writes by column are no dicts by query

RNG = np.random.default_rng(3)
CELLS, SCORES = (RNG.random((12, 5)) < 0.4).astype(int), RNG.random((12, 5))
OF_CELLS, BY_QUERY = value(CELLS, SCORES), value(CELLS.T, SCORES.T)


def wide(index, columns):
    return [pd.DataFrame(cells, index=index, columns=columns) for cells in (CELLS, SCORES)]


def long(*names):
    """Return truth and predictions with columns of these names; truth without grades has only the true labels."""
    truth, scores = (cells.stack().rename_axis(names[:2]).rename(names[-1]).reset_index() for cells in wide(None, None))
    if len(names) == 4:
        return truth.rename(columns={names[3]: names[2]}), scores
    return truth[truth[names[2]] > 0].reset_index(drop=True)[[*names[:2]]], scores


LONG = {
    "by row": long("row", "label", "value", "score"),
    "without grades": long("row", "label", "score"),
    "by query": long("user_id", "item_id", "rating", "prediction"),
}
TEXT = "index of text"
WIDE = {
    TEXT: wide([f"case{i}" for i in range(12)], [f"code{i}" for i in range(5)]),
    "default index": wide(None, [f"code{i}" for i in range(5)]),
    "numbers": wide(None, None),
}
BY_COLUMN = {
    "dicts": lambda frame, name: frame.to_dict(),
    "dicts of text": lambda frame, name: frame.set_axis(frame.index.map(str)).rename(columns=str).to_dict(),
    "files": lambda frame, name: frame.to_json(f"{name}.json") or f"{name}.json",
}


@pytest.mark.parametrize("form", BY_COLUMN)
@pytest.mark.parametrize("kind", LONG)
def test_long_tables_by_column_are_refused(kind, form):
    frames = LONG[kind]
    truth, scores = map(BY_COLUMN[form], frames, "tp")
    assert f"has the columns {', '.join(frames[0])}; expected queries as keys" in refusal(truth, scores)
    if form != "files":
        assert value(*map(pd.DataFrame, (truth, scores))) == OF_CELLS


def test_dicts_by_query_and_runs_of_other_tools_are_read():
    class Run:
        def __init__(self, table):
            self.table = table

        def get_doc_ids_and_scores(self):
            raise AssertionError

        def to_dict(self):
            return self.table

    truth, scores = (frame.to_dict() for frame in WIDE[TEXT])
    assert value(truth, scores) == value(Run(truth), Run(scores)) == BY_QUERY
    write("p.json", json.dumps({"mteb_model_meta": {}, "default": {"test": scores}}))
    assert value(truth, "p.json") == BY_QUERY
    by_query = [
        {f"q{i}": {f"d{j}": float(cell) for j, cell in enumerate(row)} for i, row in enumerate(cells)}
        for cells in (CELLS, SCORES)
    ]
    files = [write(name, json.dumps(table)) for table, name in zip(by_query, "tp", strict=True)]
    assert value(*by_query) == value(*files) == OF_CELLS
    many = {query: {f"d{j}": 1.0 * (j == 3) for j in range(40)} for query in by_query[0]}
    assert value({query: {"d3": 1} for query in many}, many) == 1  # not all are judged


def test_a_wide_table_of_documents_is_no_run_with_unknown_names():
    wide = pd.DataFrame(np.eye(3) + 0.5, index=["q0", "q1", "q2"], columns=["d0", "d1", "d2"])
    wide.rename_axis("query").to_csv("wide.csv")
    truth = {f"q{i}": {f"d{i}": 1} for i in range(3)}
    with pytest.raises(xmceval.DataError) as error:
        xmceval.score(truth, "wide.csv")
    assert "rename the columns to" not in str(error.value)


@pytest.mark.parametrize("in_command", [False, True])
@pytest.mark.parametrize("names", [("row", "label"), ("query_id", "doc_id"), ("qid", "docno", "note")])
def test_a_long_table_without_scores_says_what_it_lacks_and_how_to_write_decisions(names, in_command, run):
    table = pd.DataFrame([[0, 1, 5], [0, 2, 6], [2, 1, 7]]).iloc[:, : len(names)].set_axis(names, axis=1).astype(str)
    table.to_csv("truth.csv", index=False)
    table.to_csv("decisions.csv", index=False)
    if in_command:
        code, _, message = run("score", "truth.csv", "decisions.csv", "-m", "f1_score")
        assert code == 1
    else:
        with pytest.raises(xmceval.DataError) as error:
            xmceval.score(table, table, metrics="f1_score")
        message = str(error.value)
    assert f": has no scores: found the columns {', '.join(names)}; expected " in message
    assert "for decisions add a column 'score' of 1" in message
    assert xmceval.score("truth.csv", table.assign(score=1), metrics="f1_score")["f1_score"] == 1


@pytest.mark.parametrize("role", ["truth", "predictions"])
@pytest.mark.parametrize("others", [{}, {"id": [1, 2]}, {"text": ["x", "y"]}])
def test_the_hint_at_lists_of_an_unknown_name_holds(role, others):
    right = {"truth": [[0], [1]], "predictions": [[0], [2]]}
    tables = {name: pd.DataFrame({**others, "labels": lists}) for name, lists in right.items()}
    expected = dict(xmceval.score(*tables.values(), metrics="P", k=1))
    named = {**tables, role: tables[role].rename(columns={"labels": "genres"})}
    refused(r"has lists in 'genres'; expected .*\(hint: rename 'genres' to 'labels'\)$", *named.values())
    assert expected == {"P@1": 0.5}
