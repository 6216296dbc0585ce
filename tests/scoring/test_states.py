"""States: what files keep, and what merging refuses."""

from dataclasses import replace

import numpy as np
import pytest

import xmceval
from xmceval import DataError, UsageError
from xmceval.api.score import finish_state
from xmceval.scoring.state_file import pack_state, unpack_state
from xmceval.scoring.totals import LARGEST_LABEL

COUNTS = np.arange(6) ** 2


def make_state(name, rows, *, metrics="P@1,PSP@1,macroF1(over=train)@1", counts=COUNTS, n_train=99, **changes):
    """Return the state of some rows of a truth, and of scores that are as the truth."""
    truth = np.eye(9, 6)[rows]
    evaluator = xmceval.Evaluator(metrics=metrics, counts=counts, n_train=n_train)
    evaluator.update(truth, truth + 0.5)
    state = evaluator._state
    lines = {field: changes.pop(field) for field in ("warnings", "inputs") if field in changes}
    return replace(state, name=name, setup=replace(state.setup, **lines), **changes)


def saved(state):
    return unpack_state(pack_state(state), state.name)


@pytest.mark.parametrize("counts", [COUNTS, COUNTS * 9_000])  # whose codes are the counts, or places among them
def test_propensities_come_back_to_the_bit_and_their_labels_must_ascend(counts):
    own = make_state("a", slice(4), counts=counts, n_train=999_999).setup.propensities
    state = make_state("a", slice(4), counts=counts, n_train=999_999)
    for ids in ([], [0, 2, 3, 4, 5, 9]):
        right = replace(own, ids=np.array(ids, dtype=np.int64))
        kept = saved(replace(state, setup=replace(state.setup, propensities=right))).setup.propensities
        for name, array in vars(right).items():
            np.testing.assert_array_equal(getattr(kept, name), array)
    for ids in ([0, 2, 2, 4, 5, 6], [0, 1], [-1, 2, 3, 4, 5, 6]):
        wrong = replace(own, ids=np.array(ids))
        with pytest.raises(DataError, match="propensities"):
            saved(replace(state, setup=replace(state.setup, propensities=wrong)))


def test_states_are_added_where_only_the_last_bits_of_propensities_differ():
    first, second = make_state("a", slice(4)), make_state("b", slice(4, 9))
    own = second.setup.propensities
    nearly = replace(own, inverse=np.nextafter(own.inverse, np.inf))
    merged = first.merge(replace(second, setup=replace(second.setup, propensities=nearly)))
    assert finish_state(merged).figures == finish_state(first.merge(second)).figures


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [([1e-3, 1e-3], [1e-10, 1.0], "1e-10"), ([1.0, 0.5], [1e-10, 0.5], "1e-10"), ([0, 0], [1.0, 0.5], None)],
)
def test_weights_of_merged_states_are_compared_with_the_largest_of_all(first, second, share):
    for both in ((first, second), (second, first)):
        evaluators = [xmceval.Evaluator(metrics="P", k=1, max_weight=1.0, n_labels=2) for _ in both]
        for i, (evaluator, weights) in enumerate(zip(evaluators, both, strict=True)):
            evaluator.update(np.eye(2), np.eye(2), np.array(weights))
            evaluator.save(f"{i}.state")
        merged = evaluators[0].merge(evaluators[1])
        for result in (merged.result(), xmceval.merge(["0.state", "1.state"])):
            named = [doubt for doubt in result.doubts if f"the smallest weight is {share} of the largest" in doubt]
            assert (len(named), len(result.doubts)) == (share is not None,) * 2


def test_names_rows_warnings_and_removed_entries_of_both_are_kept_each_once():
    one = make_state("a", slice(4), warnings=("b", "a"), inputs=("b", "a"), removed=(5, 20))
    names = {"truth": ("t2",), "scores": ("p2",), "systems": ("p2",)}
    two = make_state("b", slice(6), warnings=("c", "a"), removed=(3, 7), **names)
    merged = saved(one.merge(one).merge(two))
    assert (merged.n_rows, merged.removed) == (14, (13, 47))
    result = finish_state(merged)
    assert (result.name, result.truth, result.scores) == ("y_score and 1 more", "array and 1 more", "array and 1 more")
    assert one.merge(two).setup.warnings == two.merge(one).setup.warnings == ("a", "b", "c")
    assert one.merge(one).setup.inputs == ("b", "a")
    with pytest.raises(UsageError, match="nothing was scored"):
        finish_state(merged.emptied())


def test_a_state_of_an_unknown_number_of_labels_takes_that_of_another():
    known = make_state("a", slice(4), metrics="P@1")
    unknown = replace(known, name="b", setup=replace(known.setup, width=type(known.setup.width)()))
    unknown.totals.tally["whole"][LARGEST_LABEL] = 5
    for merged in (known.merge(unknown), unknown.merge(known)):
        assert merged.setup.width.n_labels == 6
    unknown.totals.tally["whole"][LARGEST_LABEL] = 6
    for pair in ((known, unknown), (unknown, known)):
        with pytest.raises(DataError, match="b has label 6, but a only 6 labels"):
            pair[0].merge(pair[1])
