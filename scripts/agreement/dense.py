"""Peers that take dense matrices: scikit-learn and torchmetrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from agreement.cell import Bounds, But, Cell, Differs, Example, NotCompared, Under, at_cutoffs
from agreement.inputs import CLOSE, THRESHOLD, Case

UNSCORED: But = {"labels without a score": Under({"unscored": "zero"}, "dense scores have 0 there")}
DECIDED = {"threshold": THRESHOLD}
ONE_CLASS = Example([[1, 0], [0, 0]], [[0.9, 0.1], [0.5, 0.2]], "1")  # of the second label, and instance
NEVER: But = {"labels never true": Differs("0 for a label that is never true, which we leave out", ONE_CLASS)}
NAN: But = {"labels never true": Differs("nan if a label is never true, which we leave out", ONE_CLASS)}


def sklearn() -> Iterator[Cell]:
    """Yield functions of sklearn.metrics."""

    def of(name: str, is_graded: bool = False, is_decided: bool = False, **options: Any) -> Callable[..., Any]:
        def call(case: Case, k: int | None = None) -> Any:
            from sklearn import metrics

            truth, scores, at = case.truth.toarray(), case.scores.toarray(), {} if k is None else {"k": k}
            truth, scores = truth if is_graded else truth > 0, scores >= THRESHOLD if is_decided else scores
            return getattr(metrics, name)(truth, scores, **at, **options)

        return call

    same = {"label_ranking_average_precision_score": "LRAP", "coverage_error": "coverage_error"}
    for name, ours in {**same, "label_ranking_loss": "ranking_loss"}.items():
        yield Cell(name, ours, of(name), but=UNSCORED)
    ranked = Differs("ranks labels without a score too, at 0", Example([[0, 1]], [[0.9, None]], "0", k=2))
    unstable = Bounds("equal scores in the order of an unstable sort")
    but: But = {"labels without a score": ranked}
    for name, ours in {"dcg_score": "DCG@{k}", "ndcg_score": "nDCG@{k}"}.items():
        yield Cell(name, ours, at_cutoffs(of(name, is_graded=True)), {"ties": "expected"}, but)
        call = at_cutoffs(of(name, is_graded=True, ignore_ties=True))
        yield Cell(f"{name}(ignore_ties=True)", ours, call, but={"ties": unstable, **but})
    one_class = Differs("nan if all labels of an instance are true, or none", ONE_CLASS)
    for name, average, ours, but in (
        ("roc_auc_score", "macro", "macroAUC", NAN),
        ("roc_auc_score", "micro", "microAUC", {}),
        ("average_precision_score", "macro", "macroAP", NEVER),
        ("roc_auc_score", "samples", "AUC", {"no true label": one_class, "all labels true": one_class}),
    ):
        yield Cell(f"{name}(average='{average}')", ours, of(name, average=average), but={**UNSCORED, **but})
    for name in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
        for average in ("micro", "macro", "weighted", "samples"):
            for zero in (0, 1):
                ours = f"{name.replace('jaccard_score', 'Jaccard')}(average={average}{',zero=1' * zero})"
                call = of(name, is_decided=True, average=average, zero_division=zero)
                yield Cell(f"{name}(average='{average}', zero_division={zero})", ours, call, DECIDED)
    same = {"hamming_loss": "hamming_loss", "zero_one_loss": "zero_one_loss", "accuracy_score": "subset_accuracy"}
    for name, ours in same.items():
        yield Cell(name, ours, of(name, is_decided=True), DECIDED)
    call = of("fbeta_score", is_decided=True, beta=2, average="macro", zero_division=0)
    yield Cell("fbeta_score(beta=2, average='macro')", "f1_score(average=macro,beta=2)", call, DECIDED)


def torchmetrics() -> Iterator[Cell]:
    """Yield functions of torchmetrics.functional.classification, and classes of torchmetrics.retrieval."""

    def of(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import torch
            from torchmetrics.functional import classification

            scores, truth = torch.from_numpy(case.scores.toarray()), torch.from_numpy((case.truth.toarray() > 0) + 0)
            if name.startswith("binary"):
                return getattr(classification, name)(scores.flatten(), truth.flatten(), **options)
            return getattr(classification, name)(scores, truth, num_labels=truth.shape[1], **options)

        return call

    def queries(name: str) -> Callable[..., Any]:
        def call(case: Case, k: int | None = None) -> Any:
            import torch
            from torchmetrics import retrieval

            scores, metric = case.scores.tocoo(), getattr(retrieval, name)(**({} if k is None else {"top_k": k}))
            truth = torch.from_numpy(case.truth.toarray()[scores.row, scores.col])
            truth = truth if name == "RetrievalNormalizedDCG" else (truth > 0) + 0
            return metric(torch.from_numpy(scores.data), truth, torch.from_numpy(scores.row).long())

        return call

    cell = partial(Cell, tolerance=1e-6, why="computes in 32-bit floats")
    lost = "orders equal scores by position, the later label first; a tie is an error in the definition"
    by_position: But = {
        "ties": Differs(lost, Example([[0, 1]], [[0.5, 0.5]], "1")),
        "labels without a score": Differs(lost, Example([[0, 0, 1]], [[0.5, None, None]], "1")),
    }
    for word, ours, but in (
        ("ranking_average_precision", "LRAP", UNSCORED),
        ("coverage_error", "coverage_error", UNSCORED),
        ("ranking_loss", "ranking_loss", by_position),
    ):
        yield cell(f"multilabel_{word}", ours, of(f"multilabel_{word}"), but=but)
    for word, average, ours, but in (
        ("auroc", "macro", "macroAUC", NEVER),
        ("auroc", "micro", "microAUC", {}),
        ("average_precision", "macro", "macroAP", NEVER),
    ):
        call = of(f"multilabel_{word}", average=average)
        yield cell(f"multilabel_{word}(average='{average}')", ours, call, but={**UNSCORED, **but})
    for precision in (0.85, 0.5):  # at 0.9, nine hits of ten are too few in 32 bits
        ours = f"RecallAtPrecision(precision={precision})"
        call, each = (
            of(f"{kind}_recall_at_fixed_precision", min_precision=precision) for kind in ("binary", "multilabel")
        )
        name = f"recall_at_fixed_precision(min_precision={precision})[0]"
        yield cell(f"binary_{name}", f"micro{ours}", lambda case, call=call: call(case)[0], but=UNSCORED)
        but, call = {**UNSCORED, **NEVER}, lambda case, each=each: each(case)[0].mean()
        yield cell(f"multilabel_{name}.mean()", f"macro{ours}", call, but=but)
    for word, ours in {
        "precision": "precision_score",
        "recall": "recall_score",
        "f1_score": "f1_score",
        "jaccard_index": "Jaccard",
        "specificity": "specificity",
    }.items():
        for average in ("micro", "macro"):
            name, reached = f"multilabel_{word}(average='{average}')", "1" if average == "micro" else "(1 + 0) / 2"
            but = decided(0, reached, "0") if word == "specificity" else decided(1, "0", reached)
            yield cell(name, f"{ours}(average={average})", of(f"multilabel_{word}", average=average), DECIDED, but)
    yield cell(
        "multilabel_hamming_distance",
        "hamming_loss",
        of("multilabel_hamming_distance"),
        DECIDED,
        decided(1, "1 / 2", "0"),
    )
    but = {kind: each for kind, each in decided(1, "0", "").items() if "outside" in kind}  # none is exact either way
    yield cell("multilabel_exact_match", "subset_accuracy", of("multilabel_exact_match"), DECIDED, but)
    name = "multilabel_matthews_corrcoef"
    yield cell(name, "MCC", of(name), DECIDED, decided(1, "0", "1"), tolerance=1e-4)
    absent = Differs("leaves out instances without a prediction", Example([[1], [1]], [[0.9], [None]], "1 / 2"))
    rounded = Differs("holds scores in 32 bits", Example([[0, 1]], [[0.5, 0.5 + 1e-12]], "1"))
    below, at_0 = (
        Differs("counts no hit with a score of 0 or below", Example([[1]], [[score]], "1")) for score in (-0.5, 0.0)
    )
    above: But = {"negative scores": below, "stored zero scores": at_0}
    for word, ours, by_hand, more in (
        ("Precision", "P@{k}", "", above),
        ("Recall", "R@{k}", "1 / 2", above),
        ("HitRate", "Hit@{k}", "", {}),
        ("MAP", "AP(norm=hits)@{k}", "", above),
        ("MRR", "RR@{k}", "", above),
        ("NormalizedDCG", "nDCG@{k}", "1 / (1 + 1 / log2(3))", {}),
        ("RPrecision", "R@n", "1 / 2", {}),
    ):
        unscored = Differs("knows only the labels with a score", Example([[1, 1]], [[0.9, None]], by_hand, k=2))
        ties = NotCompared("by position") if word in {"MAP", "RPrecision"} else Bounds("by position")
        missing: But = {"labels without a score": unscored} if by_hand else {"no prediction": absent}
        call = queries(f"Retrieval{word}")
        call = at_cutoffs(call) if "{k}" in ours else call
        yield cell(f"Retrieval{word}", ours, call, but={"ties": ties, CLOSE: rounded, **missing, **more})


def decided(label: int, below: str, at: str) -> But:
    """Return where decisions of torchmetrics differ: what is right if the label with 0.4 or 0.5 is true, or false."""
    applied = Differs("applies a sigmoid to all scores", Example([[label, 1 - label]], [[0.4, -0.5]], below))
    strict = Differs("decides by score > threshold, we by >=", Example([[label, 1 - label]], [[0.5, 0.1]], at))
    return {"scores outside of 0..1": applied, "scores at the threshold": strict}
