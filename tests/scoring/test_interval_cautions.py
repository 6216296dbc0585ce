"""Cautions about intervals: few rows, and one row that carries much of the variance."""

import numpy as np
import pytest
from judge import naive, naive_slices
from support.intervals import is_mean_share
from support.measures import parse
from support.strategies import to_csr

import xmceval

N_LABELS, DEPTH = 40, 6
METRICS = ("P", "nDCG", "R", "F1", "RR", "PSP", "PSR", "PSnDCG", "DCG", "PSDCG")
ABOVE_1 = {"DCG", "PSDCG"}  # with unlike weights the row furthest from a mean above 1 may be missed
K = (1, 3)


def make(seed, n_rows):
    """Return truth and scores as dicts, and 1/p with a heavy tail, of which a few labels are worth most."""
    rng = np.random.default_rng(seed)
    inverse = 1 + rng.pareto(rng.choice([0.5, 0.9, 2.0]), N_LABELS)
    chance, truth, scores = rng.choice([0.02, 0.5, 0.95]), [], []
    for _ in range(n_rows):
        true, others = np.split(rng.permutation(N_LABELS)[: DEPTH + rng.integers(1, DEPTH)], [-DEPTH])
        best = np.where(rng.random(DEPTH) < chance, rng.choice(true, DEPTH), others)
        truth.append(dict.fromkeys(true.tolist(), 1.0))
        scores.append({int(label): float(DEPTH - i) for i, label in enumerate(best)})
    return truth, scores, inverse


def matrices_of(*problem):
    return [to_csr(rows, N_LABELS, np.float64) for rows in problem]


def share_of_one_row(pairs):
    """The largest share of the sum of e^2, e = num - R den, that one row carries."""
    value = naive.ratio(pairs)
    squares = [(num - value * den) ** 2 for num, den in pairs]
    return max(squares) / (sum(squares) or 1.0)


def expected_caution(pairs, name):
    """No caution where the interval is exact; one_row also where Fieller's has no end."""
    of_shares = is_mean_share(name)
    if naive.interval_of(pairs, of_shares=of_shares) is None and not naive.is_uncertain(pairs):
        return None
    if len(pairs) < 30:
        return "few_rows"
    is_exact = of_shares and naive.is_of_few_hits(pairs)
    return "one_row" if not is_exact and share_of_one_row(pairs) > 0.2 else None


def cautions_of(result):
    return {name: each.caution for name, each in result.estimates.items()}


@pytest.mark.parametrize("n_rows", [2, 29, 30, 300])
def test_cautions_are_those_of_all_rows_looked_at_one_by_one(n_rows):
    codes = set()
    for seed in range(25):
        truth, scores, inverse = make(seed, n_rows)
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 20.0], n_rows) if seed % 2 else np.ones(n_rows)
        options = {"metrics": METRICS, "k": K, "inverse_propensities": inverse, "sample_weight": weights}
        result = xmceval.score(*matrices_of(truth, scores), **options)
        for measure in parse(METRICS, K):
            if seed % 2 and measure.metric.name in ABOVE_1:
                continue
            pairs = naive.row_values(measure.metric.name, measure.k, {}, truth, scores, inverse)
            weighted = [(w * num, w * den) for w, (num, den) in zip(weights, pairs, strict=True)]
            found = result.estimates[measure.name]
            expected = expected_caution(weighted, measure.name)
            assert found.caution == expected, (seed, measure.name)
            codes.add(expected)
    assert codes == {None, "few_rows" if n_rows < 30 else "one_row"}


def test_values_within_bins_have_cautions_of_their_own():
    seen = set()
    for seed in range(12):
        truth, scores, _ = make(seed, 60)
        counts = np.arange(N_LABELS) % 5
        inverse = naive.inverse_propensities(counts, 99, 0.55, 1.5)
        options = {"counts": counts, "n_train": 99, "by_frequency": [2, 4]}
        result = xmceval.score(*matrices_of(truth, scores), metrics=["P", "PSP"], k=3, **options)
        bins = [0 if count >= 4 else 1 if count >= 2 else 2 for count in counts]
        by_name = {each.bin.low: each for each in result.slices}
        for name in ("P", "PSP"):
            shares = naive_slices.shares(name, 3, {}, truth, scores, bins, 3, inverse=inverse)
            for part, pairs in zip((by_name[each] for each in sorted(by_name, reverse=True)), shares, strict=True):
                found = part.estimates[f"{name}@3"]
                assert found.caution == expected_caution(pairs, f"{name}@3")
                seen.add(found.caution)
    assert seen == {None, "one_row"}


def test_saved_values_of_rows_have_the_same_cautions():
    truth, scores, inverse = make(1, 300)
    truth, scores = matrices_of(truth, scores)
    options = {"metrics": METRICS, "k": K, "inverse_propensities": inverse}
    result = xmceval.score(truth, scores, **options)
    assert set(cautions_of(result).values()) == {None, "one_row"}
    systems, options["metrics"] = {"a": scores, "b": scores[::-1]}, ["P", "PSP"]
    compared = xmceval.compare(truth, systems, save_rows="rows.npz", **options)
    again = xmceval.compare_rows(["rows.npz"])
    for one, two in zip(compared.results, again.results, strict=True):
        assert cautions_of(one) == cautions_of(two)
        assert [one.interval(name) for name in one] == [two.interval(name) for name in two]
    assert cautions_of(compared.results[0]).items() <= cautions_of(result).items()
