"""The guide to loops: here the examples with libraries that tests need anyway; scripts/recipes runs all."""

import doctest
import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xmceval

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


@pytest.mark.parametrize("n_rows", [1, 6, 7, 8, 203])
@pytest.mark.parametrize("n_processes", [1, 2, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_callback_for_lightning_counts_each_row_once(script, n_rows, n_processes, shuffle):
    torch = pytest.importorskip("torch")
    data, distributed = torch.utils.data, pytest.importorskip("torch.utils.data.distributed")
    source = doctest.script_from_examples(script.find_recipes()["Lightning"])
    names = {"lightning": SimpleNamespace(Callback=object)}
    exec(source.partition("class Identity")[0].replace("import lightning\n", ""), names)
    rng = np.random.default_rng(n_rows)
    y_true, y_score = torch.eye(8)[rng.integers(8, size=n_rows)], torch.from_numpy(rng.random((n_rows, 8)))
    total = 0
    for rank in range(n_processes):
        dataset = data.TensorDataset(y_score, y_true)
        sampler = (
            distributed.DistributedSampler(dataset, n_processes, rank, shuffle=shuffle) if n_processes > 1 else None
        )
        loader = data.DataLoader(dataset, batch_size=4, sampler=sampler)
        callback = names["Metrics"](metrics=["P", "nDCG"], k=[1, 3], n_labels=8)
        trainer = SimpleNamespace(val_dataloaders=loader)
        for _ in range(2):  # epochs
            callback.on_validation_epoch_start(trainer, None)
            for i, batch in enumerate(loader):
                callback.on_validation_batch_end(trainer, None, batch[0], batch, i)
        total = total + callback.evaluator.state()
    found = callback.evaluator.from_state(total).result()
    assert found.counts.n_instances == n_rows
    assert dict(found) == dict(xmceval.score(y_true, y_score, metrics=["P", "nDCG"], k=[1, 3]))


def test_the_script_finds_recipes_and_what_they_import(script, capsys):
    found = script.find_recipes()
    assert [name for name, text in found.items() if "Evaluator" not in text] == ["scikit-learn"]
    assert {"PyTorch", "Lightning", "Hugging Face", "Keras", "scikit-learn", "torchmetrics"} <= set(found)
    assert script.find_missing(">>> import numpy\n>>> from no_such.thing import it\n") == ["no_such"]
    assert not script.run("wrong", ">>> 1 + 1\n3\n")
    assert "Expected:" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"Perl: not one of PyTorch, .*scikit-learn"):
        script.main(["Perl"])
