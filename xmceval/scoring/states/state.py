"""State: the totals of some rows and how they were scored, to be added to others, or finished, elsewhere.

A file of a state is an npz without pickles and without compression: the numbers of totals, propensities and filter, and
`header`, the bytes of a JSON object with all that is no array. A file may come from anywhere, so every field is checked
for its kind, and every array for its kind, shape and range, before it is used.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, argument, listed
from xmceval.files.arrays.npy import ArrayStream
from xmceval.files.io.outputs import write_output
from xmceval.files.io.paths import to_path
from xmceval.files.io.streams import read_all_bytes, read_first_bytes
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities, shortest
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.rows.filters import Filter, Largest
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Terms
from xmceval.scoring.mergeable import MOST_LABELS, MOST_ROWS, take
from xmceval.scoring.options import Options, specs
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.tasks.task import RowTask
from xmceval.scoring.totals import Totals, empty
from xmceval.version import STATE_SCHEMA, VERSION

WHAT = "a state"
MOST_SHARDS = 1 << 20
NO_RANGE = (np.inf, 0.0)  # of weights
# Options that must be equal for totals to be added; metrics, propensities and weights are compared as such.
RULES = (
    *("duplicates", "empty_rows", "unscored", "ties", "threshold", "by_frequency", "ceiling", "filter_truth"),
    "dataset",
)
INTEGERS = (np.int8, np.int16, np.int32, np.int64)

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class StatePart:
    """Where some rows of a state come from; what is not known is empty.

    Attributes
    ----------
    name : str
        How messages call it, such as the file of a state.
    n_rows : int
        The rows that were read, also those of weight 0.
    truth, scores : str
        The names of their files, or ``array``.
    system : str
        The name of the system in reports.
    shard : pair of int, optional
        Its number from 1 on, and how many there are.
    """

    name: str = ""
    n_rows: int = 0
    truth: str = "array"
    scores: str = "array"
    system: str = "y_score"
    shard: tuple[int, int] | None = None


def join_parts(*parts: Sequence[StatePart]) -> tuple[StatePart, ...]:
    """Put parts in their order; those without a shard that differ in the number of rows alone become one."""
    shards = [part for several in parts for part in several if part.shard is not None]
    n_rows: dict[StatePart, int] = {}
    for part in (part for several in parts for part in several if part.shard is None):
        key = replace(part, n_rows=0)
        n_rows[key] = n_rows.get(key, 0) + part.n_rows
    joined = [*shards, *(replace(part, n_rows=n) for part, n in n_rows.items())]
    return tuple(sorted(joined, key=lambda part: (part.shard or (0, 0), part.name, part.truth, part.scores)))


def check_shards(parts: Sequence[StatePart]) -> None:
    """Refuse a shard that is there twice, and shards of different numbers of shards."""
    seen: dict[tuple[int, int], StatePart] = {}
    for part in parts:
        if part.shard is None:
            continue
        number, n_shards = part.shard
        if part.shard in seen:
            raise DataError(f"{seen[part.shard].name} and {part.name} are both shard {number} of {n_shards}")
        seen[part.shard] = part
        (first_number, first_n), first = next(iter(seen.items()))
        if first_n != n_shards:
            raise DataError(
                f"{first.name} is shard {first_number} of {first_n}, but {part.name} is shard {number} of {n_shards}"
            )


@dataclass(frozen=True)
class State:
    """The totals of some rows and how they were scored.

    Attributes
    ----------
    name : str
        How messages call it.
    options : Options
        As reports record them.
    program : Program
    terms : Terms
    totals : Totals
    parts : tuple of StatePart
        In their order.
    warnings, notes : tuple of str
        What is known before the totals are finished, each once.
    weight_range : pair of float
        The least and the greatest sample weight above 0; infinity and 0 without any.
    removed : pair of int
        The entries of truth and of scores that were dropped because their label appeared twice in a row.
    max_weight : float, optional
        The largest sample weight that may come.
    version : str
        Of xmceval.
    """

    name: str
    options: Options
    program: Program
    terms: Terms
    totals: Totals
    parts: tuple[StatePart, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weight_range: tuple[float, float] = NO_RANGE
    removed: tuple[int, int] = (0, 0)
    max_weight: float | None = None
    version: str = VERSION

    @property
    def n_rows(self) -> int:
        """The rows that were read, also those of weight 0."""
        return sum(part.n_rows for part in self.parts)

    @cached_property
    def configuration(self) -> dict[str, Any]:
        """What must be equal for totals to be added, by its name in messages."""
        changed, propensities = self.options.changed(), self.terms.propensities
        are_counts = propensities.n is not None
        digest = None if propensities is NO_PROPENSITIES else propensities.digest
        return {
            "version of xmceval": self.version,
            "metrics": listed(self.program.measures),
            **{name: changed.get(name) for name in RULES},
            "N": propensities.n,
            "A": propensities.a,
            "B": propensities.b,
            "training counts": digest if are_counts else None,
            "inverse propensities": None if are_counts else digest,
            "scale of sample weights": None if self.terms.weights is None else self.terms.weight_unit,
            "number of labels": self.terms.width.or_none,
        }

    def emptied(self) -> State:
        """Return the state of no rows of the same configuration."""
        return replace(
            self,
            totals=empty(self.program, self.terms),
            parts=(),
            weight_range=NO_RANGE,
            removed=(0, 0),
            version=VERSION,
        )

    def merge(self, other: State) -> State:
        """Return the state of the rows of both; associative, and commutative."""
        self.check_compatible(other)
        width = self.terms.width if self.terms.width.is_known else other.terms.width
        (least, greatest), (other_least, other_greatest) = self.weight_range, other.weight_range
        return replace(
            self,
            terms=replace(self.terms, width=width, bins=self.terms.bins or other.terms.bins),
            totals=self.totals.merge(other.totals),
            parts=join_parts(self.parts, other.parts),
            warnings=_each_once(self.warnings, other.warnings),
            notes=_each_once(self.notes, other.notes),
            weight_range=(min(least, other_least), max(greatest, other_greatest)),
            removed=(self.removed[0] + other.removed[0], self.removed[1] + other.removed[1]),
        )

    def check_compatible(self, other: State) -> None:
        """Refuse a state whose totals cannot be added to these, and name what differs."""
        theirs = other.configuration
        for name, value in self.configuration.items():
            if value != theirs[name] and not (name == "number of labels" and None in {value, theirs[name]}):
                values = " and ".join("none" if each is None else str(each) for each in (value, theirs[name]))
                raise DataError(
                    f"{self.name} and {other.name} differ in {name}: {values}; only totals that were made alike can be "
                    "added"
                )
        for one, two in ((self, other), (other, self)):
            if one.terms.width.is_known and two.totals.tally.largest_label >= one.terms.width.n_labels:
                raise DataError(
                    f"{two.name} has label {two.totals.tally.largest_label}, but {one.name} only "
                    f"{one.terms.width.n_labels:,} labels"
                )
            if one.terms.filter is not None:
                raise DataError(
                    f"{one.name} has a filter, whose pairs refer to rows by their number in the whole: such totals "
                    "cannot be added (hint: score all rows together)"
                )
        check_shards([replace(part, name=part.name or state.name) for state in (self, other) for part in state.parts])

    def to_bytes(self) -> bytes:
        """Return the state as the bytes of a file; the same state gives the same bytes."""
        self.program.check_mergeable(WHAT)
        terms, propensities, pairs = self.terms, self.terms.propensities, self.terms.filter
        arrays = self.totals.arrays()
        header: dict[str, Any] = {
            "schema": STATE_SCHEMA,
            "version": self.version,
            "metrics": [str(measure) for measure in self.program.measures],
            "options": self.options.changed(),
            "n_labels": terms.width.or_none,
            "declared_by": terms.width.declared_by,
            "propensities": None,
            "filter": None,
            "weight_unit": None if terms.weights is None else float(terms.weight_unit),
            "weight_range": None if self.weight_range == NO_RANGE else list(self.weight_range),
            "max_weight": None if self.max_weight is None else float(self.max_weight),
            "removed": list(self.removed),
            "parts": [asdict(part) for part in self.parts],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }
        if propensities is not NO_PROPENSITIES:
            header["propensities"] = {name: getattr(propensities, name) for name in PROPENSITIES}
            arrays |= {f"propensities.{name}": getattr(propensities, name) for name in ("inverse", "codes", "ids")}
            if propensities.table_counts is not None:
                arrays["propensities.table_counts"] = propensities.table_counts
        if pairs is not None:
            last = {"last_row": asdict(pairs.last_row), "last_label": asdict(pairs.last_label)}
            header["filter"] = {"name": pairs.name, "repeated": pairs.repeated, **last}
            arrays |= {"filter.rows": pairs.rows, "filter.labels": pairs.labels}
        file = io.BytesIO()
        numbers: dict[str, Any] = {name: _narrow(array) for name, array in arrays.items()}
        np.savez(file, header=np.frombuffer(json.dumps(header, allow_nan=False).encode(), dtype=np.uint8), **numbers)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> State:
        """Return the state that the bytes of a file hold; `name` is that of messages."""
        arrays = _unpack(content, name)
        try:
            state = _restore(_read_header(arrays.pop("header")), arrays, name)
            if arrays:
                raise ValueError(f"there is no array {min(arrays)}")
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise DataError(f"{name}: the state is not one of xmceval: {error}") from None
        return state

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the state to a file, which appears under its name when it is complete."""
        write_output(path, self.to_bytes(), force=force)

    @classmethod
    def load(cls, path: str | Path) -> State:
        """Read the state in a file."""
        return cls.from_bytes(read_all_bytes(to_path(path)), str(path))


def is_state(path: Path) -> bool:
    """Return whether a file is a state, sound or not: an archive whose first member is the header of one."""
    try:
        return _begins_as_state(read_first_bytes(path, 64))
    except DataError:  # a pair of npy files by their stem, or an error that opening reports
        return False


def _begins_as_state(content: bytes) -> bool:
    return content.startswith(b"PK\x03\x04") and content[30:40] == b"header.npy"


def recorded_options(changed: Mapping[str, Any]) -> Options:
    """Return the options that were recorded so: with the names of files and arrays in their place."""
    numbers = {"threshold": float(changed["threshold"])} if "threshold" in changed else {}
    return Options(**{**changed, **numbers})


def _each_once(*texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the texts of two states, each once, in an order that does not depend on which comes first."""
    return texts[0] if len(set(texts)) == 1 else tuple(sorted({text for several in texts for text in several}))


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return integers in the narrowest type that holds them, and other numbers as they are."""
    if array.dtype.kind in "iu":
        least, greatest = int(array.min(initial=0)), int(array.max(initial=0))
        dtype = next(kind for kind in INTEGERS if np.iinfo(kind).min <= least and greatest <= np.iinfo(kind).max)
        array = array.astype(dtype)
    return np.ascontiguousarray(array)


def _unpack(content: bytes, name: str) -> Arrays:
    """Return the arrays of a state by name: integers as int64, others as float64."""
    if not _begins_as_state(content):
        if content.startswith(b'{"schema": "xmceval/state/'):
            raise DataError(f"{name}: written by an older xmceval: score again")
        hint = f"(hint: score with {argument('save_state', kind='FILE')} writes one)"
        raise DataError(f"{name}: not a state of xmceval {hint}")
    arrays: Arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            is_plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
            if not is_plain or sum(member.file_size for member in members) > len(content):
                raise ValueError("its arrays are compressed")  # nobody knows how much memory they ask for
            for member in members:
                key = member.filename.removesuffix(".npy")
                with ArrayStream(io.BytesIO(archive.read(member)), key) as stream:
                    shape, is_fortran, dtype = stream.header
                    if dtype.kind not in "iuf" or is_fortran:
                        raise ValueError(f"{key} has no numbers")
                    items = stream.read_rest().reshape(shape)
                    stream.check_end()
                arrays[key] = items.astype(np.float64 if dtype.kind == "f" else np.int64, copy=False)
    except Exception as error:  # zipfile and numpy raise nearly anything over damaged bytes
        reason = error or type(error).__name__
        raise DataError(f"{name}: the state is damaged or cut short: {reason} (hint: save it again)") from None
    return arrays


def _read_header(text: NDArray[Any]) -> dict[str, Any]:
    """Return the header from its bytes, int64 [n_bytes], with every field checked for its kind."""

    def refuse_constant(constant: str) -> Any:
        raise ValueError(f"{constant} is no number of JSON")

    header = json.loads(text.astype(np.uint8).tobytes(), parse_constant=refuse_constant)
    if not isinstance(header, dict) or not str(header.get("schema")).startswith("xmceval/state/"):
        raise ValueError("its header is not that of a state")
    if header["schema"] != STATE_SCHEMA:
        raise ValueError(f"it has the schema {header['schema']}; expected {STATE_SCHEMA}")
    missing, unknown = sorted(HEADER.keys() - header.keys()), sorted(header.keys() - HEADER.keys())
    if missing or unknown:
        raise ValueError(f"{(missing or unknown)[0]}: {'is missing' if missing else 'is no field'}")
    for name, kind in HEADER.items():
        if not _fits(header[name], kind):
            raise ValueError(f"{name}: cannot be {str(header[name])[:40]!r}")
    return header


def _fits(value: Any, kind: Any) -> bool:
    """Return whether a value of JSON is of a kind: a type, range or null, one of several, a list, or an object."""
    if isinstance(kind, tuple):
        return any(_fits(value, one) for one in kind)
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(item, kind[0]) for item in value)
    if isinstance(kind, dict):
        is_object = isinstance(value, dict) and value.keys() == kind.keys()
        return is_object and all(_fits(value[name], field) for name, field in kind.items())
    if isinstance(kind, range):
        return type(value) is int and value in kind
    return value is None if kind is None else type(value) is kind


_COUNT, _NUMBER = range(MOST_ROWS + 1), (int, float)
_LAST = {"value": range(-1, MOST_LABELS), "place": str}
PROPENSITIES = {
    "source": str,
    "a": (*_NUMBER, None),
    "b": (*_NUMBER, None),
    "n": (range(3, MOST_ROWS), None),
    "from_truth": bool,
}
_PART = {
    "name": str,
    "n_rows": _COUNT,
    "truth": str,
    "scores": str,
    "system": str,
    "shard": ([range(1, MOST_SHARDS + 1)], None),
}
HEADER: dict[str, Any] = {
    "schema": str,
    "version": str,
    "metrics": [str],
    "options": dict,
    "n_labels": (range(MOST_LABELS), None),
    "declared_by": str,
    "propensities": (PROPENSITIES, None),
    "filter": ({"name": str, "repeated": _COUNT, "last_row": _LAST, "last_label": _LAST}, None),
    "weight_unit": (float, None),
    "weight_range": ([float], None),
    "max_weight": (float, None),
    "removed": [_COUNT],
    "parts": [_PART],
    "warnings": [str],
    "notes": [str],
}


def _restore(header: Mapping[str, Any], arrays: Arrays, name: str) -> State:
    """Return the state that a checked header describes; its arrays are removed from those of the file."""
    options = _restore_options(header["options"])
    measures = [_measure(text) for text in header["metrics"]]
    strange = set(measures) - set(options.measures)
    if strange or len(set(measures)) < len(measures):
        raise ValueError(f"metrics: {listed(strange or measures)} are not those of the options")
    program = compile_program(measures)
    program.check_mergeable(WHAT)
    n_labels, unit, max_weight = header["n_labels"], header["weight_unit"], header["max_weight"]
    weight_range = NO_RANGE if header["weight_range"] is None else tuple(header["weight_range"])
    if len(weight_range) != 2 or not (0 < weight_range[0] <= weight_range[1] < np.inf or weight_range == NO_RANGE):
        raise ValueError(f"weight_range: cannot be {weight_range}")
    if any(number is not None and not 0 < number < np.inf for number in (unit, max_weight)):
        raise ValueError("weight_unit and max_weight: expected numbers above 0")
    if unit is not None and math.frexp(unit)[0] != 0.5:
        raise ValueError("weight_unit: expected a power of two")
    terms = replace(
        Terms.of(options),
        propensities=_take_propensities(header["propensities"], arrays),
        weights=None if unit is None else NO_WEIGHTS,
        weight_unit=unit or 1.0,
        filter=_take_filter(header["filter"], arrays),
    )
    if n_labels is not None:
        terms = terms.with_width(Width(n_labels, header["declared_by"]), options.by_frequency)
    if sum(program.numbers_per_row(terms)) > sum(array.size for array in arrays.values()):
        raise ValueError("there are too few numbers for its metrics and bins")  # before room is made for them
    totals = empty(program, terms)
    totals.fill(arrays)
    first, second = header["removed"]
    state = State(
        name,
        options,
        program,
        terms,
        totals,
        tuple(_restore_part(part) for part in header["parts"]),
        tuple(header["warnings"]),
        tuple(header["notes"]),
        weight_range,
        (first, second),
        max_weight,
        header["version"],
    )
    _check_sizes(state)
    return state


def _restore_options(changed: Mapping[str, Any]) -> Options:
    """Return recorded options; their metrics and cutoffs are listed one by one, as a range could be of any length."""
    kinds: dict[type, Any] = {bool: bool, int: range(MOST_LABELS), float: _NUMBER, list: [str]}
    own: dict[str, Any] = {
        "k": [range(MOST_ROWS)],
        "by_frequency": (range(MOST_ROWS), str, [(range(MOST_ROWS), str)]),
        "threshold": (*_NUMBER, str),  # inf is no number of JSON
    }
    for name, value in changed.items():
        spec = specs().get(name)
        if spec is None or spec.shown == "nowhere" or not _fits(value, own.get(name) or kinds.get(spec.kind, str)):
            raise ValueError(f"options: {name} cannot be {str(value)[:40]!r}")
    for text in changed.get("metrics", ()):
        _measure(text)
    return recorded_options(changed)


def _measure(text: str) -> Measure:
    """Return the only measure of a name as reports have it: with its cutoff, but no range of them."""
    tail = text.rpartition("@")[2] if "@" in text else ""
    measures = parse([text], []) if tail.replace(".", "", 1).isalnum() or not tail else []
    if len(measures) != 1 or str(measures[0]) != text:
        raise ValueError(f"metrics: {text[:40]!r} is not the name of one metric, with its cutoff")
    return measures[0]


def _restore_part(described: Mapping[str, Any]) -> StatePart:
    """Return a part, whose shard is a number of so many."""
    shard = described["shard"] and tuple(described["shard"])
    if shard is not None and (len(shard) != 2 or shard[0] > shard[1]):
        raise ValueError(f"parts: cannot be shard {shard}")
    return StatePart(**{**described, "shard": shard})


def _take_propensities(described: Mapping[str, Any] | None, arrays: Arrays) -> Propensities:
    """Return propensities, whose tables must fit together."""
    if described is None:
        return NO_PROPENSITIES
    if len({described[name] is None for name in "abn"}) > 1:
        raise ValueError("propensities: expected all of a, b and n, or none")
    inverse = take(arrays, "propensities.inverse", "f", (-1,), 1.0, np.finfo(float).max)
    codes = take(arrays, "propensities.codes", "i", (-1,), 0, inverse.size - 1)
    ids = take(arrays, "propensities.ids", "i", (-1,), 0, MOST_LABELS)
    counts = None
    if "propensities.table_counts" in arrays:
        counts = take(arrays, "propensities.table_counts", "i", inverse.shape, 0, MOST_ROWS)
    is_right = inverse.size and (inverse[1:] <= inverse[:-1]).all() and (counts is None or (np.diff(counts) > 0).all())
    if not is_right or ids.size not in {0, codes.size} or (np.diff(ids) <= 0).any():
        raise ValueError("propensities: their tables do not fit together")
    return Propensities(inverse, shortest(codes, inverse.size), ids=ids, table_counts=counts, **described)


def _take_filter(described: Mapping[str, Any] | None, arrays: Arrays) -> Filter | None:
    """Return a filter, whose pairs must ascend."""
    if described is None:
        return None
    last_row, last_label = Largest(**described["last_row"]), Largest(**described["last_label"])
    rows = take(arrays, "filter.rows", "i", (-1,), 0, last_row.value)
    labels = take(arrays, "filter.labels", "i", rows.shape, 0, last_label.value)
    if not ((np.diff(rows) > 0) | ((np.diff(rows) == 0) & (np.diff(labels) > 0))).all():
        raise ValueError("filter: its pairs do not ascend")
    return Filter(described["name"], rows, labels, described["repeated"], last_row, last_label)


def _check_sizes(state: State) -> None:
    """Refuse numbers of rows and labels that contradict each other."""
    check_shards(state.parts)
    tally, terms, n_rows = state.totals.tally, state.terms, state.n_rows
    n_counted = tally.n_instances(drop_empty=terms.drop_empty)
    if not n_counted <= n_rows <= MOST_ROWS or (terms.weights is None and n_counted < n_rows):
        raise ValueError(f"parts: {n_rows:,} rows, of which {n_counted:,} are counted")
    pairs = zip(state.program.tasks, state.totals.parts, strict=True)
    left_out = [int(part.left_out.max(initial=0)) for task, part in pairs if isinstance(task, RowTask)]
    if max(left_out, default=0) > tally.n_rows:
        raise ValueError(f"there are not so many rows as are left out, of {n_rows:,}")
    terms.width.check_cutoff(state.program.deepest)
    if tally.largest_label >= terms.width.n_labels:
        raise ValueError(f"n_labels: {terms.width.n_labels:,}, but there is label {tally.largest_label}")
    if not terms.width.is_known and n_rows and (state.program.needing_labels or state.options.by_frequency is not None):
        raise ValueError("n_labels: its metrics or bins need the number of labels")
