"""Lines of several systems in one run or table are told by the tag or the column, and the hint splits them."""

# ruff: noqa: F401 - lines use what is imported here

import gzip

import pytest
from support.approved import check_lines
from support.asked import doubts_of, p_at_1
from support.files import write

import xmceval

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

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
BEST = [0, 2, 3, 5]
TOP = "q1 Q0 d1 1 3 bm25\nq2 Q0 d1 1 3 bm25\n# dpr\nq1 Q0 d2 1 9 dpr\nq2 Q0 d3 1 8 dpr\n\n"


def with_tag(name):
    return write("part", "".join(f"{line}\n" for line in RUN.splitlines() if line.endswith(f" {name}")))


def groups(kind, column):
    """Return P@1 of each group of lines as a system."""
    truth, scores = TABLES[kind]
    systems = {name: part.drop(columns=column).reset_index(drop=True) for name, part in scores.groupby(column)}
    results = xmceval.score_all(truth, systems, metrics="P", k=1)
    return {name: result["P@1"] for name, result in results.items()}


def test_lines_of_several_systems_are_refused_or_doubted_in_these_words(run):
    write("qrels", QRELS)
    by_row = TABLES["by row"][0]
    fold = BY_ROW.rename(columns={"model": "fold"}).assign(time=range(len(BY_ROW)))
    check_lines(__file__, "systems.txt", globals() | locals())
