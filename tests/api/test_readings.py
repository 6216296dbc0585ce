"""The same predictions give one value, or are refused, whatever they are stored in and whatever names them.

Names of rows and labels, their order, batches, masks and ids of rows are changed in all forms and at all doors.
"""

import json
import re
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.executors import PicklingExecutor

import xmceval
from xmceval import METRICS, DataError, XmcevalError
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


def values(result):
    return dict(result)


def same(found, expected):
    assert values(found) == pytest.approx(values(expected), rel=1e-12)


# Masks: a score of -inf is an entry that is not there.


def entries(scores):
    """Return row, label and score of the cells that are stored: all but NaN."""
    rows, labels = np.nonzero(~np.isnan(scores))
    return list(zip(rows.tolist(), labels.tolist(), scores[rows, labels].tolist(), strict=True))


def lists_of(scores):
    lists = [[] for _ in scores]
    for row, label, score in entries(scores):
        lists[row].append((label, score))
    return lists


def to_csr(scores):
    rows, labels, stored = zip(*entries(scores), strict=True)
    return sparse.csr_array(sparse.coo_array((stored, (rows, labels)), shape=scores.shape))


def to_pair(scores):
    rows = lists_of(scores)
    width = max(map(len, rows))
    padded = [row + [(-1, 0.0)] * (width - len(row)) for row in rows]
    ids, stored = (np.array([[cell[i] for cell in row] for row in padded]) for i in range(2))
    return ids.astype(int), stored


def to_text(scores, path="p.txt"):
    lines = (" ".join(f"{label}:{score!r}" for label, score in row) for row in lists_of(scores))
    Path(path).write_text(f"{len(scores)} {scores.shape[1]}\n" + "\n".join(lines) + "\n")
    return path


def to_json(scores):
    rows = [[{"label": label, "score": score} for label, score in row] for row in lists_of(scores)]
    Path("p.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "p.json"


def to_npz(scores):
    sparse.save_npz("p.npz", sparse.csr_matrix(to_csr(scores)))
    return "p.npz"


def to_npy_pair(scores):
    ids, stored = to_pair(scores)
    np.save("p-labels.npy", ids)
    np.save("p-scores.npy", stored)
    return "p"


def to_npy(scores):
    np.save("d.npy", np.where(np.isnan(scores), -np.inf, scores))
    return "d.npy"


def to_long(scores):
    return pd.DataFrame(entries(scores), columns=["row", "label", "score"])


def to_list_table(scores):
    rows = lists_of(scores)
    return pd.DataFrame(
        {"labels": [[cell[0] for cell in row] for row in rows], "scores": [[cell[1] for cell in row] for row in rows]}
    )


def to_parquet(scores):
    to_long(scores).to_parquet("p.parquet")
    return "p.parquet"


def to_tensor(scores):
    torch = pytest.importorskip("torch")
    return torch.tensor(np.where(np.isnan(scores), -np.inf, scores))


def to_sparse_tensor(scores):
    torch = pytest.importorskip("torch")
    coo = to_csr(scores).tocoo()
    return torch.sparse_coo_tensor(np.stack(coo.coords), coo.data, scores.shape, check_invariants=True)


FORMS = {
    "dense": lambda scores: np.where(np.isnan(scores), -np.inf, scores),
    "dense lists": lambda scores: np.where(np.isnan(scores), -np.inf, scores).tolist(),
    "wide frame": lambda scores: pd.DataFrame(np.where(np.isnan(scores), -np.inf, scores)),
    "tensor": to_tensor,
    "csr": to_csr,
    "csc": lambda scores: to_csr(scores).tocsc(),
    "coo": lambda scores: to_csr(scores).tocoo(),
    "sparse tensor": to_sparse_tensor,
    "pair": to_pair,
    "lists of pairs": lists_of,
    "lists of dicts": lambda scores: [dict(row) for row in lists_of(scores)],
    "pair of ragged lists": lambda scores: unzipped(lists_of(scores)),
    "scores before labels": lambda scores: unzipped(lists_of(scores))[::-1],
    "text": to_text,
    "json": to_json,
    "npz": to_npz,
    "npy": to_npy,
    "npy pair": to_npy_pair,
    "long table": to_long,
    "list table": to_list_table,
    "parquet": to_parquet,
}
WHOLE = [name for name, metric in METRICS.items() if "@" not in name and metric.family != "confusion"]


@pytest.mark.parametrize("ties", ["label", "expected"])
@pytest.mark.parametrize("form", FORMS)
def test_deleting_the_scores_of_minus_infinity_changes_nothing(y_true, y_score, rng, form, ties):
    masked = np.where(rng.random(y_score.shape) < 0.5, -np.inf, np.round(y_score, 1))
    masked[7] = -np.inf
    deleted = np.where(masked > -np.inf, masked, np.nan)
    options = {**OPTIONS, "ties": ties, "metrics": ["P", "nDCG", "PSP"], "train": y_true}
    if ties == "label":
        options["metrics"] = [*options["metrics"], *WHOLE, "macroF1@3", "f1_score", "Jaccard(average=macro)"]
        options["threshold"] = -1
    expected = xmceval.score(y_true, to_csr(deleted), **options)
    found = xmceval.score(y_true, FORMS[form](masked), **options)
    same(found, expected)
    same(xmceval.score(y_true, FORMS[form](deleted), **options), expected)
    assert found.counts.unpredicted == np.count_nonzero(masked == -np.inf)
    assert found.counts.n_predictions == expected.counts.n_predictions == np.count_nonzero(masked > -np.inf)
    assert any("scores are -inf: those labels are not predicted" in fact for fact in found.facts)


@pytest.mark.parametrize("form", ["dense", "csr", "text", "npz", "npy pair"])
def test_masks_are_alike_in_batches_shards_parts_and_at_a_threshold(y_true, y_score, rng, form):
    masked = np.where(rng.random(y_score.shape) < 0.5, -np.inf, y_score)
    scores, options = FORMS[form](masked), {**OPTIONS, "metrics": ["P", "LRAP", "AUC", "GAUC", "f1_score"]}
    options["threshold"] = 0.7
    expected = xmceval.score(y_true, to_csr(np.where(masked > -np.inf, masked, np.nan)), **options)
    if isinstance(scores, str):
        same(
            xmceval.score(
                to_text(np.where(y_true > 0, 1.0, np.nan), "t.txt"), scores, **options, executor=PicklingExecutor()
            ),
            expected,
        )
        return
    evaluator = xmceval.Evaluator(**options)
    for start in range(0, N_ROWS, 9):
        evaluator.update(y_true[start : start + 9], scores[start : start + 9])
    same(evaluator.result(), expected)
    same(xmceval.score([y_true[:11], y_true[11:]], [scores[:11], scores[11:]], **options), expected)


@pytest.mark.parametrize("form", FORMS)
def test_masks_are_refused_where_unscored_labels_have_0(y_true, y_score, form):
    masked = y_score.copy()
    masked[3, 5] = -np.inf
    with pytest.raises(
        DataError, match=r"has a score of -inf, which says that the label is not predicted, but unscored"
    ):
        xmceval.score(y_true, FORMS[form](masked), metrics="LRAP", unscored="zero", n_labels=N_LABELS)
    xmceval.score(y_true, FORMS[form](masked), metrics="P", k=1, unscored="zero", n_labels=N_LABELS)


@pytest.mark.parametrize(
    "form", ["csr", "csc", "coo", "sparse tensor", "pair", "text", "json", "npy pair", "long table", "parquet"]
)
def test_the_label_of_a_masked_score_is_checked(y_true, y_score, form):
    masked = np.pad(y_score, ((0, 0), (0, 1)), constant_values=np.nan)
    masked[4, N_LABELS] = -np.inf
    with pytest.raises(DataError, match=r"12|13"):
        xmceval.score(y_true, FORMS[form](masked), metrics="P", k=1)


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
        doubts = xmceval.score(y_true, FORMS[form](masked), metrics="P", k=3).doubts
        assert any("the lowest that floats can hold: is it masked?" in doubt for doubt in doubts), form
        assert not any(
            "lowest" in doubt for doubt in xmceval.score(y_true, FORMS[form](masked), metrics="P", k=2).doubts
        )


def test_whole_numbers_that_are_rounded_to_ties_are_doubted():
    y_true = np.eye(3, dtype=int)
    wide = np.array([[2**53 + 1, 2**53, 0], [0, 2**53, 2**53 + 1], [1, 2, 3]])
    assert not xmceval.score(y_true, wide, metrics="P", k=1).doubts  # 64-bit integers are compared as such
    Path("p.txt").write_text(
        "3 3\n" + "".join(" ".join(f"{j}:{v}" for j, v in enumerate(r)) + "\n" for r in wide.tolist())
    )
    for scores in ("p.txt", wide.astype(float)):
        doubts = xmceval.score(y_true, scores, metrics="P", k=1).doubts
        assert any("2 instances have tied scores of 2^53 or more" in doubt for doubt in doubts)
    run = {f"q{i}": {f"d{j}": score for j, score in enumerate(row)} for i, row in enumerate(wide.tolist())}
    doubts = xmceval.score({f"q{i}": {f"d{i}": 1} for i in range(3)}, run, metrics="P", k=1).doubts
    assert any("in 2 queries scores of 2^53 or more are equal" in doubt for doubt in doubts)


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
    with pytest.raises(DataError, match=r"metrics of decisions need a threshold for dense scores other than 0 and 1"):
        evaluator.update(y_true, y_score)


def test_other_dense_scores_need_a_threshold(y_true, y_score):
    late = np.where(y_score > 0.8, 1.0, 0.0)
    late[-1, 3] = 0.5
    for scores in (y_score, y_score - 1, late):
        with pytest.raises(
            DataError, match=r"need a threshold .* threshold=0\.5 for probabilities, threshold=0 for logits"
        ):
            xmceval.score(y_true, scores, metrics="f1_score")
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


def doors(**options):
    """Return what computes the same values: score, compare and functions at k, of two matrices."""
    options = {**OPTIONS, **options}
    evaluator = lambda *data: (e := xmceval.Evaluator(**options)).update(*data) or e.result()  # noqa: E731
    return {
        "score": lambda *data: xmceval.score(*data, **options),
        "compare": lambda y, s: xmceval.compare(y, {"a": s, "b": s}, **options).results[0],
        "Evaluator": evaluator,
        "at k": lambda *data: {"P@3": xmceval.precision_at_k(*data, k=3)},
    }


@pytest.mark.parametrize("door", doors())
@pytest.mark.parametrize("names", NAMES)
def test_labels_that_both_inputs_name_are_joined_in_any_order(y_true, y_score, rng, door, names):
    call, columns = doors()[door], NAMES[names]
    expected = call(y_true, y_score)
    truth, scores = frames(y_true, y_score, columns)
    for _ in range(3):
        shuffled = [columns[i] for i in rng.permutation(N_LABELS)]
        assert dict(call(truth, scores[shuffled])) == pytest.approx(dict(expected))
        assert dict(call(truth[shuffled], scores)) == pytest.approx(dict(expected))
    with pytest.raises(DataError, match=r"y_score: its columns .*which y_true lacks"):
        call(truth, scores.rename(columns={columns[0]: "another"}))


@pytest.mark.parametrize("door", doors())
@pytest.mark.parametrize("names", ["letters", "from 1", "others"])
def test_names_beside_numbers_are_taken_by_position_and_that_is_said(y_true, y_score, door, names):
    call, columns = doors()[door], NAMES[names]
    expected = dict(call(y_true, y_score))
    truth, scores = frames(y_true, y_score, columns)
    plain = frames(y_true, y_score)
    for pair in ((truth, y_score), (y_true, scores), (truth, to_csr(y_score)), (truth, to_pair(y_score))):
        assert dict(call(*pair)) == pytest.approx(expected)
    if names != "from 1":
        assert dict(call(truth, plain[1])) == dict(call(plain[0], scores)) == pytest.approx(expected)
    if door == "score":
        assert call(y_true, scores).inputs[1].endswith("labels by position, as y_true does not name them")
        assert call(truth, y_score).inputs[1].endswith("labels by position, as y_score does not name them")
        assert call(truth, scores).inputs[1].endswith("labels by name")


@pytest.mark.parametrize("door", doors())
@pytest.mark.parametrize("names", ["numbers as text", "numbers"])
def test_numbers_in_another_order_are_refused_beside_labels_without_names(y_true, y_score, door, names):
    call, columns = doors()[door], NAMES[names]
    truth, scores = frames(y_true, y_score, columns)
    plain = frames(y_true, y_score)
    for pair in (
        *((truth, y_score), (y_true, scores), (truth, to_csr(y_score)), (truth, to_pair(y_score))),
        *((truth, plain[1]), (plain[0], scores)),
    ):
        with pytest.raises(
            AmbiguousError, match=r"which label is meant, by number or by position\? \(hint: sort_index.* to_numpy"
        ):
            call(*pair)
    with pytest.raises(AmbiguousError, match="which label is meant"):
        xmceval.score(y_true, y_score, metrics="PSP", k=1, train=truth)


def run_hint(error, **names):
    """Return what the two lines of a hint give."""
    hint = str(error).partition("(hint: ")[2]
    lines = [hint.partition(" puts ")[0], hint.partition("numbers, ")[2].partition(" leaves ")[0]]
    return [eval(line, names) for line in lines]


@pytest.mark.parametrize("door", doors())
@pytest.mark.parametrize("index", [[f"r{i}" for i in range(N_ROWS)], [7 * i + 3 for i in range(N_ROWS)]])
def test_rows_that_both_inputs_name_are_joined_in_any_order(y_true, y_score, rng, door, index):
    call = doors()[door]
    expected = dict(call(y_true, y_score))
    truth, scores = frames(y_true, y_score, LETTERS, index)
    for _ in range(3):
        order = rng.permutation(N_ROWS)
        assert dict(call(truth, scores.iloc[order])) == pytest.approx(expected)
        assert dict(call(truth.iloc[order], scores[LETTERS[::-1]])) == pytest.approx(expected)
    with pytest.raises(DataError, match=r"y_score: its index has 'x', which y_true lacks"):
        call(truth, scores.rename(index={index[4]: "x"}))


@pytest.mark.parametrize("door", doors())
def test_a_split_beside_arrays_and_fresh_frames_is_by_position(y_true, y_score, rng, door):
    call = doors()[door]
    kept = rng.permutation(N_ROWS)[:25]
    expected = dict(call(y_true[kept], y_score[kept]))
    truth, scores = frames(y_true, y_score, LETTERS)
    fresh = pd.DataFrame(y_score[kept], columns=LETTERS)
    for predicted in (
        y_score[kept],
        fresh,
        fresh.set_axis(range(N_LABELS), axis=1),
        scores.iloc[kept],
        to_csr(y_score[kept]),
    ):
        assert dict(call(truth.iloc[kept], predicted)) == pytest.approx(expected)


def test_batches_are_slices_and_keep_the_columns_of_the_first(y_true, y_score, rng):
    truth, scores = frames(y_true, y_score, LETTERS)
    named = [frame.set_axis([f"r{i}" for i in range(N_ROWS)]) for frame in (truth, scores)]
    expected = dict(xmceval.score(y_true, y_score, **OPTIONS))
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


def test_states_carry_the_names_of_their_columns(y_true, y_score, tmp_path):
    truth, scores = frames(y_true, y_score, LETTERS)
    expected = dict(xmceval.score(y_true, y_score, **OPTIONS))
    other = LETTERS[::-1]
    first, second, plain = (xmceval.Evaluator(**OPTIONS) for _ in range(3))
    first.update(truth[:15], scores[:15])
    second.update(truth[15:][other], scores[15:][other])
    plain.update(y_true[15:], y_score[15:])
    first.save("first.npz")
    for one in (first, xmceval.Evaluator.load("first.npz")):
        with pytest.raises(DataError, match="have the same labels in another order"):
            one.merge(second)
        one.merge(plain)
        assert dict(one.result()) == pytest.approx(expected)
    loaded = xmceval.Evaluator.load("first.npz")
    loaded.update(truth[15:][other], scores[15:])
    assert dict(loaded.result()) == pytest.approx(expected)
    xmceval.score(truth[15:][other], scores[15:], **OPTIONS, save_state="other.npz")
    with pytest.raises(DataError, match="have the same labels in another order"):
        xmceval.merge(["first.npz", "other.npz"])


def test_shards_keep_the_columns_of_the_first(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    other = LETTERS[::-1]
    expected = dict(xmceval.score(y_true, y_score, **OPTIONS))
    options = {**OPTIONS, "n_labels": None}
    for parts in (
        ([truth[:15], truth[15:][other]], [scores[:15], scores[15:]]),
        ([truth[:15], truth[15:]], [scores[:15][other], scores[15:]]),
        ([truth[:15], truth[15:][other]], [y_score[:15], scores[15:]]),
        (truth, [scores[:15], scores[15:][other]]),
        ([truth[:15], truth[15:]], scores[other]),
    ):
        assert dict(xmceval.score(*parts, **options)) == pytest.approx(expected)
    has_none = "in another order, and {} has none"
    for (first, second), predictions, unnamed in (
        ((truth[:15], truth[15:][other]), [y_score[:15], y_score[15:, ::-1]], "y_score[1]"),
        ((truth[:15], truth[15:][other]), y_score, "y_score"),
        ((y_true[:15], truth[15:][other]), [scores[:15], scores[15:]], "y_true[0]"),
    ):
        with pytest.raises(DataError, match=re.escape(has_none.format(unnamed))):
            xmceval.score([first, second], predictions, **options)


def test_shards_in_another_order_are_refused_where_their_index_shows_it(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    halves = slice(15), slice(15, None)
    y_true = [truth[half] for half in halves]
    with pytest.raises(DataError, match="which row is meant, by number or by position"):
        xmceval.score(y_true, [scores[half] for half in reversed(halves)], **OPTIONS)
    for renumbered in (False, True):  # then each shard has the numbers from 0 on, which name nothing
        parts = [scores[half].reset_index(drop=True) if renumbered else scores[half] for half in halves]
        for expected in (y_true, truth):
            lines = xmceval.score(expected, parts, **OPTIONS).inputs
            assert all("rows by position, labels by name" in line for line in lines)
    named, parts = (each.set_axis([f"row {i}" for i in range(N_ROWS)]) for each in (truth, scores))
    lines = xmceval.score(named, [parts[half] for half in halves], **OPTIONS).inputs
    assert all("rows by name, labels by name" in line for line in lines)
    with pytest.raises(DataError, match="its shards have the rows of y_true in another order"):
        xmceval.score(named, [parts[half] for half in reversed(halves)], **OPTIONS)


def test_values_per_row_and_per_label_are_joined_by_their_index(y_true, y_score, rng):
    index = [f"r{i}" for i in range(N_ROWS)]
    truth, scores = frames(y_true, y_score, LETTERS, index)
    weights, groups = pd.Series(rng.random(N_ROWS), index), pd.Series(rng.choice(["x", "y"], N_ROWS), index)
    counts = pd.Series(np.arange(N_LABELS) + 1.0, LETTERS)
    options = {"metrics": ["P", "PSP"], "k": 1, "n_train": 50}
    expected = xmceval.score(y_true, y_score, sample_weight=weights.to_numpy(), counts=counts.to_numpy(), **options)
    by_group = xmceval.score(y_true, y_score, by_group=groups.to_numpy(), counts=counts.to_numpy(), **options).slices
    shuffled = rng.permutation(N_ROWS)
    counts = counts.sort_values(ascending=False)
    for each in (weights.iloc[shuffled], dict(zip(index, weights, strict=True))):
        assert dict(xmceval.score(truth, scores, sample_weight=each, counts=counts, **options)) == dict(expected)
    for each in (groups.iloc[shuffled], dict(zip(index, groups, strict=True))):
        found = xmceval.score(truth, scores, by_group=each, counts=counts, **options).slices
        assert [part.estimates for part in found] == [part.estimates for part in by_group]
    for name, values in (("sample_weight", weights), ("by_group", groups)):
        numbered = values.reset_index(drop=True).iloc[shuffled]
        with pytest.raises(
            AmbiguousError, match=f"^{name}: its index has the numbers of the rows of y_true in another"
        ):
            xmceval.score(y_true, y_score, metrics="P", k=1, **{name: numbered})
    numbered = pd.Series(np.nonzero(y_true)[1]).value_counts().sort_values(ascending=False)
    with pytest.raises(AmbiguousError, match=r"^counts: its index has the numbers of the labels of y_true in another"):
        xmceval.score(y_true, y_score, counts=numbered, **options)


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


def test_shards_of_frames_in_another_order_are_refused(y_true, y_score, rng):
    truth, scores = frames(y_true, y_score, LETTERS)
    half, expected = N_ROWS // 2, dict(xmceval.score(y_true, y_score, **OPTIONS))
    swapped, shuffled = np.roll(np.arange(N_ROWS), half), rng.permutation(N_ROWS)
    for of_truth in (truth, y_true):
        parts = [of_truth[:half], of_truth[half:]]
        assert dict(xmceval.score(parts, [scores[:half], scores[half:]], **OPTIONS)) == expected
        for order in (swapped, shuffled):
            others = scores.iloc[order]
            with pytest.raises(XmcevalError, match=r"^y_score(\[1\])?: its index has"):
                xmceval.score(parts, [others[:half], others[half:]], **OPTIONS)


def test_names_in_two_orders_are_refused_beside_truth_without_names(y_true, y_score, rng):
    index = [f"r{i}" for i in range(N_ROWS)]
    truth, scores = frames(y_true, y_score, LETTERS, index)
    train, other = truth[LETTERS[::-1]], rng.permutation(N_ROWS)
    weights, groups = pd.Series(rng.random(N_ROWS), index), pd.Series(np.arange(N_ROWS) % 5, index)
    counts = pd.Series(np.arange(N_LABELS) + 1.0, LETTERS)[::-1]
    score = partial(xmceval.score, metrics=["P", "PSP"], k=1)
    labels, rows = (
        "its columns have the names of {} in another order, and y_true has none",
        "its index has the names of",
    )
    evaluator = xmceval.Evaluator(metrics=["P", "PSP"], k=1, train=train)
    of_train = labels.format("train")
    for call, message in (
        (lambda: score(y_true, scores, train=train), of_train),
        (lambda: evaluator.update(y_true, scores), of_train),
        (lambda: score(y_true, scores, counts=counts, n_train=50), labels.format("counts")),
        (lambda: xmceval.compare(y_true, {"a": scores, "b": train}, metrics="P", k=1), labels.format("a")),
        (lambda: xmceval.compare(y_true, {"a": scores, "b": scores.iloc[other]}, metrics="P", k=1), f"b: {rows} a in"),
        (lambda: score(y_true, scores, train=truth, sample_weight=weights.iloc[other]), f"{rows} sample_weight in"),
        (lambda: score(y_true, scores, train=truth, by_group=groups.iloc[other]), f"{rows} by_group in"),
        (lambda: xmceval.ndcg_score(y_true, scores, sample_weight=weights.iloc[other]), f"sample_weight: {rows} y_sc"),
        (lambda: xmceval.group_auc(y_true[:, 1], scores["b"], groups.iloc[other]), f"groups: {rows} y_score in"),
        (lambda: score(y_true, [scores.iloc[:9], scores.iloc[9:, ::-1]], train=y_true), "in another order, and y_true"),
    ):
        with pytest.raises(DataError, match=message):
            call()
    with pytest.raises(DataError, match="its shards have the rows of y_true in another order"):
        score(truth, [scores.iloc[20:], scores.iloc[:20]], train=train)
    pair = np.argsort(-y_score, axis=1), -np.sort(-y_score, axis=1)
    pair = pd.DataFrame(pair[0], index).iloc[other], pd.DataFrame(pair[1], index)
    with pytest.raises(DataError, match=r"y_score\[1\]: its index has the names of y_score\[0\] in another order"):
        score(y_true, pair, metrics="P")


def test_values_per_label_keep_their_names_in_every_door(y_true, y_score):
    truth, scores = frames(y_true, y_score, LETTERS)
    counts = pd.Series(np.arange(N_LABELS) + 1.0, LETTERS)
    options = {"metrics": ["PSP"], "k": [1, 3], "n_train": 50}
    expected = dict(xmceval.score(y_true, y_score, counts=counts.to_numpy(), **options))
    evaluator = xmceval.Evaluator(counts=counts[::-1], **options)
    for batch in (slice(0, 9), slice(9, N_ROWS)):
        evaluator.update(truth.iloc[batch], scores.iloc[batch])
    assert dict(evaluator.result()) == pytest.approx(expected)
    result = xmceval.score(truth, scores, counts=counts[::-1], **options)
    assert dict(result) == pytest.approx(expected)
    assert [line for line in result.inputs if line.startswith("counts")] == ["counts: 12 numbers; labels by name"]


@pytest.mark.parametrize(
    "as_name", [lambda i: Decimal(i + 7), lambda i: float("nan") if i == 3 else i + 7, lambda i: [i, i]]
)
def test_any_object_may_be_a_name(y_true, y_score, rng, as_name):
    index = pd.Index([as_name(i) for i in range(N_ROWS)], dtype=object)
    truth, scores = frames(y_true, y_score, index=index)
    expected = dict(xmceval.score(y_true, y_score, **OPTIONS))
    assert dict(xmceval.score(truth, scores.iloc[rng.permutation(N_ROWS)], **OPTIONS)) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [object, "Float64", "double[pyarrow]"])
def test_frames_of_objects_and_nullable_numbers_are_read_as_numbers(y_true, y_score, dtype):
    truth, scores = frames(y_true, y_score, LETTERS)
    scores = scores.astype(dtype)
    assert dict(xmceval.score(truth, scores, **OPTIONS)) == dict(xmceval.score(y_true, y_score, **OPTIONS))
    assert xmceval.ndcg_score(truth, scores) == pytest.approx(xmceval.ndcg_score(y_true, y_score))


# Columns of ids


ID_COLUMNS = {"numbers": np.arange(900, 900 + N_ROWS), "text": np.array([f"x{i}" for i in range(N_ROWS)])}


def grades_up_to(rng, largest, shape):
    """Grades, and whole scores that are often the same."""
    grades = rng.integers(0, largest + 1, shape)
    is_same = rng.random(shape) < 0.7
    return grades, np.where(is_same, grades, rng.integers(0, largest + 1, shape))


def test_lists_of_zeros_and_ones_may_be_columns_or_ids(y_true, y_score):
    hot = pd.Series(y_true.tolist())
    with pytest.raises(AmbiguousError, match="are of 0 and 1, and equally long: a matrix, or ids of labels"):
        xmceval.score(hot, y_score, metrics="P", k=1)
    assert xmceval.score(np.array(hot.tolist()), y_score, metrics="P", k=1)["P@1"]


# Ids or scores


IDS = {
    "array": np.asarray,
    "floats": lambda ids: ids.astype(np.float32),
    "lists": np.ndarray.tolist,
    "frame": pd.DataFrame,
    "tensor": lambda ids: pytest.importorskip("torch").tensor(ids),
    "npy": lambda ids: np.save("i.npy", ids) or "i.npy",
}


# Doubts depend on the numbers


@pytest.mark.parametrize("form", FORMS)
def test_low_scores_that_are_the_best_are_doubted_in_every_form(rng, form):
    y_true = (rng.random((300, 50)) < 0.06).astype(int)
    distances = -(rng.random(y_true.shape) + 0.5 * y_true)
    doubts = xmceval.score(y_true, FORMS[form](distances), metrics="P", k=5, n_labels=50).doubts
    assert any("with the lowest score of each row as the best: are low scores the best?" in doubt for doubt in doubts)
    assert not xmceval.score(y_true, FORMS[form](-distances), metrics="P", k=5, n_labels=50).doubts


def test_lists_that_ascend_are_doubted_beside_any_ranking_metric(y_true, y_score):
    sets = [np.sort(np.argsort(-row)[:4]).tolist() for row in y_score]
    ranked = [np.argsort(-row)[:4].tolist() for row in y_score]
    Path("p.txt").write_text("".join(" ".join(map(str, row)) + "\n" for row in sets))
    for scores in (sets, np.array(sets), "p.txt", pd.DataFrame({"labels": sets}), pd.Series(sets)):
        for metric in ("P@1", "nDCG@3"):
            doubts = xmceval.score(y_true, scores, metrics=metric).doubts
            assert any("are they sets, whose order means nothing?" in doubt for doubt in doubts)
        assert not xmceval.score(y_true, scores, metrics="P(norm=returned)@all").doubts
        assert not xmceval.score(
            y_true[:30], scores[:30] if not isinstance(scores, str) else sets[:30], metrics="P@1"
        ).doubts
    assert not xmceval.score(y_true, ranked, metrics="P@1").doubts


# Names that are numbers, in files


def test_names_that_are_numbers_meet_no_numbers(y_true, y_score, rng):
    names = [str(i) for i in sorted(range(N_LABELS), key=str)]
    Path("names").write_text("".join(f"{name}\n" for name in names))
    by_name = [[names[label] for label in np.flatnonzero(row)] or [names[0]] for row in y_true]
    Path("t.txt").write_text("".join(" ".join(row) + "\n" for row in by_name))
    best = [[names[label] for label in np.argsort(-row)[:3]] for row in y_score]
    Path("words").write_text("".join(" ".join(row) + "\n" for row in best))
    Path("pairs").write_text("".join(" ".join(f"{name}:{3 - j}" for j, name in enumerate(row)) + "\n" for row in best))
    Path("fasttext").write_text(
        "".join(" ".join(f"__label__{n} {3 - j}" for j, n in enumerate(row)) + "\n" for row in best)
    )
    options = {"metrics": "P", "k": [1, 3], "labels": "names"}
    assert dict(xmceval.score("t.txt", "words", **options)) == dict(xmceval.score("t.txt", "fasttext", **options))
    long = [(row, int(name), 3 - j) for row, each in enumerate(best) for j, name in enumerate(each)]
    table = pd.DataFrame(long, columns=["row", "label", "score"])
    table.to_parquet("p.parquet")
    for numbers in ("pairs", y_score, sparse.csr_array(y_score), table, "p.parquet"):
        with pytest.raises(AmbiguousError, match=r"are these names too, or do they count the names from 0"):
            xmceval.score("t.txt", numbers, **options)
    with pytest.raises(AmbiguousError, match="are these names too"):
        xmceval.score("t.txt", "words", **options, filter=np.array([[0, 1]]))
    numbered = [[{"label": int(label), "score": 3 - j} for j, label in enumerate(row)] for row in best]
    Path("p.json").write_text("".join(json.dumps(row) + "\n" for row in numbered))
    with pytest.raises(AmbiguousError, match=r"are these names too.*write the labels of both as names"):
        xmceval.score("t.txt", "p.json", **options)
    quoted = [[{**item, "label": str(item["label"])} for item in row] for row in numbered]
    Path("p.json").write_text("".join(json.dumps(row) + "\n" for row in quoted))
    assert dict(xmceval.score("t.txt", "p.json", **options)) == dict(xmceval.score("t.txt", "words", **options))
    text = table.astype({"label": str})
    text.to_parquet("p.parquet")
    for named in (text, "p.parquet"):
        assert dict(xmceval.score("t.txt", named, **options)) == dict(xmceval.score("t.txt", "words", **options))


ROWS = [[(2, 0.9), (4, 0.5)], [(3, 0.8), (1, 0.7)], [(4, 0.6), (0, 0.1)]]
INDICATORS = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1]])


def unzipped(rows):
    return tuple([[cell[i] for cell in row] for row in rows] for i in (0, 1))


@pytest.mark.parametrize(
    ("read", "y_score"),
    {
        "tuples": (2 / 3, ROWS),
        "lists of lists, as JSON has them": (2 / 3, [list(map(list, row)) for row in ROWS]),
        "two rows": (1 / 2, ROWS[:2]),
        "two rows of lists": (1 / 2, unzipped(ROWS[:2])),
        "two rows of tuples": (1 / 2, tuple([tuple(row) for row in part] for part in unzipped(ROWS[:2]))),
        "two rows of whole scores": (1 / 2, ([(2, 4), (3, 1)], [(9, 5), (8, 7)])),
        "labels of numpy": (2 / 3, [[(np.int64(label), np.float32(score)) for label, score in row] for row in ROWS]),
        "an empty row": (1 / 3, [ROWS[0], [], []]),
        "dicts of whole scores": (1 / 3, [{2: 3, 4: 1}, {}, {}]),
        "padding": (2 / 3, ([[2, -1], [3], [4]], [[0.1, 0.0], [0.8], [0.1]])),
    }.values(),
)
def test_labels_with_scores_in_lists_are_read_as_other_libraries_return_them(read, y_score):
    n_rows = 2 if read == 1 / 2 else 3
    options = {"metrics": "P", "k": 1, "n_labels": 5}
    assert xmceval.score(INDICATORS[:n_rows], y_score, **options)["P@1"] == pytest.approx(read)
    evaluator = xmceval.Evaluator(**options)
    evaluator.update(INDICATORS[:n_rows], y_score)
    assert evaluator.result()["P@1"] == pytest.approx(read)


@pytest.mark.parametrize(
    ("y_score", "problem", "mended"),
    {
        "a pair as a list": (
            [[[2, 4, 0], [3, 1], [4]], [[0.9, 0.5, 0.2], [0.8, 0.7], [0.6]]],
            r"rows of different lengths .*lists of \(label, score\)",
            lambda value: [list(zip(*row, strict=True)) for row in zip(*value, strict=True)],
        ),
        "arrays": (
            [np.array(row) for row in ROWS],
            r"of arrays of label and score pass \(\[row\[:, 0\].astype\(int\) for row in y_score\], \[row\[:, 1\] for",
            lambda value: ([row[:, 0].astype(int) for row in value], [row[:, 1] for row in value]),
        ),
        "an array": (
            np.array(ROWS),
            r"shape \(3, 2, 2\) \(hint: .* pass \(y_score\[..., 0\].astype\(int\), y_score\[..., 1\]\)\)",
            lambda value: (value[..., 0].astype(int), value[..., 1]),
        ),
        "names": (
            ([["__label__2", "__label__4"]] * 3, [[0.9, 0.5]] * 3),
            r"y_score\[0\]: expected numbers, got text, as names of labels are \(hint: .*\{row: \{name: value\}\}",
            None,
        ),
        "too few scores": (
            ([[2, 4], [3, 1], [4]], [[0.9, 0.5], [0.8], [0.6]]),
            r"y_score\[0\]\[1\] has 2 labels, but y_score\[1\]\[1\] has 1 score; expected a score for each label",
            None,
        ),
        "fractions": (([[1.5], [1, 2], [2]], [[0.9], [0.5, 0.3], [0.2]]), "is read as ids of labels, but some", None),
    }.values(),
)
def test_labels_with_scores_in_other_forms_are_refused_with_the_lines_that_change_them(y_score, problem, mended):
    options = {"metrics": "P", "k": 1}
    with pytest.raises(DataError, match=problem) as error:
        xmceval.score(INDICATORS, y_score, **options)
    assert "inhomogeneous" not in str(error.value)
    if mended is not None:
        assert xmceval.score(INDICATORS, mended(y_score), **options)["P@1"] == pytest.approx(2 / 3)
