"""Rows that are in two states: copies are refused, overlaps warned of, and states of other rows merge in silence."""

import copy
import gzip
import itertools
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import xmceval
from xmceval.errors import DataError
from xmceval.rows.matrices import matrices
from xmceval.scoring.states import rowdigests

N_LABELS = 300
WARNING = "seem to have instances in common"


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make(n_rows, seed=0, n_labels=N_LABELS):
    """Return truth with labels of unlike frequency, some rows without any, and scores."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(3, n_labels + 3)
    truth = sp.csr_array((rng.random((n_rows, n_labels)) < popularity).astype(float))
    scores = sp.csr_array(truth.toarray() * 0.3 + rng.random((n_rows, n_labels)) * popularity)
    return truth, scores


def save(name, case, **options):
    xmceval.score(*case, **{"metrics": "P", "k": [1, 3], "save_state": name} | options)
    return name


def rows_of(case, *span):
    return tuple(each[slice(*span)] for each in case)


def overlaps(states):
    """Return the warnings of rows in common."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        return [each for each in xmceval.merge(states).warnings if WARNING in each]


def test_overlapping_rows_are_warned_of():
    case = make(300)
    first, second = save("e.state", rows_of(case, 0, 200)), save("f.state", rows_of(case, 100, 300))
    with pytest.warns(
        xmceval.XmcevalWarning,
        match=r"^e.state and f.state seem to have instances in common: about 5\d% of those of e.state have the same ",
    ):
        result = xmceval.merge([second, first], save_state="both.state")
    assert result.counts.n_instances == 400
    assert len(overlaps(["both.state"])) == 1  # with what was known when it was merged
    third = save("g.state", make(200, seed=1))
    assert len(overlaps([first, third])) == 0
    assert len(overlaps(["both.state", third])) == 1


def test_overlapping_lists_of_shards_are_warned_of():
    shards = [make(100, seed) for seed in range(3)]
    for name, pair in (("a", shards[:2]), ("b", shards[1:])):
        save(name, [list(each) for each in zip(*pair, strict=True)])
    assert len(overlaps(["a", "b"])) == 1


def test_the_type_of_a_matrix_and_sample_weights_do_not_hide_common_rows():
    truth, scores = make(200)
    save("a", (truth, scores), sample_weight=np.ones(200), max_weight=2)
    dense = truth.toarray()[50:], scores.toarray().astype(np.float32)[50:]
    save("b", dense, sample_weight=np.linspace(0, 2, 150), max_weight=2)
    assert len(overlaps(["a", "b"])) == 1


@pytest.mark.parametrize("metrics", ["P,nDCG", "LRAP", "f1_score,P"])
@pytest.mark.parametrize("kind", ["usual", "popular", "twice", "few labels", "constant"])
def test_other_rows_of_the_same_kind_are_not_warned_of(metrics, kind):
    truth, scores = make(4_000, n_labels=10 if kind == "few labels" else 100 if kind == "popular" else N_LABELS)
    if kind == "twice":  # every row has a twin, in the same part or in another
        order = np.random.default_rng(1).permutation(np.repeat(np.arange(2_000), 2))
        truth, scores = truth[order], scores[order]
    if kind == "constant":
        scores = sp.csr_array(np.tile(np.linspace(1, 2, N_LABELS), (4_000, 1)))
    ends = [0, 1_000, 1_500, 1_520, 4_000]
    parts = [rows_of((truth, scores), i, j) for i, j in itertools.pairwise(ends)]
    names = [save(f"{i}.state", part, metrics=metrics) for i, part in enumerate(parts)]
    assert overlaps(names) == []


def test_a_sketch_is_the_same_for_any_blocks_threads_shards_and_batches(monkeypatch):
    case = make(500)
    expected = saved_sketch(save("whole.state", case))
    assert expected[2] == 500
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 700)
    for threads in (1, 2):
        assert saved_sketch(save(f"{threads}.state", case, threads=threads)) == expected
    evaluator = xmceval.Evaluator(metrics="P", k=[1, 3])
    for i in range(0, 500, 37):
        evaluator.update(*rows_of(case, i, i + 37))
    evaluator.save("e.state")
    assert saved_sketch("e.state") == expected
    parts = [save(f"part {i}", rows_of(case, i, i + 250)) for i in (0, 250)]
    xmceval.merge(parts[::-1], save_state="merged.state")
    assert saved_sketch("merged.state") == expected


def saved_sketch(name):
    sketch = xmceval.Evaluator.load(name)._state.totals.tally.sketch
    return *(each.tolist() for each in sketch.table()), sketch.n_rows


def test_rows_with_neither_truth_nor_predictions_have_no_hash():
    truth, scores = np.eye(4), np.where(np.eye(4), 1.0, -np.inf)
    truth[1:3], scores[2:] = 0, -np.inf  # the second row has predictions only, the third nothing, the last truth only
    save("a.state", (truth, scores))
    assert saved_sketch("a.state")[2] == 3


def test_only_totals_that_are_saved_or_of_an_evaluator_pay_for_digests(monkeypatch):
    def refuse(*_):
        raise AssertionError("rows were digested")

    monkeypatch.setattr(rowdigests, "add_digests", refuse)
    case = make(20)
    xmceval.score(*case, metrics="P", k=1)
    with pytest.raises(AssertionError, match="rows were digested"):
        save("a.state", case)
    with pytest.raises(AssertionError, match="rows were digested"):
        xmceval.Evaluator(metrics="P", k=1).update(*case)


def evaluator_of(*spans, case=None):
    evaluator = xmceval.Evaluator(metrics="P", k=1)
    for span in spans:
        evaluator.update(*rows_of(make(300) if case is None else case, *span))
    return evaluator


COPY = "have rows of one Evaluator: one is a copy of the other"


def test_copies_of_an_evaluator_are_refused():
    evaluator = evaluator_of((0, 100))
    evaluator.save("a.state")
    loaded = xmceval.Evaluator.load("a.state")
    loaded.update(*rows_of(make(300), 100, 200))
    loaded.save("b.state")
    copies = [
        loaded,
        pickle.loads(pickle.dumps(evaluator)),
        copy.deepcopy(evaluator),
        evaluator_of((200, 300)).merge(loaded),
    ]
    for each in copies:
        with pytest.raises(DataError, match=f"^this Evaluator and .* {COPY}"):
            evaluator.merge(each)
        with pytest.raises(DataError, match=COPY):
            xmceval.merge([evaluator, each])
    with pytest.raises(DataError, match=f"^a.state and b.state {COPY}"):
        xmceval.merge(["a.state", "b.state"])
    with pytest.raises(DataError, match=f"b.state.* {COPY}"):
        xmceval.merge([evaluator, "b.state"])
    assert evaluator.result().counts.n_instances == 100


def test_a_copy_of_no_rows_and_one_that_was_reset_are_evaluators_of_their_own():
    empty = evaluator_of()
    workers = [pickle.loads(pickle.dumps(empty)) for _ in range(2)]
    for i, worker in enumerate(workers):
        worker.update(*rows_of(make(300), 100 * i, 100 * i + 100))
    workers[0].merge(workers[1])
    again = pickle.loads(pickle.dumps(workers[0]))
    again.reset()
    again.update(*rows_of(make(300), 200, 300))
    assert workers[0].merge(again).result().counts.n_instances == 300


def test_an_evaluator_of_a_sum_has_copies_too():
    case = make(100)
    evaluator = xmceval.Evaluator(metrics="P", k=1, n_labels=N_LABELS)
    evaluator.update(*case)
    summed = evaluator.from_state(evaluator.state())
    with pytest.raises(DataError, match=COPY):
        summed.merge(pickle.loads(pickle.dumps(summed)))


def test_evaluators_that_overlap_are_warned_of_when_they_merge():
    first, second = evaluator_of((0, 100)), evaluator_of((50, 150))
    with pytest.warns(
        xmceval.XmcevalWarning, match="^this Evaluator and the other one seem to have instances in common"
    ):
        first.merge(second)
    assert first.result().counts.n_instances == 200


def test_shards_of_one_number_are_refused_where_evaluators_merge_too():
    case = make(200)
    for i in range(2):
        save(f"{i}.state", rows_of(case, 100 * i, 100 * i + 100), shard=(2, 2))
    first, second = map(xmceval.Evaluator.load, ("0.state", "1.state"))
    with pytest.raises(DataError, match=r"^0.state and 1.state are both shard 2 of 2$"):
        first.merge(second)
    save("c.state", rows_of(case, 0, 90), shard=(2, 3))
    with pytest.raises(DataError, match=r"^1.state is shard 2 of 2, but c.state is shard 2 of 3$"):
        second.merge(xmceval.Evaluator.load("c.state"))


def test_missing_shards_are_counted_and_not_listed():
    case = make(100)
    save("a.state", case, shard=(3, 2**20))
    with pytest.raises(DataError, match=r"^shards 1, 2, 4, 5, 6 and 1,048,570 more of 1048576 are missing: a.state is"):
        xmceval.merge(["a.state"])


def read(path):
    """Return a file of text as a matrix."""
    with gzip.open(path, "rt") as file:
        n_rows, n_labels = map(int, next(file).split())
        entries = [(row, *each.split(":")) for row, line in enumerate(file) for each in line.split()]
    rows, labels, values = zip(*entries, strict=True)
    values = np.array(values, dtype=float)
    return sp.csr_array((values, (np.array(rows), np.array(labels, dtype=int))), shape=(n_rows, n_labels))


@pytest.mark.parametrize("metrics", ["P", "LRAP"])
@pytest.mark.parametrize(
    ("folder", "scores"),
    [
        ("bibtex", "napkinxc_plt"),
        ("cs771_bonsai", "score_mat"),
        pytest.param("delicious", "pecos_xrlinear", marks=pytest.mark.thorough),
        pytest.param("eurlex_attentionxml", "attentionxml_tree0", marks=pytest.mark.thorough),
    ],
)
def test_parts_of_real_data_are_warned_of_where_they_overlap_only(realdata, folder, scores, metrics):
    case = read(realdata / folder / "tst_X_Y.txt.gz"), read(realdata / folder / f"{scores}.txt.gz")
    half, n_rows = case[0].shape[0] // 2, case[0].shape[0]
    order = np.random.default_rng(0).permutation(n_rows)
    for name, of in (("in order", case), ("shuffled", tuple(each[order] for each in case))):
        parts = {"first": (0, half), "second": (half, n_rows), "common": (half - 150, half + 150)}
        names = [save(f"{name} {part}", rows_of(of, *span), metrics=metrics) for part, span in parts.items()]
        assert overlaps(names[:2]) == []
        assert len(overlaps([names[0], names[2]])) == len(overlaps(names[1:])) == 1
