"""Names of labels and rows mean the same at every door: in another order they give the same value, or are refused."""

import itertools
import pickle
import re

import numpy as np
import pytest
from support.written import TRUE, write

import xmceval
from xmceval import DataError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 24, 5
NAMES = np.array(["fox", "bee", "dog", "ant", "cat"])
SAME, OTHER = np.arange(N_LABELS), np.array([3, 0, 4, 1, 2])
RNG = np.random.default_rng(6)
Y = (RNG.random((N, N_LABELS)) < 0.4).astype(int)
Y[0] = [1, 0, 0, 0, 1]
S = RNG.random((N, N_LABELS)) + 0.5 * Y
TRAIN = (RNG.random((40, N_LABELS)) < np.linspace(0.1, 0.7, N_LABELS)).astype(int)
COUNTS = TRAIN.sum(axis=0)
METRICS = "P@1,PSP@3,macroF1@2"


def frame(values, order):
    return pd.DataFrame(values[:, order], columns=NAMES[order])


def series(values, order):
    return pd.Series(values[order], NAMES[order])


def ids(values=Y):
    return [np.flatnonzero(row).tolist() for row in values]


# Forms of each input by whether they name labels: functions of the order of the names.
UNNAMED = ["dense", "csr", "sets", "npz", "npy", "text", "list table", "long table"]
TRUTHS = {
    **{form: lambda _, form=form: TRUE[form](ids(), N_LABELS) for form in UNNAMED},
    "frame": lambda order: frame(Y, order),
    "words": lambda _: write("w.txt", [" ".join(NAMES[row]) for row in ids()]),
    "table of words": lambda _: pd.DataFrame({"labels": [NAMES[row].tolist() for row in ids()]}),
}
SCORES = {
    "array": lambda _: S,
    "text": lambda _: write("p.txt", [" ".join(f"{label}:{score}" for label, score in enumerate(row)) for row in S]),
    "frame": lambda order: frame(S, order),
}
SOURCES = {
    "counts": lambda _: {"counts": COUNTS, "n_train": len(TRAIN)},
    "train": lambda _: {"train": TRAIN},
    "counts by name": lambda order: {"counts": series(COUNTS, order), "n_train": len(TRAIN)},
    "1/p by name": lambda order: {"inverse_propensities": series(INVERSE, order)},
    "train by name": lambda order: {"train": frame(TRAIN, order)},
}
INVERSE = xmceval.inverse_propensity(COUNTS, len(TRAIN))
NAMED = {"frame", "words", "table of words", "counts by name", "1/p by name", "train by name"}


def values(y_true, y_score, **options):
    return dict(xmceval.score(y_true, y_score, metrics=METRICS, n_labels=N_LABELS, **options))


def tried(function, *inputs, **options):
    """Return the values, or that the order of names is refused."""
    try:
        return function(*inputs, **options)
    except DataError as error:
        if not re.search("another order|more than one order", str(error)):
            raise
        return "refused"


@pytest.fixture(scope="module")
def right():
    return values(Y, S, train=TRAIN)


def orders_of(forms):
    """Yield the orders of the names in inputs, of which one at least stays as it is.

    What has no names is by position of the truth before it.
    """
    is_named = [form in NAMED for form in forms]
    choices = [(SAME, OTHER) if named else (SAME,) for named in is_named]
    for orders in itertools.product(*choices):
        is_same = [named and order is SAME for named, order in zip(is_named, orders, strict=True)]
        followers = {0: (1, len(forms) - 1), **{truth: (truth + 1,) for truth in range(2, len(forms) - 1, 2)}}
        has_anchor = all(is_same[truth] or all(is_named[i] for i in rest) for truth, rest in followers.items())
        if any(is_same) and (has_anchor or not is_named[0]):
            yield orders


@pytest.mark.parametrize("labels", [None, NAMES.tolist()], ids=["", "labels"])
@pytest.mark.parametrize("truth", TRUTHS)
def test_labels_in_another_order_have_the_same_value_or_are_refused(truth, labels, right):
    if labels is None and "words" in truth:
        return
    n_same = 0
    for scores, source in itertools.product(SCORES, SOURCES):
        forms = truth, scores, source
        for orders in itertools.product((SAME, OTHER), repeat=3) if labels else orders_of(forms):
            y_true, y_score = TRUTHS[truth](orders[0]), SCORES[scores](orders[1])
            found = tried(values, y_true, y_score, labels=labels, **SOURCES[source](orders[2]))
            assert found in ("refused", pytest.approx(right)), (forms, orders)
            n_same += found != "refused"
            assert found != "refused" or (not labels and truth != "frame"), (forms, orders)
    assert n_same > (2 * len(SOURCES) if truth == "frame" or labels else 0)


@pytest.mark.parametrize("truth", [form for form in TRUTHS if form not in NAMED])
def test_systems_that_name_labels_in_two_orders_are_refused_beside_a_truth_without_names(truth):
    y_true, one, other = TRUTHS[truth](SAME), frame(S, SAME), frame(S, OTHER)
    for systems in ({"a": one, "b": other}, {"b": other, "a": one}):
        for compared in (xmceval.compare, xmceval.score_all):
            with pytest.raises(DataError, match=r"another order, and .* has none, which would say which label"):
                compared(y_true, systems, metrics="P@1", n_labels=N_LABELS)
            results = compared(y_true, systems, metrics="P@1", n_labels=N_LABELS, labels=NAMES)
            results = results.results if compared is xmceval.compare else [results[name] for name in systems]
            assert {result["P@1"] for result in results} == {values(Y, S, train=TRAIN)["P@1"]}


def run_loop(batches, **options):
    """Return the values of batches, and of an Evaluator that is pickled, and one that is saved, between them."""
    evaluators = [xmceval.Evaluator(metrics=METRICS, n_labels=N_LABELS, **options) for _ in range(3)]
    for batch in batches:
        for evaluator in evaluators:
            evaluator.update(*batch)
        evaluators[1] = pickle.loads(pickle.dumps(evaluators[1]))
        evaluators[2].save("state")
        evaluators[2] = xmceval.Evaluator.load("state")
    found = [dict(evaluator.result()) for evaluator in evaluators]
    assert found[1:] == found[:-1]
    return found[0]


def test_a_saved_score_remembers_that_its_truth_named_no_labels(tmp_path):
    """So that further rows in another order are refused, as they are after batches."""
    xmceval.score(Y, frame(S, SAME), metrics="P@1,macroF1@2", save_state=tmp_path / "a.state")
    evaluator = xmceval.Evaluator.load(tmp_path / "a.state")
    with pytest.raises(DataError, match="another order, and an earlier batch has none"):
        evaluator.update(frame(Y, OTHER), frame(S, OTHER))
    evaluator.update(frame(Y, SAME), frame(S, SAME))


@pytest.mark.parametrize("labels", [None, NAMES], ids=["", "labels"])
@pytest.mark.parametrize("source", ["counts", "counts by name"])
def test_batches_in_any_order_have_the_values_of_the_whole_or_are_refused(source, labels, right):
    n_same = 0
    kinds = list(itertools.product(("array", "frame"), repeat=4))
    for forms in kinds:
        for orders in orders_of((*forms, source)):
            inputs = zip(forms, (Y, S, Y, S), (0, 0, N // 2, N // 2), orders, strict=False)
            batches = [
                (values if form == "array" else frame(values, order))[first : first + N // 2]
                for form, values, first, order in inputs
            ]
            options = SOURCES[source](orders[-1])
            found = tried(run_loop, [batches[:2], batches[2:]], labels=labels, **options)
            assert found in ("refused", pytest.approx(right)), (forms, orders)
            assert found != "refused" or (labels is None and "array" in forms)
            n_same += found != "refused"
    assert n_same > len(kinds)
