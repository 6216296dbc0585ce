"""xmceval: the evaluator for extreme multi-label classification."""

from __future__ import annotations

import importlib
from typing import Any

# Public names and where they live: loaded when first used, so that importing the package costs nothing.
_HOME = {
    "score": "api",
    "precision_at_k": "at_k",
    "recall_at_k": "at_k",
    "f1_at_k": "at_k",
    "hit_at_k": "at_k",
    "ndcg_at_k": "at_k",
    "psp_at_k": "at_k",
    "psr_at_k": "at_k",
    "psndcg_at_k": "at_k",
    "inverse_propensity": "propensity",
    "coverage_error": "dropins.ranking",
    "label_ranking_average_precision_score": "dropins.ranking",
    "label_ranking_loss": "dropins.ranking",
    "ndcg_score": "dropins.ranking",
    "dcg_score": "dropins.ranking",
    "roc_auc_score": "dropins.curves",
    "average_precision_score": "dropins.curves",
    "precision_score": "dropins.decisions",
    "recall_score": "dropins.decisions",
    "f1_score": "dropins.decisions",
    "fbeta_score": "dropins.decisions",
    "precision_recall_fscore_support": "dropins.decisions",
    "jaccard_score": "dropins.decisions",
    "hamming_loss": "dropins.counts",
    "accuracy_score": "dropins.counts",
    "zero_one_loss": "dropins.counts",
    "multilabel_confusion_matrix": "dropins.counts",
    "UndefinedMetricWarning": "dropins.targets",
    "roc_curve": "labelcurves",
    "precision_recall_curve": "labelcurves",
    "label_roc_auc": "labelcurves",
    "label_average_precision": "labelcurves",
    "roc_auc": "flat",
    "group_auc": "flat",
    "group_aucs": "flat",
    "METRICS": "metrics",
    "Result": "report.result",
    "XmcevalError": "errors",
    "DataError": "errors",
    "UsageError": "errors",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the one dict is the list


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("xmceval")
    if name not in _HOME:
        raise AttributeError(f"module 'xmceval' has no attribute {name!r}")
    return getattr(importlib.import_module(f"xmceval.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
