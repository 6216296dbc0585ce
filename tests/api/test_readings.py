"""The same predictions give one value, or are refused, whatever they are stored in and whatever names them.

Names of rows and labels, their order, batches, masks and ids of rows are changed in all forms and at all doors.
"""

from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.approved import check_answers, evaluate
from support.asked import doubts_of, measured, p_at_1, refused
from support.executors import PicklingExecutor
from support.written import SCORED, TRUE, to_lines, unzip, write

import xmceval
from xmceval import METRICS, DataError
from xmceval.errors import AmbiguousError

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

N_ROWS, N_LABELS = 40, 12
LETTERS = list("abcdefghijkl")
OPTIONS = {"metrics": ["P", "nDCG", "R", "macroF1@3"], "k": [1, 3], "n_labels": N_LABELS}


@pytest.fixture
def y_true(rng):
    """Labels of very different frequency, each true in some row and false in another."""
    truth = (rng.random((N_ROWS, N_LABELS)) < np.linspace(0.05, 0.5, N_LABELS)).astype(int)
    truth[: N_LABELS + 1] = np.eye(N_LABELS + 1, N_LABELS, dtype=int)
    return truth


@pytest.fixture
def y_score(rng, y_true):
    """Distinct scores, in 32 bits so that every form holds them."""
    return (rng.random(y_true.shape) + y_true).astype(np.float32).astype(float)


def same(found, expected):
    assert dict(found) == pytest.approx(dict(expected), rel=1e-12)


# Masks: a score of -inf is an entry that is not there.


def lists_of(scores):
    """Return the labels and scores of the cells that are stored: all but NaN."""
    stored = [np.flatnonzero(~np.isnan(row)).tolist() for row in scores]
    return [list(zip(labels, row[labels].tolist(), strict=True)) for labels, row in zip(stored, scores, strict=True)]


def form_of(name, scores):
    return SCORED[name](lists_of(scores), scores.shape[1])


WHOLE = [name for name, metric in METRICS.items() if "@" not in name and metric.family != "confusion"]


@pytest.mark.parametrize("ties", ["label", "expected"])
@pytest.mark.parametrize("form", SCORED)
def test_deleting_the_scores_of_minus_infinity_changes_nothing(y_true, y_score, rng, form, ties):
    masked = np.where(rng.random(y_score.shape) < 0.5, -np.inf, np.round(y_score, 1))
    masked[7] = -np.inf
    deleted = np.where(masked > -np.inf, masked, np.nan)
    options = {**OPTIONS, "ties": ties, "metrics": ["P", "nDCG", "PSP"], "train": y_true}
    if ties == "label":
        options["metrics"] = [*options["metrics"], *WHOLE, "macroF1@3", "f1_score", "Jaccard(average=macro)"]
        options["threshold"] = -1
    expected = xmceval.score(y_true, form_of("csr", deleted), **options)
    found = xmceval.score(y_true, form_of(form, masked), **options)
    same(found, expected)
    same(xmceval.score(y_true, form_of(form, deleted), **options), expected)
    assert found.counts.unpredicted == np.count_nonzero(masked == -np.inf)
    assert found.counts.n_predictions == expected.counts.n_predictions == np.count_nonzero(masked > -np.inf)
    assert any("scores are -inf: those labels are not predicted" in fact for fact in found.facts)


@pytest.mark.parametrize("form", ["dense", "csr", "text", "npz", "npy pair"])
def test_masks_are_alike_in_batches_shards_parts_and_at_a_threshold(y_true, y_score, rng, form):
    masked = np.where(rng.random(y_score.shape) < 0.5, -np.inf, y_score)
    scores, options = form_of(form, masked), {**OPTIONS, "metrics": ["P", "LRAP", "AUC", "GAUC", "f1_score"]}
    options["threshold"] = 0.7
    expected = xmceval.score(y_true, form_of("csr", np.where(masked > -np.inf, masked, np.nan)), **options)
    if isinstance(scores, str):
        same(
            xmceval.score(
                TRUE["text"](map(np.flatnonzero, y_true), N_LABELS), scores, **options, executor=PicklingExecutor()
            ),
            expected,
        )
        return
    evaluator = xmceval.Evaluator(**options)
    for start in range(0, N_ROWS, 9):
        evaluator.update(y_true[start : start + 9], scores[start : start + 9])
    same(evaluator.result(), expected)
    same(xmceval.score([y_true[:11], y_true[11:]], [scores[:11], scores[11:]], **options), expected)


@pytest.mark.parametrize("form", SCORED)
def test_masks_are_refused_where_unscored_labels_have_0(y_true, y_score, form):
    masked = y_score.copy()
    masked[3, 5] = -np.inf
    refused(
        r"has a score of -inf, which says that the label is not predicted, but unscored",
        y_true,
        form_of(form, masked),
        metrics="LRAP",
        unscored="zero",
        n_labels=N_LABELS,
    )
    xmceval.score(y_true, form_of(form, masked), metrics="P", k=1, unscored="zero", n_labels=N_LABELS)


@pytest.mark.parametrize(
    "form", ["csr", "csc", "coo", "sparse tensor", "pair", "text", "json", "npy pair", "long table", "parquet"]
)
def test_the_label_of_a_masked_score_is_checked(y_true, y_score, form):
    masked = np.pad(y_score, ((0, 0), (0, 1)), constant_values=np.nan)
    masked[4, N_LABELS] = -np.inf
    refused(r"12|13", y_true, form_of(form, masked))


def test_runs_rank_no_document_of_minus_infinity():
    run = {"q": {"a": -np.inf, "b": 0.5, "c": 0.5, "d": -np.inf}, "p": {"a": -np.inf}}
    kept = {"q": {"b": 0.5, "c": 0.5}, "p": {}}
    qrels, options = {"q": {"a": 1, "c": 1}, "p": {"a": 1}}, {"metrics": ["RR", "AP", "nDCG"], "k": 3}
    expected = xmceval.score(qrels, kept, **options)
    same(xmceval.score(qrels, run, **options), expected)
    lines = [f"{query} Q0 {document} 1 {score} me\n" for query, row in run.items() for document, score in row.items()]
    Path("run").write_text("".join(lines))
    Path("qrels").write_text("".join(f"{q} 0 {d} {grade}\n" for q, row in qrels.items() for d, grade in row.items()))
    found = xmceval.score("qrels", "run", **options)
    same(found, expected)
    assert "3 scores are -inf: those documents are not predicted" in found.facts


@pytest.mark.parametrize("lowest", [np.finfo(np.float32).min, np.finfo(np.float64).min, -65504.0])
def test_the_lowest_float_within_a_cutoff_is_doubted(y_true, y_score, lowest):
    masked = np.where(np.arange(N_LABELS) < 2, y_score, lowest)
    for form in ("dense", "csr", "text"):
        scores = form_of(form, masked)
        assert "the lowest that floats can hold: is it masked?" in doubts_of(y_true, scores, k=3), form
        assert "lowest" not in doubts_of(y_true, scores, k=2)


def test_whole_numbers_that_are_rounded_to_ties_are_doubted():
    y_true = np.eye(3, dtype=int)
    wide = np.array([[2**53 + 1, 2**53, 0], [0, 2**53, 2**53 + 1], [1, 2, 3]])
    assert not doubts_of(y_true, wide)  # 64-bit integers are compared as such
    Path("p.txt").write_text(
        "3 3\n" + "".join(" ".join(f"{j}:{v}" for j, v in enumerate(r)) + "\n" for r in wide.tolist())
    )
    for scores in ("p.txt", wide.astype(float)):
        assert "2 instances have tied scores of 2^53 or more" in doubts_of(y_true, scores)
    run = {f"q{i}": {f"d{j}": score for j, score in enumerate(row)} for i, row in enumerate(wide.tolist())}
    doubts = doubts_of({f"q{i}": {f"d{i}": 1} for i in range(3)}, run)
    assert "in 2 queries scores of 2^53 or more are equal" in doubts


# Decisions


@pytest.mark.parametrize("dtype", [bool, int, np.float32, "uint8"])
def test_dense_zeros_and_ones_are_decisions_whatever_else_is_asked(y_true, y_score, dtype):
    decisions = (y_score > 0.8).astype(dtype)
    metrics = ["f1_score", "f1_score(average=macro)", "Jaccard", "hamming_loss", "MCC", "tp"]
    expected = xmceval.score(y_true, sparse.csr_array(decisions), metrics=metrics)
    np.save("d.npy", decisions)
    for scores in (decisions, decisions.tolist(), pd.DataFrame(decisions), "d.npy", [decisions[:9], decisions[9:]]):
        truth = [y_true[:9], y_true[9:]] if isinstance(scores, list) and len(scores) == 2 else y_true
        same(xmceval.score(truth, scores, metrics=metrics), expected)
        found = xmceval.score(truth, scores, metrics=[*metrics, "P@1"])
        assert {name: found[name] for name in expected} == dict(expected)
        assert any(fact.endswith("are decisions; P@1 ranks them as scores") for fact in found.facts)
    evaluator = xmceval.Evaluator(metrics=metrics)
    for start in range(0, N_ROWS, 9):
        evaluator.update(y_true[start : start + 9], decisions[start : start + 9])
    same(evaluator.result(), expected)


def test_other_dense_scores_need_a_threshold(y_true, y_score):
    late = np.where(y_score > 0.8, 1.0, 0.0)
    late[-1, 3] = 0.5
    for scores in (y_score, y_score - 1, late):
        refused(
            r"need a threshold .* threshold=0\.5 for probabilities, threshold=0 for logits",
            y_true,
            scores,
            metrics="f1_score",
        )
        xmceval.score(y_true, scores, metrics="f1_score", threshold=0)
        xmceval.score(y_true, sparse.csr_array(scores), metrics="f1_score")


# Names of rows and labels


def frames(y_true, y_score, columns=None, index=None):
    return tuple(pd.DataFrame(each, index=index, columns=columns) for each in (y_true, y_score))


NAMES = {
    "letters": LETTERS,
    "numbers as text": sorted(map(str, range(N_LABELS))),
    "numbers": [*range(5, 12), *range(5)],
}
NAMES |= {"from 1": list(range(1, 13)), "others": [3 * i for i in range(N_LABELS)]}


def loop(y_true, y_score, **options):
    evaluator = xmceval.Evaluator(**options)
    evaluator.update(y_true, y_score)
    return dict(evaluator.result())


DOORS = {  # what computes values of two matrices
    "score": partial(measured, **OPTIONS),
    "compare": lambda y, s: dict(xmceval.compare(y, {"a": s, "b": s}, **OPTIONS).results[0]),
    "Evaluator": partial(loop, **OPTIONS),
    "at k": lambda y, s: {"P@3": xmceval.precision_at_k(y, s, k=3)},
}
every_door = pytest.mark.parametrize("call", DOORS.values(), ids=DOORS)


@every_door
@pytest.mark.parametrize("names", NAMES)
def test_labels_that_both_inputs_name_are_joined_in_any_order(y_true, y_score, rng, call, names):
    columns = NAMES[names]
    expected = call(y_true, y_score)
    truth, scores = frames(y_true, y_score, columns)
    for _ in range(3):
        shuffled = [columns[i] for i in rng.permutation(N_LABELS)]
        assert call(truth, scores[shuffled]) == pytest.approx(expected)
        assert call(truth[shuffled], scores) == pytest.approx(expected)
    with pytest.raises(DataError, match=r"y_score: its columns .*which y_true lacks"):
        call(truth, scores.rename(columns={columns[0]: "another"}))


@every_door
@pytest.mark.parametrize("names", ["letters", "from 1", "others"])
def test_names_beside_numbers_are_taken_by_position_and_that_is_said(y_true, y_score, call, names):
    columns = NAMES[names]
    expected = call(y_true, y_score)
    truth, scores = frames(y_true, y_score, columns)
    plain = frames(y_true, y_score)
    for pair in (
        (truth, y_score),
        (y_true, scores),
        (truth, form_of("csr", y_score)),
        (truth, form_of("pair", y_score)),
    ):
        assert call(*pair) == pytest.approx(expected)
    if names != "from 1":
        assert call(truth, plain[1]) == call(plain[0], scores) == pytest.approx(expected)
    if call is DOORS["score"]:
        call = partial(xmceval.score, **OPTIONS)
        assert call(y_true, scores).inputs[1].endswith("labels by position, as y_true does not name them")
        assert call(truth, y_score).inputs[1].endswith("labels by position, as y_score does not name them")
        assert call(truth, scores).inputs[1].endswith("labels by name")


@every_door
@pytest.mark.parametrize("names", ["numbers as text", "numbers"])
def test_numbers_in_another_order_are_refused_beside_labels_without_names(y_true, y_score, call, names):
    columns = NAMES[names]
    truth, scores = frames(y_true, y_score, columns)
    plain = frames(y_true, y_score)
    for pair in (
        *((truth, y_score), (y_true, scores), (truth, form_of("csr", y_score)), (truth, form_of("pair", y_score))),
        *((truth, plain[1]), (plain[0], scores)),
    ):
        with pytest.raises(
            AmbiguousError, match=r"which label is meant, by number or by position\? \(hint: sort_index.* to_numpy"
        ):
            call(*pair)
    refused("which label is meant", y_true, y_score, metrics="PSP", k=1, train=truth, error=AmbiguousError)


@every_door
@pytest.mark.parametrize("index", [[f"r{i}" for i in range(N_ROWS)], [7 * i + 3 for i in range(N_ROWS)]])
def test_rows_that_both_inputs_name_are_joined_in_any_order(y_true, y_score, rng, call, index):
    expected = call(y_true, y_score)
    truth, scores = frames(y_true, y_score, LETTERS, index)
    for _ in range(3):
        order = rng.permutation(N_ROWS)
        assert call(truth, scores.iloc[order]) == pytest.approx(expected)
        assert call(truth.iloc[order], scores[LETTERS[::-1]]) == pytest.approx(expected)
    with pytest.raises(DataError, match=r"y_score: its index has 'x', which y_true lacks"):
        call(truth, scores.rename(index={index[4]: "x"}))


@every_door
def test_a_split_beside_arrays_and_fresh_frames_is_by_position(y_true, y_score, rng, call):
    kept = rng.permutation(N_ROWS)[:25]
    expected = call(y_true[kept], y_score[kept])
    truth, scores = frames(y_true, y_score, LETTERS)
    fresh = pd.DataFrame(y_score[kept], columns=LETTERS)
    for predicted in (
        y_score[kept],
        fresh,
        fresh.set_axis(range(N_LABELS), axis=1),
        scores.iloc[kept],
        form_of("csr", y_score[kept]),
    ):
        assert call(truth.iloc[kept], predicted) == pytest.approx(expected)


def test_batches_are_slices_and_keep_the_columns_of_the_first(y_true, y_score, rng):
    truth, scores = frames(y_true, y_score, LETTERS)
    named = [frame.set_axis([f"r{i}" for i in range(N_ROWS)]) for frame in (truth, scores)]
    expected = measured(y_true, y_score, **OPTIONS)
    orders = {"slices": np.arange(N_ROWS), "a sampler": rng.permutation(N_ROWS)}
    for order in orders.values():
        for size in (3, 9, 19):
            evaluators = [xmceval.Evaluator(**OPTIONS) for _ in range(3)]
            for start in range(0, N_ROWS, size):
                rows = order[start : start + size]
                evaluators[0].update(truth.iloc[rows], y_score[rows])
                evaluators[1].update(y_true[rows], scores.iloc[rows])
                evaluators[2].update(named[0].iloc[rows][list(rng.permutation(LETTERS))], named[1].iloc[rows[::-1]])
            for evaluator in evaluators:
                assert dict(evaluator.result()) == pytest.approx(expected)
    with pytest.raises(AmbiguousError, match="which row is meant"):
        xmceval.Evaluator(**OPTIONS).update(truth.iloc[np.roll(np.arange(N_ROWS), 1)], y_score)
    with pytest.raises(DataError, match=r"^y_true: its columns have 'z', which .* lacks"):
        evaluators[2].update(truth.rename(columns={"a": "z"}), scores)


def test_states_carry_the_names_of_their_columns(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    expected = measured(y_true, y_score, **OPTIONS)
    other = LETTERS[::-1]
    first, plain = (xmceval.Evaluator(**OPTIONS) for _ in range(2))
    first.update(truth[:15], scores[:15])
    plain.update(y_true[15:], y_score[15:])
    first.save("first.npz")
    for one in (first, xmceval.Evaluator.load("first.npz")):
        assert dict(one.merge(plain).result()) == pytest.approx(expected)
    loaded = xmceval.Evaluator.load("first.npz")
    loaded.update(truth[15:][other], scores[15:])
    assert dict(loaded.result()) == pytest.approx(expected)


def test_shards_keep_the_columns_of_the_first(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    other = LETTERS[::-1]
    expected = measured(y_true, y_score, **OPTIONS)
    options = {**OPTIONS, "n_labels": None}
    for parts in (
        ([truth[:15], truth[15:][other]], [scores[:15], scores[15:]]),
        ([truth[:15], truth[15:]], [scores[:15][other], scores[15:]]),
        ([truth[:15], truth[15:][other]], [y_score[:15], scores[15:]]),
        (truth, [scores[:15], scores[15:][other]]),
        ([truth[:15], truth[15:]], scores[other]),
    ):
        assert measured(*parts, **options) == pytest.approx(expected)


def test_shards_say_whether_their_rows_and_labels_are_by_name(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    halves = slice(15), slice(15, None)
    y_true = [truth[half] for half in halves]
    for renumbered in (False, True):  # then each shard has the numbers from 0 on, which name nothing
        parts = [scores[half].reset_index(drop=True) if renumbered else scores[half] for half in halves]
        for expected in (y_true, truth):
            lines = xmceval.score(expected, parts, **OPTIONS).inputs
            assert all("rows by position, labels by name" in line for line in lines)
    named, parts = (each.set_axis([f"row {i}" for i in range(N_ROWS)]) for each in (truth, scores))
    lines = xmceval.score(named, [parts[half] for half in halves], **OPTIONS).inputs
    assert all("rows by name, labels by name" in line for line in lines)


def test_counts_that_are_joined_by_name_are_said_to_be(y_true, y_score):
    counts = pd.Series(np.arange(N_LABELS) + 1.0, LETTERS)[::-1]
    result = xmceval.score(*frames(y_true, y_score, LETTERS), counts=counts, metrics="PSP", k=1, n_train=50)
    assert [line for line in result.inputs if line.startswith("counts")] == ["counts: 12 numbers; labels by name"]


def test_drop_ins_and_group_auc_join_by_name_too(y_true, y_score, rng):
    index, order = [f"r{i}" for i in range(N_ROWS)], rng.permutation(N_ROWS)
    truth, scores = frames(y_true, y_score, LETTERS, index)
    weights = pd.Series(rng.random(N_ROWS), index)
    for name in (
        *("ndcg_score", "dcg_score", "label_ranking_average_precision_score", "coverage_error", "label_ranking_loss"),
        *("roc_auc_score", "average_precision_score"),
    ):
        function = partial(getattr(xmceval, name), sample_weight=weights.to_numpy())
        expected = function(y_true, y_score)
        found = getattr(xmceval, name)(truth, scores.iloc[order][LETTERS[::-1]], sample_weight=weights.iloc[::-1])
        assert found == pytest.approx(expected), name
        with pytest.raises(AmbiguousError, match="which row is meant"):
            function(y_true, pd.DataFrame(y_score).iloc[order])
    log = [each["l"].reset_index(drop=True).iloc[order] for each in (truth, scores)]  # sorted by a column
    log.append(pd.Series(np.arange(N_ROWS) // 8).iloc[order])
    for function, n in ((xmceval.roc_auc, 2), (xmceval.roc_auc_score, 2), (xmceval.group_auc, 3)):
        assert function(*log[:n]) == pytest.approx(function(*(each.to_numpy() for each in log[:n])))
    series = [truth["l"], scores["l"].iloc[order], pd.Series(np.arange(N_ROWS) // 8, index).iloc[::-1]]
    plain = [y_true[:, -1], y_score[:, -1], np.arange(N_ROWS) // 8]
    assert xmceval.roc_auc(*series[:2]) == xmceval.roc_auc(*plain[:2])
    assert xmceval.group_auc(*series) == xmceval.group_auc(*plain)


@pytest.mark.parametrize(
    "as_name", [lambda i: Decimal(i + 7), lambda i: float("nan") if i == 3 else i + 7, lambda i: [i, i]]
)
def test_any_object_may_be_a_name(y_true, y_score, rng, as_name):
    index = pd.Index([as_name(i) for i in range(N_ROWS)], dtype=object)
    truth, scores = frames(y_true, y_score, index=index)
    expected = measured(y_true, y_score, **OPTIONS)
    assert measured(truth, scores.iloc[rng.permutation(N_ROWS)], **OPTIONS) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [object, "Float64", "double[pyarrow]"])
def test_frames_of_objects_and_nullable_numbers_are_read_as_numbers(y_true, y_score, dtype):
    truth, scores = frames(y_true, y_score, LETTERS)
    scores = scores.astype(dtype)
    assert measured(truth, scores, **OPTIONS) == measured(y_true, y_score, **OPTIONS)
    assert xmceval.ndcg_score(truth, scores) == pytest.approx(xmceval.ndcg_score(y_true, y_score))


# Columns of ids


def test_lists_of_zeros_and_ones_may_be_columns_or_ids(y_true, y_score):
    hot = pd.Series(y_true.tolist())
    refused("are of 0 and 1, and equally long: a matrix, or ids of labels", hot, y_score, error=AmbiguousError)
    assert p_at_1(np.array(hot.tolist()), y_score)


# Doubts depend on the numbers


@pytest.mark.parametrize("form", SCORED)
def test_low_scores_that_are_the_best_are_doubted_in_every_form(rng, form):
    y_true = (rng.random((300, 50)) < 0.06).astype(int)
    distances = -(rng.random(y_true.shape) + 0.5 * y_true)
    doubts = doubts_of(y_true, form_of(form, distances), k=5, n_labels=50)
    assert "with the lowest score of each row as the best: are low scores the best?" in doubts
    assert not doubts_of(y_true, form_of(form, -distances), k=5, n_labels=50)


def test_lists_that_ascend_are_doubted_beside_any_ranking_metric(y_true, y_score):
    sets = [np.sort(np.argsort(-row)[:4]).tolist() for row in y_score]
    ranked = [np.argsort(-row)[:4].tolist() for row in y_score]
    to_lines(sets, " ", "p.txt")
    for scores in (sets, np.array(sets), "p.txt", pd.DataFrame({"labels": sets}), pd.Series(sets)):
        for metric in ("P@1", "nDCG@3"):
            assert "are they sets, whose order means nothing?" in doubts_of(y_true, scores, metrics=metric)
        assert not doubts_of(y_true, scores, metrics="P(norm=returned)@all")
        assert not doubts_of(y_true[:30], scores[:30] if not isinstance(scores, str) else sets[:30])
    assert not doubts_of(y_true, ranked)


# Names that are numbers, in files


def test_names_that_are_numbers_meet_no_numbers(y_true, y_score):
    names = sorted(map(str, range(N_LABELS)))
    write("names", names)
    to_lines([[names[label] for label in np.flatnonzero(row)] or [names[0]] for row in y_true], " ", "t.txt")
    best = [[(names[label], 3 - place) for place, label in enumerate(np.argsort(-row)[:3])] for row in y_score]
    to_lines(unzip(best)[0], " ", "words")
    write("pairs", [" ".join(f"{name}:{score}" for name, score in row) for row in best])
    write("fasttext", [" ".join(f"__label__{name} {score}" for name, score in row) for row in best])
    options = {"metrics": "P", "k": [1, 3], "labels": "names"}
    expected = measured("t.txt", "words", **options)
    numbers = [[(int(name), score) for name, score in row] for row in best]
    message = "are these names too, or do they count the names from 0.*write the labels of both as names"
    forms = [SCORED[form] for form in ("long table", "parquet", "json")]
    for form in (lambda *_: "pairs", lambda *_: y_score, lambda *_: sparse.csr_array(y_score), *forms):
        refused(message, "t.txt", form(numbers, N_LABELS), error=AmbiguousError, **options)
    refused(message, "t.txt", "words", filter=np.array([[0, 1]]), error=AmbiguousError, **options)
    for form in (lambda *_: "fasttext", *forms):
        assert measured("t.txt", form(best, N_LABELS), **options) == expected


ROWS = [[(2, 0.9), (4, 0.5)], [(3, 0.8), (1, 0.7)], [(4, 0.6), (0, 0.1)]]
INDICATORS = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1]])


def test_labels_with_scores_in_lists_are_read_as_it_was_approved():
    def of_pairs(y_score):
        """Return P@1 of two rows, or three, by score and of a batch."""
        n_rows = 2 if len(y_score) == 2 and len(y_score[0]) == 2 else 3
        values = [call(INDICATORS[:n_rows], y_score, metrics="P", k=1, n_labels=5) for call in (measured, loop)]
        assert values[0] == values[1]
        return values[0]["P@1"]

    check_answers(__file__, "pairs.txt", lambda line: evaluate(line, {**globals(), "p_at_1": of_pairs}))
