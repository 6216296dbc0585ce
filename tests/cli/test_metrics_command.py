"""``xmceval metrics``: every entry of the table is listed, explained, and found under the words of other tools."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from xmceval.cli import cli
from xmceval.errors import UsageError
from xmceval.metrics.entry import FAMILIES
from xmceval.metrics.names import ALIASES, parse
from xmceval.metrics.table import METRICS
from xmceval.report import metrics as definitions
from xmceval.report.metrics import definition, display_name, empty_rows, readme_table, ties

PSP = """\
PSP@k: propensity-scored precision
  definition     sum over rows of (sum of w over hits / k) / the same of the ideal rankings
  PSP@5          sum over rows of (sum of w over hits / k) / the same of the ideal rankings; w = 1 / propensity of
                 the label; ratio of sums over rows; k = 5
  where          k is the cut
                 w is 1 / propensity of the label
                 ideal is the ranking of the row's true labels that reaches the most
  over rows      ratio: ratio of sums over rows; none: mean over rows
  from           the best labels of a row
  range          0..1, higher is better
  options        norm=ratio|none, ratio by default
                   ratio: sum over rows of (sum of w over hits / k) / the same of the ideal rankings
                   none: sum of w over hits / k
                 rel=1 by default, a whole number from 1; a label is true from this grade on
  no true label  adds 0 to both sums (--empty-rows drop leaves it out)
  ties           higher score first, then the lower label id; the report tells how far ties could move a value
  note           the formula printed on XMLRepository has no divisor (norm=none); every XC script has it (norm=ratio)
  also called    psprecision (in any case, with any _ or -)
  source         Jain, Prabhu, Varma, KDD 2016
"""


def run(*arguments):
    return CliRunner().invoke(cli, ["metrics", *arguments])


def squeezed(text):
    return " ".join(text.split())


def test_the_list_has_a_line_for_every_metric_by_family():
    lines = run().stdout.splitlines()
    assert lines[0].split() == ["METRIC", "FAMILY", "RANGE", "OPTIONS", "DEFINITION"]
    listed = [line.split()[:2] for line in lines[1 : len(METRICS) + 1]]
    assert [name for name, _ in listed] == [display_name(metric) for metric in definitions.by_family()]
    families = [family for _, family in listed]
    assert families == sorted(families, key=FAMILIES.index)


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_explained_with_all_that_its_entry_says(name):
    metric = METRICS[name]
    result = run(display_name(metric))
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{display_name(metric)}: {metric.title}\n")
    text = squeezed(result.stdout)
    told = [definition(metric), empty_rows(metric), ties(metric), metric.note, metric.source]
    told += [norm.formula for norm in metric.norms.values()]
    told += [f"{option}={'|'.join(choices)}, {choices[0]} by default" for option, choices in metric.options.items()]
    told += [f"{option}={number.default:g} by default" for option, number in metric.numbers.items()]
    assert [each for each in told if squeezed(each) not in text] == []


@pytest.mark.parametrize("name", METRICS)
def test_the_listed_name_and_the_bare_name_are_understood(name):
    for word in (name, display_name(METRICS[name]), display_name(METRICS[name]).lower()):
        assert [metric.name for metric, _ in definitions.find([word])] == [name]


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("precision@5", "P@5"),
        ("P_5", "P@5"),
        ("psp@5", "PSP@5"),
        ("ndcg_cut_5", "nDCG@5"),
        ("map_cut_10", "AP@10"),
        ("abandonment@5", "Abandonment@5"),
        ("recall_5", "R@5"),
        ("success_1", "Hit@1"),
        ("recip_rank", "RR@all"),
        ("map", "AP@all"),
        ("Rprec", "R@n"),
    ],
)
def test_words_of_other_tools_mean_the_canonical_name_and_it_is_printed(alias, canonical):
    (measure,) = parse(alias, [5])
    assert str(measure) == canonical
    assert run(alias).stdout.startswith(f"{display_name(measure.metric)}: ")
    if measure.k is not None:
        assert f"  {canonical}" in run(alias).stdout


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_stands_with_its_metric(alias):
    metric = parse(ALIASES[alias], [1])[0].metric
    assert alias == metric.name.lower() or any(
        word.split()[0].replace("_", "") == alias for word in definitions.aliases(metric)
    )


def test_the_misnomer_of_other_tools_is_told():
    assert "napkinXC and xCOLUMNs call the hit rate abandonment" in run("abandonment").stdout


def test_one_metric_as_a_literal():
    assert run("psp_5").stdout == PSP


def test_rows_without_truth_do_what_the_design_says():
    assert empty_rows(METRICS["P"]).startswith("counts 0")
    assert empty_rows(METRICS["Abandonment"]).startswith("counts 1")
    assert empty_rows(METRICS["LRAP"]).startswith("counts 1")
    assert empty_rows(METRICS["coverage_error"]).startswith("counts 0")
    assert empty_rows(METRICS["PSnDCG"]).startswith("adds 0 to both sums")
    assert empty_rows(METRICS["AUC"]).startswith("left out")


def test_options_and_cuts_that_are_asked_for_are_defined():
    text = run("nDCG(gain=exp)@5").stdout
    assert "  nDCG(gain=exp)@5  " in text
    assert "g = 2^grade - 1" in text
    assert "nDCG@1" not in run("nDCG").stdout


def test_every_symbol_of_a_formula_is_explained():
    text = squeezed(run("nDCG").stdout)
    assert "definition sum of g d over hits / the same of the ideal ranking" in text
    assert all(f" {letter} is " in text for letter in ("g", "d", "ideal"))


@pytest.mark.parametrize("name", ["AUC@k", "ERR"])
def test_a_cut_says_that_only_so_many_ranks_are_looked_at(name):
    assert "from the first k ranks of a row range" in squeezed(run(name).stdout)


def test_aliases_stand_as_people_write_them():
    assert "ndcg_cut (in any case" in squeezed(run("nDCG").stdout)
    assert "ndcgcut" not in run("nDCG").stdout


@pytest.mark.parametrize("name", ["P", "R", "nDCG", "AP", "RR", "Hit", "LRAP", "coverage_error", "ranking_loss", "AUC"])
def test_what_other_tools_do_is_told(name):
    assert any(tool in METRICS[name].note for tool in ("trec_eval", "scikit-learn"))


def test_several_metrics_are_separated_by_a_blank_line_and_told_once():
    assert run("P", "R", "P@5").stdout.count("\n\n") == 1
    assert [metric.name for metric, _ in definitions.find(["confusion"])] == ["tp", "fp", "fn", "tn"]


def test_an_unknown_name_is_wrong_usage_with_a_suggestion():
    result = run("nDGC")
    assert isinstance(result.exception, UsageError)
    assert "did you mean nDCG?" in str(result.exception)
    command = [sys.executable, "-m", "xmceval", "metrics", "nDGC"]
    assert subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 2


def test_json_has_every_metric_or_those_asked_for():
    document = json.loads(run("-o", "json").stdout)
    assert document["schema"] == "xmceval-metrics/1"
    assert [entry["name"] for entry in document["metrics"]] == [metric.name for metric in definitions.by_family()]
    (one,) = json.loads(run("DCG", "-o", "json").stdout)["metrics"]
    assert one["range"] == [0, None]
    assert one["options"]["discount"] == {"choices": ["log2", "ln", "letor", "none"]}


def test_the_readme_table_has_a_row_for_every_metric():
    lines = readme_table().splitlines()
    assert len(lines) == len(METRICS) + 2
    assert lines[2] == "| `P@k` | precision | hits / k | rel=1 |"
    assert {line.replace("\\|", "").count("|") for line in lines} == {5}


def test_the_command_loads_neither_numba_nor_scipy():
    code = (
        "import sys; from xmceval.cli import cli; cli(['metrics', 'P'], standalone_mode=False);"
        "sys.exit(len({'numba', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
