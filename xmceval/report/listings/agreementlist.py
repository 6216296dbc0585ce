"""Which functions of other tools have the values of a metric, as ``scripts/agreement`` found when it last ran."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from xmceval.errors import listed
from xmceval.labels.catalogue import read_table

MOST_VARIANTS = 1  # of a function with other arguments, that are shown one by one
AGREES = ("equal", "equal with option")


class Agreement(NamedTuple):
    """A function of another tool beside a metric, on one kind of input: a line of the recorded table."""

    metric: str
    peer: str
    version: str
    function: str
    inputs: str
    verdict: str
    option: str
    reason: str


@cache
def recorded() -> dict[tuple[str, str, str], tuple[Agreement, ...]]:
    """Return the lines of each function of each peer and metric: the one of most inputs first, exceptions after it."""
    functions: dict[tuple[str, str, str], tuple[Agreement, ...]] = {}
    for row in read_table("agreement.tsv"):
        line = Agreement(*(row[field] for field in Agreement._fields))
        key = (line.peer, line.metric, line.function)
        functions[key] = (*functions.get(key, ()), line)
    return functions


def describe_agreement(metric: str) -> Iterator[tuple[str, str]]:
    """Yield which functions of which peers agree with a metric, and which differ, each with its term."""
    functions = [lines for (_, name, _), lines in recorded().items() if name == metric]
    for term, is_agreeing in (("agrees with", True), ("differs from", False)):
        peers: dict[str, list[tuple[Agreement, ...]]] = {}
        for lines in functions:
            if agrees(lines) == is_agreeing:
                peers.setdefault(f"{lines[0].peer} {lines[0].version}", []).append(lines)
        for peer, of_peer in peers.items():
            yield term, f"{peer}: {'; '.join(_describe(of_peer))}"


def agrees(lines: tuple[Agreement, ...]) -> bool:
    """Tell whether a function has our values on most inputs."""
    return lines[0].verdict in AGREES


def exceptions(lines: tuple[Agreement, ...]) -> list[Agreement]:
    """Return the lines of the inputs where a function that agrees otherwise does not."""
    return [line for line in lines[1:] if line.verdict not in AGREES]


def _describe(functions: list[tuple[Agreement, ...]]) -> Iterator[str]:
    """Describe functions: their names, the options that they take here, and where they differ."""
    names: dict[str, list[tuple[Agreement, ...]]] = {}
    for lines in functions:
        names.setdefault(lines[0].function.partition("(")[0], []).append(lines)
    for name, variants in names.items():
        if len(variants) > MOST_VARIANTS:
            inputs = dict.fromkeys(line.inputs for lines in variants for line in exceptions(lines))
            yield f"{name} in {len(variants)} variants" + (f", except on {listed(inputs)}" if inputs else "")
        else:
            yield from map(_describe_one, variants)


def _describe_one(lines: tuple[Agreement, ...]) -> str:
    first, inputs = lines[0], [line.inputs for line in exceptions(lines)]
    name = first.function.partition("(")[0]
    text = f"{name} with {first.option}" if first.option else name
    if not agrees(lines):
        return f"{text}, which {first.reason}"
    return f"{text}, except on {listed(inputs)}" if inputs else text
