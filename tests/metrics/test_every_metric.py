"""Every metric of the table beside the judge's own table: values with each option, defaults, cutoffs, directions."""

import pytest
from judge import table
from support.measures import named, names_of
from support.strategies import random_case, to_csr

import xmceval
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS

THRESHOLD = 0.5
NUMBERS = {"rel": 2, "beta": 2, "p": 0.5, "max": 4, "recall": 0.7, "precision": 0.5}  # others than the defaults


def case_of(metric, seed, graded=True):
    """Return a random case that fits a metric: of binary truth where it needs that."""
    case = random_case(seed)
    scores = [{label: (score + 2) / 4 for label, score in row.items()} for row in case.scores]
    if metric.name == "ERR" and not graded:  # its scale is 0 and 1
        return [dict.fromkeys(y, 1.0) for y in case.truth], scores, case
    return case.truth, scores, case


def check(metric, names, seed, **options):
    truth, scores, case = case_of(metric, seed, graded="max=" in names[0])
    threshold = THRESHOLD if metric.family == "confusion" else None
    result = xmceval.score(
        to_csr(truth, case.n_labels),
        to_csr(scores, case.n_labels),
        metrics=names,
        inverse_propensities=case.inverse,
        threshold=threshold,
        **options,
    )
    rules = table.Rules(
        case.n_labels,
        case.inverse,
        options.get("sample_weight"),
        options.get("empty_rows", "zero"),
        threshold=THRESHOLD,
    )
    assert len(result) == len(names)
    for asked, (name, value) in zip(names, result.items(), strict=True):
        right = table.evaluate(asked, truth, scores, rules)
        assert value == pytest.approx(right, rel=1e-12, abs=1e-12), (asked, name)


def test_every_metric_has_a_judge():
    assert set(table.JUDGES) == set(METRICS)


def test_directions_are_those_of_the_judge():
    assert {name for name, metric in METRICS.items() if not metric.higher_is_better} == table.LOWER_IS_BETTER


def test_bounds_are_those_of_the_judge():
    assert {name: metric.bounds for name, metric in METRICS.items() if metric.bounds != (0, 1)} == table.BOUNDS


@pytest.mark.parametrize("name", METRICS)
def test_values_are_those_of_the_judge_with_every_option(name):
    metric = METRICS[name]
    for seed, k, empty_rows in ((1, 1, "zero"), (2, 3, "drop"), (3, 12, "zero")):
        numbers = [named(metric, {number: NUMBERS[number]}, k) for number in metric.numbers]
        for each in {named(metric, {}, k), *names_of(metric, k), *numbers}:
            check(metric, [each], seed, empty_rows=empty_rows)


@pytest.mark.parametrize(
    "name", [name for name, metric in METRICS.items() if metric.cutoff != "none" and name != "AUC@k"]
)
def test_without_a_cutoff_it_is_1_3_and_5_or_of_the_whole_list(name):
    is_whole = name in {"AP", "RR", "RBP", "ERR"}
    truth, scores, case = case_of(METRICS[name], 4, graded=False)
    matrices = to_csr(truth, case.n_labels), to_csr(scores, case.n_labels)
    plain, cut = (
        xmceval.score(*matrices, metrics=each, inverse_propensities=case.inverse)
        for each in (name, f"{name}@{'all' if is_whole else '1,3,5'}")
    )
    assert dict(plain) == dict(cut)
    assert len(cut) == (1 if is_whole else 3)


@pytest.mark.parametrize("name", METRICS)
def test_without_a_number_of_labels_it_is_refused_or_that_of_the_labels_in_the_files(name, tmp_path):
    metric = METRICS[name]
    truth, scores, case = case_of(metric, 5, graded=False)
    for path, rows in (("truth.txt", truth), ("scores.txt", scores)):
        lines = (" ".join(f"{label}:{value:g}" for label, value in row.items()) for row in rows)
        (tmp_path / path).write_text("\n".join(lines) + "\n")
    asked = named(metric, {}, 3)

    def score():
        inverse = {"inverse_propensities": case.inverse} if metric.needs_propensities else {}
        threshold = THRESHOLD if metric.family == "confusion" else None
        return xmceval.score(
            tmp_path / "truth.txt", tmp_path / "scores.txt", metrics=asked, threshold=threshold, **inverse
        )

    if name in table.ASKING_FOR_LABELS:
        with pytest.raises(xmceval.DataError, match="no input declares the number of labels"):
            score()
    else:
        right = table.evaluate(asked, truth, scores, table.Rules(case.n_labels, case.inverse, threshold=THRESHOLD))
        assert list(score().values()) == pytest.approx([right], rel=1e-12)


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
    for over, text in SETS.items():
        assert f"; {text}; k = 5" in parse(f"{name}(over={over})@5")[0].definition
