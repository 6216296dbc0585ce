"""METRICS: the table of every metric."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xmceval.metrics.cells import BETA, DECISION_ENTRIES, LABEL_ENTRIES, MICRO_ENTRIES
from xmceval.metrics.entry import Metric, Norm, Number

DEFAULT_CUTOFFS = (1, 3, 5)

DEFAULT_NAMES = ("P", "nDCG", "PSP", "PSnDCG")

# Where a threshold is given and no metric.
DECISION_NAMES = ("precision_score", "recall_score", "f1_score", "f1_score(average=macro)", "hamming_loss", "confusion")

JAIN = "Jain, Prabhu, Varma, KDD 2016"

MANNING = "Manning, Raghavan, Schuetze, Introduction to Information Retrieval, ch. 8"

JARVELIN = "Jarvelin, Kekalainen, TOIS 2002"

XMLREPO = "XMLRepository (manikvarma.org)"

TSOUMAKAS = "Tsoumakas, Katakis, Vlahavas, Mining Multi-label Data, 2010; scikit-learn"

# Which other tools share a definition, and where they differ.
TREC_NOTE = "trec_eval leaves out rows without truth, the other tools count them as 0"

P_NOTE = (
    "missing predictions are misses: k stays; the same in XMLRepository's scripts, napkinXC, pyxclib and PECOS; "
    + TREC_NOTE
)

HIT_NOTE = f"trec_eval's success; napkinXC and xCOLUMNs call it abandonment; {TREC_NOTE}"

ZERO_NOTE = "labels without a score are below all others, in scikit-learn's dense copy at 0 (--unscored zero)"


def _mean(divisor: str, formula: str) -> dict[str, Norm]:
    return {"mean": Norm(divisor, "mean", formula)}


_LOGS = ("log2", "ln", "letor", "none")

_UNBOUNDED = (0.0, float("inf"))

_ENTRIES = (
    Metric("P", "precision", _mean("k", "hits / k"), MANNING, note=P_NOTE),
    Metric("R", "recall", _mean("n", "hits / n"), MANNING, cutoff="optional", note=TREC_NOTE),
    Metric("RP", "R-precision at k", _mean("min(k,n)", "hits / min(k, n)"), "Chalkidis et al., ACL 2019"),
    Metric(
        "F1",
        "harmonic mean of precision and recall, weighted by beta",
        _mean("(k+n)/2", "(1 + beta^2) P R / (beta^2 P + R) = (1 + beta^2) hits / (k + beta^2 n)"),
        MANNING,
        own_numbers=BETA,
    ),
    Metric("Hit", "hit rate", _mean("1", "1 if any hit, else 0"), MANNING, fold="any", note=HIT_NOTE),
    Metric(
        "Abandonment",
        "rate of rows without a hit",
        _mean("1", "1 - Hit"),
        "Chuklin, Serdyukov, de Rijke, SIGIR 2013",
        fold="any",
        complement=True,
        higher_is_better=False,
        note="napkinXC and xCOLUMNs call the hit rate abandonment: their number is Hit",
    ),
    Metric(
        "DCG",
        "discounted cumulative gain",
        _mean("1", "sum of g d over hits"),
        JARVELIN,
        gain="grade",
        discounts=_LOGS,
        bounds=_UNBOUNDED,
        cutoff="optional",
    ),
    Metric(
        "nDCG",
        "normalised discounted cumulative gain",
        _mean("ideal", "sum of g d over hits / the same of the ideal ranking"),
        JARVELIN,
        gain="grade",
        discounts=_LOGS,
        cutoff="optional",
        note=f"pyxclib sums in 32-bit floats, which moves it by 2e-8; {TREC_NOTE}",
    ),
    Metric(
        "RR",
        "reciprocal rank",
        _mean("1", "1 / rank of the first hit, 0 without one"),
        "TREC-8",
        fold="first",
        cutoff="optional",
        note=f"RR@all is trec_eval's recip_rank; {TREC_NOTE}",
    ),
    Metric(
        "AP",
        "average precision",
        {
            "n": Norm("n", "mean", "sum of P@rank over hits / n"),
            "k": Norm("k", "mean", "sum of P@rank over hits / k"),
            "min": Norm("min(k,n)", "mean", "sum of P@rank over hits / min(k, n)"),
        },
        MANNING,
        fold="precision",
        cutoff="optional",
        note=f"AP@all is trec_eval's map; {TREC_NOTE}",
    ),
    Metric(
        "PSP",
        "propensity-scored precision",
        {
            "ratio": Norm("k", "ratio", "sum over rows of (sum of w over hits / k) / the same of the ideal rankings"),
            "none": Norm("k", "mean", "sum of w over hits / k"),
        },
        JAIN,
        gain="propensity",
        note="the formula printed on XMLRepository has no divisor (norm=none); every XC script has it (norm=ratio)",
    ),
    Metric(
        "PSR",
        "propensity-scored recall",
        {
            "ratio": Norm("n", "ratio", "sum over rows of (sum of w over hits / n) / the same of the ideal rankings"),
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
        bounds=_UNBOUNDED,
        note="its ratio form is PSnDCG(norm=sum)",
    ),
    Metric(
        "PSnDCG",
        "propensity-scored normalised discounted cumulative gain",
        {
            "row": Norm(
                "D(min(k,n))",
                "ratio",
                "sum over rows of (sum of w d over hits / D(min(k, n))) / the same of the ideal rankings",
            ),
            "sum": Norm("1", "ratio", "sum over rows of (sum of w d over hits) / the same of the ideal rankings"),
            "none": Norm("D(k)", "mean", "sum of w d over hits / D(k)"),
        },
        JAIN,
        gain="propensity",
        discounts=_LOGS,
        note="row: pyxclib, napkinXC; sum: the original MATLAB scripts, AttentionXML; "
        "none: as printed on XMLRepository, can exceed 1",
    ),
    Metric(
        "RBP",
        "rank-biased precision",
        _mean("1", "(1 - p) sum of p^(rank - 1) over hits"),
        "Moffat, Zobel, TOIS 2008",
        discounts=("geometric",),
        own_numbers={"p": Number(0.8, 0, 1, is_open=True)},
        note="p: how likely a reader goes on to the next rank",
    ),
    Metric(
        "ERR",
        "expected reciprocal rank",
        _mean("1", "sum over hits of s / rank times the product of 1 - s over earlier hits, s = (2^grade - 1) / 2^max"),
        "Chapelle, Metzler, Zhang, Grinspan, CIKM 2009",
        gain="stop",
        fold="ERR",
        family="row",
        own_numbers={"max": Number(1, 1, 40, is_whole=True)},
        note="max: the greatest grade of the scale; 1 for binary truth",
    ),
    Metric(
        "AUC@k",
        "area under the ROC curve within the top k",
        _mean("h(k-h)", "ordered pairs / pairs of a hit and a miss among the first k ranks, 0 without a pair"),
        "pyxclib",
        fold="AUC@k",
        family="row",
        note="missing predictions are misses",
    ),
    Metric(
        "R@n",
        "recall at the number of true labels",
        _mean("n", "hits among the first n ranks / n"),
        MANNING,
        fold="R@n",
        family="row",
        cutoff="none",
        note="trec_eval's Rprec",
    ),
    Metric(
        "microR@n",
        "recall at the number of true labels, over all rows together",
        {"ratio": Norm("1", "ratio", "sum over rows of hits among the first n ranks / sum over rows of n")},
        "pyxclib",
        fold="R@n",
        family="row",
        cutoff="none",
    ),
    Metric(
        "LRAP",
        "label ranking average precision",
        _mean(
            "n", "mean over true labels of true labels scored as high / labels scored as high; 1 if none or all true"
        ),
        TSOUMAKAS,
        fold="LRAP",
        family="row",
        cutoff="none",
        needs_labels=True,
        note=f"as scikit-learn, where a row without truth counts 1 too; {ZERO_NOTE}",
    ),
    Metric(
        "coverage_error",
        "coverage error",
        _mean("1", "labels scored as high as the lowest scored true label; 0 without one"),
        TSOUMAKAS,
        fold="coverage",
        family="row",
        cutoff="none",
        bounds=_UNBOUNDED,
        higher_is_better=False,
        unit="count",
        needs_labels=True,
        note=f"definition and ties of scikit-learn; {ZERO_NOTE}",
    ),
    Metric(
        "ranking_loss",
        "label ranking loss",
        _mean(
            "n(L-n)", "pairs of a true label and another scored as high or higher / pairs; 0 if none or all are true"
        ),
        TSOUMAKAS,
        fold="loss",
        family="row",
        cutoff="none",
        higher_is_better=False,
        needs_labels=True,
        note=f"a tie is an error, as in scikit-learn; torchmetrics breaks ties by order; {ZERO_NOTE}",
    ),
    Metric(
        "AUC",
        "area under the ROC curve of a row's labels",
        _mean("n(L-n)", "pairs of a true label scored above another, ties one half / pairs"),
        "Hanley, McNeil, Radiology 1982; scikit-learn",
        fold="AUC",
        family="row",
        cutoff="none",
        needs_labels=True,
        left_out="none or all of its labels are true",
        note=f"definition and ties of scikit-learn; {ZERO_NOTE}",
    ),
    Metric(
        "GAUC",
        "area under the ROC curve of a row's candidates",
        {"ratio": Norm("1", "ratio", "mean over rows of AUC among labels with a score, weighted by their number")},
        "Zhu et al., KDD 2017",
        fold="GAUC",
        family="row",
        cutoff="none",
        left_out="none or all of its candidates are true",
        note="ties are one half; labels without a score take no part",
    ),
)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {entry.name: entry for entry in (*_ENTRIES, *MICRO_ENTRIES, *LABEL_ENTRIES, *DECISION_ENTRIES)}
)
