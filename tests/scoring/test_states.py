"""States: what files keep, and what merging refuses."""

from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval.api.scoring.finishing import finish_state
from xmceval.errors import DataError, UsageError
from xmceval.scoring.per_label.labelcounters import LabelCounters
from xmceval.scoring.states.file import pack_state, unpack_state
from xmceval.scoring.states.state import StatePart
from xmceval.scoring.totals import LARGEST_LABEL

COUNTS = np.arange(6) ** 2


def make_state(name, rows, *, part=None, metrics="P@1,PSP@1,macroF1(over=train)@1"):
    """Return the state of some rows of a truth, and of scores that are as the truth."""
    truth = np.eye(9, 6)[rows]
    evaluator = xmceval.Evaluator(metrics=metrics, counts=COUNTS, n_train=99)
    evaluator.update(truth, truth + 0.5)
    return replace(evaluator._state, name=name, parts=(part or StatePart(name, len(truth)),))


def saved(state):
    return unpack_state(pack_state(state), state.name)


def test_weights_beyond_the_room_of_counters_are_refused():
    counters = LabelCounters(5, 1, weighted=True)
    counters._rows = 3 << 60
    with pytest.raises(DataError, match="sample weights sum to more than"):
        counters.merge(counters)


@pytest.mark.parametrize(
    "changes",
    [
        {"inverse": np.array([4.0, 2.0, 3.0, 1.0])},
        {"inverse": np.array([4.0, 3.0, 2.0, 0.5])},
        {"inverse": np.array([np.inf, 3.0, 2.0, 1.0])},
        {"ids": np.array([0, 2, 2, 4, 5, 6])},
        {"table_counts": np.array([0, 2, 1, 3])},
    ],
    ids=str,
)
def test_tables_of_propensities_that_do_not_fit_together_are_refused(changes):
    state = make_state("a", slice(4))
    own = {"inverse": np.array([4.0, 3.0, 2.0, 1.0]), "codes": np.array([0, 1, 2, 3, 1, 0], dtype=np.uint16)}
    right = replace(state.terms.propensities, **own, table_counts=np.array([0, 1, 4, 9]))
    kept = saved(replace(state, terms=replace(state.terms, propensities=right))).terms.propensities
    assert (kept.inverse.tolist(), kept.codes.tolist()) == ([4, 3, 2, 1], [0, 1, 2, 3, 1, 0])
    wrong = replace(state, terms=replace(state.terms, propensities=replace(right, **changes)))
    with pytest.raises(DataError, match="propensities"):
        saved(wrong)


def test_states_are_added_where_only_the_last_bits_of_propensities_differ():
    first, second = make_state("a", slice(4)), make_state("b", slice(4, 9))
    own = second.terms.propensities
    nearly = replace(own, inverse=np.nextafter(own.inverse, np.inf))
    merged = first.merge(replace(second, terms=replace(second.terms, propensities=nearly)))
    assert finish_state(merged).figures == finish_state(first.merge(second)).figures


def test_names_and_rows_of_parts_are_kept():
    parts = [StatePart(n_rows=3), StatePart(n_rows=4), StatePart("x", 2, truth="t2", scores="p2", system="p2")]
    states = [make_state("a", slice(4), part=part) for part in parts]
    merged = states[2].merge(states[0]).merge(states[1])
    assert merged.parts == (StatePart(n_rows=7), parts[2])
    result = finish_state(merged)
    assert (result.name, result.truth, result.scores) == ("y_score and 1 more", "array and 1 more", "array and 1 more")
    with pytest.raises(UsageError, match="nothing was scored"):
        finish_state(replace(merged, parts=()))


def test_warnings_are_kept_once_in_an_order_of_their_own():
    one, two = (replace(make_state("a", slice(4)), warnings=each, notes=each) for each in (("b", "a"), ("c", "a")))
    assert one.merge(two).warnings == two.merge(one).warnings == ("a", "b", "c")
    assert one.merge(one).notes == ("b", "a")


def test_pairs_that_were_removed_add_up_in_truth_and_in_scores():
    one, two = (replace(make_state(name, slice(4)), removed=each) for name, each in (("a", (5, 20)), ("b", (3, 7))))
    assert one.merge(two).removed == two.merge(one).removed == (8, 27)
    assert saved(one.merge(two)).removed == (8, 27)


def test_a_saved_state_cannot_have_the_same_rows_twice():
    state = make_state("a", slice(4))
    parts = tuple(StatePart(name, 2, shard=(1, 2)) for name in ("x", "y"))
    with pytest.raises(DataError, match="x and y are both shard 1 of 2"):
        saved(replace(state, parts=parts))


def test_a_state_of_an_unknown_number_of_labels_takes_that_of_another():
    known = make_state("a", slice(4), metrics="P@1")
    unknown = replace(known, name="b", terms=replace(known.terms, width=type(known.terms.width)()))
    unknown.totals.tally.whole[LARGEST_LABEL] = 5
    for merged in (known.merge(unknown), unknown.merge(known)):
        assert merged.terms.width.n_labels == 6
    unknown.totals.tally.whole[LARGEST_LABEL] = 6
    for pair in ((known, unknown), (unknown, known)):
        with pytest.raises(DataError, match="b has label 6, but a only 6 labels"):
            pair[0].merge(pair[1])
