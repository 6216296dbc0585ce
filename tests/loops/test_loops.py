"""The guide to loops: examples whose libraries the tests need anyway run; the others are there."""

import re

import pytest
from support.recipes import GUIDES, find_code, find_imports, run, split_parts

_, RECIPES = split_parts(GUIDES["loops"])


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_scores_by_a_metric_or_several():
    pytest.importorskip("sklearn")
    run(find_code(GUIDES["sklearn"]))


def test_recipes_are_found_and_what_they_import(capsys):
    without = [name for name, text in RECIPES.items() if not re.search("Evaluator|Metric", text)]
    assert without == []
    assert {"PyTorch", "Lightning", "Hugging Face", "Keras", "torchmetrics"} <= set(RECIPES)
    assert find_imports(">>> import numpy\n>>> from no_such.thing import it\n") == ["no_such", "numpy"]
    with pytest.raises(AssertionError):
        run(">>> 1 + 1\n3\n")
    assert "Expected:" in capsys.readouterr().out
