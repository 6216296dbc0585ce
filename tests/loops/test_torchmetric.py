"""The metric of torchmetrics: the values of `score`, over batches, processes and copies, each row once."""

import copy
import doctest
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_answers, evaluate
from support.files import write
from support.recipes import GUIDES, find_code, split_parts

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

import xmceval  # noqa: E402
from xmceval.torch import Metric  # noqa: E402

OPTIONS = {"metrics": ["P", "nDCG(gain=exp)", "macroF1"], "k": [1, 2], "n_labels": 5}


def draw(n_rows, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n_rows, 5, generator=generator), (torch.rand(n_rows, 5, generator=generator) > 0.5).float()


def scored(scores, truth):
    return dict(xmceval.score(truth.numpy(), scores.numpy(), **OPTIONS))


def values_of(metric):
    return {name: float(value) for name, value in metric.compute().items()}


def test_batches_give_the_values_of_score_and_forward_those_of_its_batch():
    scores, truth = draw(7)
    metric = Metric(**OPTIONS)
    batches = [(scores[i : i + 3], truth[i : i + 3]) for i in (0, 3, 6)]
    own = [{name: float(value) for name, value in metric(*batch).items()} for batch in batches]
    assert own == [scored(*batch) for batch in batches]
    assert values_of(metric) == scored(scores, truth)
    metric.reset()
    metric.update(*batches[0])
    assert values_of(metric) == own[0]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda metric: pickle.loads(pickle.dumps(metric)), Metric.clone])
def test_copies_and_merged_states_go_on_where_the_metric_was(copied):
    (scores, truth), (more, its_truth) = draw(4), draw(3, seed=1)
    first, second = Metric(**OPTIONS), Metric(**OPTIONS)
    first.update(scores, truth)
    first.compute()
    second.update(more, its_truth)
    first = copied(first)
    first.merge_state(second)
    assert values_of(first) == scored(torch.cat([scores, more]), torch.cat([truth, its_truth]))
    first.update(scores, truth)
    assert values_of(first) == scored(torch.cat([scores, more, scores]), torch.cat([truth, its_truth, truth]))


CHECKPOINTS = {
    "alone": lambda metric: metric,
    "collection": lambda metric: torchmetrics.MetricCollection({"ours": metric, "theirs": torchmetrics.MeanMetric()}),
    "module": lambda metric: torch.nn.ModuleDict({"layer": torch.nn.Linear(2, 2), "metric": metric}),
    "collection in a module": lambda metric: torch.nn.ModuleList([torchmetrics.MetricCollection([metric])]),
}
CONFIGURATIONS = {
    "plain": {},
    "bins": {"metrics": "P,PSP,macroF1", "train": np.eye(5)[[0, 1, 1, 2, 2, 2]], "by_frequency": 2},
    "filter": {"filter": [[0, 1], [3, 2], [5, 0]]},
    "n_rows": {"n_rows": 6},
    "decisions": {"metrics": "f1_score", "threshold": 0.5},
}


def make(**changes):
    metric = Metric(**{**OPTIONS, **changes})
    metric.persistent(True)
    return metric


@pytest.mark.parametrize("place", CHECKPOINTS.values(), ids=CHECKPOINTS)
@pytest.mark.parametrize("configuration", CONFIGURATIONS.values(), ids=CONFIGURATIONS)
def test_a_checkpoint_has_the_rows_so_far(place, configuration):
    (scores, truth), (more, its_truth) = draw(4), draw(3, seed=1)
    whole, first, second = (make(**configuration) for _ in range(3))
    before, after = place(first), place(second)
    if isinstance(before, torchmetrics.MetricCollection):
        before.persistent(True)
    first.update(scores, truth)
    torch.save(before.state_dict(), "checkpoint")
    second.update(more, its_truth)  # these rows are forgotten
    after.load_state_dict(torch.load("checkpoint", weights_only=True))
    for metric in (whole, first, second):
        if metric is whole:
            metric.update(scores, truth)
        metric.update(more, its_truth)
    assert values_of(first) == values_of(second) == values_of(whole)
    second.reset()
    for batch in ((scores, truth), (more, its_truth)):
        second.update(*batch)
    assert values_of(second) == values_of(whole)


@pytest.mark.parametrize("place", CHECKPOINTS.values(), ids=CHECKPOINTS)
def test_a_checkpoint_has_no_rows_unless_they_are_persistent(place):
    metric = Metric(**OPTIONS)
    metric.update(*draw(4))
    expected = list(place(torchmetrics.MeanMetric()).state_dict())
    assert list(place(metric).state_dict()) == expected


def test_a_checkpoint_without_rows_or_with_others_is_refused():
    metric, other = make(), make(k=2)
    metric.update(*draw(4))
    with pytest.raises(RuntimeError, match=r"Missing key\(s\) in state_dict: \"state\""):
        metric.load_state_dict(Metric(**OPTIONS).state_dict())
    before = values_of(metric)
    metric.load_state_dict({}, strict=False)
    with pytest.raises(
        xmceval.DataError, match=r"this Evaluator and the checkpoint \(state\) differ in metrics: P@1, P@2"
    ):
        metric.load_state_dict(other.state_dict())
    damaged = metric.state_dict()
    for content in (damaged["state"][:-9], torch.zeros(9), torch.zeros(0)):
        with pytest.raises(xmceval.DataError, match=r"^the checkpoint \(state\): "):
            metric.load_state_dict({"state": content})
    assert values_of(metric) == before


@pytest.mark.parametrize("n_rows", [1, 6, 7, 8, 203])
@pytest.mark.parametrize("n_processes", [1, 2, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_that_a_sampler_repeats_count_once(monkeypatch, n_rows, n_processes, shuffle):
    dataset = torch.utils.data.TensorDataset(*draw(n_rows))
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: n_processes)
    ranks = []
    for rank in range(n_processes):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        sampler = torch.utils.data.distributed.DistributedSampler(dataset, n_processes, rank, shuffle=shuffle)
        metric = Metric(**OPTIONS, n_rows=n_rows, dist_options={"distributed_available_fn": lambda: False})
        for _ in range(2):  # epochs
            metric.reset()
            for batch in torch.utils.data.DataLoader(dataset, batch_size=4, sampler=sampler):
                metric.update(*batch)
        ranks.append(metric)
    for each in ranks[1:]:
        ranks[0].merge_state(each)
    assert values_of(ranks[0]) == scored(*dataset.tensors)


def test_names_without_the_sign_and_top_k_pairs():
    scores, truth = draw(4)
    metric = Metric(metrics=["nDCG(gain=exp)@1"], n_labels=5, sep="_at_")
    best = scores.topk(3)
    metric.update((best.indices, best.values), truth)
    expected = xmceval.score(truth.numpy(), scores.numpy(), metrics="nDCG(gain=exp)@1")
    assert values_of(metric) == expected.flat(sep="_at_") == {"nDCG_gain_exp_at_1": expected["nDCG(gain=exp)@1"]}


def test_swapped_arguments_are_asked_for_in_the_first_line():
    scores, truth = draw(4)
    for wrong in (scores, scores - 0.5, scores.topk(2)):
        metric = Metric(**OPTIONS)
        with pytest.raises(
            xmceval.DataError, match=r"^are preds and target swapped\? expected update\(preds, target\): "
        ) as asked:
            metric.update(truth, wrong)
        assert (str(asked.value).count("swapped"), asked.value.hint) == (1, "")
        with pytest.raises(xmceval.DataError, match=r"(?s)^(?!.*preds and target)"):
            metric.update(scores, scores)
        metric.update(scores, truth)
        assert values_of(metric) == scored(scores, truth)


def test_the_number_of_labels_is_that_of_train():
    scores, truth = draw(4)
    metric = Metric(metrics="PSP", k=1, train=truth.numpy())
    assert repr(metric) == "Metric(PSP@1: 0 rows)"
    metric.update(scores, truth)
    assert repr(metric) == "Metric(PSP@1: 4 rows)"


def test_a_batch_that_is_refused_is_none_of_the_rows_that_count():
    scores, truth = draw(4)
    metric = Metric(**OPTIONS, n_rows=4)
    with pytest.raises(xmceval.DataError):
        metric.update(truth, scores)
    metric.update(scores, truth)
    assert values_of(metric) == scored(scores, truth)


@pytest.mark.parametrize(
    ("module", "package"),
    [("xmceval.torch", "torch"), ("xmceval.torch", "torchmetrics"), ("xmceval.ir_measures", "ir_measures")],
)
def test_a_package_that_is_missing_is_named(module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for name in (module, "xmceval.loops.torch", "xmceval.dropins.ir_measures"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ModuleNotFoundError) as error:
        importlib.import_module(module)
    assert str(error.value) == f"{module} needs the package {package} (hint: pip install {package})"


def test_wrong_options_are_refused_as_it_was_approved():
    check_answers(__file__, "metrics.txt", lambda line: evaluate(line, {"Metric": Metric, "np": np}))


def test_flat_has_the_bins_and_refuses_names_that_are_the_same():
    scores, truth = draw(6)
    result = xmceval.score(truth.numpy(), scores.numpy(), metrics="P@1", by_frequency="head,tail", train=truth.numpy())
    assert list(result.flat(sep="_at_")) == ["P_at_1", "head/P_at_1", "tail/P_at_1"]
    assert result.flat()["P@1"] == result["P@1"]
    both = xmceval.score(truth.numpy(), scores.numpy(), metrics=["R@n", "RP@1", "R@1"])
    assert both.flat(sep="/") == {"R/n": both["R@n"], "RP/1": both["RP@1"], "R/1": both["R@1"]}


PROCESSES = """
import datetime, sys, torch
from torch import distributed, multiprocessing
from xmceval import Evaluator
from xmceval.torch import Metric

guide = {"evaluator": Evaluator(metrics=["P", "nDCG(gain=exp)", "macroF1"], k=[1, 2], n_labels=5)}
exec(open("guide.py").read(), guide)

def run(rank, path):
    wait = datetime.timedelta(seconds=120)  # of one process for the other
    distributed.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2, timeout=wait)
    generator = torch.Generator().manual_seed(0)
    scores, truth = torch.rand(7, 5, generator=generator), (torch.rand(7, 5, generator=generator) > 0.5).float()
    metric = Metric(metrics=["P", "nDCG(gain=exp)", "macroF1"], k=[1, 2], n_labels=5)
    rows = slice(4) if rank == 0 else slice(4, 7)
    of_batch = metric(scores[rows], truth[rows])
    values = metric.compute()
    assert values == metric.compute()
    dataset = torch.utils.data.TensorDataset(scores, truth)
    together = guide["validate_together"](torch.nn.Identity(), dataset)
    gathered = [None, None]
    shown = [{name: float(value) for name, value in found.items()} for found in (of_batch, values, together)]
    distributed.all_gather_object(gathered, shown)
    if rank == 0:
        print(gathered)
    distributed.barrier()
    distributed.destroy_process_group()

if __name__ == "__main__":  # forked, as to load torch takes a slow machine a minute
    multiprocessing.start_processes(run, (sys.argv[1],), nprocs=2, start_method="fork")
"""


def test_processes_gather_their_rows_as_the_guide_does_and_each_batch_has_its_own_values():
    examples = doctest.DocTestParser().get_examples(find_code(split_parts(GUIDES["loops"])[1]["PyTorch"]))
    sources = [example.source for example in examples]
    write("guide.py", "".join(source for source in sources if source.startswith(("import", "from", "def"))))
    write("processes.py", PROCESSES)
    command = [sys.executable, "processes.py", Path("meeting").absolute()]
    printed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    scores, truth = draw(7)
    whole = scored(scores, truth)
    expected = [[scored(scores[rows], truth[rows]), whole, whole] for rows in (slice(4), slice(4, 7))]
    assert printed == f"{expected}\n"
