"""Peers that take sparse matrices: napkinXC, PECOS and xCOLUMNs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from agreement.cell import Bounds, But, Cell, Differs, Example, NotCompared, at_cutoffs
from agreement.inputs import ANY, FULL, Case

UNSTABLE = Bounds("equal scores in the order of an unstable sort")
UNKNOWN = NotCompared(UNSTABLE.reason)
ZEROS, STORED = "counts a stored zero of the truth as true", "stored zeros in the truth"
# The labels of examples are true in all of 3 training instances: 1 / p = 1 + (ln 3 - 1) 2.5^0.55 4.5^-0.55
PSDCG = "(1 + (log(3) - 1) * (2.5 / 4.5) ** 0.55) * (1 + 1 / log2(3))"
BINARY = "counts a label of any grade as 1"
EPSILON = 1e-15  # of xCOLUMNs, in place of its default 1e-6, which it adds to divisors


def stored(by_hand: str) -> But:
    """Return what differs where the truth has stored zeros."""
    return {STORED: Differs(ZEROS, Example([[0, 1]], [[0.9, 0.1]], by_hand, stores_zeros=True))}


def napkinxc() -> Iterator[Cell]:
    """Yield functions of napkinxc.metrics; decisions are the stored predictions."""

    def of(name: str, constants: tuple[float, ...] = (), **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from napkinxc import metrics

            weights = [metrics.Jain_et_al_inverse_propensity(case.train, *constants)] if name.startswith("ps") else []
            return getattr(metrics, name)(case.truth, case.scores, *weights, **options)

        return call

    def at_k(name: str, *constants: Any, **options: Any) -> Callable[[Case], Any]:
        return lambda case: of(name, constants, **options, k=case.most)(case)

    but: But = {"ties": UNSTABLE, **stored("0")}
    for name, ours, more in (
        ("precision_at_k", "P@{k}", {}),
        ("recall_at_k", "R@{k}", {}),
        ("dcg_at_k", "DCG@{k}", {"grades": Differs(BINARY, Example([[2, 0]], [[0.9, 0.1]], "2 / log2(2)"))}),
        ("ndcg_at_k", "nDCG@{k}", {"grades": Differs(BINARY, Example([[1, 2]], [[0.9, 0.1]], "1 / 2"))}),
        ("abandonment_at_k", "Hit@{k}", {}),
        ("psprecision_at_k", "PSP@{k}", {}),
        ("psrecall_at_k", "PSR@{k}", {}),
        ("psndcg_at_k", "PSnDCG@{k}", {}),
        ("psdcg_at_k", "PSnDCG(norm=sum)@{k}", {}),
        ("coverage_at_k", "coverage@{k}", {"ties": UNKNOWN}),
    ):
        yield Cell(name, ours, at_k(name), but={**but, **more})
    for name, ours in {"psprecision_at_k": "PSP(norm=none)@{k}", "psrecall_at_k": "PSR(norm=none)@{k}"}.items():
        yield Cell(f"{name}(normalize=False)", ours, at_k(name, normalize=False), but=but)
    call = at_k("psprecision_at_k", 0.6, 2.6)
    yield Cell("psprecision_at_k(A=0.6, B=2.6)", "PSP@{k}", call, {"a": 0.6, "b": 2.6}, but)
    divided = Differs("divides by k too", Example([[1, 1]], [[0.9, 0.1]], PSDCG, k=2))
    yield Cell("psdcg_at_k(normalize=False)", "PSDCG@{k}", at_k("psdcg_at_k", normalize=False), but={ANY: divided})
    yield Cell("hamming_loss", "hamming_distance", of("hamming_loss"), but=stored("1"))
    raises = Differs("raises an error without a false negative", Example([[1, 0]], [[0.9, 0.1]], "(1 + 0) / 2"))
    macro: But = {STORED: Differs(ZEROS)}
    for average, options, but in (
        ("micro", "", stored("2 * 1 / (2 * 1 + 1)")),
        ("macro", "(average=macro,over=largest)", {**macro, FULL: raises}),
        ("samples", "(average=samples)", stored("2 * 1 / (2 * 1 + 1)")),
    ):
        yield Cell(f"f1_measure(average='{average}')", f"f1_score{options}", of("f1_measure", average=average), but=but)
    for word, ours in {"precision": "macroP", "recall": "macroR", "f1_measure": "macroF1"}.items():
        name = f"macro_{word}_at_k"
        at_5 = of(name, k=5)
        call = lambda case, at_5=at_5: at_5(case)[-1]  # noqa: E731
        yield Cell(f"{name}(k=5)[-1]", f"{ours}(over=largest)@5", call, but={**macro, "ties": UNKNOWN})


def pecos() -> Iterator[Cell]:
    """Yield the metrics of PECOS."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from pecos.utils.smat_util import Metrics

            return getattr(Metrics.generate(case.truth, case.scores, topk=case.most), name)

        return call

    yield Cell("Metrics.prec", "P@{k}", of("prec"), but=stored("0"))
    yield Cell("Metrics.recall", "R@{k}", of("recall"), but=stored("0"))


def xcolumns() -> Iterator[Cell]:
    """Yield functions of xcolumns.metrics, of the labels that it predicts."""

    def of(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case, k: int) -> Any:
            from xcolumns import metrics
            from xcolumns.weighted_prediction import predict_top_k

            truth, predicted = case.truth.astype(np.float64), predict_top_k(case.scores.astype(np.float64), k)
            return getattr(metrics, name)(truth, predicted, **({"k": k} if name == "precision_at_k" else options))

        return at_cutoffs(call)

    summed = Differs("sums grades", Example([[2, 0]], [[0.9, 0.1]], "1"))
    macro: But = {"ties": UNKNOWN, "grades": Differs("sums grades")}
    for name, ours, but in (
        ("macro_precision", "macroP", macro),
        ("micro_precision", "microP", {**macro, "ties": UNSTABLE}),
        ("macro_recall", "macroR", macro),
        ("micro_recall", "microR", {**macro, "ties": UNSTABLE}),
        ("macro_f1_score", "macroF1", macro),
        ("micro_f1_score", "microF1", {**macro, "ties": UNSTABLE}),
        ("macro_jaccard_score", "macroJaccard", macro),
        ("macro_balanced_accuracy", "macroBA", macro),
    ):
        yield Cell(f"{name}(epsilon=1e-15)", f"{ours}@{{k}}", of(name, epsilon=EPSILON), but=but)
    yield Cell("precision_at_k", "P@{k}", of("precision_at_k"), but={"ties": UNSTABLE, "grades": summed})
    yield Cell("coverage", "coverage(over=all)@{k}", of("coverage"), but={"ties": UNKNOWN})
    added = Differs("adds 1e-6 to divisors that are shares of the instances", Example([[1]], [[0.9]], "1"))
    yield Cell("macro_f1_score", "macroF1@{k}", of("macro_f1_score"), but={ANY: added})
