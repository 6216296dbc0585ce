"""``xmceval metrics``: every entry of the table is listed, explained, and found by the names of other tools."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import xmceval
from xmceval import METRICS
from xmceval.cli.main import cli
from xmceval.metrics.names import ALIASES, parse
from xmceval.report import metric_list as definitions
from xmceval.report.metric_list import describe_empty_rows, describe_ties, display_name, list_aliases


def run(*arguments, columns=200):
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, ["metrics", *arguments])


def squeezed(text):
    return " ".join(text.split())


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("names", [[], ["PSnDCG"], [*METRICS]], ids=["list", "one", "all"])
def test_lines_are_as_wide_as_the_terminal(names, columns):
    lines = run(*names, columns=columns).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert squeezed(" ".join(lines)).count("DCG") == squeezed(run(*names, columns=10**4).stdout).count("DCG")


def test_a_narrow_terminal_leaves_room_for_words():
    assert max(map(len, run(columns=1).stdout.splitlines())) < 80


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_explained_with_everything_in_its_entry(name):
    metric = METRICS[name]
    result = run(display_name(metric))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{display_name(metric)}: {metric.title}\n")
    text = squeezed(result.stdout)
    facts = [metric.formula, describe_empty_rows(metric), describe_ties(metric), metric.note, metric.source]
    facts += [norm.formula for norm in metric.norms.values()]
    facts += [f"{option}={'|'.join(choices)}, {choices[0]} by default" for option, choices in metric.options.items()]
    facts += [
        f"{each}={o.default:g} by default" for each, o in metric.numbers.items() if each not in {metric.level, "rel"}
    ]
    assert [fact for fact in facts if squeezed(fact) not in text] == []


@pytest.mark.parametrize("name", METRICS)
def test_the_listed_name_and_the_bare_name_are_understood(name):
    for word in (name, display_name(METRICS[name]), display_name(METRICS[name]).lower()):
        assert [metric.name for metric, _ in definitions.find_metrics([word])] == [name]


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_is_listed_with_its_metric_as_people_write_it(alias):
    metric = parse(ALIASES[alias], [1])[0].metric
    assert alias in [listed.partition(" = ")[0] for listed in list_aliases(metric)]
    assert squeezed(run(alias).stdout).startswith(f"{display_name(metric)}: ")


BY_ROW = [metric for metric in METRICS.values() if metric.family in {"top-k", "row"} and not metric.left_out]


@pytest.mark.parametrize("metric", BY_ROW, ids=lambda metric: metric.name)
def test_a_row_without_truth_has_the_value_of_the_entry(metric):
    name = display_name(metric).replace("@k", "@1").replace("@recall", "@1")
    options = {"inverse_propensities": np.ones(3)} if metric.needs_propensities else {}
    scores = np.array([[0.5, 0.3, 0.1]])
    assert xmceval.score(np.zeros((1, 3)), scores, metrics=name, **options)[name] == metric.empty_value


@pytest.mark.parametrize("name", ["P", "R", "nDCG", "AP", "RR", "Hit", "LRAP", "coverage_error", "ranking_loss", "AUC"])
def test_what_other_tools_do_is_noted(name):
    assert any(tool in METRICS[name].note for tool in ("trec_eval", "scikit-learn"))


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_a_note_explains_only_options_and_choices_of_its_metric(metric):
    for clause in metric.note.split("; "):
        found = re.match(r"(\w+)=(\w*)", clause)
        if found and found[1] != "unscored":  # an option of scoring, not of the metric
            assert found[1] in metric.options
            assert found[2] in {"", *metric.options[found[1]]}


def test_several_metrics_are_separated_by_a_blank_line_and_shown_once():
    assert run("P", "R", "P@5").stdout.count("\n\n") == 1
    assert "nDCG@1" not in run("nDCG").stdout
    assert [metric.name for metric, _ in definitions.find_metrics(["confusion"])] == ["tp", "fp", "fn", "tn"]


def test_json_has_every_metric_or_those_asked_for():
    document = json.loads(run("-o", "json").stdout)
    assert document["schema"] == "xmceval/metrics/1"
    assert [entry["name"] for entry in document["metrics"]] == [metric.name for metric in definitions.sort_by_family()]
    (one,) = json.loads(run("DCG", "-o", "json").stdout)["metrics"]
    assert one["range"] == [0, None]
    assert one["options"]["discount"] == {"choices": ["log2", "ln", "letor", "none"]}
