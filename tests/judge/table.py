"""The judge's own table: every metric by its name, with the defaults, directions and bounds of its source."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

from judge import naive, naive_further, naive_labels, naive_rows

LOWER_IS_BETTER = {
    *("Abandonment", "coverage_error", "ranking_loss", "zero_one_loss", "hamming_loss", "hamming_distance"),
    *("FPR", "fp", "fn"),
}
# Metrics that are refused where no input declares the number of labels; others do not depend on it.
ASKING_FOR_LABELS = {
    *("LRAP", "coverage_error", "ranking_loss", "AUC", "accuracy", "hamming_loss", "specificity", "FPR"),
    *("microAUC", "microRecallAtPrecision", "MCC", "balanced_accuracy", "tn"),
    *("macroP", "macroR", "macroF1", "macroF1@n", "macroJaccard", "macroBA"),
}
# Metrics that are no share from 0 to 1.
BOUNDS = {
    **dict.fromkeys(("DCG", "PSDCG", "coverage_error", "hamming_distance"), (0.0, math.inf)),
    **dict.fromkeys(("tp", "fp", "fn", "tn", "NumRet", "NumRel"), (0.0, math.inf)),
    "MCC": (-1.0, 1.0),
}


@dataclass(frozen=True)
class Rules:
    """What a value depends on in addition to truth and scores."""

    n_labels: int
    inverse: Any = None
    weights: Any = None
    empty_rows: str = "zero"
    unscored: str = "bottom"
    threshold: float = -math.inf
    train: Any = ()
    filtered: Any = None  # a set of labels of each row, which have no scores


@dataclass(frozen=True)
class Name:
    """A metric's name taken apart: its options as written, and the cutoff, None without one."""

    metric: str
    options: dict = field(default_factory=dict)
    cutoff: str | None = None

    @property
    def k(self):
        """The cutoff as a number."""
        return int(self.cutoff or 0)

    def number(self, option, default=1):
        """Return the number that an option is."""
        return float(self.options.get(option, default))


def parse(name):
    """Take a name such as ``nDCG(discount=none,gain=exp)@5`` apart."""
    match = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?(?:@([\w.]+))?", name)
    assert match is not None, name
    options = dict(option.split("=") for option in match[2].split(",")) if match[2] else {}
    return Name(match[1], options, match[3])


# Judges: functions of a name, truth, scores and rules


def top_k(name, truth, scores, rules):
    """Judge a metric of naive.py, at a cutoff or over the whole list."""
    k = None if name.cutoff == "all" else name.k
    true, kept, weights, _ = rows_that_count(name, truth, scores, rules)
    pairs = naive.row_values(name.metric, k, name.options, true, kept, rules.inverse, rules.n_labels)
    return naive.ratio([(weight * num, weight * den) for weight, (num, den) in zip(weights, pairs, strict=True)])


def whole_row(name, truth, scores, rules):
    """Judge a metric of naive_rows.py; the @ of IPrec is a level of recall."""
    is_whole = name.cutoff in {"all", "n"}
    head = "AUC@k" if name.metric == "AUC" and name.cutoff else name.metric + is_whole * f"@{name.cutoff}"
    numbers = {"p": name.number("p", 0.8), "max": name.number("max")}
    if head == "IPrec":
        numbers = {"recall": float(name.cutoff or name.options["recall"])}
    return naive_rows.evaluate(
        *(head, truth, scores, rules.n_labels),
        unscored=rules.unscored,
        empty_rows=rules.empty_rows,
        k=0 if is_whole or head == "IPrec" else name.k,
        rel=name.number("rel", 0),
        weights=rules.weights,
        options=numbers,
        filtered=rules.filtered,
    )


def rate(kind, average="micro"):
    """Return the judge of a rate of naive_labels.py with its default average, at a cutoff or a threshold."""

    def judge(name, truth, scores, rules):
        sets, weights, filtered = sets_of(name, truth, scores, rules)

        def evaluate(kind):
            return naive_labels.evaluate(
                *(kind, name.options.get("average", average), sets, rules.n_labels),
                beta=name.number("beta"),
                zero=name.options.get("zero", "0"),
                over=name.options.get("over", "all"),
                train=rules.train,
                weights=weights,
                filtered=filtered,
            )

        if name.options.get("of") == "means":
            return naive_labels.f_measure(evaluate("precision"), evaluate("recall"), name.number("beta"))
        return evaluate(kind)

    return judge


def per_row(worth):
    """Return the judge of a mean over rows of a function of their true and their decided labels."""

    def judge(name, truth, scores, rules):
        sets, weights, _ = sets_of(name, truth, scores, rules)
        return naive_labels.mean([float(worth(true, decided)) for true, decided in sets], weights)

    return judge


def cells(*kinds):
    """Return the judge of a number of cells, of one kind or several: tp, fp, fn or tn."""

    def judge(name, truth, scores, rules):
        sets, weights, filtered = sets_of(name, truth, scores, rules)
        counts = naive_labels.of_all(sets, rules.n_labels, weights, filtered)
        return math.fsum(counts[kind] for kind in kinds)

    return judge


def coverage(name, truth, scores, rules):
    """Judge coverage@k: in the ideal, each row has its k rarest labels."""
    sets, *_ = sets_of(name, truth, scores, rules)
    inverse = rules.inverse or [1.0] * rules.n_labels
    ideal = [(true, set(sorted(true, key=lambda label: (-inverse[label], label))[: name.k])) for true, _ in sets]
    over, of = name.options.get("over", "truth"), name.options.get("of", "hits")
    return naive_labels.coverage(sets, over, rules.n_labels, ideal, of)


def column(name, truth, scores, rules):
    """Judge a metric of columns."""
    rows = naive_further.kept(truth, scores, rules.weights, name.number("rel", 0), rules.empty_rows, rules.filtered)
    rows = [row for row in rows if row[2]]
    precision = name.number("precision", 0.9)
    return naive_further.column(name.metric, rows, range(rules.n_labels), rules.unscored, precision)


RATES = {"P": "precision", "R": "recall", "F1": "F", "Jaccard": "Jaccard", "BA": "balanced"}
JUDGES = {
    **dict.fromkeys(naive.METRICS, top_k),
    **dict.fromkeys(("IPrec", "RBP", "ERR", "AUC@k", "R@n", "microR@n"), whole_row),
    **dict.fromkeys(("LRAP", "coverage_error", "ranking_loss", "AUC", "GAUC"), whole_row),
    **{f"macro{name}": rate(kind, "macro") for name, kind in RATES.items()},
    **{f"weighted{name}": rate(RATES[name], "weighted") for name in ("P", "R", "F1")},
    "macroF1@n": rate("F", "macro"),
    "microF1@n": rate("F"),
    "coverage": coverage,
    "accuracy": rate("accuracy"),
    "subset_accuracy": per_row(lambda true, decided: true == decided),
    "zero_one_loss": per_row(lambda true, decided: true != decided),
    "precision_score": rate("precision"),
    "recall_score": rate("recall"),
    "f1_score": rate("F"),
    "Jaccard": rate("Jaccard"),
    "hamming_loss": rate("hamming"),
    "hamming_distance": per_row(lambda true, decided: len(true ^ decided)),
    "specificity": rate("specificity"),
    "FPR": rate("fall-out"),
    "MCC": rate("matthews"),
    "balanced_accuracy": rate("balanced"),
    **{name: cells(kind) for kind, name in enumerate(("tp", "fp", "fn", "tn"))},
    "NumRet": cells(0, 1),
    "NumRel": cells(0, 2),
    **dict.fromkeys(
        ("macroAUC", "microAUC", "macroAP", "microAP", "macroRecallAtPrecision", "microRecallAtPrecision"), column
    ),
}


def judge_of(name):
    """Return the judge of a metric with its cutoff."""
    heads = f"{name.metric}@{name.cutoff}", "AUC@k" if name.metric == "AUC" and name.cutoff else name.metric
    return next(JUDGES[head] for head in heads if head in JUDGES)


def of_rows(name):
    """Return whether a metric is made of values of rows."""
    return judge_of(parse(name)) in {top_k, whole_row}


def evaluate(name, truth, scores, rules):
    """Return the value of a metric by name; None where it is undefined."""
    parsed = parse(name)
    return judge_of(parsed)(parsed, truth, scores, rules)


def rows_that_count(name, truth, scores, rules):
    """Return the true labels, the scores, the weight and the filtered labels of each row that counts, as four lists."""
    n = len(truth)
    rows = [
        (naive.at_least(y, name.number("rel", 0)), s, weight, out)
        for y, s, weight, out in zip(
            truth, scores, rules.weights or [1.0] * n, rules.filtered or [set()] * n, strict=True
        )
    ]
    kept = [row for row in rows if row[2] and (row[0] or rules.empty_rows == "zero")]
    return [[row[i] for row in kept] for i in range(4)]


def sets_of(name, truth, scores, rules):
    """Return the true and the decided labels of each row that counts, their weights and the filtered labels."""
    true, kept, weights, filtered = rows_that_count(name, truth, scores, rules)
    if name.cutoff is None:
        return naive_labels.at_threshold(true, kept, rules.threshold), weights, filtered
    if name.cutoff == "n":
        sets = [naive_labels.at_cut([y], [s], len(y))[0] for y, s in zip(true, kept, strict=True)]
        return sets, weights, filtered
    return naive_labels.at_cut(true, kept, name.k), weights, filtered
