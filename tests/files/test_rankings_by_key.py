"""Rankings and qrels whose keys and fields name queries and documents: every nesting has the values of TREC text."""

import json
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.asked import measured, p_at_1

import xmceval

QRELS = {"q1": {"d1": 2, "d3": 1}, "q2": {"d2": 1}, "q3": {"d9": 1, "d1": 3}}
RUN = {"q1": {"d3": 0.9, "d2": 0.8, "d1": 0.1}, "q2": {"d2": 0.4, "d1": 0.3}, "q3": {"d4": 3.0, "d1": 2.0}}
OPTIONS = {"metrics": ["nDCG", "P", "RR", "AP"], "k": 3}

Qrel = namedtuple("Qrel", "query_id doc_id relevance")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


def write(name, text):
    Path(name).write_text(text)
    return name


def lines(name, rows):
    return write(name, "".join(json.dumps(row) + "\n" for row in rows))


def flat(table):
    return [(query, document, value) for query, row in table.items() for document, value in row.items()]


def best_first(row):
    return sorted(row, key=row.get, reverse=True)


def pairs(table):
    return {query: [[document, value] for document, value in row.items()] for query, row in table.items()}


def records(table, value):
    return {query: [{"doc_id": d, value: v} for d, v in row.items()] for query, row in table.items()}


GRADED = {
    "dicts": lambda: QRELS,
    "pairs": lambda: pairs(QRELS),
    "tuples": lambda: {query: [*row.items()] for query, row in QRELS.items()},
    "records": lambda: records(QRELS, "relevance"),
    "named tuples": lambda: [Qrel(*row) for row in flat(QRELS)],
    "list of records": lambda: [Qrel(*row)._asdict() for row in flat(QRELS)],
    "records with labels": lambda: records(QRELS, "label"),
    "list of records with labels": lambda: [
        {"query_id": query, "doc_id": document, "label": grade} for query, document, grade in flat(QRELS)
    ],
    "list of records with scores": lambda: [ScoredDoc(*row) for row in flat(QRELS)],
    "list of lists": lambda: [
        {"query_id": query, "doc_ids": [*row], "rel": [*row.values()]} for query, row in QRELS.items()
    ],
    "list of records with texts before ids": lambda: [
        {"query": "what", "query_id": query, "document": "text", "doc_id": document, "rel": grade}
        for query, document, grade in flat(QRELS)
    ],
}
SCORED = {
    "dicts": lambda: RUN,
    "pairs": lambda: pairs(RUN),
    "records": lambda: records(RUN, "score"),
    "named tuples": lambda: [ScoredDoc(*row) for row in flat(RUN)],
    "named tuples by query": lambda: {query: [ScoredDoc(query, *row) for row in RUN[query].items()] for query in RUN},
    "list of results": lambda: [
        {"query_id": query, "results": [{"corpus_id": d, "score": v} for d, v in row.items()]}
        for query, row in RUN.items()
    ],
    "list of lists": lambda: [
        {"query_id": query, "doc_id": [*row], "score": (*row.values(),)} for query, row in RUN.items()
    ],
    "list of records": lambda: [ScoredDoc(*row)._asdict() for row in flat(RUN)],
    "list of records with texts before ids": lambda: [
        {"query": "what", "qid": query, "doc": "text", "docno": document, "score": value}
        for query, document, value in flat(RUN)
    ],
}
RANKED = {
    "lists": lambda: {query: best_first(row) for query, row in RUN.items()},
    "tuples": lambda: {query: tuple(best_first(row)) for query, row in RUN.items()},
    "list of lists of documents": lambda: [{"query_id": q, "docs": best_first(r)} for q, r in RUN.items()],
}


@pytest.fixture
def expected():
    trec = write("t.qrels", "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in flat(QRELS)))
    run = write("p.run", "".join(f"{query} Q0 {document} 1 {score} x\n" for query, document, score in flat(RUN)))
    return measured(trec, run, **OPTIONS)


def in_memory(table):
    return table


def in_json(table, indent=None):
    """Write dicts as an object of JSON, and a list as a line for each of its items."""
    if isinstance(table, dict):
        return write("x.json", json.dumps(table, indent=indent))
    return lines("x.json", [row if isinstance(row, dict) else row._asdict() for row in table])


every_place = pytest.mark.parametrize("place", [in_memory, in_json, partial(in_json, indent=1)])


@every_place
@pytest.mark.parametrize("form", GRADED)
def test_qrels_of_every_nesting_have_the_values_of_trec(expected, form, place):
    assert measured(place(GRADED[form]()), RUN, **OPTIONS) == expected


@every_place
@pytest.mark.parametrize("form", SCORED | RANKED)
def test_runs_of_every_nesting_have_the_values_of_trec(expected, form, place):
    if form != "named tuples by query" or place is in_memory:  # JSON has none
        assert measured(QRELS, place((SCORED | RANKED)[form]()), **OPTIONS) == expected


def test_lists_of_documents_are_relevant_ones_as_sets_are():
    found = xmceval.score({"q1": ["d1", "d3"], "q2": ["d2"]}, RUN, metrics="P", k=1)
    assert dict(found) == measured({"q1": {"d1", "d3"}, "q2": {"d2"}}, RUN, metrics="P", k=1)


def test_a_record_may_hold_arrays_as_those_of_data_frames_do():
    rows = [{"query_id": "q1", "docs": np.array(["d1", "d2"]), "scores": np.array([1.0, 2.0])}]
    expected = xmceval.score(QRELS, {"q1": {"d1": 1.0, "d2": 2.0}}, metrics="P", k=1)
    assert measured(QRELS, rows, metrics="P", k=1) == dict(expected)


def test_numbers_are_names_in_json():
    truth = {"1": {"7": 1}, "2": {"8": 1}}
    numbered = [{"query_id": 1, "doc_id": 7, "score": 0.5}, {"query_id": 2, "doc_id": 8, "score": 0.5}]
    for form in (numbered, [{"query_id": 1, "docs": [7, 9]}, {"query_id": 2, "docs": [8]}]):
        assert p_at_1(truth, lines("p.json", form)) == 1.0
    for row in ([7, 9], [[7, 0.5], [9, 0.25]], [{"doc_id": 7, "score": 1}]):
        assert p_at_1(truth, write("p.json", json.dumps({"1": row, "2": [8]}))) == 1.0


def test_an_object_of_lists_with_known_names_is_a_line_of_json():
    write("t.json", '{"target_ind": [1, 2]}\n')
    assert p_at_1("t.json", [[2, 1]]) == 1.0


def test_keys_that_may_be_columns_are_doubted():
    table = {f"c{column}": {str(row): float(row == column) for row in range(3)} for column in range(3)}
    truth = {key: {row: int(value) for row, value in of_key.items()} for key, of_key in table.items()}
    found = xmceval.score(truth, table, metrics="P", k=1)
    assert any("every query has the documents 0 to 2: are the keys columns" in doubt for doubt in found.doubts)
