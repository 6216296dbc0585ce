"""Every metric of the table with every combination of its options, in the package's words and in the judge's.

Tests read names of metrics, and know other tools' names of them, by `parse` and `ALIASES` of here.
"""

import itertools

from judge import naive
from support import graded
from support.strategies import to_csr

from xmceval import METRICS
from xmceval.metrics.names import ALIASES, parse  # noqa: F401 - for tests


def options_of(metric):
    """Return every combination of a metric's options, the defaults first.

    Without over=train, which needs training labels; over= and of=means go with macro averages only. Metrics of counts
    have so many that at most one differs from its default, in addition to average=macro where these do.
    """
    defaults = {name: choices[0] for name, choices in metric.options.items()}
    every = [dict(zip(metric.options, chosen, strict=True)) for chosen in itertools.product(*metric.options.values())]
    return [chosen for chosen in every if metric.family in {"top-k", "row"} or _is_simple(chosen, defaults)]


def _is_simple(chosen, defaults):
    changed = {name for name, choice in chosen.items() if choice != defaults[name]}
    if not changed & {"over", "of"}:
        return len(changed) <= 1
    is_macro = chosen.get("average", "macro") == "macro"
    return chosen.get("over") != "train" and is_macro and len(changed - {"average"}) == 1


def head(name, options):
    """Return a metric's name with its options."""
    inside = ",".join(f"{key}={value}" for key, value in options.items())
    return name.partition("@")[0] + (f"({inside})" if inside else "")


def named(metric, options, k):
    """Return a metric's name with its options and, where it takes one, a cut."""
    own = metric.name.partition("@")[2] or ("0.4" if metric.level and metric.level not in options else "")
    cut = own if metric.cutoff == "none" else str(k)
    return head(metric.name, options) + (f"@{cut}" if cut else "")


def names_of(metric, k=3):
    """Return a metric's names with each combination of its options."""
    return [named(metric, options, k) for options in options_of(metric)]


# The metrics of naive.py that have tie bounds. Name with options: (name, options)
HEADS = {
    head(name, options): (name, options)
    for name in naive.METRICS
    for options in options_of(METRICS[name])
    if options.get("norm") != "hits"
}


def score(case, metrics=tuple(HEADS), k=(1, 3), **options):
    """Score a case given as CSR, with its own propensities."""
    truth, scores = to_csr(case.truth, case.n_labels), to_csr(case.scores, case.n_labels)
    return graded.score(truth, scores, k=k, metrics=metrics, inverse_propensities=case.inverse, **options)
