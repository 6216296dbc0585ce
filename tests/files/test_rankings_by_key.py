"""Rankings and qrels whose keys and fields name queries and documents: every nesting has the values of TREC text."""

# ruff: noqa: F401 - lines use what is imported here

import json
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy as np
from support.approved import check_lines
from support.asked import doubts_of, measured, p_at_1

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


def in_memory(table):
    return table


def in_json(table, indent=None):
    """Write dicts as an object of JSON, and a list as a line for each of its items."""
    if isinstance(table, dict):
        return write("x.json", json.dumps(table, indent=indent))
    return lines("x.json", [row if isinstance(row, dict) else row._asdict() for row in table])


PLACES = in_memory, in_json, partial(in_json, indent=1)


def qrels(table, *places):
    """Return the values of qrels, which are the same in every place."""
    return same([measured(place(table), RUN, **OPTIONS) for place in places or PLACES])


def run(table, *places):
    return same([measured(QRELS, place(table), **OPTIONS) for place in places or PLACES])


def same(values):
    assert all(value == values[0] for value in values)
    return {name: round(value, 6) for name, value in values[0].items()}


def test_rankings_of_every_nesting_have_the_values_of_trec():
    trec = write("t.qrels", "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in flat(QRELS)))
    lines = [f"{query} Q0 {document} 1 {score} x\n" for query, document, score in flat(RUN)]
    expected = measured(trec, write("p.run", "".join(lines)), **OPTIONS)
    assert expected == measured(QRELS, RUN, **OPTIONS)
    check_lines(__file__, "nestings.txt", globals())
