"""Two columns that could have the scores or the grades: refused with both, and each reading has a line that works."""

import numpy as np
import pytest

import xmceval

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from support.tables import FORMS, as_form, lines, refusal, shell_lines, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N = 12
TRUTH = pd.DataFrame({"query_id": [f"q{i}" for i in range(N)], "doc_id": "d0", "relevance": 1})
PREDS = pd.DataFrame(
    [(f"q{i}", f"d{d}", 0.5**d, 9.0 - d if i < 8 else d) for i in range(N) for d in range(3)],
    columns=["query_id", "doc_id", "score", "noise"],
)  # the first document is the best by score in all queries, by noise in eight of twelve
ROWS = {"query_id": "row", "doc_id": "label"}


def by_row(frame):
    return frame.assign(query_id=frame.query_id.str[1:].astype(int), doc_id=frame.doc_id.str[1:].astype(int)).rename(
        columns=ROWS
    )


def ranked(frame):
    return frame.assign(rank=frame.groupby("query_id").noise.rank(ascending=False).astype(int)).drop(columns="noise")


TWO_SCORES = {
    "rating and weight": PREDS.rename(columns={"score": "rating", "noise": "weight"}),
    "rating and value": PREDS.rename(columns={"noise": "rating", "score": "value"}),
    "rank and confidence": ranked(PREDS).rename(columns={"score": "confidence"}),
    "rank and logit": ranked(PREDS).rename(columns={"score": "logit"}),
    "rank and weight": ranked(PREDS).rename(columns={"score": "weight"}),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("keys", ["by query", "by row"])
@pytest.mark.parametrize("kind", TWO_SCORES)
def test_two_columns_that_may_be_the_scores_are_refused_until_one_is_left(kind, keys, form):
    truth, scores = TRUTH, TWO_SCORES[kind]
    if keys == "by row":
        truth, scores = by_row(truth), by_row(scores)
    first = as_form(scores, form, "p")
    message = refusal(truth, first)
    assert all(f" {name} has the scores" in message for name in kind.split(" and "))
    again = as_form(scores, "arrow" if form == "reader" else form, "p")  # a reader is read once
    assert sorted(value(truth, decided) for decided in lines(message, y_score=again)) == [8 / N, 1]


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("kind", TWO_SCORES)
def test_the_command_prints_a_line_for_each_reading(kind, form):
    TRUTH.to_csv("t.csv", index=False)
    path = as_form(TWO_SCORES[kind], form, "p")
    written = shell_lines("t.csv", path)
    assert sorted(value("t.csv", new) for new in written) == [8 / N, 1]


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
        PREDS.rename(columns={"noise": "weight"}),  # score beside it is the score
        ranks.rename(columns={"score": "value"}),
        unknown,
        unknown.assign(confidence=-unknown.confidence),  # a distance
        unknown.assign(confidence=unknown.confidence.where(unknown.index % 3 > 0)),  # some are missing
        unknown.assign(confidence=np.arange(len(ranks)) % 2),  # which lines are hits, maybe
        unknown.rename(columns={"confidence": "timestamp"}).assign(timestamp=np.arange(len(ranks)) % 7),
    ):
        result = xmceval.score(TRUTH, as_form(scores, form, "p"), metrics="P", k=1)
        assert (result["P@1"], result.doubts) == (1, ())


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "feather"])
@pytest.mark.parametrize("keys", ["by query", "by row"])
def test_one_table_may_have_both_grades_and_scores(keys, form):
    both = PREDS[["query_id", "doc_id", "score"]].assign(relevance=(PREDS.doc_id == "d0").astype(int))
    path = as_form(both if keys == "by query" else by_row(both), form, "b")
    result = xmceval.score(path, path, metrics="P", k=1)
    assert (result["P@1"], result.doubts) == (1, ())
    path = as_form(both.drop(columns="score").assign(query_id=range(len(both))), form, "b")
    assert "itself: the values are those of a perfect model" in str(xmceval.score(path, path, k=1).doubts)
