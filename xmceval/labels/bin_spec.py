"""Parse the bins of labels that the user asks for: a number of bins, names, or training counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from xmceval.errors import UsageError, argument

MOST_BINS = 1000
USUAL = ("head", "torso", "tail")  # in order


@dataclass(frozen=True)
class AskedBins:
    """Names of bins, the most frequent labels first; `edges` are the training counts at which they begin, if passed.

    The last bin begins at 0, which is not among them.
    """

    names: tuple[str, ...]
    edges: tuple[int, ...] = ()


def read_bin_spec(spec: Any) -> AskedBins:
    """Read a number of bins, names of bins, or ascending training counts."""
    words, may_be_edges = _split(spec)
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    if not words or not all(words) or (any(map(_is_number, words)) and len(numbers) < len(words)):
        raise UsageError(
            f"{argument('by_frequency')} must be a number of bins, names of bins, or ascending training counts, "
            f"got {spec!r}"
        )
    n_bins = len(words)
    if numbers and not may_be_edges:
        n_bins = max(n_bins, numbers[0])
    if n_bins > MOST_BINS:
        raise UsageError(f"{argument('by_frequency')} has at most {MOST_BINS:,} bins, got {spec!r}")
    if numbers and may_be_edges:
        if any(first >= second for first, second in pairwise(numbers)):
            raise UsageError(f"training counts at which bins begin must ascend, got {spec!r}")
        edges = tuple(number for number in numbers if number > 0)  # the last bin begins at 0, passed or not
        if edges:
            return AskedBins(_name_by_counts(edges), edges)
    elif numbers:
        if numbers[0] < 1:
            raise UsageError(f"{argument('by_frequency')} needs at least 1 bin")
        return AskedBins(tuple(f"bin {i + 1}" for i in range(numbers[0])))
    if len(words) == 1:
        raise UsageError(
            f"{argument('by_frequency', spec)} would be one bin with all labels; expected at least two names "
            "such as head,tail, a number of bins such as 3, or ascending training counts such as 10,100"
        )
    counting = [word for word in words if word[0].isdigit() or any(sign in word for sign in "=<>")]
    if counting:
        raise UsageError(
            f"{argument('by_frequency')}: {counting[0]!r} is not a name; bins with names have equal shares of the "
            f"training positives (hint: pass {argument('by_frequency', '10,100')} for bins that begin at these counts)"
        )
    repeated = [word for i, word in enumerate(words) if word in words[:i]]
    if repeated:
        raise UsageError(
            f"{argument('by_frequency')} names {repeated[0]!r} twice; expected a name of its own for each bin"
        )
    given = [word for word in words if word in USUAL]
    if given != sorted(given, key=USUAL.index):
        raise UsageError(
            f"{argument('by_frequency')} names bins from the most frequent labels to the rarest, got {spec!r} "
            f"(hint: pass {argument('by_frequency', ','.join(USUAL))})"
        )
    return AskedBins(tuple(words))


def _name_by_counts(edges: Sequence[int]) -> tuple[str, ...]:
    """Name bins by the training counts of their labels: ``100 or more``, ``10 to 99``, ``0 to 9``."""
    names = [f"{edges[-1]:,} or more"]
    for low, next_low in reversed(list(pairwise([0, *edges]))):
        names.append(span(low, next_low - 1))
    return tuple(names)


def span(low: int, high: int, to: str = " to ") -> str:
    """Return a range of counts as text; a single number if both ends are equal."""
    if low == high:
        return f"{low:,}"
    return f"{low:,}{to}{high:,}"


def _split(spec: Any) -> tuple[list[str], bool]:
    """Return the words of a spec, and whether numbers among them are training counts where bins begin."""
    if isinstance(spec, str):
        words = [word.strip() for word in spec.split(",")]
        return words, len(words) > 1
    if isinstance(spec, Iterable) and getattr(spec, "ndim", 1) > 0:
        return [str(word).strip() for word in spec], True
    if isinstance(spec, bool):
        return [], False
    return [str(spec)], False


def _is_number(word: str) -> bool:
    """Whether a word is any kind of number, and hence not a name."""
    try:
        float(word)
    except ValueError:
        return word.isnumeric()
    return True
