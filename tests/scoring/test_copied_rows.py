"""Rows that are copies of each other are warned of; rows of other instances that happen to be alike are not."""

import gzip
import itertools
import math
import re
import warnings
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import xmceval
from xmceval.rows.matrices import matrices
from xmceval.scoring.states.sketch import Copies, Sketch, find_copies

WARNING = re.compile(
    r"about (\d+)% of the instances seem to be copies of others, with the same truth, best labels and scores: "
    r"intervals are about (\d+\.\d) times too narrow, and tests find too much \(hint: leave copies out\)"
)
N_LABELS = 300


def make(n_rows, seed=0, n_labels=N_LABELS):
    """Return truth and scores of a model that is better than chance."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(3, n_labels + 3)
    truth = (rng.random((n_rows, n_labels)) < popularity).astype(float)
    return truth, truth * 0.3 + rng.random((n_rows, n_labels)) * popularity


def score(truth, scores, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        return xmceval.score(truth, scores, **{"metrics": "P", "k": [1, 3, 5]} | options)


def found(*case, **options):
    """Return the share of copies in percent and how much too narrow intervals are, or None without a warning."""
    matches = [WARNING.fullmatch(line) for line in score(*case, **options).warnings if "copies" in line]
    assert len(matches) < 2
    return (int(matches[0][1]), float(matches[0][2])) if matches else None


def repeated(case, *numbers):
    """Return row i of a case as many times as numbers[i % len(numbers)] says, in random order."""
    n_rows = case[0].shape[0]
    rows = np.repeat(np.arange(n_rows), np.resize(numbers, n_rows))
    rows = np.random.default_rng(9).permutation(rows)
    return tuple(each[rows] for each in case)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([5], (80, 2.2)),
        ([2], (50, 1.4)),
        ([40], (98, 6.3)),
        ([2, 1, 1], (25, 1.2)),  # (4 + 1 + 1) / (2 + 1 + 1) = 1.5 = 1.22^2
        ([1, 1, 1, 1, 6], (50, 2.0)),  # (36 + 4) / 10 = 4
        ([2, *[1] * 14], None),
        ([1], None),
    ],
)
@pytest.mark.parametrize("n_rows", [400, 9_000])
def test_copies_are_counted_and_warned_of(numbers, expected, n_rows):
    truth, scores = make(n_rows, n_labels=60)
    copied = repeated((truth, scores), *numbers)
    share_and_factor = found(*copied)
    if expected is None or share_and_factor is None:
        assert share_and_factor == expected
        return
    assert share_and_factor[0] == pytest.approx(expected[0], abs=2)
    assert share_and_factor[1] == pytest.approx(expected[1], abs=0.11)


@pytest.mark.parametrize("metrics", ["P", "LRAP", "f1_score"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda each: sp.csr_array(each.astype(np.float32))])
def test_copies_are_found_in_any_form_and_with_metrics_of_any_kind(form, metrics):
    truth, scores = repeated(make(300), 5)
    assert found(truth, form(scores), metrics=metrics, threshold=0.2 if metrics == "f1_score" else None) == (80, 2.2)


def test_copies_whose_scores_differ_by_rounding_are_found():
    truth, scores = repeated(make(300), 5)
    noise = np.random.default_rng(3).uniform(-1e-7, 1e-7, scores.shape)
    share, factor = found(truth, scores * (1 + noise))
    assert share > 75
    assert factor > 2.1


def test_copies_are_found_in_lists_without_scores():
    truth, scores = repeated(make(400), 5)
    lists = np.argsort(-scores, axis=1, kind="stable")[:, :20].tolist()
    assert found(truth, lists) == (80, 2.2)
    assert found(*(each[:400] for each in repeated(make(400), 1))) is None


def test_a_comparison_warns_once_of_what_all_systems_show():
    truth, scores = repeated(make(300), 5)
    with pytest.warns(xmceval.XmcevalWarning, match="copies of others") as issued:
        comparison = xmceval.compare(truth, {"a": scores, "b": scores**2}, metrics="P", k=5)
    assert sum("copies" in str(each.message) for each in issued) == 1
    systems = comparison.to_dict()["systems"]
    assert [sum("copies" in line for line in each["warnings"]) for each in systems] == [1, 1]


def test_results_without_intervals_are_not_warned_of():
    truth, scores = repeated(make(300), 5)
    assert found(truth, scores, metrics="macroF1") is None
    assert found(truth, scores, metrics="macroF1,P") == (80, 2.2)


def test_the_warning_is_the_same_for_any_blocks_threads_and_shards(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    truth, scores = repeated(make(2_000), 3, 1)
    lines = [line for line in score(truth, scores).warnings if "copies" in line]
    assert len(lines) == 1
    monkeypatch.setattr(matrices, "BLOCK_ENTRIES", 5_000)
    for threads in (1, 2):
        assert [line for line in score(truth, scores, threads=threads).warnings if "copies" in line] == lines
    for i, first in enumerate(range(0, 4_000, 1_000)):
        part = truth[first : first + 1_000], scores[first : first + 1_000]
        score(*part, save_state=f"{i}.state")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        merged = xmceval.merge([f"{i}.state" for i in range(4)])
    assert [line for line in merged.warnings if "seem to be copies" in line] == lines


def softmax(logits):
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def one_label(n_rows, n_labels, sharpness):
    """Return truth of one label per row, by Zipf's law, and the shares of a model that knows it rather well."""
    rng = np.random.default_rng(n_labels)
    places, shares = rng.normal(size=(n_labels, 8)), 1 / np.arange(1, n_labels + 1) ** 0.7
    labels = rng.choice(n_labels, n_rows, p=shares / shares.sum())
    logits = (places[labels] + 0.7 * rng.normal(size=(n_rows, 8))) @ places.T
    return np.eye(n_labels)[labels], softmax(sharpness * logits)


@pytest.mark.parametrize("k", [[1], [1, 3, 5]])
@pytest.mark.parametrize(
    "given", ["rounded to 2", "rounded to 3", "rounded to 4", "lists", "lists by best label", "constant", "perfect"]
)
@pytest.mark.parametrize(("n_rows", "n_labels", "sharpness"), [(500, 10, 1), (5_000, 20, 3), (20_000, 100, 1)])
def test_rows_that_are_alike_by_chance_are_not_warned_of(n_rows, n_labels, sharpness, given, k):
    truth, scores = one_label(n_rows, n_labels, sharpness)
    if given.startswith("rounded"):
        scores = np.round(scores, int(given[-1]))
    elif given == "lists":
        scores = np.argsort(-scores, axis=1, kind="stable")[:, :10].tolist()
    elif given == "lists by best label":
        order = np.random.default_rng(1).permuted(np.tile(np.arange(n_labels), (n_labels, 1)), axis=1)
        scores = order[scores.argmax(axis=1), :10].tolist()
    elif given == "constant":
        scores = np.tile(np.random.default_rng(2).random(n_labels), (n_rows, 1))
    else:
        scores = truth
    assert found(truth, scores, k=k) is None


def test_a_few_rows_that_are_frequent_decide_nothing():
    truth, scores = make(2_000)
    truth[:300], scores[:300] = truth[0], scores[0]  # such as documents without a word
    assert found(truth, scores) is None


def test_the_same_predictions_with_another_truth_are_no_copies():
    truth, scores = make(2_000)
    assert found(truth, scores[np.arange(2_000) % 400]) is None


def sketch_of(counts, *, tells=True):
    """Return a sketch of so many rows of each hash, which all have other first bits."""
    firsts = np.arange(1, len(counts) + 1, dtype=np.uint64) << np.uint64(30)
    hashes = np.repeat(firsts | np.uint64(tells), counts)
    sketch = Sketch()
    sketch.count(hashes, hashes.size)
    return sketch


def copies_by_definition(counts):
    """Return what `find_copies` defines, of rows that all tell enough and have other best labels."""
    few = [min(c, 3) for c in counts]
    if len(counts) < 100 or sum(c * c for c in few) < 1.17 * sum(few):
        return None
    if sum(c * (c - 1) for c in counts) > 3 * sum(counts) ** 2 / len(counts):
        return None
    return 1 - len(counts) / sum(counts), sum(c * c for c in counts) / sum(counts)


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    seen = Counter()
    for n, mean in itertools.product((99, 100, 1_000), (0, 0.02, 0.1, 0.5, 4)):
        counts = 1 + rng.poisson(mean, n)
        expected, own = copies_by_definition(counts.tolist()), find_copies(sketch_of(counts))
        seen[own is None] += 1
        assert own == (expected and Copies(pytest.approx(expected[0]), pytest.approx(expected[1])))
    assert min(seen.values()) > 3
    assert find_copies(sketch_of(np.full(500, 5), tells=False)) is None


def groups_of(counts, size):
    """Return a sketch of so many rows of each hash, of which `size` at a time have their first bits in common."""
    places = np.arange(len(counts), dtype=np.uint64)
    hashes = np.repeat((places // np.uint64(size)) << np.uint64(28) | places << np.uint64(1) | np.uint64(1), counts)
    sketch = Sketch()
    sketch.count(hashes, hashes.size)
    return sketch


def test_rows_with_the_same_best_labels_are_copies_only_where_numbers_vary_less_than_by_chance():
    by_chance = np.random.default_rng(0).poisson(3.0, 3_000)
    assert find_copies(groups_of(by_chance[by_chance > 0], 50)) is None
    assert find_copies(groups_of(by_chance[by_chance > 0], 2)) is not None
    assert find_copies(groups_of(np.full(3_000, 3), 50)) == Copies(pytest.approx(2 / 3), pytest.approx(3))
    assert 2 / -math.expm1(-2) + 0.3 < 3


def read(path, n_columns=None):
    """Return a file of text as a matrix."""
    with gzip.open(path, "rt") as file:
        n_rows, n_labels = map(int, next(file).split())
        entries = [(row, *each.split(":")) for row, line in enumerate(file) for each in line.split()]
    rows, labels, values = zip(*entries, strict=True)
    values = np.array(values, dtype=float)
    return sp.csr_array((values, (np.array(rows), np.array(labels, dtype=int))), shape=(n_rows, n_columns or n_labels))


@pytest.mark.parametrize(
    ("folder", "scores"),
    [
        ("bibtex", "napkinxc_plt"),
        ("cs771_bonsai", "score_mat"),
        ("eurlex4k", "pecos_xrlinear"),
        ("delicious", "pecos_xrlinear"),  # every sixth document has the features of another
        ("wiki10_haxmlnet", "haxmlnet2048"),
        ("eurlex_attentionxml", "attentionxml_tree0"),
    ],
)
def test_real_rows_are_warned_of_where_they_are_copied_only(realdata, folder, scores):
    truth = read(realdata / folder / "tst_X_Y.txt.gz")
    scores = read(realdata / folder / f"{scores}.txt.gz", truth.shape[1])
    lists = scores.copy()
    for start, stop in itertools.pairwise(lists.indptr):
        order = np.lexsort((lists.indices[start:stop], -lists.data[start:stop]))
        lists.data[start + order] = np.arange(stop - start, 0, -1)
    for given in (scores, lists):
        assert found(truth, given) is None
        five = [sp.vstack([each] * 5).tocsr() for each in (truth, given)]
        assert found(*five) == (80, 2.2)
