"""Whether each cell is what was expected of it: values of ours beside theirs, and the rows of the table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agreement.cell import OTHERS, Bounds, Cell, Differs, Example, Expectation, NotCompared, Under
from agreement.inputs import ANY, Case, by_query
from agreement.peertools import Values, case_of, examples_of

import xmceval
from xmceval.metrics.names import parse
from xmceval.report.metric_list import display_name

VERDICTS = {NotCompared: "not compared", Differs: "different", Bounds: "within tie bounds", Under: ""}


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
            alike = (each for each in self._cells if each.is_of_dicts == cell.is_of_dicts)
            same = (each.ours.removesuffix("@{k}") for each in alike if merged_options(each, case) == options)
            names = list(dict.fromkeys(same))
            truth, scores = map(by_query, (case.truth, case.scores)) if cell.is_of_dicts else (case.truth, case.scores)
            train = {"train": case.train} if any(name.startswith("PS") for name in names) else {}
            cutoffs = range(1, case.most + 1)
            self._results[key] = xmceval.score(truth, scores, metrics=names, k=cutoffs, grades=True, **train, **options)
        return self._results[key]


def merged_options(cell: Cell, case: Case) -> dict[str, Any]:
    """Return the options of a cell and of what is expected on the kinds of a case."""
    expected = [each.options for each in kinds_of(cell, case).values() if isinstance(each, Under)]
    return {name: value for options in (cell.options, *expected) for name, value in options.items()}


def kinds_of(cell: Cell, case: Case) -> dict[str, Expectation]:
    """Return what is expected of a cell on the kinds of a case: first what differs, then what has bounds."""
    found = {kind: expected for kind, expected in cell.but.items() if kind in case.kinds}
    return dict(sorted(found.items(), key=lambda item: list(VERDICTS).index(type(item[1]))))


def check(
    cell: Cell, cases: Sequence[Case], theirs: Sequence[Values], examples: Mapping[str, Values], ours: Ours
) -> list[Finding]:
    """Compare the values of a cell on all cases, and on the examples of where it differs."""
    findings: dict[str, Finding] = {}
    for case, values in zip(cases, theirs, strict=True):
        kind, expected = next(iter(kinds_of(cell, case).items()), (OTHERS, Under({})))
        finding = findings.setdefault(kind, Finding(cell, kind, expected))
        if not isinstance(expected, NotCompared):
            names = dict.fromkeys(cell.ours.format(k=k) for k in range(1, case.most + 1))
            result, several = ours.result(cell, case), values if isinstance(values, list) else [values] * len(names)
            for name, value in zip(names, several, strict=True):
                compare(finding, f"{case.name}: {name}", value, result, name)
    for kind, example in examples_of(cell):
        check_example(findings[kind], example, examples[kind])
    for kind, expected in cell.but.items():
        if kind not in findings and isinstance(expected, Differs):
            findings[kind] = Finding(cell, kind, expected, wrong=["no input is of this kind alone"])
    for finding in findings.values():
        if isinstance(finding.expected, Differs) and finding.largest <= cell.tolerance:
            finding.wrong.append("expected to differ, but is equal")
    return list(findings.values())


def compare(finding: Finding, place: str, theirs: float | str, result: xmceval.Result, name: str) -> None:
    """Compare one value with ours, or with its tie bounds."""
    value, expected = result[name], finding.expected
    low, high = (result.tie_bounds(name) or (math.nan, math.nan)) if isinstance(expected, Bounds) else (value, value)
    tolerance = finding.cell.tolerance * max(1.0, abs(value))
    is_inside = isinstance(theirs, float) and low - tolerance <= theirs <= high + tolerance
    if not is_inside and theirs != str(value) and not isinstance(expected, Differs):
        finding.wrong.append(f"{place}: theirs {theirs}, ours {f'{low}..{high}' if low < high else value}")
    finding.values += 1
    finding.largest = max(finding.largest, difference(theirs, value))


def difference(theirs: float | str, ours: float) -> float:
    """Return how far two values are apart; nan equals nan, and an error no value."""
    if isinstance(theirs, str):
        return 0.0 if theirs == str(ours) else math.inf
    return abs(theirs - ours) if math.isfinite(ours) else math.inf


def check_example(finding: Finding, example: Example, theirs: Values) -> None:
    """Check that ours is what was computed by hand, and that theirs is not."""
    cell = finding.cell
    value = Ours([cell]).result(cell, case_of(example))[cell.ours.format(k=example.k)]
    by_hand = float(eval(example.by_hand, {"log": math.log, "log2": math.log2}))
    other = theirs[example.k - 1] if isinstance(theirs, list) else theirs
    if difference(value, by_hand) > 1e-12:
        finding.wrong.append(f"example: ours {value}, by hand {example.by_hand} = {by_hand}")
    if difference(other, value) <= cell.tolerance:
        finding.wrong.append(f"example: theirs {other} is ours")
    finding.largest = max(finding.largest, difference(other, value))
    shown = f"{other:.6g}" if isinstance(other, float) else other
    inputs = f"truth {example.truth}{', zeros are stored' * example.stores_zeros}, scores {example.scores}"
    cutoff = f", k={example.k}" if "{k}" in cell.ours else ""
    values = f"theirs {shown}, ours {value:.6g}, by hand {example.by_hand}"
    finding.example = f"{inputs.replace('None', '-')}{cutoff}: {values}"


def rows(peer: str, version: str, findings: Sequence[Finding]) -> Iterator[dict[str, str]]:
    """Yield the rows of the table of a cell; what holds for most inputs first."""
    for finding in sorted(findings, key=lambda each: each.kind not in {OTHERS, ANY}):
        cell, expected = finding.cell, finding.expected
        measure = parse(cell.ours.replace("{k}", "1"))[0]
        options = {**cell.options, **(expected.options if isinstance(expected, Under) else {})}
        words = [str(measure).partition("@")[0]] if measure.chosen else []
        words += [f"{name}={value}" for name, value in options.items() if name != "threshold"]
        yield {
            "metric": display_name(measure.metric),
            "peer": peer,
            "version": version,
            "function": cell.function,
            "inputs": "all" if len(findings) == 1 else finding.kind,
            "verdict": VERDICTS[type(expected)] or ("equal with option" if words else "equal"),
            "option": ", ".join(words),
            "values": str(finding.values),
            "largest_difference": f"{finding.largest:.1e}",
            "reason": expected.reason or cell.why,
            "example": finding.example,
        }
