"""Catalogue of public data sets, with sizes, propensity constants A and B, filters and published results."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from xmceval.errors import Doubt, UsageError, argument, counted, listed

METRICS_PUBLISHED = tuple(f"{head}@{k}" for head in ("P", "nDCG", "PSP", "PSnDCG") for k in (1, 3, 5))

FILTERS = MappingProxyType(
    {"yes": "with a filter of reciprocal pairs", "no": "no filter", "unknown": "not known whether with a filter"}
)


@dataclass(frozen=True)
class Constants:
    """Alternative values of A and B, and who uses them."""

    a: float
    b: float
    who: str


class Sizes(NamedTuple):
    """Training instances, test instances and labels; None if unknown."""

    train: int | None = None
    test: int | None = None
    labels: int | None = None


@dataclass(frozen=True)
class Split:
    """Sizes of one split into training and test instances, and who uses it."""

    train: int
    test: int
    labels: int
    who: str

    @property
    def sizes(self) -> Sizes:
        """The sizes of the split."""
        return Sizes(self.train, self.test, self.labels)

    def differences(self, sizes: Sizes) -> list[str]:
        """Describe the sizes that differ from this split's; None is not compared."""
        nouns = ("training instance", "test instance", "label")
        return [
            f"{counted(size, noun)}, but {expected:,} in the published split"
            for noun, size, expected in zip(nouns, sizes, self.sizes, strict=True)
            if size is not None and size != expected
        ]


@dataclass(frozen=True)
class Dataset:
    """A public data set."""

    name: str  # as written in XMLRepository
    train: int  # training instances, test instances, labels
    test: int
    labels: int
    features: int | None
    points_per_label: float  # means over training and test instances
    labels_per_point: float
    a: float | None  # constants of the propensity model; None without agreed values
    b: float | None
    filter: str  # ``yes``, ``no`` or ``unknown``: whether reciprocal pairs are removed from the predictions
    disagreements: tuple[Constants, ...] = ()  # alternative values of A and B
    variants: tuple[Split, ...] = ()  # other splits with the same name
    aliases: tuple[str, ...] = ()
    notes: str = ""

    @property
    def has_filter(self) -> bool:
        """Whether published values exclude reciprocal pairs."""
        return self.filter == "yes"

    @property
    def splits(self) -> tuple[Split, ...]:
        """All splits, XMLRepository's first."""
        return (Split(self.train, self.test, self.labels, "XMLRepository"), *self.variants)

    def mismatches(self, sizes: Sizes, *, is_filtered: bool) -> Iterator[str]:
        """Yield reasons why the data may not be this set, or why values are not comparable with published ones.

        Sizes are compared with the closest split; None is not compared.
        """
        differences = min((split.differences(sizes) for split in self.splits), key=len)
        if differences:
            yield Doubt(
                f"the sizes do not match {self.name}: {'; '.join(differences)} (hint: see xmceval datasets {self.name})"
            )
        if self.has_filter and not is_filtered:
            yield Doubt(
                f"{self.name} is scored with a filter of reciprocal pairs, which published values leave out "
                f"(hint: pass {argument('filter', kind='FILE')})"
            )
        if self.a is None:
            yield f"there are no agreed values of A and B for {self.name}: report them with the numbers"

    @property
    def constants(self) -> str:
        """A and B as text."""
        if self.a is None:
            return "no agreed A and B"
        return f"A={self.a:g} B={self.b:g}"


@dataclass(frozen=True)
class Published:
    """A row of XMLRepository's tables of results; values are fractions by canonical metric name.

    ``mark`` is the footnote sign on that page; ``suspect`` says why a value in the row is probably wrong, or is
    empty.
    """

    method: str
    mark: str
    values: Mapping[str, float]
    model_gb: float | None
    train_hours: float | None
    suspect: str


@cache
def datasets() -> Mapping[str, Dataset]:
    """Return all data sets by name, in the order of the file."""
    entries = (_parse_dataset(row) for row in read_table("catalogue.tsv"))
    return MappingProxyType({entry.name: entry for entry in entries})


def find_dataset(name: str) -> Dataset:
    """Find a data set by name or alias, ignoring case and dashes.

    Examples
    --------
    >>> find_dataset("wikipedia 500k").name
    'LF-Wikipedia-500K'
    """
    entries = {_normalize(word): entry for entry in datasets().values() for word in (entry.name, *entry.aliases)}
    entry = entries.get(_normalize(name))
    if entry is None:
        import difflib

        near = difflib.get_close_matches(_normalize(name), entries, 1)
        hint = ""
        if near:
            hint = f" (did you mean {entries[near[0]].name}?)"
        raise UsageError(f"unknown data set {name!r}{hint}; expected one of {listed(datasets())}")
    return entry


def hint_at_dataset(
    sizes: Sizes, constants: tuple[float | None, float | None] = (None, None), *, is_filtered: bool = False
) -> Iterator[str]:
    """Yield a hint at the data sets with exactly these sizes, if any; all three sizes must be known.

    There is no hint if all these sets use the same A and B, and a filter only if one was used.
    """
    if None in sizes:
        return
    fitting = _splits_by_sizes().get(sizes, [])
    used = *constants, "yes" if is_filtered else "no"
    if any((entry.a, entry.b, entry.filter) != used for entry, _ in fitting):
        entry, _ = fitting[0]
        names = " and ".join(
            dataset.name if split == dataset.splits[0] else f"{dataset.name} in the split of {split.who}"
            for dataset, split in fitting
        )
        options = argument("dataset", entry.name)
        if entry.has_filter:
            options += f" and {argument('filter', kind='FILE')}"
        yield f"the sizes match {names}: {entry.constants}, {FILTERS[entry.filter]} (hint: pass {options})"


@cache
def _splits_by_sizes() -> Mapping[Sizes, list[tuple[Dataset, Split]]]:
    by_sizes: dict[Sizes, list[tuple[Dataset, Split]]] = {}
    for entry in datasets().values():
        for split in entry.splits:
            by_sizes.setdefault(split.sizes, []).append((entry, split))
    return by_sizes


def published(name: str) -> tuple[Published, ...]:
    """Return the published results of a data set, the highest P@1 first, rows without P@1 last."""
    rows = [_parse_published(row) for row in read_table("published.tsv") if row["dataset"] == name]
    return tuple(sorted(rows, key=lambda row: -row.values.get("P@1", -1.0)))


def _normalize(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == ".")


def read_table(name: str) -> Iterator[dict[str, str]]:
    """Read a table of the catalogue: from the installed package, or from the folder next to it in a checkout."""
    from importlib.resources import files

    home = files("xmceval")
    inside = home / "datasets" / name
    table = inside
    if not inside.is_file():
        table = home / ".." / "datasets" / name
    lines = table.read_text(encoding="utf-8").splitlines()
    yield from csv.DictReader(
        (line for line in lines if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE
    )


def _split_parts(cell: str) -> list[str]:
    return [part.strip() for part in cell.split(";") if part.strip()]


def _parse_number(cell: str) -> float | None:
    if not cell:
        return None
    return float(cell)


def _parse_dataset(row: Mapping[str, str]) -> Dataset:
    constants = []
    splits = []
    for part in _split_parts(row["disagreements"]):
        numbers, _, who = part.partition(" ")
        a, b = numbers.split("/")
        constants.append(Constants(float(a), float(b), who))
    for part in _split_parts(row["variants"]):
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
        a=_parse_number(row["a"]),
        b=_parse_number(row["b"]),
        filter=row["filter"],
        disagreements=tuple(constants),
        variants=tuple(splits),
        aliases=tuple(_split_parts(row["aliases"])),
        notes=row["notes"],
    )


def _parse_published(row: Mapping[str, str]) -> Published:
    values = {name: round(float(row[name]) / 100, 6) for name in METRICS_PUBLISHED if row[name]}
    return Published(
        row["method"],
        row["mark"],
        MappingProxyType(values),
        _parse_number(row["model_gb"]),
        _parse_number(row["train_hours"]),
        row["suspect"],
    )
