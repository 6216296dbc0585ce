"""The guide to loops: here the examples with libraries that tests need anyway; scripts/recipes runs all."""

import importlib.util
import re
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "recipes"


@pytest.fixture(scope="module")
def script():
    loader = SourceFileLoader("recipes_script", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_scores_by_a_metric_or_several(script):
    pytest.importorskip("sklearn")
    assert script.run("scikit-learn", script.find_recipes()["scikit-learn"])


def test_the_script_finds_recipes_and_what_they_import(script, capsys):
    found = script.find_recipes()
    without = [name for name, text in found.items() if not re.search("Evaluator|Metric", text)]
    assert without == ["Scores and comparisons", "ir_measures", "Nearest neighbours", "scikit-learn"]
    assert {"PyTorch", "Lightning", "Hugging Face", "Keras", "scikit-learn", "torchmetrics"} <= set(found)
    assert script.find_missing(">>> import numpy\n>>> from no_such.thing import it\n") == ["no_such"]
    assert not script.run("wrong", ">>> 1 + 1\n3\n")
    assert "Expected:" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"Perl: not one of .*PyTorch, .*scikit-learn"):
        script.main(["Perl"])
