"""The judge of slices: what the labels of each bin contribute to a metric, rank by rank, and means within a bin."""

from fractions import Fraction
from functools import partial

from judge import naive, naive_labels


def bins_from_edges(counts, edges):
    """Return the bin of each label: bin 0 has at least the last edge, the last bin less than the first."""
    return [sum(count < edge for edge in edges) for count in counts]


def bins_of_equal_mass(counts, n_bins):
    """Return the bin of each label: in which n-th of the training positives the labels of its frequency begin."""
    total = max(sum(counts), 1)
    before = [Fraction(sum(other for other in counts if other > count), total) for count in counts]
    return [min(int(n_bins * share), n_bins - 1) for share in before]


def row_shares(name, k, options, y, s, bins, n_bins, inverse):
    """Return each bin's (numerator, denominator): what the metric gains at the ranks with labels of the bin."""
    top = naive.ranked(s, k)
    if options.get("norm") == "returned":  # the divisor is that of the whole ranking, at each of its ranks
        k, options = max(len(top), 1), {}
    row = partial(naive.seen, y, k=k, options=options, inverse=inverse, n_labels=None)
    shares, before = [0.0] * n_bins, 0.0
    for rank, label in enumerate(top, 1):
        so_far = naive.METRICS[name](row(top[:rank]))[0]
        shares[bins[label]] += so_far - before
        before = so_far
    denominator = naive.METRICS[name](row(top))[1]
    return [(share, denominator) for share in shares]


def shares(name, k, options, truth, scores, bins, n_bins, *, inverse=None, weights=None, empty_rows="zero", rel=0):
    """Return the weighted pairs of the rows that count, for each bin: rows of weight 0 do not, nor those left out."""
    pairs = [[] for _ in range(n_bins)]
    for y, s, weight in zip(truth, scores, weights or [1.0] * len(truth), strict=True):
        true = naive.at_least(y, rel)
        if not weight or (empty_rows == "drop" and not true):
            continue
        of_row = row_shares(name, k, options, true, s, bins, n_bins, inverse)
        for of_bin, (num, den) in zip(pairs, of_row, strict=True):
            of_bin.append((weight * num, weight * den))
    return pairs


def within(sets, labels):
    """Return true and predicted labels among some labels only, which are numbered from 0 on."""
    number = {label: i for i, label in enumerate(labels)}
    return [({number[x] for x in t if x in number}, {number[x] for x in p if x in number}) for t, p in sets]


def label_mean(rate, average, sets, labels, train, filtered=None, **options):
    """Return a label-wise mean over the labels of a bin."""
    counts = [train[label] for label in labels]
    if filtered is not None:
        filtered = [out for out, _ in within([(out, set()) for out in filtered], labels)]
    inside = within(sets, labels)
    return naive_labels.evaluate(rate, average, inside, len(labels), train=counts, filtered=filtered, **options)


def labels_of(bins, n_bins):
    """Return the labels of each bin."""
    return {b: [label for label, its in enumerate(bins) if its == b] for b in range(n_bins)}
