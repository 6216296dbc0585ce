"""Writing values of labels: one line per label and system, or one array per column; computed piece by piece."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from xmceval.files.writing.sinks import write_member
from xmceval.files.writing.targets import check_new_file
from xmceval.rows.progress import phase
from xmceval.version import LABELS_SCHEMA

AT_ONCE = 1 << 14  # labels

Array = NDArray[Any]


@dataclass(frozen=True)
class LabelPair:
    """A pair of systems, by name and by the numbers of their runs."""

    system: str
    baseline: str
    own: tuple[int, ...]
    other: tuple[int, ...]


@dataclass(frozen=True)
class LabelTable:
    """What is known of labels and what systems made of them; columns are computed for some labels at a time.

    Attributes
    ----------
    labels : int64 array
        Ascending.
    systems : tuple of str
        Or their runs, where they have several.
    values : mapping of str to callable
        By name: takes labels, and returns numbers [n_labels, n_systems]; NaN where there is none.
    n_train, inverse_propensity, bin : callable, optional
        Take labels, and return training rows, 1/p, and the place in `bins`.
    name : callable, optional
        Takes labels, and returns their names or None.
    bins : tuple of str
        Names of the bins.
    pairs : tuple of LabelPair
        Pairs of systems whose differences are lines of their own.
    meta : mapping of str to object
        What a reader needs to know beside the columns.
    """

    labels: NDArray[np.int64]
    systems: tuple[str, ...]
    values: Mapping[str, Callable[[Array], Array]]
    n_train: Callable[[Array], Array] | None = None
    inverse_propensity: Callable[[Array], Array] | None = None
    bin: Callable[[Array], Array] | None = None
    name: Callable[[Array], Sequence[str | None]] | None = None
    bins: tuple[str, ...] = ()
    pairs: tuple[LabelPair, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pieces(self) -> Iterator[NDArray[np.int64]]:
        """The labels, AT_ONCE at a time: int64 arrays [at most AT_ONCE]."""
        return (self.labels[start : start + AT_ONCE] for start in range(0, self.labels.size, AT_ONCE))

    @property
    def described(self) -> dict[str, Any]:
        """The systems, the columns and what else a reader needs to know, for JSON."""
        return {
            "schema": LABELS_SCHEMA,
            "systems": self.systems,
            "columns": list(self.values),
            "bins": self.bins,
            **self.meta,
        }


def check_label_file(path: str | Path) -> Path:
    """Check the name of a file for values of labels: .npz, .csv or .jsonl.

    Raises
    ------
    UsageError
        Another ending, or a file that exists.
    """
    return check_new_file(path, WRITERS, "values of labels")


def write_label_values(file: BinaryIO, path: Path, table: LabelTable) -> None:
    """Write values of labels in the form of the ending of a path."""
    WRITERS[path.suffix](file, path, table)


HEAD = ("label", "name", "n_train", "inverse_propensity", "bin", "system", "baseline")


def _write_csv(file: BinaryIO, path: Path, table: LabelTable) -> None:
    """Write one line per label and system, then those of differences, with empty cells where there is no value."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*HEAD, *table.values])
    for lines in _lines(path, table):
        writer.writerows(lines)
        file.write(text.getvalue().encode(errors="surrogateescape"))
        text.seek(0)
        text.truncate()


def _write_jsonl(file: BinaryIO, path: Path, table: LabelTable) -> None:
    """Write one object per label and system, with null where there is no value; the last line has `meta`."""
    names = [*HEAD, *table.values]
    for lines in _lines(path, table):
        for line in lines:
            text = json.dumps(dict(zip(names, line, strict=True)), ensure_ascii=False)
            file.write(text.encode(errors="replace") + b"\n")
    file.write(json.dumps({"meta": table.described}).encode() + b"\n")


def _write_npz(file: BinaryIO, path: Path, table: LabelTable) -> None:  # noqa: ARG001 - writers share one signature
    """Write arrays: of labels [n_labels], of values [n_labels, n_systems], and text as bytes, one name per line."""
    n, n_systems = table.labels.size, len(table.systems)
    meta = np.frombuffer(json.dumps(table.described).encode(), dtype=np.uint8)
    integer, real = np.dtype(np.int64), np.dtype(np.float64)
    per_label = (
        ("n_train", integer, table.n_train),
        ("inverse_propensity", real, table.inverse_propensity),
        ("bin", integer, table.bin),
    )
    import zipfile

    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        write_member(archive, "meta", meta.dtype, meta.shape, iter([meta]))
        write_member(archive, "label", integer, (n,), table.pieces)
        if table.name is not None:
            n_bytes = sum(text.size for text in _name_lines(table))
            write_member(archive, "names", meta.dtype, (n_bytes,), _name_lines(table))
        for name, dtype, read in per_label:
            if read is not None:
                write_member(archive, name, dtype, (n,), map(read, table.pieces))
        for name, read in table.values.items():
            dtype = read(table.labels[:0]).dtype
            write_member(archive, name, dtype, (n, n_systems), map(read, table.pieces))


def _name_lines(table: LabelTable) -> Iterator[NDArray[np.uint8]]:
    for labels in table.pieces:
        names = table.name(labels) if table.name is not None else ()
        text = "".join(f"{name or ''}\n" for name in names)
        yield np.frombuffer(text.encode(errors="surrogateescape"), dtype=np.uint8)


def _lines(path: Path, table: LabelTable) -> Iterator[Iterator[tuple[Any, ...]]]:
    """Yield the lines of some labels at a time: for each label those of systems, then those of pairs."""
    with phase(str(path), table.labels.size, "labels") as add:
        for labels in table.pieces:
            yield _lines_of(labels, table)
            add(labels.size)


def _lines_of(labels: Array, table: LabelTable) -> Iterator[tuple[Any, ...]]:
    of_label = [labels.tolist(), *_label_columns(table, labels)]
    values = {name: read(labels) for name, read in table.values.items()}
    by_system = [
        _zipped(of_label, name, None, [each[:, s] for each in values.values()]) for s, name in enumerate(table.systems)
    ]
    by_pair = [
        _zipped(of_label, pair.system, pair.baseline, [_difference(*each, pair) for each in values.items()])
        for pair in table.pairs
    ]
    return (line for lines in zip(*by_system, *by_pair, strict=True) for line in lines)


def _label_columns(table: LabelTable, labels: Array) -> Iterator[Sequence[Any]]:
    """Yield name, training rows, 1/p and bin of labels; None where one is not known."""
    unknown = [None] * labels.size
    yield unknown if table.name is None else table.name(labels)
    yield unknown if table.n_train is None else table.n_train(labels).tolist()
    yield unknown if table.inverse_propensity is None else table.inverse_propensity(labels).tolist()
    yield unknown if table.bin is None else [table.bins[i] for i in table.bin(labels).tolist()]


def _zipped(
    of_label: Sequence[Sequence[Any]], system: str, baseline: str | None, values: Sequence[Array]
) -> Iterator[tuple[Any, ...]]:
    n = len(of_label[0])
    return zip(*of_label, [system] * n, [baseline] * n, *map(_or_none, values), strict=True)


def _or_none(numbers: Array) -> list[Any]:
    """Return numbers, and None where one is NaN."""
    listed: list[Any] = numbers.tolist()
    if numbers.dtype.kind != "f":
        return listed
    return [None if number != number else number for number in listed]  # noqa: PLR0124 - NaN


def _difference(name: str, values: Array, pair: LabelPair) -> Array:
    """Return system minus baseline, of the means over their runs; the truth is the same for both."""
    own, other = (values[:, runs] for runs in (pair.own, pair.other))
    if name.startswith("n_true"):
        return own[:, 0]
    is_of_runs = own.shape[1] > 1 or other.shape[1] > 1
    difference: Array = own.mean(axis=1) - other.mean(axis=1) if is_of_runs else own[:, 0] - other[:, 0]
    return difference


WRITERS: Mapping[str, Callable[[BinaryIO, Path, LabelTable], None]] = MappingProxyType(
    {".npz": _write_npz, ".csv": _write_csv, ".jsonl": _write_jsonl}
)
