"""Metrics of probabilities, of judgments and of whole columns: entries of families of their own."""

from __future__ import annotations

from typing import Any

from xmceval.metrics.entry import Metric, Norm, Number

COLUMN_NOTE = (
    "a label that is true in no instance or in all of them is left out, and a note says how many are left; labels "
    "without a score rank below all others, or with unscored=zero have score 0"
)

COLUMN_COST = (
    "memory for each prediction and each true label without a score: 13 bytes while rows are read (17 from label 2^31 "
    "on, 8 more with sample weights), up to 90 while they are sorted; sums of fixed size do not exist, so loops, saved "
    "states and clusters refuse it"
)

TREC_NOTE = (
    "an instance without truth counts 0, as a judged topic without a relevant document does in trec_eval, which leaves "
    "out topics that the run lacks"
)

PROBABILITY_NOTE = (
    "scores must be probabilities: one below 0 or above 1 is an error, also beyond the cutoff; missing predictions are "
    "not counted; all sums are over the k best labels of each instance"
)

SCORE_BINS = "bin i of `bins` has the scores from i / bins to below (i + 1) / bins, the last one also 1"

MASS_BINS = (
    "predictions ascend by score; one is in bin floor(bins * m / n), where n is the number of predictions and m that "
    "of those with a lower score, so equal scores share a bin; sample weights make both numbers sums of weights"
)

BY_LABEL_NOTE = (
    "scores must be probabilities; all stored scores of a label count, missing predictions do not, and labels without "
    "a prediction are left out, with a note of how many are left; of a dense array it is"
)


def _column(
    name: str, title: str, over: str, formula: str, fold: str, source: str, *, needs_labels: bool, **own: Any
) -> Metric:
    return Metric(
        name,
        title,
        {over: Norm("", over, formula)},
        source,
        fold=fold,
        family="column",
        cutoff="none",
        needs_labels=needs_labels,
        mergeable=False,
        cost=COLUMN_COST,
        note=COLUMN_NOTE if over == "columns" else COLUMN_NOTE.partition("; ")[2],
        **own,
    )


def _of_labels(name: str, title: str, source: str, **own: Any) -> Metric:
    formula = "sum over bins of |sum of scores - hits| / predictions of the label"
    return Metric(
        name,
        title,
        {"bins": Norm("predictions", "predicted", formula)},
        source,
        fold=name,
        family="calibration",
        cutoff="none",
        own_numbers={"bins": Number(15, 1, 1000, is_whole=True)},
        higher_is_better=False,
        **own,
    )


CALIBRATION_ENTRIES = (
    Metric(
        "ECE",
        "expected calibration error of the k best labels",
        {
            "bins": Norm(
                "predictions", "bins", "sum over bins of |sum of scores - hits| / predictions within the cutoff"
            )
        },
        "Naeini, Cooper, Hauskrecht, AAAI 2015; Guo et al., ICML 2017",
        fold="ECE",
        family="calibration",
        own_numbers={"bins": Number(15, 1, 1000, is_whole=True)},
        higher_is_better=False,
        note=f"{SCORE_BINS}; {PROBABILITY_NOTE}",
    ),
    Metric(
        "adaptiveECE",
        "calibration error of the k best labels, in bins of equal mass",
        {
            "bins": Norm(
                "predictions", "bins", "sum over bins of |sum of scores - hits| / predictions within the cutoff"
            )
        },
        "Nguyen, O'Connor, EMNLP 2015; Nixon et al., CVPR Workshops 2019",
        fold="adaptiveECE",
        family="calibration",
        own_numbers={"bins": Number(15, 1, 1000, is_whole=True)},
        higher_is_better=False,
        mergeable=False,
        cost="memory for each prediction within the cutoff, for each cutoff: 13 bytes while rows are read (17 from "
        "label 2^31 on, 8 more with sample weights), up to 85 while they are sorted; sums of fixed size do not exist, "
        "so loops, saved states and clusters refuse it",
        note=f"{MASS_BINS}; {PROBABILITY_NOTE}",
    ),
    _of_labels(
        "macroECE",
        "mean expected calibration error of labels",
        "Kull et al., NeurIPS 2019 (classwise ECE)",
        note=f"{SCORE_BINS}; {BY_LABEL_NOTE} the classwise ECE, and that of a label BinaryCalibrationError of "
        "torchmetrics",
        cost="memory for each label and bin of its scores with a prediction: 32 bytes, and up to twice as much while "
        "rows are read; on an Evaluator's state() 48 bytes for each label and bin",
    ),
    _of_labels(
        "macroAdaptiveECE",
        "mean calibration error of labels, in bins of equal mass",
        "Nixon et al., CVPR Workshops 2019",
        note=f"{MASS_BINS}, of one label each; {BY_LABEL_NOTE} the adaptive calibration error of Nixon et al., whose "
        "bins may separate equal scores",
        mergeable=False,
        cost="memory for each prediction: 13 bytes while rows are read (17 from label 2^31 on, 8 more with sample "
        "weights), up to 100 while they are sorted; sums of fixed size do not exist, so loops, saved states and "
        "clusters refuse it",
    ),
    Metric(
        "Brier",
        "Brier score of the k best labels",
        {
            "ratio": Norm(
                "predictions",
                "ratio",
                "sum over instances of (score - 1)^2 over hits and score^2 over misses / sum over instances "
                "of predictions",
            )
        },
        "Brier, Monthly Weather Review 1950",
        fold="Brier",
        family="calibration",
        higher_is_better=False,
        note=PROBABILITY_NOTE,
    ),
)

JUDGED_ENTRIES = (
    Metric(
        "Judged",
        "share of the k best labels that were judged",
        {"mean": Norm("predictions", "mean", "judged labels / predictions, within the cutoff; 0 without a prediction")},
        "ir_measures",
        gain="judgment",
        fold="judged",
        family="judged",
        note="judged labels are the true ones and those stored in the truth with value 0, such as documents of grade 0 "
        "in TREC qrels, but not of a grade below 0; a truth without stored zeros makes it the precision of the "
        "predictions",
    ),
    Metric(
        "Bpref",
        "binary preference",
        {"mean": Norm("n", "mean", "sum over hits of 1 - min(b, n) / min(r, n) / n")},
        "Buckley, Voorhees, SIGIR 2004; trec_eval",
        fold="Bpref",
        family="judged",
        cutoff="none",
        note="of the r labels of an instance that are judged and not true, b are ranked above the hit; labels that are "
        "not judged do not matter; judged labels that are not true are those stored in the truth with value 0, such as "
        "documents of grade 0 in TREC qrels, or with a grade below rel; documents of a grade below 0 in qrels were in "
        f"the pool but not judged, as in trec_eval; {TREC_NOTE}",
    ),
)

RECALL_FORMULA = "largest recall at a threshold whose precision is at least the one asked for; 0 if there is none"

COLUMN_ENTRIES = (
    _column(
        "macroAUC",
        "mean area under the ROC curve of labels",
        "columns",
        "(pairs of an instance where the label is true scored above one where it is not + ties / 2) / pairs",
        "AUC",
        "Hanley, McNeil, Radiology 1982; scikit-learn",
        needs_labels=False,
    ),
    _column(
        "microAUC",
        "area under the ROC curve of all cells",
        "micro",
        "(pairs of a true cell scored above a false one + ties / 2) / pairs",
        "AUC",
        "Hanley, McNeil, Radiology 1982; scikit-learn",
        needs_labels=True,
    ),
    _column(
        "macroAP",
        "mean average precision of labels",
        "columns",
        "sum over distinct scores of precision times the step in recall, of the instances with at least that score",
        "AP",
        "scikit-learn",
        needs_labels=False,
    ),
    _column(
        "macroRecallAtPrecision",
        "mean over labels of the recall at a precision",
        "columns",
        RECALL_FORMULA,
        "recall at precision",
        "torchmetrics, MultilabelRecallAtFixedPrecision",
        needs_labels=False,
        own_numbers={"precision": Number(0.9, 0, 1)},
    ),
    _column(
        "microRecallAtPrecision",
        "recall of all cells at a precision",
        "micro",
        RECALL_FORMULA,
        "recall at precision",
        "torchmetrics, BinaryRecallAtFixedPrecision",
        needs_labels=True,
        own_numbers={"precision": Number(0.9, 0, 1)},
    ),
)
