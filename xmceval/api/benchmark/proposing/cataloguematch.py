"""Which data set of the catalogue a data set of a folder is, by its name and its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xmceval.api.benchmark.proposing.guesseddatasets import GuessedDataset, entry_named
from xmceval.errors import listed
from xmceval.labels.catalogue import FILTERS, Dataset
from xmceval.labels.propensity import constants


class CatalogueMatch(NamedTuple):
    """What the catalogue says of a data set.

    Attributes
    ----------
    entry : Dataset or None
        Whose sizes it has, so that published results are comparable.
    settings : tuple of (str, value)
        What the file has to say of it.
    comment : str
        For the file.
    lines : tuple of str
        For people.
    """

    entry: Dataset | None
    settings: tuple[tuple[str, str | float | bool], ...]
    comment: str
    lines: tuple[str, ...]


def match_catalogue(guessed: GuessedDataset) -> CatalogueMatch:
    """Find out which data set of the catalogue a data set is."""
    named, fitting = entry_named(guessed.key), guessed.fitting_entries
    is_named = named is not None and any(not split.differences(guessed.sizes) for split in named.splits)
    entry = named if is_named else fitting[0] if len(fitting) == 1 else None
    if entry is not None:
        return CatalogueMatch(
            entry,
            () if entry is named else (("catalogue", entry.name),),
            f"catalogue: {entry.constants}, {FILTERS[entry.filter]}",
            (f"the sizes are those of {_with_split(entry, guessed)}: {entry.constants}, {FILTERS[entry.filter]}",
             *_note_filter(entry, guessed)),
        )  # fmt: skip
    if named is not None:
        differences = min((split.differences(guessed.sizes) for split in named.splits), key=len)
        comment = f"not {named.name} of the catalogue: {listed(differences)}"
        a, b = constants(named, None, None)
        is_other = bool(guessed.trains) and (a, b) != constants(None, None, None)
        settings = (("catalogue", False), *((("a", a), ("b", b)) if is_other else ()))
        return CatalogueMatch(None, settings, comment, (f"{comment}{_describe_constants(guessed, a, b, is_other)}",))
    if fitting:
        names = " and ".join(each.name for each in fitting)
        hint = f'(hint: catalogue = "{fitting[0].name}")'
        return CatalogueMatch(None, (), f"the sizes are those of {names}", (f"the sizes are those of {names} {hint}",))
    a, b = constants(None, None, None)
    return CatalogueMatch(None, (), "", (f"not in the catalogue{_describe_constants(guessed, a, b)}",))


def _with_split(entry: Dataset, guessed: GuessedDataset) -> str:
    """Return the name of an entry, and whose split it is where it is not that of published results."""
    split = next(split for split in entry.splits if not split.differences(guessed.sizes))
    return entry.name if split == entry.splits[0] else f"{entry.name} in the split of {split.who}"


def _note_filter(entry: Dataset, guessed: GuessedDataset) -> Iterator[str]:
    if entry.has_filter and "filter" not in guessed.options:
        yield f"there is no filter file, with which published values of {entry.name} are scored"


def _describe_constants(guessed: GuessedDataset, a: float, b: float, is_other: bool = False) -> str:
    """Return A and B for the training labels of a data set that is none of the catalogue."""
    return f"; A={a:g} B={b:g} {'as there' if is_other else 'by default'}" if guessed.trains else ""
