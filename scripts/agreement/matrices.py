"""Peers that take sparse matrices: napkinXC, PECOS and xCOLUMNs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agreement.cell import Bounds, Cell, Differs, Example, Expectation, Under
from agreement.inputs import Case

UNSTABLE = Bounds("equal scores in the order of an unstable sort")
STORED = Differs("counts a stored zero of the truth as true", Example([[0, 1]], [[0.9, 0.1]], "0", stores_zeros=True))
BINARY = "counts a label of any grade as 1"


def napkinxc() -> Iterator[Cell]:
    """Yield functions of napkinxc.metrics."""

    def of(name: str, constants: tuple[float, ...] = (), **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from napkinxc import metrics

            is_weighted = name.startswith("ps")
            weights = [metrics.Jain_et_al_inverse_propensity(case.train, *constants)] if is_weighted else []
            return getattr(metrics, name)(case.truth, case.scores, *weights, **options, k=case.most)

        return call

    but: dict[str, Expectation] = {"ties": UNSTABLE, "stored zeros in the truth": STORED}
    graded = Example([[1, 2]], [[0.9, 0.1]], "1")
    for name, ours, grades in (
        ("precision_at_k", "P@{k}", None),
        ("recall_at_k", "R@{k}", None),
        ("dcg_at_k", "DCG@{k}", Differs(BINARY, Example([[2, 0]], [[0.9, 0.1]], "2 / log2(2)"))),
        ("ndcg_at_k", "nDCG@{k}", Differs(BINARY, Example([[1, 2]], [[0.9, 0.1]], "1 / 2"))),
        ("abandonment_at_k", "Hit@{k}", None),
        ("psprecision_at_k", "PSP@{k}", None),
        ("psrecall_at_k", "PSR@{k}", None),
        ("psndcg_at_k", "PSnDCG@{k}", None),
        ("psdcg_at_k", "PSnDCG(norm=sum)@{k}", None),
        ("coverage_at_k", "coverage@{k}", None),
    ):
        yield Cell(name, ours, of(name), but=but | ({"grades": grades} if grades else {}))
    for name, ours in {"psprecision_at_k": "PSP(norm=none)@{k}", "psrecall_at_k": "PSR(norm=none)@{k}"}.items():
        yield Cell(f"{name}(normalize=False)", ours, of(name, normalize=False), but=but)
    constants = {"a": 0.6, "b": 2.6}
    yield Cell("psprecision_at_k(A=0.6, B=2.6)", "PSP@{k}", of("psprecision_at_k", (0.6, 2.6)), constants, but=but)
    small = Example([[1, 1]], [[0.9, 0.1]], "1", k=2)
    reason = "divides the sum over instances by k too"
    yield Cell(
        "psdcg_at_k(normalize=False)", "PSDCG@{k}", of("psdcg_at_k", normalize=False), but=but | {"": Differs(reason)}
    )
    yield from _decisions()
    del graded, small


def _decisions() -> Iterator[Cell]:
    """Yield functions of napkinXC of decisions, which are the stored predictions."""

    def of(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from napkinxc import metrics

            return getattr(metrics, name)(case.truth, case.scores, **options)

        return call

    but: dict[str, Expectation] = {"stored zeros in the truth": STORED}
    yield Cell("hamming_loss", "hamming_distance", of("hamming_loss"), but=but)
    for average, options in (("micro", ""), ("macro", "average=macro,over=largest"), ("samples", "average=samples")):
        ours = f"f1_score({options})" if options else "f1_score"
        yield Cell(f"f1_measure(average='{average}')", ours, of("f1_measure", average=average), but=but)
    at_k = {"macro_precision_at_k": "macroP", "macro_recall_at_k": "macroR", "macro_f1_measure_at_k": "macroF1"}
    for name, ours in at_k.items():
        yield Cell(f"{name}(k=5)[-1]", f"{ours}(over=largest)@5", lambda case, f=of(name, k=5): f(case)[-1], but=but | {"ties": UNSTABLE})


def pecos() -> Iterator[Cell]:
    """Yield the metrics of PECOS."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from pecos.utils.smat_util import Metrics

            return getattr(Metrics.generate(case.truth, case.scores, topk=case.most), name)

        return call

    but: dict[str, Expectation] = {"stored zeros in the truth": STORED}
    yield Cell("Metrics.generate(...).prec", "P@{k}", of("prec"), but=but)
    yield Cell("Metrics.generate(...).recall", "R@{k}", of("recall"), but=but)


EPSILON = 1e-15  # in place of its default 1e-6, which it adds to divisors


def xcolumns() -> Iterator[Cell]:
    """Yield functions of xcolumns.metrics, of the labels that it predicts."""

    def of(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import numpy as np
            from xcolumns import metrics
            from xcolumns.weighted_prediction import predict_top_k

            truth = case.truth.astype(np.float64)
            return [
                getattr(metrics, name)(truth, predict_top_k(case.scores.astype(np.float64), k), **({"k": k} if name == "precision_at_k" else options))
                for k in range(1, case.most + 1)
            ]

        return call

    but: dict[str, Expectation] = {"ties": UNSTABLE}
    for word, ours in (("precision", "P"), ("recall", "R"), ("f1_score", "F1"), ("jaccard_score", "Jaccard"), ("balanced_accuracy", "BA")):
        for average in ("macro", "micro"):
            if average == "macro" or ours in {"P", "R", "F1"}:
                name = f"{average}_{word}"
                yield Cell(f"{name}(epsilon=1e-15)", f"{average}{ours}@{{k}}", of(name, epsilon=EPSILON), but=but)
    yield Cell("precision_at_k", "P@{k}", of("precision_at_k"), but=but)
    yield Cell("coverage", "coverage(over=all)@{k}", of("coverage"), but=but)
    yield Cell("macro_f1_score", "macroF1@{k}", of("macro_f1_score"), but=but, tolerance=1e-5, why="adds 1e-6 to divisors")
