"""Peers that take dense matrices: scikit-learn and torchmetrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agreement.cell import Bounds, Cell, Differs, Example, Expectation, NotCompared, Under
from agreement.inputs import CLOSE, Case

THRESHOLD = {"threshold": 0.5}
ZERO = Under({"unscored": "zero"}, "dense scores have 0 there")
AVERAGES = ("micro", "macro", "weighted", "samples")


def _at_cutoffs(call: Callable[..., Any]) -> Callable[[Case], Any]:
    return lambda case: [call(case, k) for k in range(1, case.most + 1)]


def sklearn() -> Iterator[Cell]:
    """Yield functions of sklearn.metrics."""

    def ranking(name: str, is_binary: bool = True, **options: Any) -> Callable[..., Any]:
        def call(case: Case, k: int | None = None) -> Any:
            from sklearn import metrics

            truth = case.truth.toarray()
            at = {} if k is None else {"k": k}
            return getattr(metrics, name)(truth > 0 if is_binary else truth, case.scores.toarray(), **at, **options)

        return call

    def decided(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from sklearn import metrics

            return getattr(metrics, name)(case.truth.toarray() > 0, case.scores.toarray() >= 0.5, **options)

        return call

    for name, ours in {
        "label_ranking_average_precision_score": "LRAP",
        "coverage_error": "coverage_error",
        "label_ranking_loss": "ranking_loss",
    }.items():
        yield Cell(name, ours, ranking(name), but={"labels without a score": ZERO})
    ranked = Differs("ranks labels without a score too, at 0", Example([[0, 1]], [[0.9, None]], "0", k=2))
    for name, ours in {"dcg_score": "DCG@{k}", "ndcg_score": "nDCG@{k}"}.items():
        call = _at_cutoffs(ranking(name, is_binary=False))
        yield Cell(name, ours, call, {"ties": "expected"}, {"labels without a score": ranked})
        call = _at_cutoffs(ranking(name, is_binary=False, ignore_ties=True))
        unstable = Bounds("equal scores in the order of an unstable sort")
        yield Cell(f"{name}(ignore_ties=True)", ours, call, but={"ties": unstable, "labels without a score": ranked})
    once = Example([[1, 0], [0, 0]], [[0.9, 0.1], [0.5, 0.2]], "1")
    undefined = {
        "AUC": {"labels never true": Differs("nan if a label is never true, which we leave out", once)},
        "AP": {"labels never true": Differs("0 for a label that is never true, which we leave out", once)},
    }
    for name, ours in {"roc_auc_score": "AUC", "average_precision_score": "AP"}.items():
        for average in ("macro", "micro"):
            if ours == "AUC" or average == "macro":
                but = {"labels without a score": ZERO} | (undefined[ours] if average == "macro" else {})
                yield Cell(f"{name}(average='{average}')", f"{average}{ours}", ranking(name, average=average), but=but)
    one_class = Differs(
        "nan if all labels of an instance are true, or none", Example([[1, 0], [0, 0]], [[0.9, 0.1], [0.5, 0.2]], "1")
    )
    yield Cell(
        "roc_auc_score(average='samples')",
        "AUC",
        ranking("roc_auc_score", average="samples"),
        but={"labels without a score": ZERO, "no true label": one_class, "all labels true": one_class},
    )
    for name, ours in {
        "precision_score": "precision_score",
        "recall_score": "recall_score",
        "f1_score": "f1_score",
        "jaccard_score": "Jaccard",
    }.items():
        for average in AVERAGES:
            for zero in (0, 1):
                option = f"average={average}" + (",zero=1" if zero else "")
                call = decided(name, average=average, zero_division=zero)
                yield Cell(f"{name}(average='{average}', zero_division={zero})", f"{ours}({option})", call, THRESHOLD)
    for name, ours in {
        "hamming_loss": "hamming_loss",
        "zero_one_loss": "zero_one_loss",
        "accuracy_score": "subset_accuracy",
    }.items():
        yield Cell(name, ours, decided(name), THRESHOLD)
    yield Cell(
        "fbeta_score(beta=2, average='macro')",
        "f1_score(average=macro,beta=2)",
        decided("fbeta_score", beta=2, average="macro", zero_division=0),
        THRESHOLD,
    )


HITS_ABOVE_0 = ("RetrievalPrecision", "RetrievalRecall", "RetrievalMAP", "RetrievalMRR")
FLOAT = "computes in 32-bit floats"


def torchmetrics() -> Iterator[Cell]:
    """Yield functions of torchmetrics.functional.classification, and classes of torchmetrics.retrieval."""

    def labels(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import torch
            from torchmetrics.functional import classification

            scores, truth = torch.from_numpy(case.scores.toarray()), torch.from_numpy((case.truth.toarray() > 0) + 0)
            return getattr(classification, name)(scores, truth, num_labels=truth.shape[1], **options)

        return call

    def recall(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import torch
            from torchmetrics.functional import classification

            if name.startswith("multilabel"):
                return labels(name, **options)(case)[0].mean()
            scores, truth = torch.from_numpy(case.scores.toarray()), torch.from_numpy((case.truth.toarray() > 0) + 0)
            return getattr(classification, name)(scores.flatten(), truth.flatten(), **options)[0]

        return call

    def queries(name: str, **options: Any) -> Callable[..., Any]:
        def call(case: Case, k: int | None = None) -> Any:
            import torch
            from torchmetrics import retrieval

            at = {} if k is None else {"top_k": k}
            metric = getattr(retrieval, name)(**at, **options)
            scores = case.scores.tocoo()
            truth = torch.from_numpy(case.truth.toarray()[scores.row, scores.col])
            if name != "RetrievalNormalizedDCG":
                truth = (truth > 0) + 0
            return metric(torch.from_numpy(scores.data), truth, torch.from_numpy(scores.row).long())

        return call

    lost = "orders equal scores by position, the later label first; a tie is an error in the definition"
    by_position = {
        "ties": Differs(lost, Example([[0, 1]], [[0.5, 0.5]], "1")),
        "labels without a score": Differs(lost, Example([[0, 0, 1]], [[0.5, None, None]], "1")),
    }
    for name, ours in {
        "multilabel_ranking_average_precision": "LRAP",
        "multilabel_coverage_error": "coverage_error",
        "multilabel_ranking_loss": "ranking_loss",
    }.items():
        but = by_position if ours == "ranking_loss" else {"labels without a score": ZERO}
        yield Cell(name, ours, labels(name), but=but, tolerance=1e-6, why=FLOAT)
    never = Differs(
        "0 for a label that is never true, which we leave out", Example([[1, 0], [0, 0]], [[0.9, 0.1], [0.5, 0.2]], "1")
    )
    for name, ours in {"multilabel_auroc": "AUC", "multilabel_average_precision": "AP"}.items():
        for average in ("macro", "micro"):
            if ours == "AUC" or average == "macro":
                but = {"labels without a score": ZERO} | ({"labels never true": never} if average == "macro" else {})
                yield Cell(
                    f"{name}(average='{average}')",
                    f"{average}{ours}",
                    labels(name, average=average),
                    but=but,
                    tolerance=1e-6,
                    why=FLOAT,
                )
    for precision in (0.85, 0.5):  # at 0.9, nine hits of ten are too few in 32 bits
        for name, average in (
            ("binary_recall_at_fixed_precision", "micro"),
            ("multilabel_recall_at_fixed_precision", "macro"),
        ):
            yield Cell(
                f"{name}(min_precision={precision})[0]" + (".mean()" if average == "macro" else ""),
                f"{average}RecallAtPrecision(precision={precision})",
                recall(name, min_precision=precision),
                but={"labels without a score": ZERO} | ({"labels never true": never} if average == "macro" else {}),
                tolerance=1e-6,
                why=FLOAT,
            )
    for name, ours in {
        "multilabel_precision": "precision_score",
        "multilabel_recall": "recall_score",
        "multilabel_f1_score": "f1_score",
        "multilabel_jaccard_index": "Jaccard",
        "multilabel_specificity": "specificity",
    }.items():
        for average in ("micro", "macro"):
            but = _decided(name, average)
            yield Cell(
                f"{name}(average='{average}')",
                f"{ours}(average={average})",
                labels(name, average=average),
                THRESHOLD,
                but,
                tolerance=1e-6,
                why=FLOAT,
            )
    for name, ours in {
        "multilabel_hamming_distance": "hamming_loss",
        "multilabel_exact_match": "subset_accuracy",
        "multilabel_matthews_corrcoef": "MCC",
    }.items():
        but = _decided(name, "micro")
        if ours == "subset_accuracy":
            del but["scores at the threshold"]  # where no instance is exact either way
        yield Cell(name, ours, labels(name), THRESHOLD, but, tolerance=1e-4 if ours == "MCC" else 1e-6, why=FLOAT)
    absent = Differs("leaves out instances without a prediction", Example([[1], [1]], [[0.9], [None]], "1 / 2"))
    rounded = Differs("holds scores in 32 bits", Example([[0, 1]], [[0.5, 0.5 + 1e-12]], "1"))
    below, at_0 = (
        Differs("counts no hit with a score of 0 or below", Example([[1]], [[score]], "1")) for score in (-0.5, 0.0)
    )
    unknown = "knows only the labels with a score"
    for name, ours, by_hand in (
        ("RetrievalPrecision", "P@{k}", ""),
        ("RetrievalRecall", "R@{k}", "1 / 2"),
        ("RetrievalHitRate", "Hit@{k}", ""),
        ("RetrievalMAP", "AP(norm=hits)@{k}", ""),
        ("RetrievalMRR", "RR@{k}", ""),
        ("RetrievalNormalizedDCG", "nDCG@{k}", "1 / (1 + 1 / log2(3))"),
        ("RetrievalRPrecision", "R@n", "1 / 2"),
    ):
        unscored = Differs(unknown, Example([[1, 1]], [[0.9, None]], by_hand, k=2))
        ties = NotCompared("by position") if "hits" in ours or "n" in ours.partition("@")[2] else Bounds("by position")
        but = {"ties": ties, CLOSE: rounded} | (
            {"labels without a score": unscored} if by_hand else {"no prediction": absent}
        )
        if name in HITS_ABOVE_0:
            but |= {"negative scores": below, "stored zero scores": at_0}
        call = _at_cutoffs(queries(name)) if "{k}" in ours else queries(name)
        yield Cell(name, ours, call, but=but, tolerance=1e-6, why=FLOAT)


def _decided(name: str, average: str) -> dict[str, Expectation]:
    """Return where decisions of torchmetrics differ: the label at 0.4 or 0.5 is true, of specificity false."""
    label = 0 if name.endswith("specificity") else 1
    low = {"specificity": "1" if average == "micro" else "(1 + 0) / 2", "distance": "1 / 2"}
    high = {"specificity": "0", "distance": "0", "corrcoef": "1"}
    kind = name.rpartition("_")[2]
    reached = "1" if average == "micro" else "(1 + 0) / 2"
    sigmoid = Example([[label, 1 - label]], [[0.4, -0.5]], low.get(kind, "0"))
    at = Example([[label, 1 - label]], [[0.5, 0.1]], high.get(kind, reached))
    return {
        "scores outside of 0..1": Differs("applies a sigmoid to all scores", sigmoid),
        "scores at the threshold": Differs("decides by score > threshold, we by >=", at),
    }
