"""Completion and help: what a shell offers, and how help lays out the options."""

import re

import pytest
from click.testing import CliRunner

from xmceval import METRICS
from xmceval.cli.main import COMMANDS, cli
from xmceval.cli.score import command as score
from xmceval.comparison.command import command as compare
from xmceval.comparison.options import Testing
from xmceval.labels.catalogue import datasets, find_dataset
from xmceval.metrics.names import parse
from xmceval.scoring.options import GROUPS, specs


@pytest.fixture
def ask(run, monkeypatch):
    """Return what the process that a shell itself starts prints."""

    def ask(mode, *words):
        asked = {"COMP_WORDS": " ".join(["xmceval", *words]), "COMP_CWORD": str(len(words)), "_XMCEVAL_COMPLETE": mode}
        for name, value in asked.items():
            monkeypatch.setenv(name, value)
        code, out, err = run()
        assert (code, err) == (0, "")
        return out

    return ask


EURLEX = [name for name in datasets() if name.startswith("EURLex")]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("sc", ["score"]),
        ("score --dataset eurl", EURLEX),
        ("datasets EURL", EURLEX),
        ("metrics psn", ["PSnDCG"]),
        ("score -m P,nDCG@5,psn", ["P,nDCG@5,PSnDCG"]),
        ("score -m a,x", []),
        ("score --ties b", ["best"]),
    ],
)
def test_commands_data_sets_metrics_and_choices_are_completed_in_any_case(ask, words, offered):
    printed = ask("bash_complete", *words.split())
    assert [line.partition(",")[2] for line in printed.splitlines() if line] == offered


def test_files_are_completed(ask):
    assert ask("bash_complete", "score", "tst", "--train", "tr") == "file,tr\n"


def test_the_script_for_a_shell_is_printed(ask):
    script = ask("bash_source")
    assert "_XMCEVAL_COMPLETE=bash_complete" in script
    assert "Usage:" not in script


def sections(text):
    """Return the flags under each heading of a help text."""
    found = {}
    for line in text.splitlines():
        if re.fullmatch(r"[A-Z][a-z]+:", line):
            flags = found.setdefault(line[:-1], [])
        elif line.startswith("  -") and found:
            flags.append(re.match(r"  (?:-., )?(-+[\w-]+)", line).group(1))
    return found


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize(("name", "command"), [("score", score), ("compare", compare)])
def test_help_groups_the_options_the_common_ones_first(name, command, columns):
    text = CliRunner(env={"COLUMNS": str(columns)}).invoke(cli, [name, "--help-all"]).stdout
    found = sections(text[text.index("\n\nCommon:") :])
    assert list(found) == [group for group in GROUPS if group != "Testing" or name == "compare"]
    assert found["Common"][:3] == ["-k", "-m", "--train"]
    assert found["Common"][-4:] == ["--quiet", "--verbose", "--help-all", "--help"]
    for option, spec in {**specs(), **(specs(Testing) if name == "compare" else {})}.items():
        if option == "max_line":  # in Python only
            continue
        assert (spec.flags or (f"--{option.replace('_', '-')}",))[-1] in found[spec.group]
    n_options = sum(each.param_type_name == "option" for each in command.params)
    assert sum(map(len, found.values())) == n_options + 1  # and --help
    assert max(len(line) for line in text.splitlines() if "Guides: " not in line) <= 80


@pytest.mark.parametrize("name", ["score", "compare"])
def test_help_shows_the_main_options_on_one_screen_and_ends_with_the_place_of_the_guides(name):
    texts = [CliRunner(env={"COLUMNS": "80"}).invoke(cli, [name, flag]).stdout for flag in ("--help", "--help-all")]
    main, more = ([flag for flags in sections(text).values() for flag in flags] for text in texts)
    assert len(texts[0].splitlines()) <= 40
    assert set(main) < set(more)
    assert {"-k", "-m", "--train", "--threshold", "--output-format", "--help-all"} <= set(main)
    assert all(text.splitlines()[-1].startswith("  Guides: ") for text in texts)
    assert texts[0].rstrip().endswith("Guides: xmceval guide")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_as_wide_as_80_columns_and_keeps_its_layout(name):
    text = CliRunner(env={"COLUMNS": "80"}).invoke(cli, [name, "-h"]).stdout
    assert max(map(len, text.splitlines())) <= 80 or max(text.splitlines(), key=len).startswith("  Guides: ")
    assert "\\b" not in text
    assert "\b" not in text
    assert text.count("Example") == len(re.findall(r"\n  Examples?:\n    xmceval ", text))


@pytest.mark.parametrize("name", ["score", "compare", "convert"])
def test_short_options_have_long_names(name):
    params = {each.name: each for each in cli.get_command(None, name).params}
    assert params["quiet"].opts == ["-q", "--quiet"]
    if "verbose" in params:
        assert params["verbose"].opts == ["-v", "--verbose"]


def test_every_name_that_is_completed_is_understood():
    offered = [*specs()["metrics"].names()]
    found = {parse(f"{name}1" if name.endswith("@") else name, [1])[0].metric.name for name in offered}
    assert found == set(METRICS)
    assert [find_dataset(name).name for name in specs()["dataset"].names()] == [*datasets()]
