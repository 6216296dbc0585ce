"""Names of rows mean the same at every door: in another order they give the same value, or are refused."""

import itertools

import numpy as np
import pytest

import xmceval
from xmceval import DataError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

N, N_LABELS = 12, 5
RNG = np.random.default_rng(4)
Y = (RNG.random((N, N_LABELS)) < 0.4).astype(int)
S = RNG.random((N, N_LABELS)) + 0.5 * Y
IDS = np.array([f"k{i}" for i in RNG.permutation(90)[:N]])
WEIGHTS, GROUPS = RNG.integers(1, 9, N).astype(float), np.array(["a", "b", "c"] * (N // 3))
SAME, OTHER = np.arange(N), RNG.permutation(N)


def table(values, order, *, are_scores):
    rows = [np.argsort(-row) if are_scores else np.flatnonzero(row) for row in values[order]]
    return pd.DataFrame({"labels": [row.tolist() for row in rows]})


# Forms of a matrix by the order of its rows: wide and with lists, with ids in the index, a known column or another one.
FORMS = {
    "wide, index": lambda values, order, **_: pd.DataFrame(values[order], IDS[order]),
    "wide, id": lambda values, order, **_: pd.DataFrame(values[order]).assign(id=IDS[order]),
    "lists, index": lambda values, order, **kind: table(values, order, **kind).set_axis(IDS[order]),
    "lists, id": lambda values, order, **kind: table(values, order, **kind).assign(id=IDS[order]),
    "lists, key": lambda values, order, **kind: table(values, order, **kind).assign(key=IDS[order]),
}
UNNAMED = {"array": lambda values, _, **__: values}
PER_ROW = {  # weights and groups by id, by the order of their lines
    "": lambda _: {},
    "weights, index": lambda order: {"sample_weight": pd.Series(WEIGHTS[order], IDS[order])},
    "weights, mapping": lambda order: {"sample_weight": dict(zip(IDS[order], WEIGHTS[order], strict=True))},
    "weights, table": lambda order: {"sample_weight": pd.DataFrame({"id": IDS[order], "weight": WEIGHTS[order]})},
    "groups, index": lambda order: {"by_group": pd.Series(GROUPS[order], IDS[order])},
    "groups, mapping": lambda order: {"by_group": dict(zip(IDS[order], GROUPS[order], strict=True))},
}


def values(y_true, y_score, **options):
    result = xmceval.score(y_true, y_score, metrics="P@1,nDCG@3", n_labels=N_LABELS, **options)
    slices = {(part.bin.name, figure.name): figure.estimate.value for part in result.slices for figure in part.figures}
    return {**result, **slices}


def tried(*inputs, **options):
    try:
        return values(*inputs, **options)
    except DataError as error:
        return f"refused: {error}"


@pytest.mark.parametrize("per_row", PER_ROW)
@pytest.mark.parametrize("truth", [*FORMS, *UNNAMED])
def test_rows_in_another_order_have_the_same_value_or_are_refused(truth, per_row):
    by_position = {"": {}, "w": {"sample_weight": WEIGHTS}, "g": {"by_group": GROUPS}}[per_row[:1]]
    right, forms, n_same = values(Y, S, **by_position), FORMS | UNNAMED, 0
    for scores in forms:
        names = [truth not in UNNAMED, scores not in UNNAMED, per_row != ""]
        orders = itertools.product(*((SAME, OTHER) if is_named else (SAME,) for is_named in names))
        for order in orders:
            is_same = [one is SAME for one, is_named in zip(order, names, strict=True) if is_named]
            if not any(is_same) or (not names[1] and order[0] is OTHER):
                continue  # what has no names is by position of the truth
            if order[0] is not order[1] and any("key" in form for form in (truth, scores)) and ", id" in truth + scores:
                continue  # columns of two names are taken for two things
            y_true = forms[truth](Y, order[0], are_scores=False)
            found = tried(y_true, forms[scores](S, order[1], are_scores=True), **PER_ROW[per_row](order[2]))
            n_same += found == pytest.approx(right) if isinstance(found, dict) else 0
            place = (scores, [one is SAME for one in order], found)
            assert not isinstance(found, dict) or found == pytest.approx(right), place
            assert isinstance(found, dict) or truth in UNNAMED or "key" in truth + scores, place
    assert n_same or truth not in {"wide, index", "wide, id", "lists, index", "lists, id"}


@pytest.mark.parametrize("form", FORMS)
def test_ids_passed_join_weights_and_predictions_or_are_refused(form):
    right = values(Y, S, sample_weight=WEIGHTS)
    for order, of_weights in itertools.product((SAME, OTHER), repeat=2):
        options = {"row_ids": IDS, **PER_ROW["weights, mapping"](of_weights)}
        assert values(Y, S, **options) == pytest.approx(right)
        found = tried(Y, FORMS[form](S, order, are_scores=True), **options)
        assert "another order" in found if isinstance(found, str) else found == pytest.approx(right)
        found = tried(FORMS[form](Y, order, are_scores=False), S, **options)
        if order is OTHER:
            assert "another order" in found
        else:
            assert found == pytest.approx(right)


def test_ids_passed_do_not_excuse_a_column_that_differs_between_truth_and_predictions():
    truth = FORMS["lists, key"](Y, SAME, are_scores=False)
    scores = FORMS["lists, key"](S, OTHER, are_scores=True)
    assert "its 'key' differs from 'key' of y_true" in tried(
        truth, scores, row_ids=[f"q{i}" for i in range(N)], rows=True
    )


def test_ids_passed_replace_a_column_of_ids_that_repeats():
    truth = table(Y, SAME, are_scores=False).assign(id=["a", "b"] * (N // 2))
    scores = table(S, OTHER, are_scores=True).assign(id=IDS[OTHER])
    assert tried(truth, scores, row_ids=IDS, rows=True) == pytest.approx(values(Y, S))


@pytest.mark.parametrize(("one", "two"), list(itertools.product(sorted(FORMS.keys() - {"lists, key"}), repeat=2)))
def test_systems_that_name_rows_in_two_orders_are_refused_beside_a_truth_without_names(one, two):
    systems = {
        name: FORMS[form](S, order, are_scores=True) for name, form, order in (("a", one, SAME), ("b", two, OTHER))
    }
    for compared in (systems, dict(reversed(systems.items()))):
        with pytest.raises(
            DataError, match="in another order, and y_true has none, which would say which row is which"
        ):
            xmceval.compare(Y, compared, metrics="P@1", n_labels=N_LABELS)
