"""The judge's own table: every metric by its name, with the defaults, directions and bounds of its source."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from judge import naive, naive_further, naive_labels, naive_rows
from judge.naive import Pair, Row

# fmt: off
LOWER_IS_BETTER = frozenset({
    "Abandonment", "coverage_error", "ranking_loss", "zero_one_loss", "hamming_loss", "hamming_distance", "FPR", "fp",
    "fn",
})
# Metrics that are refused where no input declares the number of labels; others take the largest label + 1.
ASKING_FOR_LABELS = frozenset({
    "LRAP", "coverage_error", "ranking_loss", "AUC", "accuracy", "hamming_loss", "specificity", "FPR", "microAUC",
    "microRecallAtPrecision",
})
# fmt: on

# Metrics that are no share from 0 to 1.
BOUNDS = {
    **dict.fromkeys(("DCG", "PSDCG", "coverage_error", "hamming_distance"), (0.0, math.inf)),
    **dict.fromkeys(("tp", "fp", "fn", "tn", "NumRet", "NumRel"), (0.0, math.inf)),
    "MCC": (-1.0, 1.0),
}


@dataclass(frozen=True)
class Rules:
    """What a value depends on beside truth and scores."""

    n_labels: int
    inverse: Sequence[float] | None = None
    weights: Sequence[float] | None = None
    empty_rows: str = "zero"
    unscored: str = "bottom"
    threshold: float = -math.inf
    train: Sequence[int] = ()


@dataclass(frozen=True)
class Name:
    """A metric's name taken apart: its options are words as they are written, the cutoff None where there is none."""

    metric: str
    options: Mapping[str, str] = field(default_factory=dict)
    cutoff: str | None = None

    @property
    def k(self) -> int:
        """The cutoff as a number."""
        return int(self.cutoff or 0)

    @property
    def rel(self) -> float:
        """The least grade of a true label."""
        return float(self.options.get("rel", 1))

    @property
    def beta(self) -> float:
        """The weight of recall in an F measure."""
        return float(self.options.get("beta", 1))


def parse(name: str) -> Name:
    """Take a name such as ``nDCG(base=e,discount=none)@5`` apart."""
    match = re.fullmatch(r"(\w+)(?:\(([^)]*)\))?(?:@([\w.]+))?", name)
    assert match is not None, name
    options = dict(option.split("=") for option in match[2].split(",")) if match[2] else {}
    return Name(match[1], options, match[3])


Judge = Callable[[Name, Sequence[Row], Sequence[Row], Rules], "float | None"]


def top_k(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Judge a metric of naive.py, at a cutoff or over the whole list."""
    options = dict(("base", "e") if item == ("discount", "ln") else item for item in name.options.items())
    k = None if name.cutoff == "all" else name.k
    pairs: list[Pair] = []
    for y, s, weight in zip(truth, scores, rules.weights or [1.0] * len(truth), strict=True):
        values = naive.row_values(
            name.metric, k, options, [true_at(y, name.rel)], [s], rules.inverse, rules.n_labels, rules.empty_rows
        )
        pairs += [(weight * num, weight * den) for num, den in values]
    return naive.ratio(pairs)


def whole_row(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Judge a metric of naive_rows.py."""
    if name.metric == "IPrec":
        return interpolated(name, truth, scores, rules)
    norm = "(norm=hits)" if name.options.get("norm") == "hits" else ""
    cut = f"@{name.cutoff}" if name.cutoff in {"all", "n"} else ""
    head = "AUC@k" if name.metric == "AUC" and name.cutoff else name.metric + norm + cut
    numbers = {"p": 0.8, "max": 1.0} | {key: float(name.options[key]) for key in ("p", "max") if key in name.options}
    return naive_rows.evaluate(
        *(head, truth, scores, rules.n_labels),
        unscored=rules.unscored,
        empty_rows=rules.empty_rows,
        k=0 if cut else name.k,
        rel=name.rel,
        weights=rules.weights,
        options=numbers,
    )


def interpolated(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Judge IPrec, whose @ or option is a level of recall."""
    recall = float(name.cutoff or name.options["recall"])
    return naive_rows.evaluate(
        *("IPrec", truth, scores, rules.n_labels),
        empty_rows=rules.empty_rows,
        rel=name.rel,
        weights=rules.weights,
        options={"recall": recall},
    )


def rate(kind: str, average: str) -> Judge:
    """Return the judge of a rate of naive_labels.py with its default average, at a cutoff or a threshold."""

    def judge(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
        sets, weights = sets_of(name, truth, scores, rules)
        value = naive_labels.evaluate(
            *(kind, name.options.get("average", average), sets, rules.n_labels),
            beta=name.beta,
            zero=name.options.get("zero", "0"),
            over=name.options.get("over", "all"),
            train=rules.train,
            weights=weights,
        )
        return 0.0 if value is None else value

    return judge


def per_row(worth: Callable[[set[int], set[int]], float]) -> Judge:
    """Return the judge of a mean over rows of what their true and their decided labels are worth."""

    def judge(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
        sets, weights = sets_of(name, truth, scores, rules)
        return naive_labels.mean([worth(true, decided) for true, decided in sets], weights) or 0.0

    return judge


def cells(*which: int) -> Judge:
    """Return the judge of a number of cells, of one kind or several: tp, fp, fn or tn."""

    def judge(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
        sets, weights = sets_of(name, truth, scores, rules)
        of_labels = [naive_labels.of_label(sets, label, weights) for label in range(rules.n_labels)]
        return math.fsum(each[kind] for each in of_labels for kind in which)

    return judge


def coverage(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Judge coverage@k."""
    sets, _ = sets_of(name, truth, scores, rules)
    over = name.options.get("over", "truth")
    inverse = rules.inverse or [1.0] * rules.n_labels
    best = [(true, set(sorted(true, key=lambda label: (-inverse[label], label))[: name.k])) for true, _ in sets]
    if name.options.get("of", "hits") == "hits":
        return naive_labels.coverage(sets, over, rules.n_labels, best)
    chosen = {"all": set(range(rules.n_labels)), "truth": {label for true, _ in sets for label in true}}
    return naive_further.recommended(sets, chosen[over] if over in chosen else {t for _, b in best for t in b})


def column(name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Judge a metric of columns."""
    rows = naive_further.kept(truth, scores, rules.weights, name.rel, rules.empty_rows)
    precision = float(name.options.get("precision", 0.9))
    return naive_further.column(name.metric, rows, range(rules.n_labels), rules.unscored, precision) or 0.0


JUDGES: dict[str, Judge] = {
    **dict.fromkeys(naive.METRICS, top_k),
    **dict.fromkeys(("IPrec", "RBP", "ERR", "AUC@k", "R@n", "microR@n"), whole_row),
    **dict.fromkeys(("LRAP", "coverage_error", "ranking_loss", "AUC", "GAUC"), whole_row),
    **{
        f"{average}{name}": rate(kind, average)
        for average, names in {"macro": "P R F1 Jaccard BA", "weighted": "P R F1"}.items()
        for name, kind in {"P": "precision", "R": "recall", "F1": "F", "Jaccard": "Jaccard", "BA": "balanced"}.items()
        if name in names.split()
    },
    "coverage": coverage,
    "accuracy": rate("accuracy", "micro"),
    "subset_accuracy": per_row(lambda true, decided: float(true == decided)),
    "zero_one_loss": per_row(lambda true, decided: float(true != decided)),
    "precision_score": rate("precision", "micro"),
    "recall_score": rate("recall", "micro"),
    "f1_score": rate("F", "micro"),
    "Jaccard": rate("Jaccard", "micro"),
    "hamming_loss": rate("hamming", "micro"),
    "hamming_distance": per_row(lambda true, decided: float(len(true ^ decided))),
    "specificity": rate("specificity", "micro"),
    "FPR": rate("fall-out", "micro"),
    "MCC": rate("matthews", "micro"),
    "balanced_accuracy": rate("balanced", "micro"),
    **{name: cells(which) for which, name in enumerate(("tp", "fp", "fn", "tn"))},
    "NumRet": cells(0, 1),
    "NumRel": cells(0, 2),
    **dict.fromkeys(("macroAUC", "microAUC", "macroAP", "macroRecallAtPrecision", "microRecallAtPrecision"), column),
}


def judge_of(name: Name) -> Judge:
    """Return the judge of a metric with its cutoff and options."""
    heads = f"{name.metric}@{name.cutoff}", "AUC@k" if name.metric == "AUC" and name.cutoff else name.metric
    head = next(each for each in heads if each in JUDGES)
    return whole_row if name.options.get("norm") == "hits" else JUDGES[head]


def of_rows(name: str) -> bool:
    """Return whether a metric is made of values of rows."""
    return judge_of(parse(name)) in {top_k, whole_row}


def evaluate(name: str, truth: Sequence[Row], scores: Sequence[Row], rules: Rules) -> float | None:
    """Return the value of a metric by name; None where it is undefined."""
    parsed = parse(name)
    return judge_of(parsed)(parsed, truth, scores, rules)


def true_at(y: Row, rel: float) -> dict[int, float]:
    """Return the labels of a row whose grade is at least `rel`."""
    return {label: grade for label, grade in y.items() if grade >= rel}


def sets_of(
    name: Name, truth: Sequence[Row], scores: Sequence[Row], rules: Rules
) -> tuple[naive_labels.Sets, list[float] | None]:
    """Return the true and the decided labels of each row that counts, and its weight."""
    rows = [
        (true_at(y, name.rel), s, weight)
        for y, s, weight in zip(truth, scores, rules.weights or [1.0] * len(truth), strict=True)
    ]
    rows = [row for row in rows if row[0] or rules.empty_rows == "zero"]
    decided = [row[0] for row in rows], [row[1] for row in rows]
    sets = (
        naive_labels.at_threshold(*decided, rules.threshold)
        if name.cutoff is None
        else naive_labels.at_cut(*decided, name.k)
    )
    return sets, None if rules.weights is None else [row[2] for row in rows]
