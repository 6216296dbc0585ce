"""xmceval: the evaluator for extreme multi-label classification."""

from __future__ import annotations

import importlib
from typing import Any

# Public names and where they live: loaded when first used, so that importing the package costs nothing.
_HOME = {
    "score": "api.score",
    "precision_at_k": "api.at_k",
    "recall_at_k": "api.at_k",
    "f1_at_k": "api.at_k",
    "hit_at_k": "api.at_k",
    "ndcg_at_k": "api.at_k",
    "psp_at_k": "api.at_k",
    "psr_at_k": "api.at_k",
    "psndcg_at_k": "api.at_k",
    "inverse_propensity": "labels.propensity",
    "coverage_error": "api.dropins.ranking",
    "label_ranking_average_precision_score": "api.dropins.ranking",
    "label_ranking_loss": "api.dropins.ranking",
    "ndcg_score": "api.dropins.ranking",
    "dcg_score": "api.dropins.ranking",
    "roc_auc_score": "api.dropins.curves",
    "average_precision_score": "api.dropins.curves",
    "precision_score": "api.dropins.decisions",
    "recall_score": "api.dropins.decisions",
    "f1_score": "api.dropins.decisions",
    "fbeta_score": "api.dropins.decisions",
    "precision_recall_fscore_support": "api.dropins.decisions",
    "jaccard_score": "api.dropins.decisions",
    "hamming_loss": "api.dropins.counts",
    "accuracy_score": "api.dropins.counts",
    "zero_one_loss": "api.dropins.counts",
    "multilabel_confusion_matrix": "api.dropins.counts",
    "UndefinedMetricWarning": "api.dropins.targets",
    "roc_curve": "api.labelcurves",
    "precision_recall_curve": "api.labelcurves",
    "label_roc_auc": "api.labelcurves",
    "label_average_precision": "api.labelcurves",
    "roc_auc": "api.grouped",
    "group_auc": "api.grouped",
    "group_aucs": "api.grouped",
    "auc": "api.grouped",
    "inspect": "api.inspect",
    "convert": "api.convert",
    "write_inverse_propensities": "api.propensity",
    "METRICS": "metrics.table",
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
