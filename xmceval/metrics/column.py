"""Metrics over all instances, per label or pooled: AUC, average precision, recall at a precision."""

from __future__ import annotations

from typing import Any

from xmceval.metrics.metric import Metric, Norm, Number

COLUMN_NOTE = "a label that is true in no instance or in all of them is left out, and a note says how many are left"

COLUMN_COST = (
    "memory for each prediction and each true label without a score: 13 bytes while rows are read (17 from label 2^31 "
    "on, 8 more with sample weights), up to 90 while they are sorted; sums of fixed size do not exist, so loops and "
    "saved states refuse it"
)

TREC_NOTE = (
    "an instance without truth counts 0, as a judged topic without a relevant document does in trec_eval, which leaves "
    "out topics that the run lacks"
)


def _column(
    name: str,
    title: str,
    over: str,
    formula: str,
    fold: str,
    source: str,
    *,
    note: str = "",
    **fields: Any,
) -> Metric:
    return Metric(
        name,
        title,
        {over: Norm("", over, formula)},
        source,
        fold=fold,
        family="column",
        cutoff="none",
        cost=COLUMN_COST,
        note=note or (COLUMN_NOTE if over == "columns" else ""),
        **fields,
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
    ),
    _column(
        "microAP",
        "average precision of all stored cells",
        "micro",
        "sum over distinct scores of precision times the step in recall, of the stored cells with at least that score; "
        "a true cell without a score adds 0",
        "AP",
        "Abu-El-Haija et al., YouTube-8M, 2016",
        note="global average precision (GAP) of YouTube-8M; where all true cells are stored it is scikit-learn's "
        "average_precision_score of the stored cells; unscored= has no effect",
    ),
    _column(
        "macroRecallAtPrecision",
        "mean over labels of the recall at a precision",
        "columns",
        RECALL_FORMULA,
        "recall at precision",
        "torchmetrics, MultilabelRecallAtFixedPrecision",
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
