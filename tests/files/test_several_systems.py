"""Lines of several systems in one run or table are told by the tag or the column, and the hint splits them."""

import gzip
from pathlib import Path

import pytest
from support.asked import doubts_of, p_at_1, refused
from support.files import write

import xmceval
from xmceval import DataError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

QRELS = "q1 0 d2 1\nq2 0 d3 1\n"
RUN = """\
# two systems
q1 Q0 d1 1 3 bm25
q1 Q0 d2 2 2 bm25
q2 Q0 d1 1 3 bm25
q1 Q0 d2 1 9 dpr
q1 Q0 d1 2 8 dpr
q2 Q0 d3 1 8 dpr
"""
BY_QUERY = pd.DataFrame(
    [line.split() for line in RUN.splitlines()[1:]], columns=["query_id", "q0", "doc_id", "rank", "score", "tag"]
)
BY_QUERY = BY_QUERY.drop(columns=["rank", "q0"]).astype({"score": float})
BY_ROW = pd.DataFrame(
    {
        "row": BY_QUERY.query_id.str[1:].astype(int) - 1,
        "label": BY_QUERY.doc_id.str[1:].astype(int),
        "score": BY_QUERY.score,
        "note": "-",
        "model": BY_QUERY.tag,
    }
)
LISTS = BY_ROW.groupby(["model", "row"], as_index=False).agg({"label": list, "score": list})
WORDS = BY_ROW.assign(label="d" + BY_ROW.label.astype(str))
TABLES = {
    "by query": (pd.DataFrame({"query_id": ["q1", "q2"], "doc_id": ["d2", "d3"], "rel": 1}), BY_QUERY),
    "by row": (pd.DataFrame({"row": [0, 1], "label": [2, 3]}), BY_ROW),
    "lists": (pd.DataFrame({"row": [0, 1], "label": [[2], [3]]}), LISTS),
    "words": (pd.DataFrame({"row": [0, 1], "label": ["d2", "d3"]}), WORDS),
}
SYSTEMS = "lines of two systems: 'bm25' and 'dpr'"
VALUES = {"bm25": 0.0, "dpr": 1.0}


def refusal(truth, scores):
    with pytest.raises(DataError, match=SYSTEMS) as refused:
        xmceval.score(truth, scores, metrics="P", k=1)
    return refused.value.hint


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_run_of_two_tags_is_split_by_them(ending):
    write("qrels", QRELS)
    Path(f"all.run{ending}").write_bytes(gzip.compress(RUN.encode()) if ending else RUN.encode())
    assert refusal("qrels", f"all.run{ending}") == "write a file for each of the tags, which end the lines"
    for name, value in VALUES.items():
        of_tag = [line for line in RUN.splitlines() if line.endswith(f" {name}")]
        assert p_at_1("qrels", write("part", "\n".join(of_tag) + "\n")) == value


def test_a_document_twice_under_one_tag_is_a_duplicate():
    refused(
        r"a document has one score \(hint: pass duplicates='max'",
        write("q", QRELS),
        write("r", RUN.replace("dpr", "bm25")),
    )


@pytest.mark.parametrize("kind", TABLES)
def test_a_frame_of_several_systems_is_refused_and_compared_in_its_groups(kind):
    truth, scores = TABLES[kind]
    column = "tag" if "tag" in scores else "model"
    assert refusal(truth, scores) == f"split the lines by {column!r}, and score each part as a system"
    systems = {name: part.drop(columns=column).reset_index(drop=True) for name, part in scores.groupby(column)}
    results = xmceval.score_all(truth, systems, metrics="P", k=1)
    assert {name: result["P@1"] for name, result in results.items()} == VALUES


def test_another_column_is_named_and_a_time_is_not():
    frame = BY_ROW.rename(columns={"model": "fold"}).assign(time=range(len(BY_ROW)))
    refused("in lines that differ in 'fold': 'bm25' and 'dpr' ", TABLES["by row"][0], frame)
    refused("a label has one score", TABLES["by row"][0], frame.drop(columns="fold"))


def test_a_stream_that_cannot_be_read_again_names_no_systems():
    import pyarrow

    stream = pyarrow.Table.from_pandas(BY_ROW).to_reader()
    refused("label 2 appears twice in this row", TABLES["by row"][0], stream)


def test_systems_that_share_no_document_of_a_query_are_doubted(run):
    top = "q1 Q0 d1 1 3 bm25\nq2 Q0 d1 1 3 bm25\n# dpr\nq1 Q0 d2 1 9 dpr\nq2 Q0 d3 1 8 dpr\n\n"
    code, _, message = run("score", write("q", QRELS), write("r", top), "-mP", "-k1")
    assert code == 0
    assert f"r: has {SYSTEMS} (hint: write a file for each of the tags" in message
    assert not doubts_of("q", write("r", top.replace("dpr", "bm25")))
    best = BY_ROW.iloc[[0, 2, 3, 5]]
    message = "y_score: has lines of 2 systems: 'bm25' and 'dpr' (hint: split the lines by "
    for frame in (best, BY_QUERY.iloc[[0, 2, 3, 5]]):
        truth = TABLES["by row" if frame is best else "by query"][0]
        assert message in doubts_of(truth, frame)
        one = frame.assign(**{frame.columns[-1]: "dpr"})
        assert not doubts_of(truth, one)
