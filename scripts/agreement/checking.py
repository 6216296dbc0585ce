"""What a run finds: values of ours, and whether each cell is what was expected of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agreement.cell import Bounds, Cell, Differs, Example, Expectation, Under
from agreement.inputs import Case, by_query
from agreement.peertools import Values, case_of

import xmceval
from xmceval.report.listings.metriclist import find_metrics

ALL = "all"


@dataclass
class Finding:
    """What was found of a cell on inputs of a kind."""

    cell: Cell
    kind: str
    expected: Expectation
    values: int = 0
    largest: float = 0.0
    wrong: list[str] = field(default_factory=list)
    example: str = ""


def options_key(options: Mapping[str, Any], is_of_dicts: bool) -> tuple[Any, ...]:
    """Return options as something that can be looked up."""
    return (is_of_dicts, *sorted(options.items()))


class Ours:
    """Values of ours, each of which is computed once per case and options."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._measures: dict[tuple[Any, ...], list[str]] = {}
        self._results: dict[tuple[Any, ...], xmceval.Result] = {}
        for cell in cells:
            for options in _options_of(cell):
                own = self._measures.setdefault(options_key(options, cell.is_of_dicts), [])
                own.append(cell.ours.removesuffix("@{k}"))

    def result(self, cell: Cell, case: Case, options: Mapping[str, Any]) -> xmceval.Result:
        """Return the result of all measures that are needed with these options."""
        key = options_key(options, cell.is_of_dicts)
        if (case.name, case.truth.shape, *key) not in self._results or case.name == "example":
            own = list(dict.fromkeys(self._measures.get(key, [cell.ours.removesuffix("@{k}")])))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._results[(case.name, case.truth.shape, *key)] = _score(own, cell, case, options)
        return self._results[(case.name, case.truth.shape, *key)]


def _score(own: Sequence[str], cell: Cell, case: Case, options: Mapping[str, Any]) -> xmceval.Result:
    data = (by_query(case.truth), by_query(case.scores)) if cell.is_of_dicts else (case.truth, case.scores)
    needs = {"train": case.train} if any(name.startswith("PS") for name in own) else {}
    return xmceval.score(*data, metrics=own, k=range(1, case.most + 1), **needs, **options)


def _options_of(cell: Cell) -> Iterator[Mapping[str, Any]]:
    """Yield the options with which a cell may be evaluated; combinations are computed when they are met."""
    yield cell.options
    for expected in cell.but.values():
        if isinstance(expected, Under):
            yield {**cell.options, **expected.options}


def expectation(cell: Cell, case: Case) -> tuple[str, Expectation]:
    """Return what is expected of a cell on a case, and the kind of input for which."""
    kinds = [kind for kind in cell.but if kind in case.kinds]
    for kind in kinds:
        if isinstance(cell.but[kind], Differs):
            return kind, cell.but[kind]
    options: dict[str, Any] = dict(cell.options)
    for kind in kinds:
        expected = cell.but[kind]
        options |= expected.options if isinstance(expected, Under) else {}
    for kind in kinds:
        if isinstance(cell.but[kind], Bounds):
            return kind, cell.but[kind]
    return (" and ".join(kinds) or ALL), Under(options)


def merged_options(cell: Cell, case: Case) -> dict[str, Any]:
    """Return the options of a cell and of the kinds of a case."""
    options = dict(cell.options)
    for kind, expected in cell.but.items():
        if kind in case.kinds and isinstance(expected, Under):
            options |= expected.options
    return options


def check(cell: Cell, cases: Sequence[Case], theirs: Sequence[Values], ours: Ours) -> list[Finding]:
    """Compare a cell on all cases."""
    findings: dict[str, Finding] = {}
    for case, found in zip(cases, theirs, strict=True):
        kind, expected = expectation(cell, case)
        finding = findings.setdefault(kind, Finding(cell, kind, expected))
        try:
            result = ours.result(cell, case, merged_options(cell, case))
        except xmceval.XmcevalError as error:
            finding.wrong.append(f"{case.name}: ours raises {error}")
            continue
        names = [cell.ours.format(k=k) for k in range(1, case.most + 1)] if "{k}" in cell.ours else [cell.ours]
        values = found if isinstance(found, list) else [found] * len(names)
        if len(values) != len(names):
            finding.wrong.append(f"{case.name}: {len(values)} values, not {len(names)}")
        for name, value in zip(names, values, strict=False):
            _compare(finding, f"{case.name}: {name}", value, result, name)
    return list(findings.values())


def _compare(finding: Finding, place: str, theirs: float | str, result: xmceval.Result, name: str) -> None:
    """Compare one value."""
    value = result[name]
    finding.values += 1
    difference = difference_of(theirs, value)
    tolerance = finding.cell.tolerance * max(1.0, abs(value))
    if isinstance(finding.expected, Bounds) and isinstance(theirs, float):
        low, high = result.tie_bounds(name)
        beyond = max(low - theirs, theirs - high, 0.0)
        if beyond > tolerance:
            finding.wrong.append(f"{place}: theirs {theirs}, our bounds {low}..{high}")
    elif difference > tolerance and not isinstance(finding.expected, Differs):
        finding.wrong.append(f"{place}: theirs {theirs}, ours {value}")
    if math.isfinite(difference):
        finding.largest = max(finding.largest, difference)
    elif isinstance(finding.expected, Differs):
        finding.largest = math.inf


def difference_of(theirs: float | str, ours: float) -> float:
    """Return how far two values are apart; nan equals nan, and an error nothing."""
    if isinstance(theirs, str):
        return 0.0 if theirs == "nan" and math.isnan(ours) else math.inf
    return abs(theirs - ours) if math.isfinite(ours) else math.inf
