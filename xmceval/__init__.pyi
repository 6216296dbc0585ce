# Public names for editors and type checkers; __init__.py loads them when they are first used.

from xmceval.api.at_k import (
    f1_at_k as f1_at_k,
    hit_at_k as hit_at_k,
    ndcg_at_k as ndcg_at_k,
    precision_at_k as precision_at_k,
    psndcg_at_k as psndcg_at_k,
    psp_at_k as psp_at_k,
    psr_at_k as psr_at_k,
    recall_at_k as recall_at_k,
)
from xmceval.api.score import score as score, score_all as score_all
from xmceval.benchmarks.benchmark import benchmark as benchmark
from xmceval.benchmarks.result import Benchmark as Benchmark
from xmceval.comparison.compare import compare as compare, compare_rows as compare_rows
from xmceval.comparison.comparison import Comparison as Comparison
from xmceval.comparison.gates import check_worse as check_worse
from xmceval.conversion.convert import convert as convert
from xmceval.conversion.read import read as read
from xmceval.dropins.curves import (
    average_precision_score as average_precision_score,
    precision_recall_curve as precision_recall_curve,
    roc_auc_score as roc_auc_score,
    roc_curve as roc_curve,
)
from xmceval.dropins.group_auc import group_auc as group_auc, group_aucs as group_aucs, roc_auc as roc_auc
from xmceval.dropins.inputs import UndefinedMetricWarning as UndefinedMetricWarning
from xmceval.dropins.ranking import (
    coverage_error as coverage_error,
    dcg_score as dcg_score,
    label_ranking_average_precision_score as label_ranking_average_precision_score,
    label_ranking_loss as label_ranking_loss,
    ndcg_score as ndcg_score,
)
from xmceval.errors import (
    DataError as DataError,
    UsageError as UsageError,
    XmcevalError as XmcevalError,
    XmcevalWarning as XmcevalWarning,
)
from xmceval.inspection.report import inspect as inspect
from xmceval.labels.propensity import inverse_propensity as inverse_propensity
from xmceval.loops.evaluator import Evaluator as Evaluator
from xmceval.loops.merge import merge as merge
from xmceval.report.metric_list import METRICS as METRICS
from xmceval.report.result import Result as Result, Results as Results
from xmceval.rows.shards import Shards as Shards

__version__: str
