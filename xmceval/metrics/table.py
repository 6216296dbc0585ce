"""The table METRICS, with the top-k and whole-row metrics; `confusion` and `column` define the others."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xmceval.metrics.column import COLUMN_ENTRIES, TREC_NOTE
from xmceval.metrics.confusion import BETA, DECISION_ENTRIES, LABEL_ENTRIES, MICRO_ENTRIES
from xmceval.metrics.metric import UNBOUNDED, Metric, Norm, Number

DEFAULT_CUTOFFS = (1, 3, 5)

DEFAULT_LEVELS = tuple(i / 10 for i in range(11))  # recall levels, as in trec_eval

DEFAULT_NAMES = ("P", "nDCG", "PSP", "PSnDCG")
QUERY_NAMES = ("nDCG@10", "AP", "RR@10", "R@100")  # where the truth is qrels

# The metrics of decisions that are computed if a threshold is passed, but no metrics.
DECISION_NAMES = ("precision_score", "recall_score", "f1_score", "f1_score(average=macro)", "hamming_loss", "confusion")

JAIN = "Jain, Prabhu, Varma, KDD 2016"

MANNING = "Manning, Raghavan, Schuetze, Introduction to Information Retrieval, ch. 8"

BURGES = (
    "Burges et al., ICML 2005, with discount=log2 and gain=exp; Jarvelin, Kekalainen, TOIS 2002, whose discount is "
    "discount=letor"
)

TSOUMAKAS = "Tsoumakas, Katakis, Vlahavas, Mining Multi-label Data, 2010; scikit-learn"

# Other tools with the same definition, and how they differ.
P_NOTE = (
    "missing predictions count as misses and k stays the divisor, as in XMLRepository's scripts, napkinXC, pyxclib "
    "and PECOS; norm=returned divides by the predictions within the cutoff, as torchmetrics' RetrievalPrecision with "
    f"adaptive_k; P@all divides by the number of the instance's predictions, as set_P in trec_eval; {TREC_NOTE}"
)

F_NOTE = (
    "F1@all is set_F in trec_eval and SetF in ir_measures, whose parameters are beta^2: F1(beta=2)@all is SetF(beta=4) "
    "there"
)

IPREC_NOTE = (
    "floor(recall n + 0.9) of the n true labels must be found, as in trec_eval; IPrec without a level is IPrec@0,0.1, "
    f"..., 1; {TREC_NOTE}"
)

R_NOTE = (
    f"R@all is set_recall in trec_eval; {TREC_NOTE}; pyxclib leaves out instances without truth, LensKit has NaN for "
    "them"
)

NDCG_NOTE = (
    f"pyxclib sums 32-bit floats, so its values differ by about 2e-8; {TREC_NOTE}; LightGBM and rankeval "
    "count an instance without truth as 1, LensKit has NaN; the LETOR and MSLR scripts count a query with fewer than "
    "k documents as 0"
)

AP_NOTE = (
    f"AP@all is map in trec_eval; {TREC_NOTE}; norm=hits as in torchmetrics' MAP with top_k, norm=min as in "
    "Recommenders' map_at_k; AP(norm=hits) falls where a hit is added at a low rank, so ties have no bounds and are "
    "in the order of the labels"
)

PSP_NOTE = (
    "XMLRepository prints the formula without the ideals (norm=none, napkinXC's normalize=False); XC scripts divide "
    "by them (norm=ratio)"
)

HIT_NOTE = f"called success in trec_eval, abandonment in napkinXC and xCOLUMNs; {TREC_NOTE}"

ZERO_NOTE = (
    "labels without a score rank below all others; with unscored=zero they have score 0, as in scikit-learn's dense "
    "input"
)


def _mean(divisor: str, formula: str) -> dict[str, Norm]:
    return {"mean": Norm(divisor, "mean", formula)}


_LOGS = ("log2", "ln", "letor", "none")

_ENTRIES = (
    Metric(
        "P",
        "precision",
        {
            "k": Norm("k", "mean", "hits / k"),
            "returned": Norm("min(k,m)", "mean", "hits / min(k, number of the instance's predictions)"),
        },
        MANNING,
        cutoff="optional",
        note=P_NOTE,
    ),
    Metric("R", "recall", _mean("n", "hits / n"), MANNING, cutoff="optional", note=R_NOTE),
    Metric("RP", "R-precision at k", _mean("min(k,n)", "hits / min(k, n)"), "Chalkidis et al., ACL 2019"),
    Metric(
        "F1",
        "weighted harmonic mean of precision and recall",
        _mean("(k+n)/2", "(1 + beta^2) P R / (beta^2 P + R) = (1 + beta^2) hits / (k + beta^2 n)"),
        MANNING,
        cutoff="optional",
        own_numbers=BETA,
        note=F_NOTE,
    ),
    Metric("Hit", "hit rate", _mean("1", "1 if any hit, else 0"), MANNING, fold="any", note=HIT_NOTE),
    Metric(
        "Abandonment",
        "share of instances without a hit",
        _mean("1", "1 - Hit"),
        "Chuklin, Serdyukov, de Rijke, SIGIR 2013",
        fold="any",
        complement=True,
        empty_value=1,
        higher_is_better=False,
        note="napkinXC and xCOLUMNs call the hit rate abandonment: their value is Hit",
    ),
    Metric(
        "DCG",
        "discounted cumulative gain",
        _mean("1", "sum of g d over hits"),
        BURGES,
        gain="grade",
        discounts=_LOGS,
        bounds=UNBOUNDED,
        unit="gain",
        cutoff="optional",
    ),
    Metric(
        "nDCG",
        "normalised discounted cumulative gain",
        _mean("ideal", "sum of g d over hits / the same for the ideal ranking"),
        BURGES,
        gain="grade",
        discounts=_LOGS,
        cutoff="optional",
        note=NDCG_NOTE,
    ),
    Metric(
        "RR",
        "reciprocal rank",
        _mean("1", "1 / rank of the first hit, 0 without a hit"),
        "TREC-8",
        fold="first",
        cutoff="optional",
        is_of_whole_list=True,
        note=f"RR@all is recip_rank in trec_eval; {TREC_NOTE}",
    ),
    Metric(
        "AP",
        "average precision",
        {
            "n": Norm("n", "mean", "sum of P@rank over hits / n"),
            "k": Norm("k", "mean", "sum of P@rank over hits / k"),
            "min": Norm("min(k,n)", "mean", "sum of P@rank over hits / min(k, n)"),
            "hits": Norm("hits", "mean", "sum of P@rank over hits / hits; 0 without a hit"),
        },
        MANNING,
        fold="precision",
        cutoff="optional",
        is_of_whole_list=True,
        note=AP_NOTE,
    ),
    Metric(
        "PSP",
        "propensity-scored precision",
        {
            "ratio": Norm(
                "k", "ratio", "sum over instances of (sum of w over hits / k) / the same for the ideal rankings"
            ),
            "none": Norm("k", "mean", "sum of w over hits / k"),
        },
        JAIN,
        gain="propensity",
        note=PSP_NOTE,
    ),
    Metric(
        "PSR",
        "propensity-scored recall",
        {
            "ratio": Norm(
                "n", "ratio", "sum over instances of (sum of w over hits / n) / the same for the ideal rankings"
            ),
            "none": Norm("n", "mean", "sum of w over hits / n"),
        },
        JAIN,
        gain="propensity",
    ),
    Metric(
        "PSDCG",
        "propensity-scored discounted cumulative gain",
        _mean("1", "sum of w d over hits"),
        JAIN,
        gain="propensity",
        discounts=_LOGS,
        bounds=UNBOUNDED,
        unit="gain",
        note="its ratio form is PSnDCG(norm=sum)",
    ),
    Metric(
        "PSnDCG",
        "propensity-scored normalised discounted cumulative gain",
        {
            "row": Norm(
                "D(min(k,n))",
                "ratio",
                "sum over instances of (sum of w d over hits / D(min(k, n))) / the same for the ideal rankings",
            ),
            "sum": Norm("1", "ratio", "sum over instances of (sum of w d over hits) / the same for the ideal rankings"),
            "none": Norm("D(k)", "mean", "sum of w d over hits / D(k)"),
        },
        JAIN,
        gain="propensity",
        discounts=_LOGS,
        note="norm=row as in pyxclib and napkinXC; norm=sum as in the original MATLAB scripts and AttentionXML; "
        "norm=none as printed on XMLRepository, which can exceed 1",
    ),
    Metric(
        "RBP",
        "rank-biased precision",
        _mean("1", "(1 - p) sum of p^(rank - 1) over hits"),
        "Moffat, Zobel, TOIS 2008",
        discounts=("geometric",),
        cutoff="optional",
        is_of_whole_list=True,
        own_numbers={"p": Number(0.8, 0, 1, is_open=True)},
        note="p is the probability that a reader goes on to the next rank",
    ),
    Metric(
        "ERR",
        "expected reciprocal rank",
        _mean("1", "sum over hits of s / rank times the product of 1 - s over earlier hits, s = (2^grade - 1) / 2^max"),
        "Chapelle, Metzler, Zhang, Grinspan, CIKM 2009",
        gain="stop",
        fold="ERR",
        family="row",
        cutoff="optional",
        is_of_whole_list=True,
        own_numbers={"max": Number(1, 1, 40, is_whole=True)},
        note="max is the highest grade of the scale, 1 for binary truth",
    ),
    Metric(
        "AUC@k",
        "area under the ROC curve within the top k",
        _mean(
            "h(k-h)", "(hit, miss) pairs in the right order / (hit, miss) pairs, in the first k ranks; 0 without a pair"
        ),
        "pyxclib",
        fold="AUC@k",
        family="row",
        note="missing predictions count as misses",
    ),
    Metric(
        "R@n",
        "recall at the number of true labels",
        _mean("n", "hits in the first n ranks / n"),
        MANNING,
        fold="R@n",
        family="row",
        cutoff="none",
        note="called Rprec in trec_eval",
    ),
    Metric(
        "microR@n",
        "recall at the number of true labels over all instances together",
        {"ratio": Norm("1", "ratio", "sum over instances of hits in the first n ranks / sum over instances of n")},
        "pyxclib",
        fold="R@n",
        family="row",
        cutoff="none",
    ),
    Metric(
        "IPrec",
        "interpolated precision at a level of recall",
        _mean("1", "greatest precision at any rank from the one on where the recall is reached; 0 if it never is"),
        MANNING,
        fold="IPrec",
        family="row",
        cutoff="none",
        level="recall",
        own_numbers={"recall": Number(0, 0, 1)},
        note=IPREC_NOTE,
    ),
    Metric(
        "LRAP",
        "label ranking average precision",
        _mean(
            "n",
            "mean over true labels of true labels with at least its score / labels with at least its score; "
            "1 if no or every label is true",
        ),
        TSOUMAKAS,
        fold="LRAP",
        family="row",
        cutoff="none",
        needs_labels=True,
        empty_value=1,
        note=f"as in scikit-learn, which also counts an instance without truth as 1; Mulan counts it as 0; {ZERO_NOTE}",
    ),
    Metric(
        "coverage_error",
        "coverage error",
        _mean("1", "labels with at least the score of the lowest-scored true label; 0 without a true label"),
        "scikit-learn; Tsoumakas, Katakis, Vlahavas, Mining Multi-label Data, 2010, whose value is 1 lower",
        fold="coverage",
        family="row",
        cutoff="none",
        bounds=UNBOUNDED,
        higher_is_better=False,
        unit="count",
        needs_labels=True,
        note=f"definition and ties as in scikit-learn; {ZERO_NOTE}",
    ),
    Metric(
        "ranking_loss",
        "label ranking loss",
        _mean(
            "n(L-n)",
            "pairs of a true label and a false one with at least its score / pairs; 0 if no or every label is true",
        ),
        TSOUMAKAS,
        fold="loss",
        family="row",
        cutoff="none",
        higher_is_better=False,
        needs_labels=True,
        note=f"a tie counts as an error, as in scikit-learn; torchmetrics breaks ties by position; {ZERO_NOTE}",
    ),
    Metric(
        "AUC",
        "area under the ROC curve of an instance's labels",
        _mean("n(L-n)", "(pairs of a true label scored above a false one + ties / 2) / pairs"),
        "Hanley, McNeil, Radiology 1982; scikit-learn",
        fold="AUC",
        family="row",
        cutoff="none",
        needs_labels=True,
        left_out="no label or every label is true",
        note=f"definition and ties as in scikit-learn; {ZERO_NOTE}",
    ),
    Metric(
        "GAUC",
        "area under the ROC curve of an instance's candidates (labels with a score)",
        {"ratio": Norm("1", "ratio", "mean over instances of the AUC of their candidates, weighted by their number")},
        "Zhu et al., KDD 2017",
        fold="GAUC",
        family="row",
        cutoff="none",
        left_out="no candidate or every candidate is true",
        note="ties count 1/2; labels without a score are ignored; RecBole's GAUC weighs instances by their true "
        "candidates",
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {entry.name: entry for entry in (*_ENTRIES, *MICRO_ENTRIES, *LABEL_ENTRIES, *DECISION_ENTRIES, *COLUMN_ENTRIES)}
)
