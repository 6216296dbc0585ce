"""Evaluate extreme multi-label classification, exactly, with sparse data and confidence intervals.

Where to start:

>>> import numpy as np
>>> import xmceval
>>> y_true = np.array([[1, 0, 1], [0, 1, 0]])  # also scipy.sparse, tensors, lists of labels, or paths of files
>>> y_score = np.array([[0.9, 0.4, 0.1], [0.2, 0.3, 0.5]])
>>> result = xmceval.score(y_true, y_score, metrics=["P", "nDCG"], k=[1, 2])
>>> result["P@1"]
0.5

Contents:

score, score_all
    Metrics of one system or of several, with intervals; a Result prints as a table, and also is one in LaTeX,
    Markdown, HTML, CSV, JSON and pandas.
compare, compare_rows, benchmark
    Paired tests of differences between systems; systems on several data sets.
Evaluator, merge, score(..., executor=)
    Scoring in batches, in separate jobs or on a cluster, with bit-identical results.
precision_at_k, ndcg_at_k, psp_at_k and others
    One metric as a float.
ndcg_score, roc_auc_score, coverage_error and others
    The functions of scikit-learn, for sparse matrices.
roc_auc, group_auc
    AUC of flat arrays, whole and within groups.
read
    Load any file that the other functions accept, as a sparse matrix.
inspect, convert
    Check files for problems, and convert them; as the commands of the same names.
METRICS
    The table of metrics.

``help(xmceval.score)`` describes all options, including those that the other functions share.

The guides are Markdown in the folder ``guide`` of the package. The first is ``start.md``; ``design.md`` says how the
package is built.
"""

from __future__ import annotations

import importlib
from typing import Any

# Public names and where they live: loaded when first used, so that importing the package costs nothing.
_HOME = {
    "score": "api.score",
    "score_all": "api.score",
    "compare": "comparison.compare",
    "compare_rows": "comparison.compare",
    "Comparison": "comparison.comparison",
    "benchmark": "benchmarks.benchmark",
    "Benchmark": "benchmarks.result",
    "check_worse": "comparison.gates",
    "precision_at_k": "api.at_k",
    "recall_at_k": "api.at_k",
    "f1_at_k": "api.at_k",
    "hit_at_k": "api.at_k",
    "ndcg_at_k": "api.at_k",
    "psp_at_k": "api.at_k",
    "psr_at_k": "api.at_k",
    "psndcg_at_k": "api.at_k",
    "inverse_propensity": "labels.propensity",
    "coverage_error": "dropins.ranking",
    "label_ranking_average_precision_score": "dropins.ranking",
    "label_ranking_loss": "dropins.ranking",
    "ndcg_score": "dropins.ranking",
    "dcg_score": "dropins.ranking",
    "roc_auc_score": "dropins.curves",
    "average_precision_score": "dropins.curves",
    "UndefinedMetricWarning": "dropins.inputs",
    "roc_curve": "dropins.curves",
    "precision_recall_curve": "dropins.curves",
    "roc_auc": "dropins.group_auc",
    "group_auc": "dropins.group_auc",
    "group_aucs": "dropins.group_auc",
    "Evaluator": "loops.evaluator",
    "inspect": "inspection.report",
    "Shards": "rows.shards",
    "merge": "loops.merge",
    "read": "conversion.read",
    "convert": "conversion.convert",
    "METRICS": "report.metric_list",
    "Result": "report.result",
    "Results": "report.result",
    "XmcevalError": "errors",
    "DataError": "errors",
    "UsageError": "errors",
    "XmcevalWarning": "errors",
}

# Functions of scikit-learn, and the metrics in score that say the same.
_METRICS_ELSEWHERE = {
    "confusion_matrix": "confusion",
    "classification_report": "precision_score,recall_score,f1_score",
    "precision_recall_fscore_support": "precision_score,recall_score,f1_score",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - the one dict is the list


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from xmceval.version import VERSION

        return VERSION
    if name not in _HOME:
        raise AttributeError(f"module 'xmceval' has no attribute {name!r}{_suggest(name)}")
    found = getattr(importlib.import_module(f"xmceval.{_HOME[name]}"), name)
    globals()[name] = found  # later lookups do not call this function
    return found


def _suggest(name: str) -> str:
    """Return what computes a metric that is not a function here, or a similar public name; or an empty string."""
    import difflib

    from xmceval.metrics.names import parse

    metric = _METRICS_ELSEWHERE.get(name, name)
    try:
        parse(metric)
    except ValueError:
        similar = difflib.get_close_matches(name, __all__, 1)
        return f"; did you mean {similar[0]}?" if similar else ""
    return f"; xmceval.score(y_true, y_score, metrics={metric!r}) computes it"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
