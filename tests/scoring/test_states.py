"""States: exact numbers as limbs that add up over 2^20 states, and what merging refuses."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import xmceval
from xmceval.api.scoring.finishing import finish_state
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import DataError, UsageError
from xmceval.files.saved.statefiles import from_bytes, to_bytes
from xmceval.kernels.metrics.totals import LARGEST_TOP, WORD, WORDS
from xmceval.scoring.limbs import MOST_STATES, first_mark, join, join_words, last_mark, mark, split
from xmceval.scoring.options import Options
from xmceval.scoring.per_label.labelcounters import LabelCounters
from xmceval.scoring.states.state import State
from xmceval.scoring.states.statedocument import as_document, restore
from xmceval.scoring.states.stateparts import StatePart
from xmceval.scoring.sums import Sums
from xmceval.scoring.totals import GRADES, LARGEST_LABEL, Tally

TOP = int(LARGEST_TOP) // MOST_STATES
LOW = st.integers(0, (1 << WORD) - 1) | st.sampled_from([0, 1, (1 << 32) - 1, 1 << 32, (1 << WORD) - 1])
WORDS_OF_A_SUM = st.tuples(LOW, LOW, LOW, st.integers(-TOP + 1, TOP - 2))


def exact(words):
    return sum(int(word) << (WORD * place) for place, word in enumerate(words))


@given(st.lists(WORDS_OF_A_SUM, min_size=1, max_size=3), st.sampled_from([1, 2, 1000, MOST_STATES]))
def test_sums_of_any_size_and_sign_add_up_over_a_million_states(sums, n):
    words = np.array(sums, dtype=np.int64)
    joined = join_words(split(words) * n, words.shape)
    assert [exact(each) for each in joined] == [n * exact(each) for each in words]
    assert joined[:, : WORDS - 1].min() >= 0
    assert joined[:, : WORDS - 1].max() < 1 << WORD


def test_limbs_have_room_for_a_million_states():
    for words in ([(1 << WORD) - 1] * 3 + [int(LARGEST_TOP) - 1024], [0, 0, 0, 1024 - int(LARGEST_TOP)]):
        limbs = split(np.array([words], dtype=np.int64))
        assert np.abs(limbs).max() <= (1 << 62) // MOST_STATES
        with pytest.raises(DataError, match="leave the range of exact sums"):
            join_words(limbs * MOST_STATES, (1, WORDS))
        assert join_words(limbs, (1, WORDS)).tolist() == [words]


@given(st.lists(st.integers(-(1 << 42), 1 << 42), min_size=1, max_size=4))
def test_counts_add_up_over_a_million_states(counts):
    assert join(split(np.array(counts)) * MOST_STATES).tolist() == [count * MOST_STATES for count in counts]


def test_counts_beyond_63_bits_are_refused():
    largest = np.array([(1 << 63) - 1])
    assert join(split(largest)).tolist() == largest.tolist()
    with pytest.raises(DataError, match="leave the range"):
        join(split(largest) * 2)


def test_marks_show_the_least_and_the_greatest_of_all_states():
    marks = mark(5, 9) + mark(2, 9) + mark(2, 9) + mark(None, 9)
    assert (first_mark(marks), last_mark(marks)) == (2, 5)


@pytest.mark.parametrize("grades", [(1.0, 1.0), (2.0, GRADES - 1.0), (0.0, 2.0**40)])
def test_grades_up_to_31_and_powers_of_two_survive_sums(grades):
    tally, summed = Tally(1), Tally(1)
    tally.combine(grades=np.array(grades), whole=np.array([7, 3, 0, 0, 0, 0]))
    summed.fill_limbs(tally.limbs() * 3 + Tally(1).limbs())
    assert (tuple(summed.grades), summed.explicit_zeros, summed.largest_label) == (grades, 21, -1)
    tally.grades = np.array([33.0, 1000.0])
    summed.fill_limbs(tally.limbs())
    assert tuple(summed.grades) == (32.0, 512.0)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_counters_by_label_add_up_over_a_million_states(is_weighted):
    counters, summed = (LabelCounters(5, 2, weighted=is_weighted) for _ in range(2))
    counters._dense[3, 1], counters._rows, counters._n_labels = 2**31 - 1, 2**31 - 1, 4
    summed.fill_limbs(counters.limbs() * MOST_STATES)
    table = summed.table()
    assert (table.rows, table.counts[3, 1], len(table.counts)) == (MOST_STATES * (2**31 - 1),) * 2 + (4,)
    assert table.counts.dtype == np.int64
    summed.fill_limbs(counters.limbs())
    assert summed.table().counts.dtype == (np.int64 if is_weighted else np.int32)


def test_weights_beyond_the_room_of_counters_are_refused():
    counters = LabelCounters(5, 1, weighted=True)
    counters._rows = 3 << 60
    with pytest.raises(DataError, match="sample weights sum to more than"):
        LabelCounters(5, 1, weighted=True).fill_limbs(counters.limbs() * 2)
    with pytest.raises(DataError, match="sample weights sum to more than"):
        counters.merge(counters)
    with pytest.raises(UsageError, match="more than 134,217,728 labels"):
        LabelCounters(1 << 28, 1).limbs()


def test_sums_that_do_not_fit_are_refused():
    sums = Sums(2, 3)
    with pytest.raises(ValueError, match="expected"):
        Sums(3, 3).fill(sums.arrays())
    with pytest.raises(ValueError, match="limbs"):
        sums.fill_limbs(Sums(1).limbs())


COUNTS = np.arange(6) ** 2


def make_state(name, rows, *, n_labels=6, part=None, **options):
    """Return the state of some rows of a truth, and of scores that are as the truth."""
    truth = np.eye(9, n_labels)[rows]
    systems = [Named(truth + 0.5)]
    setup = Setup.of(
        truth,
        Options(**{"metrics": "P@1,PSP@1,macroF1(over=train)@1", "counts": COUNTS, "n_train": 99, **options}),
        systems,
    )
    [opened] = setup.open_systems(systems)
    [totals] = setup.evaluate([opened])
    parts = (StatePart(name, len(truth)) if part is None else part,)
    return State(name, setup.options, setup.program, opened.terms, totals, parts, setup.warnings, setup.notes)


def saved(state, **how):
    return restore(*from_bytes(to_bytes(*as_document(state, **how))), state.name)


def test_a_state_has_the_tables_that_its_values_need():
    state = make_state("a", slice(4))
    assert finish_state(saved(state)) == finish_state(state)
    assert saved(state, whole=False).is_whole  # over=train needs to know the labels with a training row
    small = saved(make_state("a", slice(4), metrics="PSP@1"), whole=False)
    assert not small.is_whole
    assert finish_state(small) == finish_state(make_state("a", slice(4), metrics="PSP@1"))
    whole = make_state("b", slice(4, 9), metrics="PSP@1")
    for merged in (small.merge(whole), whole.merge(small)):
        assert merged.is_whole
        assert finish_state(saved(merged))["PSP@1"] == finish_state(make_state("c", slice(9), metrics="PSP@1"))["PSP@1"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"metrics": "P@1"}, "a and b differ in metrics: .* and P@1; only totals that were made alike can be added"),
        ({"ties": "best", "metrics": "P@1,PSP@1"}, "a and b differ in metrics"),
        ({"ceiling": True}, "a and b differ in ceiling: none and True"),
        ({"n_train": 98}, "a and b differ in propensities"),
        ({"dataset": "Bibtex"}, "a and b differ in dataset: none and Bibtex"),
        ({"sample_weight": np.ones(5)}, "a and b differ in scale of sample weights: none and 1.0"),
        ({"filter": [[0, 1]]}, "b has a filter"),
    ],
)
def test_states_that_were_made_otherwise_are_not_added(other, message):
    with pytest.raises(DataError, match=message):
        make_state("a", slice(4)).merge(make_state("b", slice(4, 9), **other))


@pytest.mark.parametrize(
    "changes",
    [
        {"inverse": np.array([4.0, 2.0, 3.0, 1.0])},
        {"inverse": np.array([4.0, 3.0, 2.0, 0.5])},
        {"inverse": np.array([np.inf, 3.0, 2.0, 1.0])},
        {"ids": np.array([0, 2, 2, 4, 5, 6])},
        {"table_counts": np.array([0, 2, 1, 3])},
        {"table_counts": np.array([0, 1, 4, 9, 16])},
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
    with pytest.raises(DataError, match="propensities: their tables do not fit together"):
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


def test_metrics_of_all_cells_have_no_state():
    state = make_state("a", slice(4), metrics="macroAUC")
    for use in (state.vector, lambda: as_document(state)):
        with pytest.raises(UsageError, match="macroAUC: not available for a state"):
            use()


def test_a_million_states_give_the_result_of_one():
    evaluator = xmceval.Evaluator(metrics="P,nDCG,macroF1,LRAP", k=2, n_labels=4)
    evaluator.update(np.eye(3, 4), np.array([[3, 1, 2, 0], [1, 2, 3, 4], [4, 3, 2, 1]]))
    one, million = evaluator.result(), evaluator.from_state(evaluator.state() * MOST_STATES).result()
    assert million.counts.n_instances == 3 * MOST_STATES
    assert dict(million) == dict(one)
    with pytest.raises(DataError, match="a sum of 1,048,577 states"):
        evaluator.from_state(evaluator.state() * (MOST_STATES + 1))
