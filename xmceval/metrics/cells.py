"""Entries of METRICS that are made of counts of cells: micro, by label at a cut, and of decisions at a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xmceval.metrics.entry import Metric, Norm, Number

YANG = "Yang, An Evaluation of Statistical Approaches to Text Categorization, 1999; scikit-learn"

SOKOLOVA = "Sokolova, Lapalme, Information Processing and Management 2009; scikit-learn"

# tp: cells predicted and true, fp predicted only, fn true only, tn neither.
FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "precision": "tp / (tp + fp)",
        "recall": "tp / (tp + fn)",
        "F": "(1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp)",
        "Jaccard": "tp / (tp + fp + fn)",
        "specificity": "tn / (tn + fp)",
        "fall-out": "fp / (tn + fp)",
        "accuracy": "(tp + tn) / all cells",
        "hamming": "(fp + fn) / all cells",
        "balanced": "(tp / (tp + fn) + tn / (tn + fp)) / 2",
        "matthews": "(tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn))",
    }
)

ZEROS = ("0", "1", "skip")  # what 0/0 counts as; skip leaves it out

AVERAGES = ("micro", "macro", "weighted", "samples")

OVER = ("all", "truth", "seen", "train", "largest")

ZERO = MappingProxyType({"zero": ZEROS})

BETA = MappingProxyType({"beta": Number(1, 0, 1000, is_open=True)})

MACRO_NOTE = (
    "mean over a set of labels: over=all (scikit-learn, xCOLUMNs, which adds 1e-9 to divisors), truth (true in some "
    "row), seen (true or predicted within the cutoff), train (in a training row), largest (0 to the largest label "
    "seen: napkinXC, whose k is always 5); zero= is what 0/0 counts as, scikit-learn's zero_division (skip: nan)"
)

WEIGHTED_NOTE = "each label counts as often as it is true, as scikit-learn's average='weighted'"

DECISION_NOTE = (
    "decisions are the stored labels whose score reaches --threshold, all stored labels without one; samples is the "
    "mean over rows, micro takes all cells together"
)


def _micro(
    name: str, title: str, rate: str, divisor: str, numbers: Mapping[str, Number] = MappingProxyType({})
) -> Metric:
    return Metric(
        name,
        title,
        {"micro": Norm(divisor, "micro", FORMULAS[rate])},
        YANG,
        own_numbers=numbers,
        note="tp + fp is what is predicted within the cutoff: fewer than k in short rows",
    )


def _by_label(
    name: str, title: str, rate: str, average: str, numbers: Mapping[str, Number] = MappingProxyType({})
) -> Metric:
    choices = {"over": OVER, **ZERO} if average == "macro" else dict(ZERO)
    return Metric(
        name,
        title,
        {average: Norm("", average, FORMULAS[rate])},
        YANG if rate != "balanced" else SOKOLOVA,
        fold=rate,
        family="label",
        choices=choices,
        own_numbers=numbers,
        note=MACRO_NOTE if average == "macro" else WEIGHTED_NOTE,
    )


def _decided(
    name: str,
    title: str,
    rate: str,
    averages: tuple[str, ...],
    *,
    note: str = DECISION_NOTE,
    numbers: Mapping[str, Number] = MappingProxyType({}),
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    needs_labels: bool = False,
    unit: str = "share",
    norms: Mapping[str, Norm] | None = None,
) -> Metric:
    takes_zero = {"zero": ZEROS} if len(averages) > 1 else {}
    return Metric(
        name,
        title,
        norms or {"cells": Norm("", "cells", FORMULAS[rate])},
        SOKOLOVA,
        fold=rate,
        family="confusion",
        cutoff="none",
        choices={"average": averages, **({"over": OVER} if "macro" in averages else {}), **takes_zero},
        own_numbers=numbers,
        bounds=bounds,
        higher_is_better=higher_is_better,
        needs_labels=needs_labels,
        unit=unit,
        note=note,
    )


def _count(name: str, title: str, formula: str) -> Metric:
    return Metric(
        name,
        title,
        {"sum": Norm("", "sum", formula)},
        SOKOLOVA,
        fold=name,
        family="confusion",
        cutoff="none",
        bounds=(0.0, float("inf")),
        higher_is_better=name in {"tp", "tn"},
        unit="cells",
        note="-m confusion asks for tp, fp, fn and tn",
    )


MICRO_ENTRIES = (
    _micro("microP", "precision of all cells", "precision", "predicted"),
    _micro("microR", "recall of all cells", "recall", "n"),
    _micro("microF1", "F measure of all cells", "F", "F", BETA),
)

LABEL_ENTRIES = (
    _by_label("macroP", "mean precision of labels", "precision", "macro"),
    _by_label("macroR", "mean recall of labels", "recall", "macro"),
    _by_label("macroF1", "mean F measure of labels", "F", "macro", BETA),
    _by_label("macroJaccard", "mean Jaccard index of labels", "Jaccard", "macro"),
    _by_label("macroBA", "mean balanced accuracy of labels", "balanced", "macro"),
    _by_label("weightedP", "mean precision of labels, by support", "precision", "weighted"),
    _by_label("weightedR", "mean recall of labels, by support", "recall", "weighted"),
    _by_label("weightedF1", "mean F measure of labels, by support", "F", "weighted", BETA),
    Metric(
        "coverage",
        "share of labels that are ever hit",
        {"labels": Norm("", "labels", "labels with a hit / labels")},
        "Jain, Prabhu, Varma, KDD 2016 (scripts); Schultheis et al., NeurIPS 2023",
        fold="coverage",
        family="label",
        choices={"over": ("truth", "all", "ideal")},
        note="divided by the labels true in some row (over=truth: napkinXC), by all labels (all: xCOLUMNs), or by "
        "those that the ideal rankings reach, true labels by inverse propensity (ideal: the original MATLAB scripts)",
    ),
)

DECISION_ENTRIES = (
    _decided("accuracy", "share of cells decided rightly", "accuracy", ("micro",), needs_labels=True),
    _decided(
        "subset_accuracy",
        "share of rows decided rightly in every label",
        "subset",
        ("samples",),
        norms={"rows": Norm("", "rows", "1 if fp = fn = 0, else 0")},
        note="scikit-learn's accuracy_score of multilabel data",
    ),
    _decided("precision_score", "precision of decisions", "precision", AVERAGES),
    _decided("recall_score", "recall (true positive rate) of decisions", "recall", AVERAGES),
    _decided("f1_score", "F measure of decisions", "F", AVERAGES, numbers=BETA),
    _decided("Jaccard", "Jaccard index of decisions", "Jaccard", AVERAGES),
    _decided(
        "hamming_loss",
        "share of cells decided wrongly",
        "hamming",
        ("micro",),
        higher_is_better=False,
        needs_labels=True,
        note="scikit-learn and xCOLUMNs; what napkinXC calls hamming_loss is hamming_distance",
    ),
    _decided(
        "hamming_distance",
        "cells of a row decided wrongly",
        "hamming",
        ("samples",),
        bounds=(0.0, float("inf")),
        higher_is_better=False,
        norms={"rows": Norm("", "rows", "fp + fn")},
        unit="count",
        note="hamming_loss times the number of labels; napkinXC calls it hamming_loss",
    ),
    _decided("specificity", "true negative rate of decisions", "specificity", ("micro", "macro"), needs_labels=True),
    _decided(
        "FPR",
        "false positive rate of decisions",
        "fall-out",
        ("micro", "macro"),
        higher_is_better=False,
        needs_labels=True,
    ),
    _decided("MCC", "Matthews correlation of decisions and truth", "matthews", ("micro", "macro"), bounds=(-1.0, 1.0)),
    _decided(
        "balanced_accuracy",
        "mean of true positive and true negative rate",
        "balanced",
        ("micro", "macro"),
        note="zero=skip leaves out the rate of a class that does not occur, as scikit-learn; " + DECISION_NOTE,
    ),
    _count("tp", "true positives", "cells predicted and true"),
    _count("fp", "false positives", "cells predicted and not true"),
    _count("fn", "false negatives", "cells true and not predicted"),
    _count("tn", "true negatives", "cells neither predicted nor true"),
)
