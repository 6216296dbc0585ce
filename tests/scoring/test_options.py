"""Options: each is written once, and everything else is derived from it."""

import inspect
from dataclasses import fields, make_dataclass
from decimal import Decimal
from fractions import Fraction

import click
import numpy as np
import pytest

import xmceval
from xmceval.cli import options as cli_options
from xmceval.cli.score import command
from xmceval.scoring import options
from xmceval.scoring.options import GROUPS, Options, specs
from xmceval.scoring.setup.truth import OpenedTruth

NAMES = {each.name for each in fields(Options)}


def test_score_takes_every_option_with_its_default():
    parameters = inspect.signature(xmceval.score).parameters
    keyword_only = {name: each.default for name, each in parameters.items() if each.kind is each.KEYWORD_ONLY}
    assert {name: keyword_only.get(name, "missing") for name in NAMES} == {
        each.name: each.default for each in fields(Options)
    }
    others = {"rows", "save_rows", "save_labels", "save_state", "shard", "max_weight", "progress", "executor", "force"}
    assert set(keyword_only) - NAMES == others


def test_the_command_has_every_option_but_the_longest_line():
    shown = {each.name: each for each in command.params}
    assert NAMES - set(shown) == {"max_line"}
    for name, spec in specs().items():
        if name == "max_line":
            continue
        assert shown[name].help == spec.help
        assert spec.group in GROUPS
        if spec.choices:
            assert tuple(shown[name].type.choices) == spec.choices
            assert shown[name].default == getattr(Options(), name)


def test_a_new_option_is_one_edit_besides_the_signature(monkeypatch):
    shout = options.option(False, "Rules", "Shout.", kind=bool)
    wider = make_dataclass("Options", [("shout", bool, shout)], bases=(Options,), frozen=True, kw_only=True, eq=False)
    for module in (options, cli_options):
        monkeypatch.setattr(module, "Options", wider)

    @click.command()
    @cli_options.derived(cli_options.Options)
    def shouting(**arguments):
        click.echo(str(wider.of(arguments).shout))

    from click.testing import CliRunner

    assert CliRunner().invoke(shouting, ["--shout"]).output == "True\n"
    truth = OpenedTruth.of(np.ones((2, 2)), wider.of({"shout": True, "metrics": "P@1"}))
    assert truth.setup.options.shout
    assert "shout" not in inspect.signature(xmceval.score).parameters  # the other edit, which a test above asks for


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.array(0.5), Fraction(1, 2), Decimal("0.5")], ids=repr)
def test_a_number_of_any_type_is_the_same_threshold(value):
    truth, scores = np.eye(3), np.eye(3) * 0.5 + 0.25
    options = {"metrics": "f1_score", "n_labels": 3}
    found = xmceval.score(truth, scores, threshold=value, **options)
    expected = xmceval.score(truth, scores, threshold=0.5, **options)
    assert (found.estimates, found.to_json()) == (expected.estimates, expected.to_json())
