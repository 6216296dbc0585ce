"""Metrics from confusion cells: micro and label-wise ones at a cutoff, and metrics of decisions at a threshold."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from xmceval.metrics.metric import UNBOUNDED, Metric, Norm, Number

YANG = "Yang, An Evaluation of Statistical Approaches to Text Categorization, 1999; scikit-learn"

SOKOLOVA = "Sokolova, Lapalme, Information Processing and Management 2009; scikit-learn"

# tp: cells predicted and true, fp: predicted only, fn: true only, tn: neither.
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

ZEROS = ("0", "1", "skip")  # the value of 0/0; skip drops it

AVERAGES = ("micro", "macro", "weighted", "samples")

OVER = ("all", "truth", "seen", "train", "largest")

# Rates that are defined for a label that is neither true nor predicted in any instance, from its true negatives.
OF_NEGATIVES = frozenset({"specificity", "fall-out", "balanced"})

BETA = MappingProxyType({"beta": Number(1, 0, 1000, is_open=True)})

MACRO_NOTE = (
    "over=all is the mean over all labels, as in scikit-learn, and in xCOLUMNs, which adds 1e-6 to divisors; "
    "over=truth takes only labels that are true in some instance; "
    "over=seen only those that are true, or predicted within the cutoff; "
    "over=train only those with a training instance; "
    "over=largest labels 0 to the largest that is true or predicted, as in napkinXC, whose k is always 5; "
    "zero= is the value of 0/0, as zero_division in scikit-learn (skip: nan)"
)

WEIGHTED_NOTE = (
    "in weighted means a label counts once for each instance in which it is true, as with average='weighted' in "
    "scikit-learn"
)

DECISION_NOTE = (
    "decisions are the stored labels with a score of at least the threshold, without one all stored labels, or the "
    "ones of dense zeros and ones"
)

AVERAGE_NOTES = MappingProxyType(
    {"micro": "average=micro counts all cells together", "samples": "average=samples is the mean over instances"}
)

CONFUSION_NOTE = "the name confusion is short for tp, fp, fn and tn"

OF = ("labels", "means")

MEANS_NOTE = "of=means is the F measure of the macro precision and recall (Sokolova, Lapalme 2009), as in caml-mimic; "


def _micro(name: str, title: str, rate: str, divisor: str, **fields: Any) -> Metric:
    return Metric(
        name,
        title,
        {"micro": Norm(divisor, "micro", FORMULAS[rate])},
        YANG,
        note="predictions within the cutoff are tp + fp, fewer where there are not as many",
        **fields,
    )


def _label_wise(name: str, title: str, rate: str, average: str, cutoff: str = "required") -> Metric:
    note = WEIGHTED_NOTE
    choices: dict[str, tuple[str, ...]] = {}
    if average == "macro":
        note = MACRO_NOTE
        if rate == "F":
            note = MEANS_NOTE + note
            choices["of"] = OF
        choices["over"] = OVER
    return Metric(
        name,
        title,
        {average: Norm("", average, FORMULAS[rate])},
        YANG if rate != "balanced" else SOKOLOVA,
        fold=rate,
        family="label",
        cutoff=cutoff,
        choices={**choices, "zero": ZEROS},
        own_numbers=BETA if rate == "F" else {},
        needs_labels=average == "macro",
        note=note,
    )


def _decision(
    name: str,
    title: str,
    rate: str,
    averages: tuple[str, ...],
    *,
    norms: Mapping[str, Norm] | None = None,
    note: str = DECISION_NOTE,
    **fields: Any,
) -> Metric:
    choices = {"average": averages}
    notes = [note]
    if "macro" in averages:
        choices["over"] = OVER
    if len(averages) > 1:
        choices["zero"] = ZEROS
        notes += [AVERAGE_NOTES[average] for average in averages if average in AVERAGE_NOTES]
    if rate == "F":
        choices["of"] = OF
    return Metric(
        name,
        title,
        norms or {"cells": Norm("", "cells", FORMULAS[rate])},
        SOKOLOVA,
        fold=rate,
        family="confusion",
        cutoff="none",
        choices=choices,
        note="; ".join(notes),
        **fields,
    )


def _count(name: str, title: str, formula: str, *, source: str = SOKOLOVA, **fields: Any) -> Metric:
    return Metric(
        name,
        title,
        {"sum": Norm("", "sum", formula)},
        source,
        fold=name,
        family="confusion",
        cutoff="none",
        bounds=UNBOUNDED,
        higher_is_better=name not in {"fp", "fn"},
        unit="cells",
        **fields,
    )


MICRO_ENTRIES = (
    _micro("microP", "precision over all cells", "precision", "predicted"),
    _micro("microR", "recall over all cells", "recall", "n"),
    _micro("microF1", "F measure over all cells", "F", "F", own_numbers=BETA),
    _micro("microF1@n", "microF1 at the number of true labels", "F", "F", fold="F", cutoff="none", own_numbers=BETA),
)

LABEL_ENTRIES = (
    _label_wise("macroP", "mean precision of labels", "precision", "macro"),
    _label_wise("macroR", "mean recall of labels", "recall", "macro"),
    _label_wise("macroF1", "mean F measure of labels", "F", "macro"),
    _label_wise("macroF1@n", "macroF1 at the number of true labels", "F", "macro", "none"),
    _label_wise("macroJaccard", "mean Jaccard index of labels", "Jaccard", "macro"),
    _label_wise("macroBA", "mean balanced accuracy of labels", "balanced", "macro"),
    _label_wise("weightedP", "mean precision of labels, weighted by support", "precision", "weighted"),
    _label_wise("weightedR", "mean recall of labels, weighted by support", "recall", "weighted"),
    _label_wise("weightedF1", "mean F measure of labels, weighted by support", "F", "weighted"),
    Metric(
        "coverage",
        "share of labels with at least one hit, or recommended at least once",
        {"labels": Norm("", "labels", "labels with a hit (of=recommended: labels that are predicted) / labels")},
        "Jain, Prabhu, Varma, KDD 2016 (scripts); Schultheis et al., NeurIPS 2023",
        fold="coverage",
        family="label",
        choices={"of": ("hits", "recommended"), "over": ("truth", "all", "ideal")},
        note="of=recommended counts the labels of the divisor that are predicted in some instance, true there or not: "
        "with over=all it is ItemCoverage in RecBole and catalog_coverage in Recommenders; over= is the set of labels "
        "of the divisor: truth (true in some instance: napkinXC), all (xCOLUMNs), or ideal "
        "(within the cutoff of some ideal ranking by inverse propensity: the original MATLAB scripts); "
        "over=ideal exceeds 1 where labels of equal propensities are hit that are in no such ranking",
    ),
)

DECISION_ENTRIES = (
    _decision(
        "accuracy",
        "share of cells decided correctly",
        "accuracy",
        ("micro",),
        needs_labels=True,
        elsewhere="counts cells; scikit-learn's accuracy_score counts whole instances, as accuracy_score does here",
    ),
    _decision(
        "subset_accuracy",
        "share of instances with every label decided correctly",
        "subset",
        ("samples",),
        norms={"rows": Norm("", "rows", "1 if fp = fn = 0, else 0")},
        note="accuracy_score of multilabel data in scikit-learn",
    ),
    _decision(
        "zero_one_loss",
        "share of instances with some label decided wrongly",
        "mismatch",
        ("samples",),
        higher_is_better=False,
        norms={"rows": Norm("", "rows", "0 if fp = fn = 0, else 1")},
        note="1 - subset_accuracy; zero_one_loss of multilabel data in scikit-learn",
    ),
    _decision("precision_score", "precision of decisions", "precision", AVERAGES),
    _decision("recall_score", "recall (true positive rate) of decisions", "recall", AVERAGES),
    _decision("f1_score", "F measure of decisions", "F", AVERAGES, own_numbers=BETA),
    _decision("Jaccard", "Jaccard index of decisions", "Jaccard", AVERAGES),
    _decision(
        "hamming_loss",
        "share of cells decided wrongly",
        "hamming",
        ("micro",),
        higher_is_better=False,
        needs_labels=True,
        note="as in scikit-learn and xCOLUMNs; what napkinXC calls hamming_loss is hamming_distance here",
    ),
    _decision(
        "hamming_distance",
        "number of cells decided wrongly per instance",
        "hamming",
        ("samples",),
        bounds=UNBOUNDED,
        higher_is_better=False,
        norms={"rows": Norm("", "rows", "fp + fn")},
        unit="count",
        note="hamming_loss times the number of labels; called hamming_loss in napkinXC",
    ),
    _decision("specificity", "true negative rate of decisions", "specificity", ("micro", "macro"), needs_labels=True),
    _decision(
        "FPR",
        "false positive rate of decisions",
        "fall-out",
        ("micro", "macro"),
        higher_is_better=False,
        needs_labels=True,
    ),
    _decision(
        "MCC",
        "Matthews correlation coefficient of decisions",
        "matthews",
        ("micro", "macro"),
        bounds=(-1.0, 1.0),
        needs_labels=True,
    ),
    _decision(
        "balanced_accuracy",
        "mean of the true positive and true negative rates",
        "balanced",
        ("micro", "macro"),
        needs_labels=True,
        note="zero=skip leaves out the rate of a class that does not occur, as in scikit-learn; " + DECISION_NOTE,
    ),
    _count("tp", "true positives", "cells predicted and true", note=f"num_rel_ret in trec_eval; {CONFUSION_NOTE}"),
    _count("fp", "false positives", "cells predicted and not true", note=CONFUSION_NOTE),
    _count("fn", "false negatives", "cells true and not predicted", note=CONFUSION_NOTE),
    _count("tn", "true negatives", "cells neither predicted nor true", needs_labels=True, note=CONFUSION_NOTE),
    _count(
        "NumRet",
        "number of predictions",
        "cells predicted",
        gain="prediction",
        source="trec_eval; ir_measures",
        note="NumRet(rel=1) in ir_measures, the number of them that are true, is tp",
    ),
    _count("NumRel", "number of true labels", "cells true", gain="truth", source="trec_eval; ir_measures"),
)
