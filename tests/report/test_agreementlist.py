"""What was recorded of other tools' functions can be read, and is shown with each metric."""

import re

from xmceval.labels.catalogue import read_table
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS
from xmceval.report.metric_list import agrees, describe_agreement, display_name, exceptions, recorded

VERDICTS = {"equal", "equal with option", "within tie bounds", "not compared", "different"}
LINES = list(read_table("agreement.tsv"))
NAMES = {display_name(metric) for metric in METRICS.values()}
TOOLS = {"napkinXC", "PECOS", "xCOLUMNs", "scikit-learn", "torchmetrics", "pytrec_eval", "ranx", "ir_measures"}


def test_every_line_is_of_a_metric_and_a_tool():
    assert {line["metric"] for line in LINES} <= NAMES
    assert {line["peer"] for line in LINES} == TOOLS
    assert {line["verdict"] for line in LINES} == VERDICTS
    assert len({tuple(line.values()) for line in LINES}) == len(LINES) > 200


def test_measures_among_the_options_can_be_read():
    options = [line["option"] for line in LINES if "(" in line["option"]]
    assert options
    for option in options:
        (measure,) = parse(re.match(r"\w+\([^)]*\)", option)[0], [1])
        assert measure.chosen


def test_equal_values_are_close_and_where_values_differ_it_is_said_why():
    closest = {"torchmetrics": 1e-3, "xCOLUMNs": 1e-5}  # ranks are not shares: relative to themselves
    for line in LINES:
        if line["verdict"].startswith("equal"):
            assert 0 <= float(line["largest_difference"]) < closest.get(line["peer"], 1e-9), line
            assert int(line["values"]) > 0, line
        elif line["verdict"] == "different":
            assert line["reason"], line
            assert float(line["largest_difference"]) > 1e-9, line


def test_every_function_has_one_line_of_most_inputs():
    for lines in recorded().values():
        assert [line.inputs in {"all", "all others"} for line in lines] == [True, *[False] * (len(lines) - 1)]
        assert lines[0].verdict != "not compared"


def test_exceptions_are_the_lines_that_are_not_equal():
    lines = recorded()["PECOS", "P@k", "Metrics.prec"]
    assert agrees(lines)
    assert [line.inputs for line in exceptions(lines)] == ["stored zeros in the truth"]
    where = {"peer": "PECOS", "function": "Metrics.prec", "inputs": "stored zeros in the truth"}
    [example] = (line["example"] for line in LINES if line.items() >= where.items())
    assert "theirs 1, ours 0, by hand 0" in example


def test_a_metric_names_who_agrees_and_who_does_not():
    facts = dict(describe_agreement("PSDCG@k"))
    assert facts == {"differs from": "napkinXC 0.7.2: psdcg_at_k, which divides by k too"}
    facts = [text for term, text in describe_agreement("ranking_loss") if term == "agrees with"]
    assert [text.partition(":")[2] for text in facts] == [
        " label_ranking_loss",
        " multilabel_ranking_loss, except on labels without a score, ties",
    ]
    assert list(describe_agreement("GAUC")) == []


def test_many_variants_of_a_function_are_counted():
    (text,) = (text for _, text in describe_agreement("f1_score") if text.startswith("scikit-learn"))
    assert re.fullmatch(r"scikit-learn [\d.]+: f1_score in 8 variants; fbeta_score with f1_score\(.*\)", text)
