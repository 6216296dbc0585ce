"""State fields: every field of a state's document, with its type and range, in one table.

A kind takes a value as JSON has it and returns it as Python has it, or raises ValueError with what was expected.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.scoring.limbs import MOST_STATES
from xmceval.scoring.options import specs
from xmceval.scoring.program import MAX_CUTOFF
from xmceval.scoring.states.stored import MOST_LABELS, MOST_ROWS
from xmceval.version import VERSION

Kind = Callable[[Any], Any]

MOST_SHARDS = MOST_STATES

_RELEASE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6}){0,4})(?:[a-z.+][0-9a-z.+]{0,40})?")


def whole(low: int, high: int) -> Kind:
    """Return the kind of a whole number."""

    def read(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"a whole number from {low:,} to {high:,}")
        return value

    return read


def real(low: float = -math.inf, high: float = math.inf, *, is_hex: bool = False) -> Kind:
    """Return the kind of a number, or of one as hexadecimal text, which keeps every bit of it."""

    def read(value: Any) -> float:
        try:
            is_number = isinstance(value, str) if is_hex else type(value) in {int, float}
            number = (float.fromhex(value) if is_hex else float(value)) if is_number else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not low <= number <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return number

    return read


def text(value: Any) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def flag(value: Any) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def matching(pattern: str, what: str) -> Kind:
    """Return the kind of a text of some form."""
    form = re.compile(pattern)

    def read(value: Any) -> str:
        if not isinstance(value, str) or not form.fullmatch(value):
            raise ValueError(what)
        return value

    return read


def maybe(kind: Kind) -> Kind:
    """Return the kind of a value that may be null."""
    return lambda value: None if value is None else kind(value)


def either(*kinds: Kind) -> Kind:
    """Return the kind of what one of several kinds takes."""

    def read(value: Any) -> Any:
        expected = []
        for kind in kinds:
            try:
                return kind(value)
            except ValueError as error:
                expected.append(str(error))
        raise ValueError(" or ".join(expected))

    return read


def many(kind: Kind, n: int | None = None) -> Kind:
    """Return the kind of a list, of `n` values where that is passed."""

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or n not in {None, len(value)}:
            raise ValueError("a list" if n is None else f"a list of {n}")
        return tuple(_at(f"[{place}]", kind, each) for place, each in enumerate(value))

    return read


def record(**fields: Kind) -> Kind:
    """Return the kind of an object that has just these fields."""

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or set(value) != set(fields):
            raise ValueError(f"an object of {listed(fields)}")
        return {name: _at(f".{name}", kind, value[name]) for name, kind in fields.items()}

    return read


class _WrongPlaceError(ValueError):
    """A value that is wrong, with its place and what was expected."""


def _at(place: str, kind: Kind, value: Any) -> Any:
    """Return a value of a kind; the message of what is wrong begins with its place."""
    try:
        return kind(value)
    except _WrongPlaceError as error:
        raise _WrongPlaceError(f"{place}{error}") from None
    except ValueError as error:
        shown = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
        raise _WrongPlaceError(f"{place}: expected {error}, got {shown[:40]}") from None


def release(value: Any) -> str:
    """Return a version of xmceval that is not newer than this one."""
    match = _RELEASE.fullmatch(text(value))
    if match is None or _numbers(match[1]) > _numbers(VERSION):
        raise ValueError(f"a version of xmceval up to {VERSION}")
    return match[0]


def _numbers(version: str) -> list[int]:
    """Return the numbers at the start of a version, without zeros at their end."""
    match = _RELEASE.match(version)
    numbers = [int(each) for each in match[1].split(".")] if match else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def measure(value: Any) -> Measure:
    """Return the only measure of a name as reports have it: with its cutoff, but no range of them."""
    name = text(value)
    tail = name.rpartition("@")[2] if "@" in name else ""
    found = parse([name], []) if tail.replace(".", "", 1).isalnum() or not tail else []
    if len(found) != 1 or str(found[0]) != name:
        raise ValueError("the name of one metric, with its cutoff")
    return found[0]


def shard(value: Any) -> tuple[int, int]:
    """Return the number of a shard and how many there are."""
    number, n_shards = many(whole(1, MOST_SHARDS), 2)(value)
    if number > n_shards:
        raise ValueError("a number of a shard of so many")
    return number, n_shards


def _power_of_two(value: Any) -> float:
    number: float = _WEIGHT(value)
    if math.frexp(number)[0] != 0.5:
        raise ValueError("a power of two")
    return number


def _weight_range(value: Any) -> tuple[float, float]:
    least, greatest = many(real(0.0, is_hex=True), 2)(value)
    if not (0 < least <= greatest < math.inf) and (least, greatest) != (math.inf, 0.0):
        raise ValueError("the least and the greatest weight")
    return least, greatest


def _options(value: Any) -> dict[str, Any]:
    """Return the options that are not the default, as reports record them."""
    if not isinstance(value, Mapping):
        raise ValueError("an object")
    kinds = {name: _KINDS_OF_OPTIONS.get(name) or _kind_of(spec) for name, spec in specs().items()}
    unknown = set(value) - {name for name, spec in specs().items() if spec.shown != "nowhere"}
    if unknown:
        raise ValueError(f"no option {sorted(unknown)[0]!r}")
    return {name: _at(f".{name}", kinds[name], each) for name, each in value.items()}


def _kind_of(spec: Any) -> Kind:
    """Return the kind of an option as it is recorded."""
    if spec.kind is int:
        return whole(spec.low, MOST_LABELS if spec.high is None else spec.high)
    return {bool: flag, float: either(real(), real(is_hex=True))}.get(spec.kind, text)


_COUNT = whole(0, MOST_ROWS)
_LABEL = whole(-1, MOST_LABELS)
_WEIGHT = real(5e-324, 1.7976931348623157e308, is_hex=True)
_DIGEST = matching("[0-9a-f]{32}", "32 hexadecimal digits")
_KINDS_OF_OPTIONS: dict[str, Kind] = {
    "k": many(whole(1, MAX_CUTOFF)),
    "metrics": many(lambda value: str(measure(value))),
    "by_frequency": either(whole(1, MOST_ROWS), text, many(either(whole(1, MOST_ROWS), text))),
}

PROPENSITIES = {
    "digest": _DIGEST,
    "source": text,
    "a": maybe(real(0.0)),
    "b": maybe(real(5e-324)),
    "n": maybe(whole(3, MOST_ROWS)),
    "from_truth": flag,
}
BIN = {"name": text, "low": _COUNT, "high": _COUNT, "n_labels": whole(0, MOST_LABELS), "mass": real(0.0, 1.0)}
LAST = record(value=_LABEL, place=text)
FILTER = {"name": text, "repeated": _COUNT, "last_row": LAST, "last_label": LAST}
PART = {
    "name": text,
    "n_rows": _COUNT,
    "truth": text,
    "scores": text,
    "system": text,
    "shard": maybe(shard),
}

# All are required, and there are no others.
FIELDS: dict[str, Kind] = {
    "version": release,
    "name": text,
    "metrics": many(measure),
    "options": _options,
    "n_labels": maybe(whole(0, MOST_LABELS)),
    "declared_by": text,
    "propensities": maybe(record(**PROPENSITIES)),
    "bins": maybe(many(record(**BIN))),
    "filter": maybe(record(**FILTER)),
    "threshold": real(is_hex=True),
    "weight_unit": maybe(_power_of_two),
    "weight_range": _weight_range,
    "max_weight": maybe(_WEIGHT),
    "removed": many(_COUNT, 2),
    "parts": many(record(**PART)),
    "warnings": many(text),
    "notes": many(text),
    "is_whole": flag,
}


def read_fields(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a document as Python has them."""
    missing, unknown = sorted(set(FIELDS) - set(document)), sorted(set(document) - set(FIELDS))
    if missing or unknown:
        raise ValueError(f"{(missing or unknown)[0]}: {'is missing' if missing else 'is no field'}")
    return {name: _at(name, kind, document[name]) for name, kind in FIELDS.items()}
