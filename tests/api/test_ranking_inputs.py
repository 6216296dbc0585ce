"""Grades and scores by query and document, in dicts and data frames: the same bits as files of the same content."""

import random
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from support.approved import check_answers, evaluate
from support.asked import measured, p_at_1, refused
from support.files import triples, write_qrels, write_run

import xmceval

METRICS = "P,nDCG,AP,RR,R"
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}}
RUN = {"q2": {"d1": 0.5, "d9": 0.25}, "q1": {"d2": 0.75, "d1": 0.5}}


@pytest.fixture(autouse=True)
def _in_a_folder():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        yield


def draw(seed):
    """Return judgments and a run with ties, grades below 0, missing, extra and interleaved queries."""
    rng = random.Random(seed)
    names = [("{}", "d{}", "é{}", "x y{}")[seed % 4].format(i) for i in range(30)]
    if seed % 4 == 3:
        names = [name.replace(" ", "_") for name in names]
    qrels = {f"q{i}": {d: rng.choice([-1, 0, 1, 2, 3]) for d in rng.sample(names, 9)} for i in range(8)}
    run = {
        f"q{i}": {d: rng.choice([0.25, 0.5, -1.5, 1 / 3]) for d in rng.sample([*names, "other"], 12)}
        for i in rng.sample(range(11), 7)
    }
    return qrels, run


def write(qrels, run):
    return write_qrels("q.txt", qrels), write_run("r.txt", run)


def facts(result):
    """Return the values and intervals, and the number of warnings."""
    return dict(result), [result.interval(name) for name in result], len(result.warnings)


@pytest.mark.parametrize("ties", ["label", "expected", "worst"])
@pytest.mark.parametrize("seed", range(8))
def test_dicts_are_scored_as_files_are(seed, ties):
    qrels, run = draw(seed)
    options = {"metrics": METRICS if ties == "label" else "P,R", "k": [1, 5], "ties": ties}
    truth, scores = write(qrels, run)
    expected = facts(xmceval.score(truth, scores, **options))
    for pair in ((qrels, run), (truth, run), (qrels, scores)):
        assert facts(xmceval.score(*pair, **options)) == expected


@pytest.mark.parametrize("columns", [("qid", "docno", "label"), ("query_id", "doc_id", "relevance")])
@pytest.mark.parametrize("seed", range(4))
def test_data_frames_are_scored_as_files_are(seed, columns):
    pandas = pytest.importorskip("pandas")
    qrels, run = draw(seed)
    truth = pandas.DataFrame(triples(qrels), columns=columns)
    scores = pandas.DataFrame(triples(run), columns=[*columns[:2], "score"]).sample(frac=1, random_state=seed)
    if seed % 4 == 0:  # documents are numbers
        scores = scores[scores[columns[1]] != "other"]
        truth, scores = (frame.astype({columns[1]: int}) for frame in (truth, scores))
        run = {query: {d: v for d, v in row.items() if d != "other"} for query, row in run.items()}
    expected = xmceval.score(*write(qrels, run), metrics=METRICS)
    assert facts(xmceval.score(truth, scores, metrics=METRICS)) == facts(expected)


def test_objects_of_ranx_are_scored_as_dicts_are():
    ranx = pytest.importorskip("ranx")
    qrels, run = draw(1)
    expected = measured(qrels, run, metrics=METRICS)
    assert measured(ranx.Qrels(qrels), ranx.Run(run), metrics=METRICS) == expected


def test_systems_may_be_runs_in_memory():
    (qrels, run), (_, other) = draw(1), draw(5)
    truth, scores = write(qrels, run)
    in_files, in_memory = {"a": scores, "b": write_run("o.txt", other)}, {"a": run, "b": other}
    options = {"metrics": "P,AP", "k": [1, 5]}
    expected, results = (xmceval.score_all(*pair, **options) for pair in ((truth, in_files), (qrels, in_memory)))
    assert [dict(results[name]) for name in "ab"] == [dict(expected[name]) for name in "ab"]
    assert dict(xmceval.compare(qrels, in_memory, **options)) == dict(xmceval.compare(truth, in_files, **options))


def test_runs_of_one_system_may_be_dicts():
    runs = [draw(seed)[1] for seed in range(1, 16, 4)]
    comparison = xmceval.compare(draw(1)[0], {"a": runs[0], "b": runs[1:]}, metrics="P", k=1)
    assert len(comparison.results) == 4


def test_queries_are_the_ids_of_rows():
    result = xmceval.score(QRELS, RUN, metrics="P", k=1, save_rows="rows.csv")
    assert dict(result) == {"P@1": 0.5}
    assert [line.split(",")[0] for line in Path("rows.csv").read_text().splitlines()][-2:] == ["q1", "q2"]


@pytest.mark.parametrize("queries", [["q1"], ["q2"], ["q1", "q2"]])
@pytest.mark.parametrize("is_truth", [True, False])
def test_queries_without_documents_count_as_0(queries, is_truth):
    table = {**(QRELS if is_truth else RUN), **{query: {} for query in queries}}
    found = xmceval.score(*((table, RUN) if is_truth else (QRELS, table)), metrics="RR,R", rows=True)
    for metric in found:
        values = dict(zip(found.rows.ids, found.rows[metric].tolist(), strict=True))
        assert [values[query] for query in queries] == [0] * len(queries)


def test_a_table_without_judgments_has_no_names_to_compare(tmp_path):
    pytest.importorskip("pyarrow")
    table = tmp_path / "empty.csv"
    table.write_text("query_id,doc_id,grade\n")
    result = xmceval.score(table, RUN, metrics="P", k=1)
    assert result["P@1"] == 0
    assert f"y_score: ignored 2 queries not in {table}, such as 'q1', 'q2' (4 documents)" in result.warnings
    refused(r"has 2 queries that .* lacks", table, RUN, missing="error")


def test_grades_may_be_in_a_column_of_scores():
    pytest.importorskip("pyarrow")
    frame = pytest.importorskip("pandas").DataFrame(triples(QRELS), columns=["q_id", "doc_id", "score"])
    for score in (int, float):
        found = xmceval.score(frame.astype({"score": score}), RUN, grades=True)
        assert dict(found) == measured(QRELS, RUN)


def test_a_data_frame_without_the_columns_of_a_long_table_is_a_matrix():
    frame = pytest.importorskip("pandas").DataFrame(np.eye(3), columns=["x", "y", "z"])
    assert p_at_1(np.eye(3), frame) == 1.0


def test_sets_of_relevant_documents_are_grades_of_1():
    relevant = {query: {name for name, grade in row.items() if grade} for query, row in QRELS.items()}
    grades = {query: dict.fromkeys(names, 1) for query, names in relevant.items()}
    assert measured(relevant, RUN) == measured(grades, RUN)


def test_sparse_matrices_that_are_dicts_are_still_matrices():
    eye = sp.dok_matrix(np.eye(3))
    assert p_at_1(eye, eye) == 1.0
    assert len(xmceval.score_all(eye, {"a": eye, "b": eye}, metrics="P", k=1)) == 2


def test_runs_with_other_documents_are_results_of_the_same_truth():
    runs = {"a": {"q1": {"d1": 1.0}}, "b": {"q1": {"d1": 1.0, "x": 2.0, "y": 3.0}}}
    results = xmceval.score_all({"q1": {"d1": 1, "d2": 0}}, runs, metrics="P", k=1)
    assert [results[name]["P@1"] for name in "ab"] == [1.0, 0.0]


def names(*inputs, **options):
    return list(xmceval.score(*inputs, **options))


def test_default_metrics_of_queries_are_as_they_were_approved():
    check_answers(__file__, "search.txt", lambda line: evaluate(line, globals()))
