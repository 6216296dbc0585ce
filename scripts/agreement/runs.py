"""Peers that take dicts by query and document: pytrec_eval, ranx and ir_measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from agreement.cell import Bounds, Cell, Differs, Example, Expectation, Under
from agreement.inputs import CLOSE, NEITHER, Case, by_query

DROPPED = Under({"empty_rows": "drop"}, "leaves out queries without a judged document")
FLOATS = Differs("holds scores in 32 bits", Example([[1, 0]], [[0.5 + 1e-12, 0.5]], "1"))
UNSTABLE = Bounds("equal scores in the order of an unstable sort")
NAN = Differs("nan", Example([[0], [1]], [[None], [0.5]], "(0 + 1) / 2", stores_zeros=True))
UNDEFINED: dict[str, Expectation] = {CLOSE: FLOATS, NEITHER: NAN}
GRADES = Differs("weights hits by grade", Example([[2]], [[0.5]], "1 - 0.8"))
TREC: dict[str, Expectation] = {"nothing judged": DROPPED}
OWN_ORDER = "equal scores in another order than trec_eval's"


def pytrec_eval() -> Iterator[Cell]:
    """Yield measures of pytrec_eval, averaged over the queries that it returns."""

    def of(measure: str, key: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import pytrec_eval as trec

            evaluator = trec.RelevanceEvaluator(by_query(case.truth), {measure})
            found = evaluator.evaluate(by_query(case.scores))
            keys = [key.format(k=k) for k in range(1, case.most + 1)] if "{k}" in key else [key]
            means = [sum(each[one] for each in found.values()) / len(found) for one in keys]
            return means if "{k}" in key else means[0]

        return call

    but = TREC | {CLOSE: FLOATS}
    cutoffs = ",".join(str(k) for k in range(1, 11))
    for word, ours in {"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP", "success": "Hit"}.items():
        yield Cell(word, f"{ours}@{{k}}", of(f"{word}.{cutoffs}", f"{word}_{{k}}"), but=but, is_of_dicts=True)
    for word, ours in {
        "map": "AP@all",
        "recip_rank": "RR@all",
        "Rprec": "R@n",
        "set_P": "P@all",
        "set_recall": "R@all",
        "set_F": "F1@all",
    }.items():
        but = TREC if word.startswith("set") else TREC | {CLOSE: FLOATS}
        yield Cell(word, ours, of(word, word), but=but, is_of_dicts=True)
    yield Cell(
        "iprec_at_recall_0.30",
        "IPrec@0.3",
        of("iprec_at_recall.0.3", "iprec_at_recall_0.30"),
        but=TREC | UNDEFINED,
        is_of_dicts=True,
    )


def ranx() -> Iterator[Cell]:
    """Yield metrics of ranx.evaluate."""

    def of(*names: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from ranx import Qrels, Run, evaluate

            qrels, run = Qrels(by_query(case.truth)), Run(by_query(case.scores))
            asked = [name.format(k=k) for name in names for k in (range(1, case.most + 1) if "{k}" in name else [0])]
            found = [evaluate(qrels, run, name, make_comparable=True) for name in asked]
            return found if "{k}" in names[0] else found[0]

        return call

    for word, ours in {
        "precision": "P",
        "recall": "R",
        "f1": "F1",
        "hit_rate": "Hit",
        "mrr": "RR",
        "map": "AP",
        "dcg": "DCG",
        "dcg_burges": "DCG(gain=exp)",
        "ndcg": "nDCG",
        "ndcg_burges": "nDCG(gain=exp)",
    }.items():
        yield Cell(f"{word}@k", f"{ours}@{{k}}", of(f"{word}@{{k}}"), but={"ties": UNSTABLE})
    for word, ours in {"r-precision": "R@n", "rbp.80": "RBP@all"}.items():
        yield Cell(word, ours, of(word), but={"ties": UNSTABLE} | ({"grades": GRADES} if ours == "RBP@all" else {}))


def ir_measures() -> Iterator[Cell]:
    """Yield measures of ir_measures, by the provider that it chooses."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import ir_measures as ir

            cutoffs = range(1, case.most + 1) if "{k}" in name else [0]
            measures = [ir.parse_measure(name.format(k=k)) for k in cutoffs]
            found = ir.calc_aggregate(measures, by_query(case.truth), by_query(case.scores))
            values = [found[measure] for measure in measures]
            return values if "{k}" in name else values[0]

        return call

    for name, ours in {
        "P@k": "P@{k}",
        "R@k": "R@{k}",
        "nDCG@k": "nDCG@{k}",
        "AP@k": "AP@{k}",
        "Success@k": "Hit@{k}",
        "P(rel=2)@k": "P(rel=2)@{k}",
        "AP": "AP@all",
        "RR": "RR@all",
        "Rprec": "R@n",
        "SetP": "P@all",
        "SetR": "R@all",
        "SetF": "F1@all",
        "SetF(beta=4.0)": "F1(beta=2)@all",
        "IPrec@0.3": "IPrec@0.3",
    }.items():
        call, unordered = of(name.replace("@k", "@{k}")), name.startswith("Set") or "rel" in name
        but = UNDEFINED if name.startswith("IPrec") else {CLOSE: FLOATS}
        yield Cell(name, ours, call, but={} if unordered else but, is_of_dicts=True)
    yield Cell("RR@k", "RR@{k}", of("RR@{k}"), but={"nothing judged": DROPPED, "ties": Bounds(OWN_ORDER)})
