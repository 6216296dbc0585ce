"""TREC files: their lines in every form that real tools write, joined by query and document; grades before features."""
# ruff: noqa: F401 - lines use what is imported here

import json

import pandas as pd
import pytest
from support.approved import check_lines
from support.asked import p_at_1
from support.files import QRELS, RUN, write

import xmceval


def score(qrels=QRELS, run=RUN, **options):
    return xmceval.score(write("q", qrels), write("r", run), **{"metrics": ["P", "nDCG", "RR"], "k": [1, 2], **options})


SHORT_RUN = "".join(f"{query} {name} {value}\n" for query, _, name, _, value, _ in map(str.split, RUN.splitlines()))
TIED = "q Q0 a 1 inf me\nq Q0 b 1 inf me\nq Q0 c 1 0.5 me\nq Q0 d 1 0.5 me\nq Q0 e 1 0.25 me\n"
HASHES = "q1 0 msmarco_v2.1_doc_01_1#4_5 1\nq1 0 msmarco_v2.1_doc_01_1#9_5 0\n"
HASHED = "#q Q0 a comment\nq1 Q0 msmarco_v2.1_doc_01_1#9_5 1 2 me\nq1 Q0 msmarco_v2.1_doc_01_1#4_5 2 1 me\n"
TRAIN = {"metrics": "PSP", "train": "x", "n_labels": 9, "k": [1, 2]}


def same(**text):
    """Return the warnings of a form that has the values of the plain one."""
    result = score(**text)
    assert result.estimates == score().estimates
    return result.warnings


def judge(*grades):
    qrels = "".join(f"q 0 {name} {grade}\n" for name, grade in zip("abcde", grades, strict=True) if grade is not None)
    run = "q Q0 b 1 9 me\nq Q0 a 2 8 me\nq Q0 c 3 7 me\nq Q0 d 4 6 me\n"
    return dict(score(qrels, run, metrics=["P", "nDCG", "R@n"], k=4))


def results(separator):
    """Return the run as JSON lines, whose queries have a text."""
    rows = {"q1": ("d1", "d2"), "q2": ("d9", "d3")}
    scores = {"d1": 3, "d2": 3, "d9": 5.5, "d3": 4}
    lines = [
        {
            "query_id": query,
            "query": f"one{separator}two",
            "results": [{"corpus_id": d, "score": scores[d]} for d in row],
        }
        for query, row in rows.items()
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def message_of(call, *inputs, **options):
    with pytest.raises(xmceval.DataError) as error:
        call(*inputs, **options)
    return str(error.value)


def twice(qrels):
    """Return the messages of qrels in three forms, and P@1 where the largest grade counts."""
    beir = "query-id\tcorpus-id\tscore\n" + qrels.replace(" 0 ", "\t").replace(" ", "\t")
    frame = pd.DataFrame([line.split() for line in qrels.splitlines()], columns=["qid", "0", "docno", "label"])
    of_frame = message_of(xmceval.score, frame.astype({"label": int}), {"q": {"a": 1.0}}, metrics="P")
    value = score(qrels, "q Q0 a 1 1 me\n", metrics="P", k=1, duplicates="max")["P@1"]
    return "\n".join([message_of(score, qrels), message_of(score, beir), of_frame, str(value)])


def test_rankings_are_read_and_scored_in_these_words(run):
    write("x", "7:1\n8:1\n8:1\n8:1\n")

    def labeled(labels):
        """Return the doubts of labels before features: in Python, of the command, and where labels are declared."""
        text = "".join(f"{label} 1:0.5 3:0.25\n" for label in labels)
        scores, options = write("p", "0:0.5 1:0.25 2:0.125\n" * len(labels)), {"k": 1, "metrics": "P"}
        doubts = xmceval.score(write("t", text), scores, **options).doubts
        code, _, err = run("score", "t", scores, "-m", "P", "-k", "1", "--strict", "-q")
        declared = xmceval.score("t", scores, **options, n_labels=6).doubts
        declared += xmceval.score(write("t", f"{len(labels)} 4 6\n{text}"), scores, **options).doubts
        return "\n".join([*doubts, f"exit {code}", err.rstrip("\n"), str(declared)])

    check_lines(__file__, "rankings.txt", globals() | locals())
