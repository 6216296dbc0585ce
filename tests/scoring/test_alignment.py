"""Alignment: what is expected by chance, and which mistakes in the first rows are reported, and which are none."""

import itertools
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from support.files import write_matrix
from support.pieces import read_in_pieces

import xmceval
from xmceval.scoring.alignment import N_ROWS, NO_LABEL, FirstRows, _Chance

SHUFFLED = "are the rows shuffled?"
TOO_HIGH = "are the labels 1-based, and the truth's 0-based?"
TOO_LOW = "are the labels 0-based, and the truth's 1-based?"
ROW_MORE = "do the predictions have a row too many at the start?"
ROW_LESS = "do the predictions lack their first row?"
REVERSED = "are low scores the best?"


def mistakes(y_true, y_score, **options):
    """The warnings on mistakes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = xmceval.score(y_true, y_score, **{"metrics": "P", "k": [1, 3], **options}).warnings
    return [line for line in lines if line.startswith("P@1 is ") or "swapped" in line]


def zipf_truth(rng, n_rows, n_labels, per_row=4):
    """Truth with popular and rare labels, none of which depends on the row."""
    weights = 1 / np.arange(1, n_labels + 1)
    truth = np.zeros((n_rows, n_labels))
    for row in truth:
        row[rng.choice(n_labels, per_row, replace=False, p=weights / weights.sum())] = 1
    return truth[:, rng.permutation(n_labels)]


def truth_by_topic(rng, n_rows, n_labels, size=5):
    """Truth whose labels belong to topics: a row has some of the labels of one topic, and any other label rarely."""
    topics, topic = rng.permutation(n_labels) // size, rng.integers(0, n_labels // size, n_rows)
    return (rng.random((n_rows, n_labels)) < np.where(topics == topic[:, None], 0.6, 0.01)).astype(float)


def model(rng, truth, skill=0.6):
    """Scores of a model with some skill, which also knows what is popular."""
    return truth.mean(axis=0) + 0.1 * rng.random(truth.shape) + skill * truth * rng.random(truth.shape)


def shifted(scores, by):
    moved = np.full_like(scores, -np.inf)
    into, origin = (slice(by, None), slice(None, -by)) if by > 0 else (slice(None, by), slice(-by, None))
    moved[:, into] = scores[:, origin]
    return moved


# What to expect by chance


def hits_by_permutation(predicted, truth):
    """The hits in every order of the predictions."""
    orders = itertools.permutations(predicted)
    return [sum(label in row for label, row in zip(order, truth, strict=True)) for order in orders]


@pytest.mark.parametrize(
    ("predicted", "truth"),
    [
        ([0, 1, 2, 3, 4], [{0}, {1}, {2}, {3}, {4}]),
        ([0, 0, 0, 1, 2], [{0, 1}, {0}, {2}, {0, 2, 3}, {5}]),
        ([0, 0, 0, 0, 0], [{0}, {1}, set(), {0, 2}, {5}]),
        ([0, 1, 2, 3, NO_LABEL], [{0, 1, 2, 3}] * 5),
        ([7, 8, 9, 7, 8], [{0}, {1}, {0}, {0, 2}, {5}]),
        ([2**41, 2**41 + 1, 2**40, 1, 1], [{2**41}, {1}, {2**40}, {1, 2**41 + 1}, {0}]),
    ],
)
def test_expectation_and_deviation_are_those_over_all_orders(predicted, truth):
    lengths = np.array([len(row) for row in truth])
    labels = np.array([label for row in truth for label in sorted(row)])
    rows = FirstRows(0, 0, lengths, labels, *[np.empty(0)] * 8)
    chance = _Chance.of(rows, np.array(predicted))
    every = hits_by_permutation(predicted, truth)
    assert chance.expected == pytest.approx(np.mean(every))
    assert chance.deviation == pytest.approx(np.std(every), abs=1e-7)


# Mistakes


@pytest.fixture(params=[(250, 300), (3000, 60)], ids=["250 rows", "3,000 rows"])
def good(request, rng):
    truth = truth_by_topic(rng, *request.param)
    return truth, model(rng, truth)


def test_a_good_model_has_no_mistake(good):
    assert mistakes(*good) == []


MISTAKES = {
    "rows shuffled": (lambda scores, rng: scores[rng.permutation(len(scores))], SHUFFLED),
    "a row more": (lambda scores, _: np.roll(scores, 1, axis=0), ROW_MORE),
    "a row less": (lambda scores, _: np.roll(scores, -1, axis=0), ROW_LESS),
    "labels too high": (lambda scores, _: shifted(scores, 1), TOO_HIGH),
    "labels too low": (lambda scores, _: shifted(scores, -1), TOO_LOW),
    "low scores the best": (lambda scores, _: csr_matrix(1 / (scores + 0.01)), REVERSED),
    "low scores the best, not all predicted": (
        lambda scores, rng: np.where(rng.random(scores.shape) < 0.05, -np.inf, 1 / (scores + 0.01)),
        REVERSED,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported(good, rng, mistake):
    truth, scores = good
    make, question = MISTAKES[mistake]
    (line,) = mistakes(truth, make(scores, rng))
    assert line.endswith(question)
    if question == SHUFFLED:
        assert ("in the first 1,000 instances" in line) == (len(truth) > N_ROWS)


@pytest.mark.parametrize("metrics", ["RR", "AP,LRAP"])
def test_shifted_labels_are_reported_for_any_metrics(good, metrics):
    truth, scores = good
    (line,) = mistakes(truth, shifted(scores, 1), metrics=metrics, k=1)
    assert line.endswith(TOO_HIGH)


@pytest.mark.parametrize("form", [csr_matrix, np.asarray])
@pytest.mark.parametrize("n_rows", [600, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_warning_has_the_values_of_the_first_rows_however_they_are_cut(rng, monkeypatch, form, n_rows, weighted):
    truth = truth_by_topic(rng, n_rows, 60)
    scores, weights = 1 / (model(rng, truth) + 0.01), np.where(np.arange(n_rows) % 3, 1.0, 0.0)
    first = np.arange(n_rows) < N_ROWS  # of all rows, though only those with a weight are looked at
    first &= (weights > 0) | (not weighted)
    here = truth[first]
    best, lowest = (here[np.arange(len(here)), scores[first].argsort(axis=1)[:, place]].mean() for place in (-1, 0))
    sample = " (in the first 1,000 instances)" if len(here) == N_ROWS else ""
    expected = f"P@1 is {best:.2%}, but {lowest:.2%} with the lowest score of each row as the best{sample}: {REVERSED}"
    options = {"sample_weight": weights} if weighted else {}
    for entries, threads in ((5000, 1), (7001, 3), (1 << 17, 2)):
        read_in_pieces(monkeypatch, entries=entries)
        assert mistakes(truth, form(scores), threads=threads, **options) == [expected]


def test_rows_that_were_moved_are_counted_across_blocks(rng, monkeypatch):
    truth = truth_by_topic(rng, 600, 60)
    moved = np.roll(model(rng, truth), 1, axis=0)
    best = moved.argmax(axis=1)
    hits, others = truth[np.arange(600), best].mean(), truth[np.arange(599), best[1:]].sum() / 600
    expected = f"P@1 is {hits:.2%}, but {others:.2%} with the predictions moved up by one row: {ROW_MORE}"
    for entries, threads in ((700, 1), (5000, 3), (1 << 17, 2)):
        read_in_pieces(monkeypatch, entries=entries)
        assert mistakes(truth, csr_matrix(moved), threads=threads) == [expected]


def test_batches_are_not_judged_and_states_keep_the_doubts_of_their_rows(good):
    truth, scores = good
    evaluator = xmceval.Evaluator(metrics="P", k=[1, 3])
    evaluator.update(truth, shifted(scores, 1))
    assert evaluator.result().doubts == ()
    with pytest.warns(xmceval.XmcevalWarning, match="1-based"):
        result = xmceval.score(truth, shifted(scores, 1), metrics="P", k=[1, 3], save_state="a.state")
    with pytest.warns(xmceval.XmcevalWarning, match="1-based"):
        merged = xmceval.merge(["a.state"])
    assert merged.doubts == result.doubts


def test_fewer_than_200_rows_with_truth_are_not_judged_for_shifts_and_order(good, rng):
    truth, scores = good
    order = rng.permutation(199)
    assert mistakes(truth[:199], scores[:199][order]) == []
    assert mistakes(truth[:199], shifted(scores[:199], 1)) == []
    empty = truth.copy()
    empty[199:] = 0
    assert mistakes(empty, scores[rng.permutation(len(scores))]) == []
    assert mistakes(truth[:200], shifted(scores[:200], 1)) != []


def test_popularity_baselines_are_not_reported(good, rng):
    truth = zipf_truth(rng, *good[0].shape)
    popular = np.tile(truth.mean(axis=0), (len(truth), 1))
    popular += 1e-6 * np.arange(truth.shape[1])
    unpopular = -popular
    seen = np.where(rng.random(popular.shape) < 0.4, -np.inf, popular)  # each row lacks some labels
    constant = np.zeros_like(popular)
    for scores in (popular, unpopular, seen, constant, np.where(popular >= np.sort(popular)[:, -3:-2], 1.0, -np.inf)):
        assert mistakes(truth, scores) == []


@pytest.mark.parametrize("make_truth", [zipf_truth, truth_by_topic])
def test_weak_models_are_not_reported(rng, make_truth):
    truth = make_truth(rng, 3000, 60)
    for skill in (0.0, 0.02, 0.05, 0.1, 0.3):
        assert mistakes(truth, model(rng, truth, skill)) == []
    popular = np.log(truth.mean(axis=0) + 1e-6)
    for noise in (0.2, 0.5, 1, 2):
        assert mistakes(truth, popular + noise * rng.gumbel(size=truth.shape)) == []


def test_truth_as_its_own_prediction_and_random_rankings_are_not_reported(good, rng):
    truth, _ = good
    for scores in (truth, truth * rng.random(truth.shape), csr_matrix(truth), rng.random(truth.shape)):
        assert mistakes(truth, scores) == []


def test_a_label_that_is_true_in_most_rows_or_all_is_popular_and_not_predicted_by_another(rng):
    truth = zipf_truth(rng, 300, 30)
    truth[:, 0] = 1
    assert mistakes(truth, rng.random((300, 30)) + 5 * (np.arange(30) == 0)) == []
    assert mistakes(np.ones((300, 5)), rng.random((300, 5))) == []
    truth = zipf_truth(rng, 400, 30)
    truth[:, 7] = rng.random(400) < 0.7
    assert mistakes(truth, np.tile(np.arange(30) == 6, (400, 1)).astype(float)) == []


def test_each_of_several_systems_is_judged(good, rng):
    truth, scores = good
    names = ("good", "shuffled", "shifted")
    systems = (scores, scores[rng.permutation(len(scores))], shifted(scores, 1))
    results = xmceval.score_all(truth, dict(zip(names, systems, strict=True)), metrics="P", k=1)
    ends = [[line for line in result.warnings if line.endswith("?")] for result in results.values()]
    assert ends[0] == []
    assert ends[1][0].endswith(SHUFFLED)
    assert ends[2][0].endswith(TOO_HIGH)


def test_files_and_arrays_have_the_same_warning(good, rng):
    truth, scores = good
    truth, scores = csr_matrix(truth), csr_matrix(scores[rng.permutation(truth.shape[0])])
    write_matrix("t.txt", truth, "truth")
    write_matrix("p.txt", scores)
    assert mistakes("t.txt", "p.txt") == mistakes(truth, scores) != []


def test_labels_of_any_size_are_compared():
    """Shifted labels are shifted, whatever is above 2^40."""
    high = 2**41
    rows = np.arange(300)
    truth = csr_matrix((np.ones(300), (rows, rows % 50 * 3)), shape=(300, 200))
    truth.indices = truth.indices.astype(np.int64) + high
    truth = csr_matrix((truth.data, truth.indices, truth.indptr), shape=(300, high + 200))
    scores = (truth.indices.reshape(300, 1) + 1, np.ones((300, 1)))
    assert [line.endswith(TOO_HIGH) for line in mistakes(truth, scores)] == [True]


# Swapped files


# Headers


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_a_warning_quotes_the_value_that_the_result_has(rng, empty_rows):
    truth = truth_by_topic(rng, 400, 60)
    scores = model(rng, truth)[rng.permutation(400)]
    truth[7:47] = 0  # rows without a true label
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = xmceval.score(truth, scores, metrics="P", k=[1, 3], empty_rows=empty_rows)
    [line] = [line for line in result.warnings if SHUFFLED in line]
    assert line.startswith(f"P@1 is {result['P@1']:.2%}, and ")
    # In random order each predicted label is true in as many rows as have it, of all that count.
    n_counted = 400 if empty_rows == "zero" else np.count_nonzero(truth.any(axis=1))
    chance = truth[:, scores.argmax(axis=1)].sum() / 400 / n_counted
    assert f", and {chance:.2%} with the predictions in random order" in line


# No hits


NO_HITS = "do truth and predictions belong together?"
# The rows, the depth of predictions, and the doubts of a result and of batches, whose first rows are not judged.
OF_RANKS = "no label at ranks 1 to 10 is true in {} instances, and about {} would be by chance"
MISSED = {
    "many rows": (400, 20, "no prediction is true, and about 320 would be by chance", OF_RANKS.format(400, 160)),
    "fewer rows": (150, 20, OF_RANKS.format(150, 60), OF_RANKS.format(150, 60)),
    "short rows": (150, 5, OF_RANKS.format(150, 30), OF_RANKS.format(150, 30)),
    "no surprise": (40, 5, "", ""),
}


@pytest.mark.parametrize(("n_rows", "depth", "of_all", "of_batches"), MISSED.values(), ids=MISSED)
def test_no_hit_where_chance_would_give_some_is_doubted_once(rng, n_rows, depth, of_all, of_batches):
    truth, predicted = (rng.permuted(np.tile(np.arange(50), (n_rows, 1)), axis=1)[:, :n] for n in (4, depth))
    y_true, y_score = np.zeros((n_rows, 100)), predicted + 50
    np.put_along_axis(y_true, truth, 1.0, axis=1)

    def of_hits(result):
        return [doubt for doubt in result.doubts if doubt.endswith(NO_HITS)]

    result = xmceval.score(y_true, y_score, metrics="P", k=[1, 10], save_state="a.state")
    assert of_hits(result) == [f"{of_all}: {NO_HITS}"] * bool(of_all)
    assert of_hits(xmceval.merge(["a.state"])) == of_hits(result)
    evaluator = xmceval.Evaluator(metrics="P", k=[1, 10], n_labels=100)
    evaluator.update(y_true, y_score)
    assert of_hits(evaluator.result()) == [f"{of_batches}: {NO_HITS}"] * bool(of_batches)


def test_a_mistake_that_explains_why_nothing_is_true_is_doubted_alone(rng):
    truth = np.zeros((300, 60))
    truth[np.arange(300), 2 * rng.integers(0, 29, 300)] = 1
    for scores, question in (
        (shifted(truth + 0.1, 1), TOO_HIGH),
        (csr_matrix(2 - truth - rng.random(truth.shape) / 2), REVERSED),
    ):
        [doubt] = xmceval.score(truth, scores, metrics="P", k=1).doubts
        assert doubt.startswith("P@1 is 0.00%, but ")
        assert doubt.endswith(question)
