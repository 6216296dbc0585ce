"""Whether each cell is what was expected of it: values of ours beside theirs, and the rows of the table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agreement.cell import OTHERS, Bounds, Cell, Differs, Example, Expectation, NotCompared, Under
from agreement.inputs import ANY, Case, by_query
from agreement.peertools import Values, case_of, examples_of

import xmceval
from xmceval.metrics.names import parse
from xmceval.report.listings.metriclist import display_name

Row = dict[str, str]
VERDICTS = {Differs: "different", Bounds: "within tie bounds", NotCompared: "not compared", Under: ""}


@dataclass
class Finding:
    """What was found of a cell on inputs of a kind, and what of it was not expected."""

    cell: Cell
    kind: str
    expected: Expectation
    values: int = 0
    largest: float = 0.0
    example: str = ""
    wrong: list[str] = field(default_factory=list)


class Ours:
    """Values of ours: all measures that are needed of a case with the same options are computed at once."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = cells
        self._results: dict[tuple[Any, ...], xmceval.Result] = {}

    def result(self, cell: Cell, case: Case) -> xmceval.Result:
        """Return the result of a case with the options of a cell and of the kinds of the case."""
        options = merged_options(cell, case)
        key = (id(case), cell.is_of_dicts, *sorted(options.items()))
        if key not in self._results:
            alike = [each for each in self._cells if each.is_of_dicts == cell.is_of_dicts]
            own = {each.ours: None for each in alike if merged_options(each, case) == options}
            self._results[key] = _score(list(own), cell.is_of_dicts, case, options)
        return self._results[key]


def _score(own: Sequence[str], is_of_dicts: bool, case: Case, options: Mapping[str, Any]) -> xmceval.Result:
    data = (by_query(case.truth), by_query(case.scores)) if is_of_dicts else (case.truth, case.scores)
    needs = {"train": case.train} if any(name.startswith("PS") for name in own) else {}
    names = [name.removesuffix("@{k}") for name in own]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)
        return xmceval.score(*data, metrics=names, k=range(1, case.most + 1), **needs, **options)


def merged_options(cell: Cell, case: Case) -> dict[str, Any]:
    """Return the options of a cell and of what is expected on the kinds of a case."""
    own = [expected.options for expected in kinds_of(cell, case).values() if isinstance(expected, Under)]
    return {name: value for options in (cell.options, *own) for name, value in options.items()}


def kinds_of(cell: Cell, case: Case) -> dict[str, Expectation]:
    """Return what is expected of a cell on the kinds of a case: first what differs, then what has bounds."""
    order = (NotCompared, Differs, Bounds, Under)
    found = {kind: expected for kind, expected in cell.but.items() if kind in case.kinds}
    return dict(sorted(found.items(), key=lambda item: order.index(type(item[1]))))


def check(
    cell: Cell, cases: Sequence[Case], theirs: Sequence[Values], examples: Mapping[str, Values], ours: Ours
) -> list[Finding]:
    """Compare the values of a cell on all cases, and on the examples of where it differs."""
    findings: dict[str, Finding] = {}
    for case, values in zip(cases, theirs, strict=True):
        kind, expected = next(iter(kinds_of(cell, case).items()), (OTHERS, Under({})))
        finding = findings.setdefault(kind, Finding(cell, kind, expected))
        if isinstance(expected, NotCompared):
            continue
        result = ours.result(cell, case)
        names = _names(cell, case)
        for name, value in zip(names, values if isinstance(values, list) else [values] * len(names), strict=True):
            _compare(finding, f"{case.name}: {name}", value, result, name)
    for kind, example in examples_of(cell):
        _check_example(findings[kind], example, examples[kind])
    for kind in cell.but:
        if kind not in findings and isinstance(cell.but[kind], Differs):
            findings[kind] = Finding(cell, kind, cell.but[kind], wrong=["no input is of this kind alone"])
    for finding in findings.values():
        if isinstance(finding.expected, Differs) and finding.largest <= cell.tolerance:
            finding.wrong.append("expected to differ, but is equal")
    return list(findings.values())


def _names(cell: Cell, case: Case) -> list[str]:
    return [cell.ours.format(k=k) for k in range(1, case.most + 1)] if "{k}" in cell.ours else [cell.ours]


def _compare(finding: Finding, place: str, theirs: float | str, result: xmceval.Result, name: str) -> None:
    value, expected = result[name], finding.expected
    low, high = (result.tie_bounds(name) or (math.nan, math.nan)) if isinstance(expected, Bounds) else (value, value)
    tolerance = finding.cell.tolerance * max(1.0, abs(value))
    is_inside = isinstance(theirs, float) and low - tolerance <= theirs <= high + tolerance
    if not is_inside and theirs != str(value) and not isinstance(expected, Differs):
        finding.wrong.append(f"{place}: theirs {theirs}, ours {f'{low}..{high}' if low < high else value}")
    finding.values += 1
    finding.largest = max(finding.largest, _difference(theirs, value))


def _difference(theirs: float | str, ours: float) -> float:
    """Return how far two values are apart; nan equals nan, and an error no value."""
    if isinstance(theirs, str):
        return 0.0 if theirs == str(ours) else math.inf
    return abs(theirs - ours) if math.isfinite(ours) else math.inf


def _check_example(finding: Finding, example: Example, theirs: Values) -> None:
    """Check that ours is what was computed by hand, and that theirs is not."""
    cell, case = finding.cell, case_of(example)
    value = Ours([cell]).result(cell, case)[cell.ours.format(k=example.k)]
    by_hand = float(eval(example.by_hand, {"log": math.log, "log2": math.log2}))
    other = theirs[example.k - 1] if isinstance(theirs, list) else theirs
    if _difference(value, by_hand) > 1e-12:
        finding.wrong.append(f"example: ours {value}, by hand {example.by_hand} = {by_hand}")
    if _difference(other, value) <= cell.tolerance:
        finding.wrong.append(f"example: theirs {other} is ours")
    finding.largest = max(finding.largest, _difference(other, value))
    shown = f"{other:.6g}" if isinstance(other, float) else other
    cutoff = f", k={example.k}" if "{k}" in cell.ours else ""
    zeros = ", zeros are stored" if example.stores_zeros else ""
    finding.example = (
        f"truth {example.truth}{zeros}, scores {str(example.scores).replace('None', '-')}{cutoff}: "
        f"theirs {shown}, ours {value:.6g}, by hand {example.by_hand}"
    )


def rows(peer: str, version: str, findings: Sequence[Finding]) -> Iterator[Row]:
    """Yield the rows of the table of a cell; what holds for most inputs first."""
    for finding in sorted(findings, key=lambda each: each.kind not in {OTHERS, ANY}):
        cell, expected = finding.cell, finding.expected
        measure = parse(cell.ours.replace("{k}", "1"))[0]
        options = {**cell.options, **(expected.options if isinstance(expected, Under) else {})}
        words = [str(measure).partition("@")[0]] if measure.chosen else []
        words += [f"{name}={value}" for name, value in options.items() if name != "threshold"]
        equal = "equal with option" if words else "equal"
        yield {
            "metric": display_name(measure.metric),
            "peer": peer,
            "version": version,
            "function": cell.function,
            "inputs": "all" if len(findings) == 1 else finding.kind,
            "verdict": VERDICTS[type(expected)] or equal,
            "option": ", ".join(words),
            "values": str(finding.values),
            "largest_difference": f"{finding.largest:.1e}",
            "reason": getattr(expected, "reason", "") or cell.why,
            "example": finding.example,
        }
