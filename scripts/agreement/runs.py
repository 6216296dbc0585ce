"""Peers that take dicts by query and document: pytrec_eval, ranx and ir_measures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from agreement.cell import Bounds, But, Cell, Differs, Example, Under
from agreement.inputs import CLOSE, MASKED, NEITHER, Case, by_query

DROPPED: But = {"nothing judged": Under({"empty_rows": "drop"}, "leaves out queries without a judged document")}
FLOATS: But = {CLOSE: Differs("holds scores in 32 bits", Example([[1, 0]], [[0.5 + 1e-12, 0.5]], "1"))}
RANKED: But = {MASKED: Differs("ranks documents with a score of -inf", Example([[2]], [[-math.inf]], "0"))}
NAN: But = {NEITHER: Differs("nan", Example([[0], [1]], [[None], [0.5]], "(0 + 1) / 2", stores_zeros=True))}
UNSTABLE: But = {"ties": Bounds("equal scores in the order of an unstable sort")}


def expand(name: str, case: Case) -> list[str]:
    """Return a name at all cutoffs, or alone where it has none."""
    return [name.format(k=k) for k in range(1, case.most + 1)] if "{k}" in name else [name]


def pytrec_eval() -> Iterator[Cell]:
    """Yield measures of pytrec_eval, averaged over the queries that it returns."""

    def of(measure: str, key: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import pytrec_eval as trec

            evaluator = trec.RelevanceEvaluator(by_query(case.truth), {measure})
            found = evaluator.evaluate(by_query(case.scores)).values()
            means = [sum(row[name] for row in found) / len(found) for name in expand(key, case)]
            return means if "{k}" in key else means[0]

        return call

    cutoffs = ",".join(str(k) for k in range(1, 11))
    for word, ours in {"P": "P", "recall": "R", "ndcg_cut": "nDCG", "map_cut": "AP", "success": "Hit"}.items():
        call = of(f"{word}.{cutoffs}", f"{word}_{{k}}")
        yield Cell(word, f"{ours}@{{k}}", call, but={**RANKED, **DROPPED, **FLOATS}, is_of_dicts=True)
    for word, ours in {"map": "AP@all", "recip_rank": "RR@all", "Rprec": "R@n"}.items():
        yield Cell(word, ours, of(word, word), but={**RANKED, **DROPPED, **FLOATS}, is_of_dicts=True)
    for word, ours in {"set_P": "P@all", "set_recall": "R@all", "set_F": "F1@all"}.items():
        yield Cell(word, ours, of(word, word), but={**RANKED, **DROPPED}, is_of_dicts=True)
    call, but = of("iprec_at_recall.0.3", "iprec_at_recall_0.30"), {**RANKED, **DROPPED, **FLOATS, **NAN}
    yield Cell("iprec_at_recall_0.30", "IPrec@0.3", call, but=but, is_of_dicts=True)


def ranx() -> Iterator[Cell]:
    """Yield metrics of ranx.evaluate."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            from ranx import Qrels, Run, evaluate

            qrels, run = Qrels(by_query(case.truth)), Run(by_query(case.scores))
            found = [evaluate(qrels, run, each, make_comparable=True) for each in expand(name, case)]
            return found if "{k}" in name else found[0]

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
        yield Cell(f"{word}@k", f"{ours}@{{k}}", of(f"{word}@{{k}}"), but=UNSTABLE)
    yield Cell("r-precision", "R@n", of("r-precision"), but=UNSTABLE)
    weighted = Differs("weights hits by grade", Example([[2]], [[0.5]], "1 - 0.8"))
    yield Cell("rbp.80", "RBP@all", of("rbp.80"), but={**UNSTABLE, "grades": weighted})


def ir_measures() -> Iterator[Cell]:
    """Yield measures of ir_measures, by the provider that it chooses."""

    def of(name: str) -> Callable[[Case], Any]:
        def call(case: Case) -> Any:
            import ir_measures as ir

            measures = [ir.parse_measure(each) for each in expand(name, case)]
            found = ir.calc_aggregate(measures, by_query(case.truth), by_query(case.scores))
            values = [found[measure] for measure in measures]
            return values if "{k}" in name else values[0]

        return call

    for name, ours, but in (
        ("P@k", "P@{k}", FLOATS),
        ("R@k", "R@{k}", FLOATS),
        ("nDCG@k", "nDCG@{k}", FLOATS),
        ("AP@k", "AP@{k}", FLOATS),
        ("Success@k", "Hit@{k}", FLOATS),
        ("P(rel=2)@k", "P(rel=2)@{k}", {}),
        ("AP", "AP@all", FLOATS),
        ("RR", "RR@all", FLOATS),
        ("Rprec", "R@n", FLOATS),
        ("SetP", "P@all", {}),
        ("SetR", "R@all", {}),
        ("SetF", "F1@all", {}),
        ("SetF(beta=4.0)", "F1(beta=2)@all", {}),
        ("IPrec@0.3", "IPrec@0.3", {**FLOATS, **NAN}),
    ):
        yield Cell(name, ours, of(name.replace("@k", "@{k}")), but={**RANKED, **but}, is_of_dicts=True)
    but = {**DROPPED, "ties": Bounds("equal scores in another order than trec_eval's")}
    yield Cell("RR@k", "RR@{k}", of("RR@{k}"), but=but)
