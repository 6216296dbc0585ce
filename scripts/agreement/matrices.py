"""Peers that take sparse matrices: napkinXC, PECOS and xCOLUMNs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agreement.cell import Bounds, Cell, Differs, Example, Expectation, NotCompared
from agreement.inputs import ANY, FULL, Case

UNSTABLE = Bounds("equal scores in the order of an unstable sort")
UNKNOWN = NotCompared(UNSTABLE.reason)
ZEROS = "counts a stored zero of the truth as true"


def stored(by_hand: str) -> Differs:
    """Return what differs where the truth has stored zeros."""
    return Differs(ZEROS, Example([[0, 1]], [[0.9, 0.1]], by_hand, stores_zeros=True))


STORED = stored("0")
# The labels of examples are true in all of 3 training instances: 1 / p = 1 + (ln 3 - 1) 2.5^0.55 4.5^-0.55
PSDCG = "(1 + (log(3) - 1) * (2.5 / 4.5) ** 0.55) * (1 + 1 / log2(3))"
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
        own = {"ties": UNKNOWN} if ours.startswith("coverage") else {}
        yield Cell(name, ours, of(name), but=but | own | ({"grades": grades} if grades else {}))
    for name, ours in {"psprecision_at_k": "PSP(norm=none)@{k}", "psrecall_at_k": "PSR(norm=none)@{k}"}.items():
        yield Cell(f"{name}(normalize=False)", ours, of(name, normalize=False), but=but)
    constants = {"a": 0.6, "b": 2.6}
    yield Cell("psprecision_at_k(A=0.6, B=2.6)", "PSP@{k}", of("psprecision_at_k", (0.6, 2.6)), constants, but=but)
    divided = Differs("divides by k too", Example([[1, 1]], [[0.9, 0.1]], PSDCG, k=2))
    yield Cell("psdcg_at_k(normalize=False)", "PSDCG@{k}", of("psdcg_at_k", normalize=False), but={ANY: divided})
    yield from _decisions()


def _decisions() -> Iterator[Cell]:
    """Yield functions of napkinXC of decisions, which are the stored predictions."""

    def of(name: str, **options: Any) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from napkinxc import metrics

            return getattr(metrics, name)(case.truth, case.scores, **options)

        return call

    def last(call: Callable[[Case], Any]) -> Callable[[Case], Any]:
        return lambda case: call(case)[-1]

    macro: dict[str, Expectation] = {"stored zeros in the truth": Differs(ZEROS)}
    raises = Differs("raises an error without a false negative", Example([[1, 0]], [[0.9, 0.1]], "(1 + 0) / 2"))
    yield Cell("hamming_loss", "hamming_distance", of("hamming_loss"), but={"stored zeros in the truth": stored("1")})
    but: dict[str, Expectation] = {"stored zeros in the truth": stored("2 * 1 / (2 * 1 + 1)")}
    for average, options in (("micro", ""), ("macro", "average=macro,over=largest"), ("samples", "average=samples")):
        ours = f"f1_score({options})" if options else "f1_score"
        call = of("f1_measure", average=average)
        yield Cell(
            f"f1_measure(average='{average}')", ours, call, but=but if average != "macro" else macro | {FULL: raises}
        )
    but = macro | {"ties": UNKNOWN}
    at_k = {"macro_precision_at_k": "macroP", "macro_recall_at_k": "macroR", "macro_f1_measure_at_k": "macroF1"}
    for name, ours in at_k.items():
        yield Cell(f"{name}(k=5)[-1]", f"{ours}(over=largest)@5", last(of(name, k=5)), but=but)


def pecos() -> Iterator[Cell]:
    """Yield the metrics of PECOS."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from pecos.utils.smat_util import Metrics

            return getattr(Metrics.generate(case.truth, case.scores, topk=case.most), name)

        return call

    but: dict[str, Expectation] = {"stored zeros in the truth": STORED}
    yield Cell("Metrics.prec", "P@{k}", of("prec"), but=but)
    yield Cell("Metrics.recall", "R@{k}", of("recall"), but=but)


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
                getattr(metrics, name)(
                    truth,
                    predict_top_k(case.scores.astype(np.float64), k),
                    **({"k": k} if name == "precision_at_k" else options),
                )
                for k in range(1, case.most + 1)
            ]

        return call

    summed = Differs("sums grades", Example([[2, 0]], [[0.9, 0.1]], "1"))
    but: dict[str, Expectation] = {"ties": UNSTABLE, "grades": summed}
    counted: dict[str, Expectation] = {"ties": UNKNOWN, "grades": Differs("sums grades")}
    for word, ours in (
        ("precision", "P"),
        ("recall", "R"),
        ("f1_score", "F1"),
        ("jaccard_score", "Jaccard"),
        ("balanced_accuracy", "BA"),
    ):
        for name in (f"macro_{word}", f"micro_{word}")[: 2 if ours in {"P", "R", "F1"} else 1]:
            own = counted if name.startswith("macro") else counted | {"ties": UNSTABLE}
            measure = f"{name.partition('_')[0]}{ours}@{{k}}"
            yield Cell(f"{name}(epsilon=1e-15)", measure, of(name, epsilon=EPSILON), but=own)
    yield Cell("precision_at_k", "P@{k}", of("precision_at_k"), but=but)
    yield Cell("coverage", "coverage(over=all)@{k}", of("coverage"), but={"ties": UNKNOWN})
    added = Differs("adds 1e-6 to divisors that are shares of the instances", Example([[1]], [[0.9]], "1"))
    yield Cell("macro_f1_score", "macroF1@{k}", of("macro_f1_score"), but={ANY: added})
