"""Data frames that pandas writes by column are no dicts by query: refused, with lines that read them."""

import json

import numpy as np
import pytest
from support.files import write

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
from support.tables import lines, refusal, shell_lines, value  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

RNG = np.random.default_rng(3)
TRUE, SCORES = (RNG.random((12, 5)) < 0.4).astype(int), RNG.random((12, 5))
EXPECTED, BY_QUERY = value(TRUE, SCORES), value(TRUE.T, SCORES.T)


def wide(index, columns):
    return [pd.DataFrame(cells, index=index, columns=columns) for cells in (TRUE, SCORES)]


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
FORMS = {
    "dicts": lambda frame, name: frame.to_dict(),
    "dicts of text": lambda frame, name: frame.set_axis(frame.index.map(str)).rename(columns=str).to_dict(),
    "files": lambda frame, name: frame.to_json(f"{name}.json") or f"{name}.json",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LONG)
def test_long_tables_by_column_are_refused(kind, form):
    frames = LONG[kind]
    truth, scores = map(FORMS[form], frames, "tp")
    message = refusal(truth, scores)
    assert f"has the columns {', '.join(frames[0])} by the number of the line" in message
    (decided,) = lines(message, y_true=truth)
    message = refusal(decided, scores)
    assert value(decided, *lines(message, y_score=scores)) == EXPECTED


@pytest.mark.parametrize(
    ("kind", "form"), [*((kind, "files") for kind in WIDE), *((kind, "dicts of text") for kind in WIDE if kind != TEXT)]
)
def test_wide_tables_by_column_are_refused(kind, form):
    truth, scores = map(FORMS[form], WIDE[kind], "tp")
    message = refusal(truth, scores)
    assert "may be data frames by column or dicts by query, as each key has the same 12 keys" in message
    of_truth = lines(message, y_true=truth)
    of_scores = lines(message.replace("y_true", "y_score").replace("t.", "p."), y_score=scores)
    assert [value(*pair) for pair in zip(of_truth, of_scores, strict=True)] == [EXPECTED, BY_QUERY]


@pytest.mark.parametrize("kind", [*LONG, *WIDE])
def test_the_command_prints_a_line_for_each_reading(kind):
    truth, scores = map(FORMS["files"], {**LONG, **WIDE}[kind], "tp")
    of_truth = shell_lines(truth, scores)
    of_scores = shell_lines(truth, scores, likewise=scores) if kind in WIDE else shell_lines(scores, scores)
    assert [value(*pair) for pair in zip(of_truth, of_scores, strict=True)] == [EXPECTED, BY_QUERY][: len(of_truth)]


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
        {f"q{i}": {f"d{j}": float(v) for j, v in enumerate(row)} for i, row in enumerate(cells)}
        for cells in (TRUE, SCORES)
    ]
    files = [write(name, json.dumps(table)) for table, name in zip(by_query, "tp", strict=True)]
    assert value(*by_query) == value(*files) == EXPECTED
    many = {query: {f"d{j}": 1.0 * (j == 3) for j in range(40)} for query in by_query[0]}
    assert value({query: {"d3": 1} for query in many}, many) == 1  # not all are judged
