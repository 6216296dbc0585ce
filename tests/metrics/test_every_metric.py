"""Every metric of the table against the judge's own table: values with each option, defaults, cutoffs, directions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive, table
from support import graded
from support.close import close
from support.measures import named, options_of
from support.pieces import read_in_pieces
from support.strategies import random_case, random_weights, subsets, to_csr, weighted_cases, without

import xmceval
from xmceval import METRICS

ZEROS = METRICS["macroP"].options["zero"]
THRESHOLD, N_TRAIN = 0.5, 50
NUMBERS = {
    "rel": [0.5, 1, 2, 4],
    "beta": [0.5, 1, 2],
    "p": [0.5, 0.8, 0.95],
    "max": [4, 5],
    "recall": [0, 0.4, 0.7, 1],
    "precision": [0.25, 0.5, 0.9],
}
every_metric = pytest.mark.parametrize("name", METRICS)


@st.composite
def problems(draw):
    """Return truth with grades and stored zeros, scores, training counts, and what else a value depends on."""
    case, weights, empty_rows = draw(weighted_cases(graded=draw(st.booleans())))
    n = len(case.truth)
    zeros = draw(st.lists(subsets(case.n_labels, st.just(0.0)), min_size=n, max_size=n))
    truth = [{**none, **row} for none, row in zip(zeros, case.truth, strict=True)]
    counts = draw(st.lists(st.integers(0, 6), min_size=case.n_labels, max_size=case.n_labels))
    options = {
        "sample_weight": weights,
        "empty_rows": empty_rows,
        "unscored": draw(st.sampled_from(["bottom", "zero"])),
        "threshold": draw(st.sampled_from([None, THRESHOLD])),
    }
    cells = st.tuples(st.integers(0, n - 1), st.integers(0, case.n_labels - 1))
    pairs = draw(st.none() | st.lists(cells, max_size=2 * n))
    if pairs is not None:
        options |= {"filter": pairs, "filter_truth": draw(st.booleans())}
    return truth, case.scores, counts, options


def case_for(name, seed):
    """Return truth, scores and a case; the truth has grades where the metric does not refuse them."""
    case = random_case(seed)
    scores = [{label: (score + 2) / 4 for label, score in row.items()} for row in case.scores]
    return [dict.fromkeys(y, 1.0) for y in case.truth] if name == "ERR" else case.truth, scores, case


def names_with(metric, cutoffs, numbers, zero):
    """Return a metric's names with each combination of its options, and with these numbers where it takes them."""
    chosen = {key: numbers[key] for key in metric.numbers} | ({"zero": zero} if "zero" in metric.options else {})
    of_train = {"over": "train", **({"average": "macro"} if "average" in metric.options else {})}
    every = options_of(metric) + [of_train] * ("train" in metric.options.get("over", ()))
    cutoffs = [*cutoffs, "all"] if metric.cutoff == "optional" else cutoffs
    pairs = ((options, k) for options in every for k in cutoffs if (options.get("norm"), k) != ("k", "all"))
    return list(dict.fromkeys(named(metric, {**options, **chosen}, k) for options, k in pairs))


def check(names, truth, scores, counts, options):
    """Compare scores with the judge's, which has no scores of filtered pairs."""
    threshold = -np.inf if options["threshold"] is None else options["threshold"]
    matrices = (to_csr(rows, len(counts), np.float64) for rows in (truth, scores))
    filtered = None
    if options.get("filter") is not None:
        filtered = [{label for row, label in options["filter"] if row == i} for i in range(len(truth))]
        options |= {"filter": np.array(options["filter"], dtype=int).reshape(-1, 2)}
    result = graded.score(*matrices, metrics=names, counts=counts, n_train=N_TRAIN, **options)
    if filtered is not None:
        scores = without(scores, filtered)
        truth = without(truth, filtered) if options["filter_truth"] else truth
    inverse = naive.inverse_propensities(counts, N_TRAIN, 0.55, 1.5)
    rules = {key: options[key] for key in ("empty_rows", "unscored")}
    rules = table.Rules(
        len(counts), inverse, options["sample_weight"], threshold=threshold, train=counts, filtered=filtered, **rules
    )
    for name, figure in zip(names, result.figures, strict=True):
        right = table.evaluate(name, truth, scores, rules)
        assert result[name] == figure.estimate.value == close(right or 0.0), name
        if figure.measure.metric.family == "column":
            assert figure.estimate.undefined == (right is None), name


def test_the_judge_has_every_metric_with_its_direction_and_bounds():
    assert set(table.JUDGES) == set(METRICS)
    assert {name for name, metric in METRICS.items() if not metric.higher_is_better} == table.LOWER_IS_BETTER
    assert {name: metric.bounds for name, metric in METRICS.items() if metric.bounds != (0, 1)} == table.BOUNDS


@pytest.mark.parametrize("family", dict.fromkeys(metric.family for metric in METRICS.values()))
@given(data=st.data(), problem=problems(), zero=st.sampled_from(ZEROS), limit=st.sampled_from([1 << 27, 3]))
def test_values_are_the_judges(family, data, problem, zero, limit):
    """Of all metrics of a family in one run; the next test has each of them alone."""
    truth, scores, counts, options = problem
    options["threshold"] = options["threshold"] if family == "confusion" else None
    numbers = {key: data.draw(st.sampled_from(choices)) for key, choices in NUMBERS.items()}
    cutoffs = data.draw(st.sets(st.integers(1, len(counts)), min_size=1, max_size=3))
    metrics = (metric for metric in METRICS.values() if metric.family == family)
    with pytest.MonkeyPatch.context() as patch:
        read_in_pieces(patch, ids=limit)
        names = [name for metric in metrics for name in names_with(metric, cutoffs, numbers, zero)]
        check(names, truth, scores, counts, options)


MANY = [  # a seed, a cutoff, how rows without truth and labels without scores count, whether a filter is of the truth
    (1, 1, "zero", "bottom", False, 3),
    (2, 3, "drop", "zero", False, 3),
    (3, 12, "drop", "bottom", True, 1 << 27),
    (4, 2, "zero", "zero", True, 99),
]


@every_metric
@pytest.mark.parametrize("weights", [None, random_weights(6)], ids=["plain", "weighted"])
@pytest.mark.parametrize("filtered", [False, True], ids=["no filter", "a filter"])
def test_values_of_many_rows_are_the_judges(name, weights, filtered, monkeypatch):
    for seed, k, empty_rows, unscored, filter_truth, limit in MANY:
        read_in_pieces(monkeypatch, ids=limit)
        case, rng = random_case(seed), np.random.default_rng(seed)
        counts = rng.integers(0, 30, 12).tolist()
        options = {"sample_weight": weights, "empty_rows": empty_rows, "unscored": unscored}
        options["threshold"] = 0.0 if METRICS[name].family == "confusion" else None
        if filtered:
            pairs = np.argwhere(rng.random((40, 12)) < 0.25).tolist()
            pairs += [(row, 0) for row in range(40)]  # the label 0 has no cell that is not true
            options |= {"filter": pairs, "filter_truth": filter_truth}
        numbers = {key: choices[-1 - seed % 2] for key, choices in NUMBERS.items()}
        names = names_with(METRICS[name], [k], numbers, ZEROS[seed % len(ZEROS)])
        check(names, case.truth, case.scores, counts, options)


@every_metric
@pytest.mark.parametrize("filtered", [False, True], ids=["no filter", "a filter"])
def test_only_some_labels_count_as_if_matrices_had_no_other_columns(name, filtered):
    kept = np.array([1, 2, 5, 7, 8, 11])
    for seed, k, empty_rows, unscored, filter_truth, _ in MANY:
        truth, scores, _ = case_for(name, seed)
        matrices = [to_csr(rows, 12, np.float64) for rows in (truth, scores)]
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 30, 12)
        options = {
            "n_train": N_TRAIN,
            "empty_rows": empty_rows,
            "unscored": unscored,
            "by_frequency": 3,
            "ceiling": True,
        }
        options["sample_weight"] = random_weights(seed)
        options["threshold"] = 0.4 if METRICS[name].family == "confusion" else None
        pairs = np.argwhere(rng.random((40, 12)) < 0.25) if filtered else np.empty((0, 2), dtype=int)
        of_kept = pairs[np.isin(pairs[:, 1], kept)]
        of_kept = np.column_stack([of_kept[:, 0], np.searchsorted(kept, of_kept[:, 1])])
        numbers = {key: choices[-1 - seed % 2] for key, choices in NUMBERS.items()}
        options["metrics"] = names_with(METRICS[name], [min(k, len(kept))], numbers, ZEROS[seed % len(ZEROS)])
        filters = [{}, {}]
        if filtered:
            filters = [{"filter": among, "filter_truth": filter_truth} for among in (pairs, of_kept)]
        some = graded.score(*matrices, only_labels=rng.permutation(kept), counts=counts, **options, **filters[0])
        cut = graded.score(*(matrix[:, kept] for matrix in matrices), counts=counts[kept], **options, **filters[1])
        assert some.estimates == cut.estimates
        assert some.counts == cut.counts
        assert [(part.bin, part.estimates) for part in some.slices] == [
            (part.bin, part.estimates) for part in cut.slices
        ]
        assert some.facts == cut.facts


@pytest.mark.parametrize(
    "name", [name for name, metric in METRICS.items() if metric.cutoff != "none" and name != "AUC@k"]
)
def test_without_a_cutoff_it_is_1_3_and_5_or_of_the_whole_list(name):
    is_whole = name in {"AP", "RR", "RBP", "ERR"}
    truth, scores, case = case_for(name, 4)
    matrices = to_csr(truth, case.n_labels), to_csr(scores, case.n_labels)
    plain, cut = (
        graded.score(*matrices, metrics=asked, inverse_propensities=case.inverse)
        for asked in (name, f"{name}@{'all' if is_whole else '1,3,5'}")
    )
    assert dict(plain) == dict(cut)
    assert len(cut) == (1 if is_whole else 3)


@every_metric
def test_without_a_number_of_labels_it_is_refused_or_that_of_the_labels_in_the_files(name):
    metric, (truth, scores, case) = METRICS[name], case_for(name, 5)
    for path, rows in (("truth.txt", truth), ("scores.txt", scores)):
        lines = (" ".join(f"{label}:{value:g}" for label, value in row.items()) for row in rows)
        Path(path).write_text("\n".join(lines) + "\n")
    options = {"metrics": named(metric, {}, 3), "threshold": THRESHOLD if metric.family == "confusion" else None}
    if metric.needs_propensities:
        options["inverse_propensities"] = case.inverse
    if name in table.ASKING_FOR_LABELS:
        with pytest.raises(xmceval.DataError, match="no input declares the number of labels"):
            graded.score("truth.txt", "scores.txt", **options)
    else:
        rules = table.Rules(case.n_labels, case.inverse, threshold=THRESHOLD)
        right = table.evaluate(options["metrics"], truth, scores, rules)
        assert [*graded.score("truth.txt", "scores.txt", **options).values()] == close([right])


# What each set of labels is called in definitions.
SETS = {
    "all": "mean over all labels",
    "truth": "mean over labels that are true in some instance",
    "seen": "mean over labels that are true or predicted in some instance",
    "train": "mean over labels with a training instance",
    "largest": "mean over labels 0 to the largest one that is true or predicted",
}


@pytest.mark.parametrize("name", ["macroP", "macroF1"])
def test_the_definition_names_the_labels_of_a_mean(name):
    assert set(SETS) == set(METRICS[name].options["over"])
    names = [f"{name}(over={over})@5" for over in SETS]
    result = graded.score(np.eye(9), np.eye(9), metrics=names, train=np.eye(9))
    for figure, text in zip(result.figures, SETS.values(), strict=True):
        assert f"; {text}; k = 5" in figure.measure.definition
