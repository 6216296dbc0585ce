"""Fields: from one description follow the JSON of a value, and what a column holds."""

import csv
import io
import math
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

import xmceval
from xmceval.inspection.file import FileInspection
from xmceval.inspection.pair import PairInspection
from xmceval.inspection.savedstate import StateInspection
from xmceval.inspection.tally import Spread
from xmceval.labels.bins import Bin
from xmceval.labels.catalogue import Constants, Dataset, Published, Split
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.fields import comparefields, inspectfields, scorefields
from xmceval.report.fields.field import (
    MAPPING,
    NUMBER,
    PLAIN,
    UNLESS_EMPTY,
    WHOLE,
    by,
    document,
    find_numbers,
    inside,
    itself,
    many,
    optional,
    record,
)
from xmceval.report.forms.registry import render
from xmceval.report.listings import datasetlist
from xmceval.rows.filters import FilterReport
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.states.state import StatePart


@dataclass
class Bar:
    low: int
    high: int


SCALE = {"base": NUMBER, "name": PLAIN}
PLOT = document(
    "xmceval/plot/1",
    {
        "title": PLAIN,
        "note": UNLESS_EMPTY,
        "kind": PLAIN,
        "n": WHOLE.of(lambda plot: len(plot.bars)),
        "bars": many(record(low=WHOLE, top=WHOLE.of("high"))),
        "span": many(NUMBER),
        "by_name": by(NUMBER),
        "options": MAPPING,
        "axis": record(**inside("axis.scale", SCALE)).of(itself),
        "unknown": many(PLAIN),
        "source": optional(PLAIN),
    },
)
EXAMPLE = SimpleNamespace(
    title="a",
    note="",
    kind="bars",
    bars=(Bar(1, 2), Bar(3, 4)),
    span=(0.5, math.inf),
    by_name={1: 0.25, "x": 1},
    options={"wide": True},
    axis=SimpleNamespace(scale=SimpleNamespace(base=2.0, name="log")),
    unknown=None,
    source=None,
)


def test_a_document_has_its_fields_in_order():
    assert list(PLOT.make(EXAMPLE).items()) == [
        ("schema", "xmceval/plot/1"),
        ("title", "a"),
        ("note", None),
        ("kind", "bars"),
        ("n", 2),
        ("bars", [{"low": 1, "top": 2}, {"low": 3, "top": 4}]),
        ("span", [0.5, None]),
        ("by_name", {"1": 0.25, "x": 1}),
        ("options", {"wide": True}),
        ("axis", {"base": 2.0, "name": "log"}),
        ("unknown", None),
    ]


def test_a_record_without_a_value_of_a_field_is_an_error():
    with pytest.raises(AttributeError, match="title"):
        PLOT.make(SimpleNamespace())


def test_numbers_are_found_by_their_type():
    table = {"a": NUMBER, "b": PLAIN, "c": WHOLE, "d": many(NUMBER), "e": WHOLE.of("x")}
    assert find_numbers(table) == ["a", "c", "e"]


def test_an_infinite_value_is_null_in_json_empty_in_csv_and_itself_in_a_frame():
    result = xmceval.score(np.eye(3), np.eye(3), k=1, metrics="P")
    (figure,) = result.figures
    infinite = replace(result, figures=(replace(figure, estimate=replace(figure.estimate, value=math.inf)),))
    (system,) = infinite.to_dict()["systems"]
    assert system["metrics"]["P@1"]["value"] is None
    (line,) = csv.DictReader(io.StringIO(render("csv", [infinite])))
    assert line["value"] == ""
    assert infinite.to_frame()["value"].tolist() == [math.inf]


# Attributes that no program reads, or reads under another name.
RECORDS = [
    (FileInspection, inspectfields.FILE.fields, {"file"}),
    (Spread, inspectfields.FILE.fields["per_row"].fields, set()),
    (PairInspection, inspectfields.PAIR.fields, set()),
    (StateInspection, inspectfields.STATE.fields, set()),
    (StatePart, inspectfields.PART.fields, set()),
    (Estimate, scorefields.ESTIMATE, set()),
    (Bin, scorefields.BIN, set()),
    (FilterReport, scorefields.FILTER.fields, set()),
    (Difference, {**comparefields.DIFFERENCE, **comparefields.TESTED}, {"measure"}),
    (Testing, comparefields.TESTING, set()),
    (Comparison, comparefields.COMPARE.record.fields, {"results", "differences", "testing"}),
    (Dataset, datasetlist.DATASET, set()),
    (Constants, datasetlist.CONSTANTS.fields, set()),
    (Split, datasetlist.SPLIT.fields, set()),
    (Published, datasetlist.PUBLISHED.fields, {"values"}),
]


@pytest.mark.parametrize(("kind", "described", "unread"), RECORDS, ids=[each[0].__name__ for each in RECORDS])
def test_every_attribute_of_a_record_is_described(kind, described, unread):
    assert {each.name for each in fields(kind)} - set(described) == unread
