"""The judge: every metric as its formula says, on rows that are dicts {label: value}; slow, meant to be read.

A row's value is a pair, numerator and denominator: the denominator of a plain mean is 1. `inverse` has 1/p by label.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from scipy.stats import beta, t as student

MOST_ORDERS = 720  # rows with more orders of their ties are bounded by sorting the tied by gain


# Propensities and ranking


def inverse_propensities(counts, n, a, b):
    """Return 1/p of each label: 1 + C (N_l + B)^-A with C = (ln N - 1)(B + 1)^A (Jain, Prabhu, Varma, KDD 2016)."""
    c = (math.log(n) - 1) * (b + 1) ** a
    return [1 + c * (count + b) ** -a for count in counts]


def label_counts(truth, n_labels):
    """Return N_l: the number of rows in which label l is true."""
    return [sum(row.get(label, 0) > 0 for row in truth) for label in range(n_labels)]


def ranked(row_scores, k=None):
    """Return the k best labels: higher score first, then the lower label id."""
    return sorted(row_scores, key=lambda label: (-row_scores[label], label))[:k]


def at_least(row, rel):
    """Return the true labels of a row with their grades: any grade above 0, or with `rel` those from there on."""
    return {label: grade for label, grade in row.items() if grade > 0 and grade >= rel}


# One row as a metric sees it


@dataclass(frozen=True)
class Seen:
    """True labels with their values, the ranking cut at k, k, 1/p and the options of the metric."""

    truth: dict
    top: list
    k: int
    inverse: Any
    options: dict
    is_whole: bool = False

    @property
    def n(self):
        """Number of true labels."""
        return len(self.truth)

    @property
    def hits(self):
        """Number of true labels among the top k."""
        return sum(label in self.truth for label in self.top)

    @property
    def hit_ranks(self):
        """Ranks of the true labels among the top k."""
        return [rank for rank, label in enumerate(self.top, 1) if label in self.truth]

    def d(self, rank):
        """Discount at a rank: 1/log2(rank + 1), 1/ln(rank + 1), 1, or LETOR's."""
        return {
            "log2": lambda: 1 / math.log2(rank + 1),
            "ln": lambda: 1 / math.log(rank + 1),
            "none": lambda: 1.0,
            "letor": lambda: 1.0 if rank <= 2 else 1 / math.log2(rank),
        }[self.options.get("discount", "log2")]()

    def sum_d(self, j):
        """D(j): the discounts of ranks 1 to j."""
        return math.fsum(self.d(rank) for rank in range(1, j + 1))

    def gain(self, label):
        """Grade of a label, 2^grade - 1 with gain=exp, 1 with gain=binary, 0 of a label that is not true."""
        grade = self.truth.get(label, 0)
        if self.options.get("gain") == "exp":
            return 2**grade - 1
        return int(grade > 0) if self.options.get("gain") == "binary" else grade

    def w(self, label):
        """Inverse propensity of a true label, 0 of a label that is not true."""
        return self.inverse[label] if label in self.truth else 0.0

    def total(self, worth, discounted, ideal=False):
        """Sum what the top k are worth, or the k best true labels (the ideal)."""
        labels = sorted(self.truth, key=worth, reverse=True)[: self.k] if ideal else self.top
        return math.fsum(worth(label) * (self.d(r) if discounted else 1) for r, label in enumerate(labels, 1))


# Metrics: a row's (numerator, denominator)


def precision(row):
    """P: hits / k, over the whole list hits / its length, which norm=returned counts within k."""
    length = len(row.top) if row.is_whole or row.options.get("norm") == "returned" else row.k
    return (row.hits / length if length else 0), 1


def recall(row):
    """R: hits / n."""
    return (row.hits / row.n if row.n else 0), 1


def r_precision(row):
    """RP: hits / min(k, n)."""
    return (row.hits / min(row.k, row.n) if row.n else 0), 1


def f1(row):
    """F1: harmonic mean of P and R, in which R weighs beta^2 times as much."""
    p, r, b = precision(row)[0], recall(row)[0], float(row.options.get("beta", 1)) ** 2
    return ((1 + b) * p * r / (b * p + r) if p + r else 0), 1


def hit(row):
    """Hit: 1 if there is any hit."""
    return (1 if row.hits else 0), 1


def abandonment(row):
    """Abandonment: 1 - Hit."""
    return 1 - hit(row)[0], 1


def dcg(row):
    """DCG: sum of gain times discount over hits."""
    return row.total(row.gain, discounted=True), 1


def ndcg(row):
    """nDCG: DCG / DCG of the best order of all true labels, which is D(min(k, n)) without grades."""
    return (dcg(row)[0] / row.total(row.gain, discounted=True, ideal=True) if row.n else 0), 1


def reciprocal_rank(row):
    """RR: 1 / rank of the first hit."""
    return next((1 / rank for rank in row.hit_ranks), 0), 1


def average_precision(row):
    """AP: sum of P@r over the ranks r of hits, divided by n, by k, by min(k, n) or by the number of hits."""
    divisor = {"n": row.n, "k": row.k, "min": min(row.k, row.n), "hits": row.hits}[row.options.get("norm", "n")]
    return (math.fsum(i / rank for i, rank in enumerate(row.hit_ranks, 1)) / divisor if row.hits else 0), 1


def psp(row):
    """PSP: sum of 1/p over hits / k; norm=ratio divides by the same of the ideal, summed over rows."""
    ideal = row.total(row.w, discounted=False, ideal=True) / row.k
    return row.total(row.w, discounted=False) / row.k, (ideal if row.options.get("norm", "ratio") == "ratio" else 1)


def psr(row):
    """PSR: sum of 1/p over hits / n; likewise."""
    if row.n == 0:
        return 0, (0 if row.options.get("norm", "ratio") == "ratio" else 1)
    ideal = row.total(row.w, discounted=False, ideal=True) / row.n
    return row.total(row.w, discounted=False) / row.n, (ideal if row.options.get("norm", "ratio") == "ratio" else 1)


def psdcg(row):
    """PSDCG: sum of 1/p times discount over hits."""
    return row.total(row.w, discounted=True), 1


def psndcg(row):
    """PSnDCG: PSDCG over the ideal's; each divided by D(min(k, n)) first (row) or not (sum); or PSDCG / D(k) (none)."""
    got, ideal = (row.total(row.w, discounted=True, ideal=i) for i in (False, True))
    norm = row.options.get("norm", "row")
    if norm == "none":
        return got / row.sum_d(row.k), 1
    if norm == "sum":
        return got, ideal
    d = row.sum_d(min(row.k, row.n))
    return (got / d, ideal / d) if row.n else (0, 0)


def micro_precision(row):
    """microP: hits / predictions within the cutoff, over all rows together."""
    return row.hits, len(row.top)


def micro_recall(row):
    """microR: hits / n, over all rows together."""
    return row.hits, row.n


def micro_f1(row):
    """microF1: hits / mean of predictions and n, in which n weighs beta^2 times as much, over all rows together."""
    b = float(row.options.get("beta", 1)) ** 2
    return row.hits, (len(row.top) + b * row.n) / (1 + b)


METRICS = {
    "P": precision,
    "R": recall,
    "RP": r_precision,
    "F1": f1,
    "Hit": hit,
    "Abandonment": abandonment,
    "DCG": dcg,
    "nDCG": ndcg,
    "RR": reciprocal_rank,
    "AP": average_precision,
    "PSP": psp,
    "PSR": psr,
    "PSDCG": psdcg,
    "PSnDCG": psndcg,
    "microP": micro_precision,
    "microR": micro_recall,
    "microF1": micro_f1,
}
PROPENSITY_SCORED = ("PSP", "PSR", "PSDCG", "PSnDCG")
LOWER_IS_BETTER = ("Abandonment",)


# All rows


def seen(y, top, k, options, inverse, n_labels):
    """Return what a metric sees of a row: stored zeros are not true; k=None is the whole list, of at most n_labels."""
    cut = n_labels if k is None else k
    return Seen({label: value for label, value in y.items() if value > 0}, top[:cut], cut, inverse, options, k is None)


def row_values(name, k, options, truth, scores, inverse=None, n_labels=None, empty_rows="zero"):
    """Return (numerator, denominator) of each row; k=None ranks the whole list (k is then n_labels)."""
    rows = [seen(y, ranked(s, k), k, options, inverse, n_labels) for y, s in zip(truth, scores, strict=True)]
    return [METRICS[name](row) for row in rows if row.n or empty_rows == "zero"]


def ratio(pairs):
    """Return sum of numerators / sum of denominators: the mean where each denominator is 1; 0 where they sum to 0."""
    below = math.fsum(den for _, den in pairs)
    return math.fsum(num for num, _ in pairs) / below if below else 0.0


def evaluate(*arguments, **rules):
    """Return the metric over all rows; the arguments are those of `row_values`."""
    return ratio(row_values(*arguments, **rules))


@cache
def quantile(degrees, confidence=0.95):
    """Return the two-sided quantile of Student's t distribution."""
    return float(student.ppf((1 + confidence) / 2, degrees))


def interval_of(pairs, confidence=0.95, of_shares=False):
    """Return R -+ t SE, SE = sqrt(sum e^2 / (n(n-1))) / mean(den), e = num - R den: s/sqrt(n) where each den is 1.

    Of shares, a mean of values within 0 and 1, that of Clopper and Pearson where all are 0 or 1, their weights are
    equal, and fewer than 20 are 0 or fewer than 20 are 1. None where all values are alike otherwise.

    Of 30 rows or more whose mean den has an interval that reaches further than 20% of it, those R for which t of
    num - R den does not exclude a mean of 0, or None where these have no end (Fieller).
    """
    n = len(pairs)
    below = math.fsum(den for _, den in pairs)
    if n < 2 or not below:
        return None
    if of_shares and is_of_few_hits(pairs):
        hits, tail = sum(num > 0 for num, _ in pairs), (1 - confidence) / 2
        low = float(beta.ppf(tail, hits, n - hits + 1)) if hits else 0.0
        return low, float(beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    value = ratio(pairs)
    if all(abs(num - value * den) <= 1e-12 * abs(num) for num, den in pairs):
        return None
    if is_uncertain(pairs, confidence):
        return fieller(pairs, quantile(n - 1, confidence))
    squares = math.fsum((num - value * den) ** 2 for num, den in pairs)
    half = quantile(n - 1, confidence) * math.sqrt(squares / (n * (n - 1))) / (below / n)
    return value - half, value + half


def is_of_few_hits(pairs):
    """Return whether all values are 0 or 1, their weights equal, and fewer than 20 are 0 or fewer than 20 are 1."""
    hits = sum(num > 0 for num, _ in pairs)
    is_of_hits = len({den for _, den in pairs}) == 1 and all(num in (0, den) for num, den in pairs)
    return is_of_hits and min(hits, len(pairs) - hits) < 20


def is_uncertain(pairs, confidence=0.95):
    """Return whether the interval of the mean den, of 30 rows or more, reaches further than 20% of it."""
    n, dens = len(pairs), [den for _, den in pairs]
    mean = math.fsum(dens) / n
    squares = math.fsum((den - mean) ** 2 for den in dens)
    return n >= 30 and quantile(n - 1, confidence) * math.sqrt(squares / (n * (n - 1))) > 0.2 * mean


def fieller(pairs, t):
    """Return the ends of all R with n mean(num - R den)^2 <= t^2 s^2, s^2 the variance of num - R den, or None."""
    n = len(pairs)
    x, y = (math.fsum(column) / n for column in zip(*pairs, strict=True))

    def excess(products, square):
        return n * square - t**2 * math.fsum(products(num - x, den - y) for num, den in pairs) / (n - 1)

    a, b, c = excess(lambda _, v: v * v, y * y), excess(lambda u, v: u * v, x * y), excess(lambda u, _: u * u, x * x)
    if a <= 0:
        return None
    root = math.sqrt(max(b * b - a * c, 0.0))
    return (b - root) / a, (b + root) / a


# Ties


def tied_groups(row_scores):
    """Return the ranking as groups of labels with equal scores, best group first."""
    return [list(group) for _, group in itertools.groupby(ranked(row_scores), key=lambda label: row_scores[label])]


def orders(row_scores):
    """Yield every ranking of a row that differs in the order of tied labels only."""
    for choice in itertools.product(*(itertools.permutations(group) for group in tied_groups(row_scores))):
        yield list(itertools.chain(*choice))


def extreme_orders(row_scores, worth):
    """Return two rankings: in each tied group the least worth first, and the most worth first."""
    groups = tied_groups(row_scores)
    return [list(itertools.chain(*(sorted(g, key=worth, reverse=best) for g in groups))) for best in (False, True)]


def row_tie_bounds(name, row_scores, row, most_orders=MOST_ORDERS):
    """Return the row's worst and best pair over the orders of its tied labels (denominators do not depend on them)."""
    whole = row(ranked(row_scores))
    worth = whole.w if name in PROPENSITY_SCORED else whole.gain
    n_orders = math.prod(math.factorial(len(group)) for group in tied_groups(row_scores))
    rankings = orders(row_scores) if n_orders <= most_orders else extreme_orders(row_scores, worth)
    pairs = [METRICS[name](row(ranking)) for ranking in rankings]
    least_first = sorted(pairs, reverse=name in LOWER_IS_BETTER)
    return least_first[0], least_first[-1]


def tied_rows(k, options, truth, scores, inverse, n_labels, empty_rows):
    """Yield the scores of each row, and a function that makes of a ranking what a metric sees."""
    for y, s in zip(truth, scores, strict=True):
        if empty_rows == "zero" or any(value > 0 for value in y.values()):
            yield s, partial(seen, y, k=k, options=options, inverse=inverse, n_labels=n_labels)


def tie_bounds(
    name, k, options, truth, scores, inverse=None, n_labels=None, empty_rows="zero", most_orders=MOST_ORDERS
):
    """Return the metric's (worst, best) value over all orders of tied labels; worst Abandonment is the largest."""
    rows = tied_rows(k, options, truth, scores, inverse, n_labels, empty_rows)
    bounds = [row_tie_bounds(name, s, row, most_orders) for s, row in rows]
    return ratio([worst for worst, _ in bounds]), ratio([best for _, best in bounds])


def tie_mean(name, k, options, truth, scores, inverse=None, n_labels=None, empty_rows="zero"):
    """Return the metric's mean over all orders of tied labels, by listing them."""
    means = []
    for s, row in tied_rows(k, options, truth, scores, inverse, n_labels, empty_rows):
        pairs = [METRICS[name](row(top)) for top in orders(s)]
        means.append((math.fsum(num for num, _ in pairs) / len(pairs), pairs[0][1]))
    return ratio(means)


def rows_with_tie_across(k, scores):
    """Return the number of rows whose k-th and (k+1)-th best scores are equal."""
    best = [sorted(row.values(), reverse=True) for row in scores]
    return sum(len(row) > k and row[k - 1] == row[k] for row in best)
