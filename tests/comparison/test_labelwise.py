"""Differences of label-wise metrics: against every exchange of small data, weights drawn here, and many samples."""

import json
import math

import numpy as np
import pytest
from judge import naive_labels, naive_pairs
from scipy import sparse, stats
from support.labels import PAIRS, population_of, simulate
from support.strategies import to_csr

import xmceval
from xmceval.comparison.paired import DRAWS

N_LABELS = 7
AT_K = {
    "macroF1": ("F", {}),
    "macroF1(beta=2)": ("F", {"beta": 2.0}),
    "macroF1(over=truth)": ("F", {"over": "truth"}),
    "macroF1(over=seen)": ("F", {"over": "seen"}),
    "macroF1(over=train)": ("F", {"over": "train"}),
    "macroP": ("precision", {}),
    "macroP(zero=skip)": ("precision", {"zero": "skip"}),
    "macroP(over=seen,zero=1)": ("precision", {"over": "seen", "zero": "1"}),
    "macroR": ("recall", {}),
    "macroJaccard": ("Jaccard", {}),
    "macroBA": ("balanced", {}),
    "macroBA(zero=skip)": ("balanced", {"zero": "skip"}),
    "weightedF1": ("F", {"average": "weighted"}),
    "coverage": ("coverage", {"over": "truth"}),
    "coverage(over=all)": ("coverage", {}),
    "coverage(of=recommended,over=all)": ("coverage", {"of": "recommended"}),
}
OF_DECISIONS = {
    "f1_score(average=macro)": ("F", {}),
    "Jaccard(average=macro)": ("Jaccard", {}),
    "precision_score(average=macro,zero=skip)": ("precision", {"zero": "skip"}),
    "specificity(average=macro)": ("specificity", {}),
    "recall_score(average=weighted)": ("recall", {"average": "weighted"}),
}
TRAIN = [3, 1, 0, 2, 4, 1, 1]
WHY_NOT = "only means over instances and most rates of labels in single runs have them"


def made(rng, n_rows, n_differing):
    """Return true labels and two systems' ranked labels, which differ in some rows."""
    truth = [set(rng.choice(N_LABELS, rng.integers(0, 4), replace=False).tolist()) for _ in range(n_rows)]
    first = [rng.permutation(N_LABELS)[: rng.integers(1, 4)].tolist() for _ in range(n_rows)]
    second = list(first)
    for row in rng.choice(n_rows, n_differing, replace=False).tolist():
        while set(second[row]) == set(first[row]):
            second[row] = rng.permutation(N_LABELS)[: rng.integers(1, 4)].tolist()
    return truth, first, second


def matrix(rows):
    """Return ranked labels as scores."""
    return to_csr([{label: -rank for rank, label in enumerate(labels, -len(labels))} for labels in rows], N_LABELS)


def true_of(rows):
    return to_csr([dict.fromkeys(row, 1) for row in rows], N_LABELS)


def evaluator(truth, rate, options, weights=None):
    """Return the function of a system's labels that the judge computes."""
    rules = {"average": "macro", "train": TRAIN} | options

    def value(predicted):
        sets = [(true, set(labels)) for true, labels in zip(truth, predicted, strict=True)]
        if rate == "coverage":
            return naive_labels.coverage(sets, options.get("over", "all"), N_LABELS, of=options.get("of", "hits"))
        return naive_labels.evaluate(rate, sets=sets, n_labels=N_LABELS, weights=weights, **rules)

    return value


def compare(truth, first, second, metrics, **options):
    systems = {"a": matrix(first), "b": matrix(second)}
    if any("(" in name and "average" in name for name in metrics):
        options["threshold"] = 0.5
    else:
        options = {"k": 3, "counts": TRAIN, "n_train": 9} | options
    return xmceval.compare(true_of(truth), systems, metrics=metrics, **options)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n_rows", "n_differing"), [(9, 0), (9, 2), (9, 5), (4, 3)])
def test_few_rows_that_differ_are_exchanged_in_all_ways(seed, n_rows, n_differing):
    """In 4 rows, some labels are true in none, and only one of the systems predicts them."""
    rng = np.random.default_rng(seed)
    truth, first, second = made(rng, n_rows, n_differing)
    weights = rng.choice([1.0, 2.0, 4.0], n_rows)
    for metrics in (AT_K, OF_DECISIONS):
        comparison = compare(truth, first, second, list(metrics), sample_weight=weights)
        for name, (rate, options) in metrics.items():
            value = evaluator(truth, rate, options, weights)
            sizes = np.abs(naive_pairs.exchanged_differences(second, first, value))
            difference = comparison[f"{name}@3" if metrics is AT_K else name, "b", "a"]
            assert difference.difference == pytest.approx(value(second) - value(first), abs=1e-12)
            assert difference.p == np.mean(sizes >= sizes[0] - 1e-12)
            assert (difference.low, difference.n_differing, difference.n) == (None, n_differing, n_rows)


@pytest.mark.parametrize("seed", range(3))
def test_random_exchanges_have_the_p_of_all_exchanges(seed):
    truth, first, second = made(np.random.default_rng(seed), 12, 9)
    comparison = compare(truth, first, second, list(AT_K))
    for name, (rate, options) in AT_K.items():
        sizes = np.abs(naive_pairs.exchanged_differences(second, first, evaluator(truth, rate, options)))
        p = np.mean(sizes >= sizes[0] - 1e-12)
        difference = comparison[f"{name}@3", "b", "a"]
        assert difference.p == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / DRAWS) + 1 / DRAWS)
        assert difference.p * (1 + DRAWS) == pytest.approx(round(difference.p * (1 + DRAWS)), abs=1e-9)
        assert difference.test == "randomization"


@pytest.mark.parametrize("metrics", [AT_K, OF_DECISIONS])
def test_intervals_are_those_of_exponential_weights(metrics, rng):
    truth, first, second = made(rng, 60, 40)
    weights = rng.exponential(size=(400, 60))
    comparison = compare(truth, first, second, list(metrics))
    for name, (rate, options) in metrics.items():
        if rate == "coverage":
            assert comparison[f"{name}@3", "b", "a"].low is None
            continue
        rules = {"average": "macro", "train": TRAIN} | options
        average = rules.pop("average")
        support = np.array([sum(label in row for row in truth) for label in range(N_LABELS)])
        draws = []
        for drawn in weights:
            values = []
            for system in (second, first):
                sets = [(true, set(labels)) for true, labels in zip(truth, system, strict=True)]
                columns = [naive_labels.of_label(sets, label, drawn) for label in range(N_LABELS)]
                if average == "weighted":  # the weights of labels are those of the data
                    rates = [naive_labels.rate_of(rate, column, 1.0, "0") for column in columns]
                    values.append(np.average(rates, weights=support))
                else:
                    values.append(naive_labels.evaluate(rate, average, sets, N_LABELS, weights=drawn, **rules))
            draws.append(values[0] - values[1])
        difference = comparison[f"{name}@3" if metrics is AT_K else name, "b", "a"]
        low, high = difference.interval
        assert (low + high) / 2 == pytest.approx(difference.difference, abs=1e-12)
        assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, 59) * np.std(draws), rel=0.2)
        if metrics is OF_DECISIONS:
            error = (high - low) / 2 / stats.t.ppf(0.975, 59)
            assert difference.p == pytest.approx(2 * stats.t.sf(abs(difference.difference) / error, 59), abs=1e-9)
            assert difference.test == "bootstrap"


@pytest.mark.parametrize("metric", ["macroF1", "macroP(zero=skip)", "f1_score(average=macro)"])
def test_labels_that_systems_predict_alike_count_in_intervals(metric, rng):
    truth, (a, b) = spread_out(rng)
    alone = xmceval.compare(truth, {"a": a, "b": b}, metrics=metric, k=40)
    hits = sparse.csr_matrix(np.ones((400, 60)))  # always right, so that their rates are 1 for all weights
    wide = [sparse.hstack([array, hits]).tocsr() for array in (truth, a, b)]
    among = xmceval.compare(wide[0], {"a": wide[1], "b": wide[2]}, metrics=metric, k=100)
    [one], [other] = alone.values(), among.values()
    assert other.difference == pytest.approx(0.4 * one.difference, abs=1e-12)
    assert other.interval == pytest.approx(tuple(0.4 * bound for bound in one.interval), abs=1e-12)
    assert other.p == pytest.approx(one.p, abs=1e-9)


def test_a_difference_without_variation_has_no_interval():
    """Each label has one positive, so that weights of rows do not change its rates."""
    truth = sparse.identity(8, format="csr")
    systems = {"nothing": sparse.csr_matrix((8, 8)), "right": truth, "more": truth + sparse.eye(8, k=1, format="csr")}
    found = xmceval.compare(truth, systems, metrics="recall_score(average=macro),macroR", k=2)
    recall = found["recall_score(average=macro)", "right", "nothing"]
    assert (recall.difference, recall.low, recall.p) == (1.0, None, None)
    assert found["recall_score(average=macro)", "more", "right"].p == 1.0
    assert found["macroR@2", "right", "nothing"].low is None
    assert "macro): the difference does not depend on how instances are weighted" in " ".join(found.facts)
    assert "macroR: p is from 1,000 exchanges of systems in random instances; seed 0" in str(found)


def test_the_seed_decides_draws(rng):
    truth, (a, b) = spread_out(rng, 100)
    found = [xmceval.compare(truth, {"a": a, "b": b}, metrics=NAMES, k=3, seed=seed) for seed in (0, 0, 1)]
    assert collect(found[0]) == collect(found[1])
    for difference, other in zip(found[0].values(), found[2].values(), strict=True):
        if difference.measure.name != "coverage@3":
            assert difference.low != other.low
        assert difference.difference == other.difference
        assert difference.p == pytest.approx(other.p, abs=0.07)


@pytest.mark.parametrize("options", [{}, {"empty_rows": "drop"}, {"by_group": ["x"] * 4 + ["y"] * 4}])
def test_systems_without_counts_are_compared(options):
    nothing, one = sparse.csr_matrix((8, 8)), sparse.identity(8, format="csr")
    metrics = "macroF1(over=train),macroP(zero=1),weightedF1,f1_score(average=macro)"
    given = {"metrics": metrics, "k": 1, "counts": [1] * 8, "n_train": 8, **options}
    comparison = xmceval.compare(nothing, {"a": nothing, "b": one}, **given)
    is_left_out = "empty_rows" in options
    difference = comparison["macroP(zero=1)@1", "b", "a"]
    assert (difference.difference, difference.p is None) == (0.0 if is_left_out else -1.0, is_left_out)
    no_rows = xmceval.compare(nothing[:0], {"a": nothing[:0], "b": one[:0]}, **given | {"by_group": None})
    assert all(difference.p is None for difference in no_rows.values())


LEAST, MOST = 0.035, 0.065  # false alarms of exchangeable systems


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAIRS)
def test_tests_err_and_intervals_cover_as_they_should(name):
    difference, share = population_of(name)
    rates = simulate(name, 1000)
    if name.startswith("exchangeable"):
        assert LEAST <= rates["detected"] <= MOST
    if name.startswith("equal"):
        assert abs(difference) < 0.001
        assert share > 1.9
        assert rates["detected"] <= 0.085
    assert 0.90 <= rates["covers"] <= 0.97
    assert rates["holds"] == 1


@pytest.mark.parametrize("name", ["exchangeable, at k", "equal macro F1, 1.9 times as many predictions"])
def test_few_samples_err_as_rarely(name):
    rates = simulate(name, 60)
    assert 0 < rates["detected"] <= 0.12
    assert rates["covers"] >= 0.88
    assert rates["holds"] == 1


def spread_out(rng, n_rows=400, n_labels=40):
    """Return sparse truth and scores of two systems over labels from frequent to rare."""
    truth = rng.random((n_rows, n_labels)) < 0.3 / np.arange(1, n_labels + 1) ** 0.7
    scores = [truth * strength + rng.normal(size=truth.shape) for strength in (1.2, 1.6)]
    return sparse.csr_matrix(truth.astype(float)), [sparse.csr_matrix(np.where(s > 0, s, 0)) for s in scores]


NAMES = ["macroF1", "macroP(zero=skip)", "macroF1(of=means)", "coverage", "weightedF1"]


def collect(comparison):
    return {
        (difference.key, difference.bin): (difference.difference, difference.low, difference.high, difference.p)
        for difference in comparison.differences
    }


def test_tests_do_not_depend_on_threads_or_blocks(rng, tmp_path):
    truth, (a, b) = spread_out(rng)
    options = {"metrics": NAMES, "k": [1, 3], "counts": np.arange(40, 0, -1), "n_train": 99, "by_frequency": 2}
    one = collect(xmceval.compare(truth, {"a": a, "b": b}, threads=1, **options))
    assert one == collect(xmceval.compare(truth, {"a": a, "b": b}, threads=3, **options))
    for name, array in {"y": truth, "a": a, "b": b}.items():
        sparse.save_npz(tmp_path / f"{name}.npz", array)
    files = {name: tmp_path / f"{name}.npz" for name in "ab"}
    assert one == collect(xmceval.compare(tmp_path / "y.npz", files, **options))


def test_labels_with_large_ids_are_tested_alike(rng):
    truth, (a, b) = spread_out(rng, 80)
    ids = np.cumsum(rng.integers(1, 2**29, 40)).astype(np.int64)

    def spread(array):
        return sparse.csr_matrix((array.data, ids[array.indices], array.indptr), shape=(80, int(ids[-1]) + 1))

    options = {"metrics": "macroF1(over=truth),coverage", "k": 2}
    small = xmceval.compare(truth, {"a": a, "b": b}, **options)
    large = xmceval.compare(spread(truth), {"a": spread(a), "b": spread(b)}, **options)
    assert collect(small) == collect(large)


def test_bins_are_tested_as_their_labels_alone(rng):
    truth, (a, b) = spread_out(rng)
    counts = np.repeat([90, 5], 20)
    options = {"metrics": "macroF1,macroP(zero=skip),coverage", "k": 40}  # all are ranked, so that columns are separate
    bins = xmceval.compare(truth, {"a": a, "b": b}, counts=counts, n_train=99, by_frequency=[50], **options)
    names = [part.bin.name for part in bins.results[0].slices]
    for name, columns in zip(names, (slice(0, 20), slice(20, 40)), strict=True):
        alone = xmceval.compare(truth[:, columns], {"a": a[:, columns], "b": b[:, columns]}, **options | {"k": 20})
        for difference in bins.differences:
            if difference.bin == name:
                other = alone[difference.measure.name.replace("@40", "@20"), "b", "a"]
                assert difference.difference == pytest.approx(other.difference, abs=1e-12)
                assert difference.p == pytest.approx(other.p, abs=0.05)


def test_groups_are_tested_as_their_rows_alone(rng):
    truth, (a, b) = spread_out(rng)
    groups = np.array(["x", "y"])[np.arange(400) % 2]
    options = {"metrics": "macroF1,coverage", "k": 3}
    weights = np.arange(400) >= 2  # rows without weight are not held
    both = xmceval.compare(truth, {"a": a, "b": b}, by_group=groups, sample_weight=weights.astype(float), **options)
    for name in "xy":
        rows = np.flatnonzero((groups == name) & weights)
        alone = xmceval.compare(truth[rows], {"a": a[rows], "b": b[rows]}, **options)
        inside = {difference.measure.name: difference for difference in both.differences if difference.bin == name}
        for difference in alone.values():
            assert inside[difference.measure.name].difference == pytest.approx(difference.difference, abs=1e-12)
            assert inside[difference.measure.name].interval == pytest.approx(
                difference.interval, abs=1e-12, nan_ok=True
            )
            assert (inside[difference.measure.name].p, inside[difference.measure.name].n) == (difference.p, 199)


def test_weights_scale_rows(rng):
    truth, (a, b) = spread_out(rng)
    options = {"metrics": ["macroF1", "f1_score(average=macro)"], "k": 3}
    plain = xmceval.compare(truth, {"a": a, "b": b}, **options)
    equal = xmceval.compare(truth, {"a": a, "b": b}, sample_weight=np.full(400, 0.3), **options)
    for key, difference in plain.items():
        assert equal[key].p == pytest.approx(difference.p, abs=1e-9)
        assert equal[key].interval == pytest.approx(difference.interval, abs=1e-9)
    kept = np.arange(400) < 250
    some = xmceval.compare(truth, {"a": a, "b": b}, sample_weight=kept.astype(float), **options)
    alone = xmceval.compare(truth[:250], {"a": a[:250], "b": b[:250]}, **options)
    for key, difference in alone.items():
        assert some[key].interval == pytest.approx(difference.interval, abs=1e-12)
        assert (some[key].p, some[key].n) == (pytest.approx(difference.p, abs=1e-12), 250)


def test_names_that_are_no_label_have_no_weight(rng, tmp_path):
    """One system predicts such a name after its labels, another one in each row."""
    truth, first, second = made(rng, 40, 30)
    words = [f"label {number}" for number in range(N_LABELS)]
    files = {}
    for name, rows in {"a": first, "b": second}.items():
        lines = []
        for row, labels in enumerate(rows):
            scored = [[words[label], 9 - rank] for rank, label in enumerate(labels)]
            lines.append(json.dumps({"data": [*scored, [f"other {row}", 1]] if name == "a" else scored}))
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("\n".join(lines))
    names = ["macroP(zero=skip)", "macroR(over=seen)", "coverage(of=recommended,over=all)", "weightedF1"]
    known = compare(truth, first, second, names, k=4)
    options = {"metrics": names, "k": 4, "counts": TRAIN, "n_train": 9}
    missed = xmceval.compare(true_of(truth), files, labels=words, unknown_labels="miss", **options)
    assert collect(missed) == collect(known)


def test_rows_without_weight_do_not_differ(rng):
    truth, first, second = made(rng, 30, 20)
    differing = np.flatnonzero([set(one) != set(other) for one, other in zip(first, second, strict=True)])
    weights = np.ones(30)
    weights[differing[3:]] = 0
    names = list(AT_K)[:3]
    found = compare(truth, first, second, names, sample_weight=weights)
    kept = np.flatnonzero(weights)
    alone = compare(*([rows[row] for row in kept] for rows in (truth, first, second)), names)
    for key, difference in alone.items():
        assert (found[key].n_differing, found[key].n, difference.n_differing) == (3, 13, 3)
        assert found[key].p == difference.p


def test_holm_and_verdicts_count_label_wise_metrics(rng):
    truth, (a, b) = spread_out(rng)
    comparison = xmceval.compare(truth, {"a": a, "b": b, "c": a * 0.5 + b * 0.5}, metrics="macroF1", k=3)
    differences = list(comparison.values())
    assert [difference.p_adjusted for difference in differences] != [difference.p for difference in differences]
    assert "b is better than" in str(comparison)
    assert "macroF1: p is from 1,000 exchanges of systems in random instances" in " ".join(str(comparison).split())


def test_a_large_bias_of_draws_does_not_move_the_interval():
    """Half of the labels have one positive, so that each draw of weights changes most of their rates."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n_labels = 300
        rows = rng.integers(0, 500, n_labels)
        truth = np.zeros((500, n_labels))
        truth[rows, np.arange(n_labels)] = 1
        truth[:, ::2] = rng.random((500, n_labels // 2)) < 0.05
        a, b = (truth * (rng.random(truth.shape) < hit) + (rng.random(truth.shape) < 0.004) for hit in (0.4, 0.8))
        comparison = xmceval.compare(
            truth, {"a": sparse.csr_matrix(a), "b": sparse.csr_matrix(b)}, metrics="f1_score(average=macro)"
        )
        [difference] = comparison.values()
        assert difference.low < difference.difference < difference.high


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": "macroF1(over=largest)@1"},
        {"metrics": "macroAUC"},
        {"metrics": "MCC(average=macro)"},
        {"metrics": "macroBA@1", "filter": [(0, 1)]},
    ],
)
def test_metrics_that_are_not_tested_say_so(options, rng):
    truth, (a, b) = spread_out(rng, 50)
    comparison = xmceval.compare(truth, {"a": a, "b": b}, **options)
    assert WHY_NOT in " ".join(comparison.facts)
    assert all(difference.p is None for difference in comparison.values())


def test_two_runs_are_not_tested_and_the_fact_names_single_runs(rng):
    truth, (a, b) = spread_out(rng, 50)
    comparison = xmceval.compare(truth, {"a": [a, a * 2], "b": b}, metrics="macroF1@1")
    assert WHY_NOT in " ".join(comparison.facts)
    assert comparison["macroF1@1", "b", "a"].p is None


def test_the_seed_changes_the_draws(rng):
    truth, (a, b) = spread_out(rng, 50)
    widths = set()
    for seed in (0, 1):
        [difference] = xmceval.compare(truth, {"a": a, "b": b}, metrics="macroF1@1", seed=seed).values()
        widths.add(difference.high - difference.low)
    assert len(widths) == 2


def test_the_test_is_described_as_it_was_made(rng):
    truth, (a, b) = spread_out(rng, 50)
    text = " ".join(str(xmceval.compare(truth, {"a": a, "b": b}, metrics="coverage@1,macroF1@1")).split())
    assert "coverage: p is from 1,000 exchanges of systems in random instances; seed 0" in text  # without an interval
    assert "macroF1: p is from 1,000 exchanges of systems in random instances; the interval is from random" in text
    truth, first, second = made(rng, 9, 3)  # all exchanges
    few = compare(truth, first, second, ["macroF1"])
    assert few.differences[0].n_differing == 3
    assert "resamples" not in few.to_dict()["comparisons"][0]
    assert "1,000 exchanges" not in str(few)
