"""The catalogue of public sets: sizes, the constants of their propensities, filters, and published results."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from xmceval.errors import UsageError, listed

METRICS_PUBLISHED = tuple(f"{head}@{k}" for head in ("P", "nDCG", "PSP", "PSnDCG") for k in (1, 3, 5))


@dataclass(frozen=True)
class Constants:
    """A and B as some programs take them."""

    a: float
    b: float
    who: str


@dataclass(frozen=True)
class Split:
    """One way in which a set is cut into training and test instances."""

    train: int
    test: int
    labels: int
    who: str


@dataclass(frozen=True)
class Dataset:
    """A public set.

    Attributes
    ----------
    name : str
        As XMLRepository writes it.
    train, test, labels : int
        Training instances, test instances, labels.
    features : int or None
    points_per_label, labels_per_point : float
        Means over training and test instances.
    a, b : float or None
        Constants of the propensity model; None where nobody has settled them.
    filter : str
        ``yes``, ``no`` or ``unknown``: whether reciprocal pairs are taken out of the predictions.
    disagreements : tuple of Constants
        Other values of A and B, and who uses them.
    variants : tuple of Split
        Other splits under the same name, and who uses them.
    aliases : tuple of str
    notes : str
    """

    name: str
    train: int
    test: int
    labels: int
    features: int | None
    points_per_label: float
    labels_per_point: float
    a: float | None
    b: float | None
    filter: str
    disagreements: tuple[Constants, ...] = ()
    variants: tuple[Split, ...] = ()
    aliases: tuple[str, ...] = ()
    notes: str = ""

    @property
    def has_filter(self) -> bool:
        """Whether published values leave reciprocal pairs out."""
        return self.filter == "yes"

    @property
    def splits(self) -> tuple[Split, ...]:
        """Every split, that of XMLRepository first."""
        return (Split(self.train, self.test, self.labels, "XMLRepository"), *self.variants)

    def doubts(
        self, *, n_train: int | None, n_test: int | None, n_labels: int | None, is_filtered: bool
    ) -> Iterator[str]:
        """Say what speaks against these data being this set, or against comparing with published values.

        Sizes are held against the split that fits them best; None is not compared.
        """
        misfits = self._misfits(n_train, n_test, n_labels)
        if misfits:
            yield f"these are not the sizes of {self.name}: {listed(misfits)} (see: xmceval datasets {self.name})"
        if self.has_filter and not is_filtered:
            yield (
                f"{self.name} is scored with a filter of reciprocal pairs: published values leave those pairs out "
                "(hint: --filter FILE)"
            )
        if self.a is None:
            yield f"A and B of {self.name} are not settled in the field: say -A and -B beside the numbers"

    def _misfits(self, *sizes: int | None) -> list[str]:
        words = ("training instances", "test instances", "labels")

        def against(split: Split) -> list[str]:
            triples = zip(words, sizes, (split.train, split.test, split.labels), strict=True)
            return [f"{size:,} {word}, not {known:,}" for word, size, known in triples if size not in {None, known}]

        return min((against(split) for split in self.splits), key=len)


@dataclass(frozen=True)
class Published:
    """A row of XMLRepository's tables of results; values are fractions by canonical name of the metric.

    ``mark`` is the footnote sign of that page. ``suspect`` says what in the row cannot be right, or is hardly right.
    """

    method: str
    mark: str
    values: Mapping[str, float]
    model_gb: float | None
    train_hours: float | None
    suspect: str


@cache
def datasets() -> Mapping[str, Dataset]:
    """Return every set by name, in the order of the file."""
    entries = (_dataset(row) for row in _rows("catalogue.tsv"))
    return MappingProxyType({entry.name: entry for entry in entries})


def find(name: str) -> Dataset:
    """Find a set by its name or another name of it, in any case and with any dashes.

    Raises
    ------
    UsageError
        A name that is not in the catalogue.

    Examples
    --------
    >>> find("wikipedia 500k").name
    'LF-Wikipedia-500K'
    """
    known = {_plain(word): entry for entry in datasets().values() for word in (entry.name, *entry.aliases)}
    entry = known.get(_plain(name))
    if entry is None:
        near = difflib.get_close_matches(_plain(name), known, 1)
        hint = f" (did you mean {known[near[0]].name}?)" if near else ""
        raise UsageError(f"unknown data set {name!r}{hint}; known: {listed(datasets())}")
    return entry


def published(name: str) -> tuple[Published, ...]:
    """Return the published results of a set, the highest P@1 first, rows without one last."""
    rows = [_published(row) for row in _rows("published.tsv") if row["dataset"] == name]
    return tuple(sorted(rows, key=lambda row: -row.values.get("P@1", -1.0)))


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == ".")


def _rows(name: str) -> Iterator[dict[str, str]]:
    """Read a table: in the installed package, or beside it in a checkout."""
    home = files("xmceval")
    inside = home / "datasets" / name
    table = inside if inside.is_file() else home / ".." / "datasets" / name
    lines = table.read_text(encoding="utf-8").splitlines()
    yield from csv.DictReader(
        (line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE
    )


def _parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _dataset(row: Mapping[str, str]) -> Dataset:
    constants, splits = [], []
    for part in _parts(row["disagreements"]):
        numbers, _, who = part.partition(" ")
        a, b = numbers.split("/")
        constants.append(Constants(float(a), float(b), who))
    for part in _parts(row["variants"]):
        numbers, _, who = part.partition(" ")
        train, test, labels = (int(number) for number in numbers.split("/"))
        splits.append(Split(train, test, labels, who))
    return Dataset(
        name=row["name"],
        train=int(row["train"]),
        test=int(row["test"]),
        labels=int(row["labels"]),
        features=int(row["features"]) if row["features"] else None,
        points_per_label=float(row["points_per_label"]),
        labels_per_point=float(row["labels_per_point"]),
        a=_number(row["a"]),
        b=_number(row["b"]),
        filter=row["filter"],
        disagreements=tuple(constants),
        variants=tuple(splits),
        aliases=tuple(_parts(row["aliases"])),
        notes=row["notes"],
    )


def _published(row: Mapping[str, str]) -> Published:
    values = {name: round(float(row[name]) / 100, 6) for name in METRICS_PUBLISHED if row[name]}
    return Published(
        row["method"],
        row["mark"],
        MappingProxyType(values),
        _number(row["model_gb"]),
        _number(row["train_hours"]),
        row["suspect"],
    )
