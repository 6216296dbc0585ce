"""Any way of making totals gives the bits of one score: batches, merges, pickles, states, shards, executors."""

import itertools
import pickle
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_array
from support import graded
from support.executors import PicklingExecutor
from support.graded import N_LABELS, SOME, TRAINING, graded_rows
from support.measures import named, names_of
from support.pieces import read_in_pieces
from support.shards import save
from support.strategies import few, random_weights, to_rows

import xmceval
from xmceval import METRICS

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
MOST = 3.0  # the largest weight
MERGEABLE = [metric for metric in METRICS.values() if metric.mergeable]
DEFAULTS = [
    f"ERR(max=4)@{k}" if metric.name.startswith("ERR") else named(metric, {}, k) for metric in MERGEABLE for k in (1, 3)
]
OPTIONS = [name for metric in MERGEABLE for name in names_of(metric) if not name.startswith("ERR")]


@dataclass
class Problem:
    """Rows, what belongs to each of them, and the options of all."""

    rows: tuple[Any, Any]
    options: dict[str, Any]
    weights: Any = None
    pairs: Any = None  # of a filter

    def score(self, truth=None, scores=None, part=slice(None), **options):
        """Score some rows, in this form, by `score`."""
        rows = (self.rows[0][part] if truth is None else truth, self.rows[1][part] if scores is None else scores)
        if self.weights is not None:
            options |= {"sample_weight": self.weights[part], "max_weight": MOST}
        if self.pairs is not None:
            start, stop, _ = part.indices(self.rows[0].shape[0])
            inside = (self.pairs[:, 0] >= start) & (self.pairs[:, 0] < stop)
            options["filter"] = self.pairs[inside] - [start, 0]
        return graded.score(*rows, **self.options, **options)

    def evaluator(self, ends=()):
        """Return an Evaluator that has seen the batches between these ends."""
        evaluator = graded.Evaluator(
            **self.options, filter=self.pairs, max_weight=None if self.weights is None else MOST
        )
        for part in parts_of(ends):
            self.update(evaluator, part)
        return evaluator

    def update(self, evaluator, part):
        evaluator.update(
            *(matrix[part] for matrix in self.rows), *(() if self.weights is None else [self.weights[part]])
        )


def parts_of(ends):
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def reset(problem, ends, _):
    evaluator = problem.evaluator(ends[:2])
    evaluator.reset()
    for part in parts_of(ends):
        problem.update(evaluator, part)
    assert evaluator.compute() == evaluator.result()
    return evaluator.result()


def pickled(problem, ends, _):
    evaluator = problem.evaluator()
    for part in parts_of(ends):
        problem.update(evaluator, part)
        evaluator = pickle.loads(pickle.dumps(evaluator))
    return evaluator.result()


def by_threads(problem, ends, _):
    evaluator = problem.evaluator()
    threads = [threading.Thread(target=problem.update, args=(evaluator, part)) for part in parts_of(ends)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return evaluator.result()


def merged(problem, ends, order):
    """Merge from the left and in pairs, which makes the same bytes."""

    def evaluators():
        every = [problem.evaluator((part.start, part.stop)) for part in parts_of(ends)]
        return [every[i] for i in order if i < len(every)]

    first, *others = evaluators()
    before = pickle.dumps(others)
    for other in others:
        first.merge(other)
    assert pickle.dumps(others) == before
    *others, last = evaluators()
    for i in range(0, len(others) - 1, 2):
        last.merge(others[i + 1].merge(others[i]))
    if len(others) % 2:
        last.merge(others[-1])
    assert pickle.dumps(first) == pickle.dumps(last)
    return first.result()


def loaded(problem, ends, order):
    """Make an Evaluator of each part, save and load every other one before its last row, and merge them."""
    evaluators = []
    for i, part in enumerate(parts_of(ends)):
        last = max(part.start, part.stop - 1)
        evaluators.append(problem.evaluator((part.start, last)))
        if i % 2 == 0:
            evaluators[i].save(f"{i}.evaluator")
            evaluators[i] = xmceval.Evaluator.load(f"{i}.evaluator")
        problem.update(evaluators[i], slice(last, part.stop))
    first, *others = (evaluators[i] for i in order if i < len(evaluators))
    for other in others:
        first.merge(other)
    return first.result()


def states(problem, ends, order):
    """Save a state for each shard, and merge all of them, or some and then the others."""
    parts = parts_of(ends)
    for i, part in enumerate(parts):
        problem.score(part=part, save_state=f"{i}.state", shard=(i + 1, len(parts)), force=True)
    names = [f"{i}.state" for i in order if i < len(parts)]
    result = xmceval.merge(names)
    xmceval.merge(names[:2], save_state="some.state", force=True)
    again = xmceval.merge(["some.state", *names[2:]])
    assert (again, again.options) == (result, result.options)
    return result


FORMS = ("csr", "npz", "csc", "text", "text gz"), ("text", "coo", "bare text gz", "csr", "npz")  # of truth and scores


def shards(problem, ends, _):
    """Score shards in several formats, of both or of the predictions alone."""
    shards = [[], []]
    for i, part in enumerate(parts_of(ends)):
        for made, kind, matrix, forms in zip(shards, "tp", problem.rows, FORMS, strict=True):
            form = forms[i % 5] if matrix[part].nnz else "npz"  # text of blank lines alone is refused
            made.append(save(to_rows(matrix[part]), N_LABELS, f"{kind}{i}", form))
    result = problem.score(*shards)
    assert problem.score(scores=shards[1]).estimates == result.estimates
    return result


def in_blocks(problem, ends, _):
    results = []
    for threads, sizes in ((1, {"numbers": 1}), (3, {"entries": 20, "numbers": 1000}), (2, {"block": 7})):
        with pytest.MonkeyPatch.context() as patch:
            read_in_pieces(patch, **sizes)
            results.append(problem.score(threads=threads))
            batches = problem.evaluator([0, ends[-1] // 2, ends[-1]])
    assert results == [batches.result()] * 3
    return results[0]


def by_executor(problem, ends, _):
    """Score in several parts, unless there are few rows."""
    executor = PicklingExecutor()
    with pytest.MonkeyPatch.context() as patch:
        read_in_pieces(patch, parts=600, waiting=2)
        result = problem.score(executor=executor)
    assert ends[-1] < 40 or executor.n_tasks["score_part"] > 2
    return result


IN_ORDER = (reset, pickled, states, shards, in_blocks, by_executor)
WAYS = (*IN_ORDER, by_threads, merged, loaded)  # the others know no filter


def check(way, problem, ends, order):
    """Compare all that two results have but the names of inputs."""
    whole, result = problem.score(), way(problem, ends, order)
    assert (result.estimates, result.counts, result.empty_rows) == (whole.estimates, whole.counts, whole.empty_rows)
    assert [part.estimates for part in result.slices] == [part.estimates for part in whole.slices]
    assert result.options == whole.options
    assert way in {states, shards, loaded} or result == whole
    if problem.pairs is not None:
        assert vars(result.filtered) | {"source": ""} == vars(whole.filtered) | {"source": ""}
    return whole


# How counts of labels are kept and read in some of the problems below.
KEPT = {
    "labels by id": {"ids": 5},
    "weights of labels by id": {"ids": 5},
    "bins of labels by id": {"ids": 5},
    "few labels at once": {"counts": 0, "fewest": 1},
    "weights and few labels at once": {"counts": 0, "fewest": 7},
}
any_way = pytest.mark.parametrize("way", WAYS)


@any_way
@few
@given(
    seed=st.integers(0, 99),
    ends=st.integers(1, 30).flatmap(
        lambda n: st.lists(st.integers(0, n), max_size=5).map(lambda x: [0, *sorted(x), n])
    ),
    order=st.permutations(range(6)),
    empty_rows=st.sampled_from(["zero", "drop"]),
    is_weighted=st.booleans(),
)
def test_rows_cut_anywhere_give_the_bits_of_one_score_for_every_metric(way, seed, ends, order, empty_rows, is_weighted):
    if way in {states, shards}:  # an empty text is refused, and so are weights of no rows
        ends = sorted(set(ends))
    options = {"metrics": DEFAULTS, "k": (1, 3), "empty_rows": empty_rows, **TRAINING}
    weights = None
    if is_weighted:
        weights = np.array(random_weights(seed, ends[-1]))
        weights[ends[:-1] if way is states else 0] = MOST  # not all of a state are 0
    check(way, Problem(graded_rows(seed, ends[-1]), options, weights), ends, order)


EVERY = {"metrics": [*OPTIONS, "ERR(max=4)@3"]}
INVERSE = {"inverse_propensities": 1 + np.random.default_rng(1).pareto(0.5, N_LABELS)}
PROBLEMS = {
    "every metric": EVERY | TRAINING,
    "bins": EVERY | TRAINING | {"by_frequency": "head,torso,tail", "ceiling": True},
    "rows dropped": EVERY | TRAINING | {"empty_rows": "drop", "unscored": "zero", "threshold": 0.5},
    "weights": EVERY | TRAINING,
    "labels by id": EVERY | TRAINING,
    "bins of labels by id": EVERY | TRAINING | {"by_frequency": 3},
    "few labels at once": EVERY | TRAINING | {"by_frequency": 3},
    "weights and few labels at once": EVERY | TRAINING,
    "weights of labels by id": EVERY | TRAINING,
    "a filter": EVERY | TRAINING | {"by_frequency": 2, "ceiling": True, "empty_rows": "drop", "threshold": 0.5},
    "a filter of the truth": EVERY | TRAINING | {"filter_truth": True},
    "expected ties": TRAINING | {"ties": "expected", "metrics": ["P", "PSnDCG"]},
    "best ties": TRAINING | {"ties": "best", "metrics": ["P", "AP@all"]},
    "unscored": TRAINING | {"unscored": "zero", "metrics": ["LRAP", "AUC"]},
    "a threshold": TRAINING | {"threshold": 0.7},
    "a data set": TRAINING | {"dataset": "Bibtex"},
    "duplicates": TRAINING | {"metrics": SOME, "k": 3, "duplicates": "max"},
    "inverse propensities": {"metrics": "P,PSP,PSR,PSnDCG,PSDCG,nDCG", "k": [1, 3]} | INVERSE,
}


@any_way
@pytest.mark.parametrize("name", PROBLEMS)
def test_options_are_those_of_one_score(name, way, monkeypatch):
    if name.startswith("a filter") and way not in IN_ORDER:
        pytest.skip("the pairs of a filter refer to rows of the whole")
    problem = Problem(graded_rows(3, 60), PROBLEMS[name])
    if name.startswith("weights"):
        problem.weights = np.where(np.arange(60) % 4, random_weights(3, 60), MOST)
    if name.startswith("a filter"):
        problem.pairs = np.argwhere(np.random.default_rng(3).random((60, N_LABELS)) < 0.1)
    kept = problem.score()
    read_in_pieces(monkeypatch, **KEPT.get(name, {}))
    whole = check(way, problem, [0, 9, 17, 40, 60], [2, 0, 3, 1])
    assert whole == kept
    if name == "inverse propensities":  # where one row carries much of a variance, the same one is kept
        assert {estimate.caution for estimate in whole.estimates.values()} == {None, "one_row"}


@pytest.mark.parametrize("ids", [1 << 27, 16])
@pytest.mark.parametrize("weights", [None, random_weights(3, 60)], ids=["plain", "weighted"])
def test_counts_of_few_of_many_labels_are_kept_by_id_and_read_in_chunks(weights, ids, monkeypatch):
    truth, scores = (
        csr_array((rows.data, rows.indices * 31, rows.indptr), (60, 31 * N_LABELS)) for rows in graded_rows(3, 60)
    )
    training = {"counts": np.arange(31 * N_LABELS) % 7, "n_train": 900, "by_frequency": 3}
    usual = graded.score(truth, scores, **EVERY, **training, sample_weight=weights)
    read_in_pieces(monkeypatch, ids=ids, compact=5, chunk=100)
    assert graded.score(truth, scores, **EVERY, **training, sample_weight=weights) == usual
