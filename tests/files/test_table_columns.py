"""Tables in which two columns may have the scores, and numbers of rows that may be ids: refused or doubted."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from support.approved import check_lines
from support.asked import doubts_of
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


def ranks(name="score"):
    columns = PREDS.drop(columns="noise")
    by_score = columns.groupby("query_id").score.rank(ascending=False).astype(int)
    return columns.assign(rank=by_score).rename(columns={"score": name})


def ids(kind, name="sample_id"):
    """Return truth and predictions whose rows have other numbers."""
    return [numbered(frame, kind).rename(columns={"sample_id": name}) for frame in (ROWS, BY_ROW)]


BOTH = PREDS[["query_id", "doc_id", "score"]].assign(relevance=(PREDS.doc_id == "d0").astype(int))
LISTS = ROWS.groupby("sample_id").label.agg(list).reset_index(drop=True)
MATRIX = sp.coo_array((np.ones(len(ROWS)), (ROWS.sample_id, ROWS.label)), shape=(N_ROWS, 9)).tocsr()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # by pandas 2.2 as it writes, with numpy 1.24
def test_columns_are_read_refused_or_doubted_alike_in_every_form(form):
    """Each value and message is that of the approved line, whatever holds the table."""

    def t(frame):
        return as_form(frame, form, "t")

    def p(frame):
        return as_form(frame, form, "p")

    def named(text):
        return re.sub(r"\bt\.\w+", "y_true", re.sub(r"\bp\.\w+", "y_score", text))

    def no(*inputs):
        return named(refusal(*inputs))

    def doubts(*inputs):
        return named(doubts_of(*inputs)) or "no doubt"

    def pair(frames, change=lambda frame: frame):
        return t(change(frames[0])), p(change(frames[1]))

    check_lines(__file__, "columns.txt", globals() | locals())


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("keys", ["by query", "by row"])
def test_one_table_may_have_both_grades_and_scores(keys, form):
    path = as_form(BOTH if keys == "by query" else by_row(BOTH), form, "b")
    result = xmceval.score(path, path, metrics="P", k=1)
    assert (result["P@1"], result.doubts) == (1, ())
    path = as_form(BOTH.drop(columns="score").assign(query_id=range(len(BOTH))), form, "b")
    assert "itself: the values look like a perfect model's" in doubts_of(path, path)


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


def test_tables_by_column_and_those_without_scores_are_refused_in_these_words(run):
    def no(*inputs, **options):
        return refusal(*inputs, **options)

    def command(table):
        table.to_csv("decisions.csv", index=False)
        return run("score", "decisions.csv", "decisions.csv", "-m", "f1_score")[2]

    def as_text(frame):
        return frame.set_axis(frame.index.map(str)).rename(columns=str).to_dict()

    def as_json(frame, name):
        frame.to_json(f"{name}.json")
        return f"{name}.json"

    decisions = pd.DataFrame([[0, 1, 5], [0, 2, 6], [2, 1, 7]], columns=["qid", "docno", "note"]).astype(str)
    wide_csv = write("wide.csv", "query,d0,d1\nq0,1.5,0.5\nq1,0.5,1.5\n")
    check_lines(__file__, "by_column.txt", globals() | locals())


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
