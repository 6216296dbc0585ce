"""TREC files: their lines in every form that real tools write, joined by query and document; grades before features."""
# ruff: noqa: E501 - a case is one line

import pytest
from support.asked import p_at_1, refused
from support.files import QRELS, RUN, write

import xmceval


def score(qrels=QRELS, run=RUN, **options):
    return xmceval.score(write("q", qrels), write("r", run), **{"metrics": ["P", "nDCG", "RR"], "k": [1, 2], **options})


SHORT_RUN = "".join(f"{query} {name} {value}\n" for query, _, name, _, value, _ in map(str.split, RUN.splitlines()))
RUNS = {
    "0 in the second column": RUN.replace("Q0", "0"),
    "an iteration in the second column": RUN.replace("Q0", "3"),
    "blanks after the tag": RUN.replace("me", "me \t\r"),
    "without a tag": RUN.replace(" me", ""),
    "tabs": RUN.replace(" ", "\t"),
    "a comment": "# made by me\n" + RUN,
    "only queries, documents and scores": SHORT_RUN,
    "only these, below a comment": "# made by me\n\n" + SHORT_RUN,
    "permuted": "".join(reversed(RUN.splitlines(keepends=True))),
}
ALL_QRELS = {
    "iterations": QRELS.replace(" 0 d", " 4.5 d"),
    "Q0": QRELS.replace(" 0 d", " Q0 d"),
    "negative grades": QRELS.replace("d1 0", "d1 -2"),
    "BEIR": "query-id\tcorpus-id\tscore\n" + QRELS.replace(" 0 ", "\t").replace(" ", "\t"),
}


@pytest.mark.parametrize("form", RUNS | ALL_QRELS)
def test_every_form_scores_the_same(form):
    result = score(run=RUNS[form]) if form in RUNS else score(ALL_QRELS[form])
    assert result.estimates == score().estimates
    assert ("q: 1 grade below 0 counts as not judged" in result.warnings) == (form == "negative grades")


TIED = "q Q0 a 1 inf me\nq Q0 b 1 inf me\nq Q0 c 1 0.5 me\nq Q0 d 1 0.5 me\nq Q0 e 1 0.25 me\n"
HASHES = "q1 0 msmarco_v2.1_doc_01_1#4_5 1\nq1 0 msmarco_v2.1_doc_01_1#9_5 0\n"
HASHED = "#q Q0 a comment\nq1 Q0 msmarco_v2.1_doc_01_1#9_5 1 2 me\nq1 Q0 msmarco_v2.1_doc_01_1#4_5 2 1 me\n"
VALUES = {  # qrels, run, options, and values
    "a single line": ("q1 0 d2 1\n", "q1 Q0 d2 1 3.5 me\n", {"k": 1}, {"P@1": 1}),
    "documents are strings": ("1 0 7 1\n2 0 8 1\n", "1 Q0 007 1 9 me\n2 Q0 8 1 2 me\n1 Q0 7 2 3 me\n", {}, {"RR@2": 0.75, "P@1": 0.5}),
    "a hash within a document": (HASHES, HASHED, {}, {"RR@2": 0.5}),
    "a cutoff above the number of documents": (QRELS, RUN, {"k": 1000, "metrics": "RR"}, {"RR@1000": 0.75}),
    "broken ties at a threshold": ("q 0 a 1\nq 0 d 1\nq 0 e 0\n", TIED, {"metrics": ["tp", "fp"], "threshold": 0.5, "n_labels": 5}, {"tp": 2, "fp": 2}),
    "infinities in order": ("q 0 a 1\nq 0 e 0\n", TIED, {"metrics": "RR", "k": 5}, {"RR@5": 0.5}),
    "other rules for ties": ("q 0 a 1\nq 0 x 0\n", "q Q0 a 1 0.5 me\nq Q0 b 1 0.5 me\n", {"k": 1, "ties": "expected"}, {"P@1": 0.5}),
    "whole grades with a point": ("q1 0 d1 1.0\nq1 0 d2 0.0\nq2 0 d3 2.0\n", "q1 Q0 d1 1 0.5 x\nq2 Q0 d3 1 0.5 x\n", {"k": 1}, {"nDCG@1": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", VALUES)
def test_values_are_those_of_trec_eval(case):
    qrels, run, options, values = VALUES[case]
    result = score(qrels, run, **options)
    assert {name: result[name] for name in values} == values


@pytest.mark.parametrize("grade", [-1, -2])
def test_documents_of_a_negative_grade_are_not_judged(grade):
    def judge(*grades):
        qrels = "".join(f"q 0 {name} {each}\n" for name, each in zip("abcde", grades, strict=True) if each is not None)
        run = "q Q0 b 1 9 me\nq Q0 a 2 8 me\nq Q0 c 3 7 me\nq Q0 d 4 6 me\n"
        return dict(score(qrels, run, metrics=["P", "nDCG", "R@n"], k=4))

    assert judge(1, grade, 0, 1, 0) == judge(1, None, 0, 1, 0) == judge(1, 0, 0, 1, 0)


def test_the_text_of_a_query_may_have_separators_of_lines():
    line = '{{"query_id": "{}", "query": "one{}two", "results": [{{"corpus_id": "d1", "score": 1.5}}]}}\n'
    plain, *others = ("".join(line.format(query, text) for query in ("q1", "q2")) for text in (" ", "\u2028", "\x85"))
    for run in others:
        assert score(run=run).estimates == score(run=plain).estimates


def test_documents_that_are_numbers_are_labels():
    options = {"metrics": "PSP", "train": write("x", "7:1\n8:1\n8:1\n8:1\n"), "n_labels": 9, "k": [1, 2]}
    result = score("1 0 7 1\n2 0 8 1\n", "1 Q0 8 1 9 me\n2 Q0 8 1 2 me\n1 Q0 7 2 3 me\n", **options)
    assert (
        result.estimates
        == xmceval.score(write("t", "2 9\n7:1\n8:1\n"), write("p", "8:9 7:3\n8:2\n"), **options).estimates
    )


def test_queries_that_a_run_lacks_have_no_prediction_and_are_reported():
    result = score(run=RUN[: RUN.index("q1")], metrics=["Hit"])
    assert result["Hit@2"] == 0.5
    report = "r: has no line for 1 of the 2 queries of q, such as 'q1': nothing is retrieved for it (trec_eval leaves it out)"
    assert report in result.warnings


def test_ranked_labels_with_a_popular_second_one_are_no_qrels():
    assert xmceval.score(write("t", "2 9\n5:1\n5:1\n"), write("p", "5 0 3 8\n" * 2), k=1, metrics=["P"])["P@1"] == 1


# LETOR.
# The labels of lines before their features, and whether the lines may have grades.
ONE_LABEL = {
    "grades": ([0, 2, 0, 1, 4] * 4, True),
    "classes": ([0, 2, 0, 1, 5] * 4, False),
    "one class": ([1] * 20, False),
    "several labels": ([0, 2, 0, 1, "3,4"] * 4, False),
    "a row without labels": ([0, 2, 0, 1, ""] * 4, False),
    "few": ([0, 2, 0, 1, 4], True),
}


@pytest.mark.parametrize(("labels", "is_doubted"), ONE_LABEL.values(), ids=ONE_LABEL)
def test_one_small_number_before_features_is_doubted_to_be_a_grade(run, labels, is_doubted):
    lines = "".join(f"{label} 1:0.5 3:0.25\n" for label in labels)
    scores = write("p", "0:0.5 1:0.25 2:0.125\n" * len(labels))
    doubt = (
        f"t: each of the first {len(labels)} lines has one number of 0 to 4 before its features: are these grades of "
        "documents? (hint: see the recipe for LETOR and SVMlight files, with qid: or sizes of queries, in the guide "
        "recipes.md; {} declares labels)"
    )
    options = {"k": 1, "metrics": "P"}
    doubts = xmceval.score(write("t", lines), scores, **options).doubts
    assert [line for line in doubts if "grades" in line] == is_doubted * [doubt.format("n_labels=")]
    code, _, err = run("score", "t", scores, "-m", "P", "-k", "1", "--strict", "-q")
    assert (code, doubt.format("--n-labels N") in err) == (is_doubted, is_doubted)
    assert xmceval.score("t", scores, **options, n_labels=6).doubts == ()
    assert xmceval.score(write("t", f"{len(labels)} 4 6\n{lines}"), scores, **options).doubts == ()


LABELED = {
    "a header": ("3 4 5\n1 0:0.5 3:0.1\n0 0:0.2\n4 1:0.9\n", 3),
    "a header in a comment": ("# 3 4 5\n1 0:0.5 3:0.1\n0 0:0.2\n4 1:0.9\n", 3),
    "lists": ("1 0:0.5 3:0.1\n0 0:0.2\n2,4 1:0.9\n", 3),
    "a row without labels": ("1 0:0.5 3:0.1\n 0:0.2\n4 1:0.9\n", 2),
    "labels that are no grades": ("1 0:0.5 3:0.1\n0 0:0.2\n5 1:0.9\n", 2),
}


@pytest.mark.parametrize("form", LABELED)
def test_labels_before_features_are_read(form):
    text, n_hits = LABELED[form]
    assert p_at_1(write("x", text), write("p", "1\n0\n4\n")) == n_hits / 3


HINT = r"; a document has one {} \(hint: pass duplicates='max' to count its largest value\)$"
JUDGED_TWICE = {
    "equal grades": "q 0 a 1\nq 0 a 1\n",
    "other grades": "q 0 a 1\nq 0 a 0\n",
    "the other way": "q 0 a 0\nq 0 a 1\n",
    "no grade": "q 0 a 0\nq 0 a 0\nq 0 b 1\n",
    "a grade below 0": "q 0 a -1\nq 0 a 1\n",
}


@pytest.mark.parametrize("form", JUDGED_TWICE)
def test_a_document_that_is_judged_twice_is_a_duplicate_whatever_its_grades(form):
    qrels = JUDGED_TWICE[form]
    message = r"document 'a' appears twice for query 'q' \(first in {}\)" + HINT.format("truth")
    with pytest.raises(xmceval.DataError, match=r"^q:2: " + message.format("q:1")):
        score(qrels)
    beir = "query-id\tcorpus-id\tscore\n" + qrels.replace(" 0 ", "\t").replace(" ", "\t")
    with pytest.raises(xmceval.DataError, match=r"^q:3: " + message.format("q:2")):
        score(beir)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([line.split() for line in qrels.splitlines()], columns=["qid", "0", "docno", "label"])
    refused(
        r"^y_true: entry 1: " + message.format("y_true: entry 0"),
        frame.astype({"label": int}),
        {"q": {"a": 1.0}},
        metrics="P",
    )
    assert score(qrels, "q Q0 a 1 1 me\n", metrics="P", k=1, duplicates="max")["P@1"] == (form != "no grade")
