"""Stored arrays: how totals take their numbers from a state, each array in its shape and its range."""

from __future__ import annotations

from typing import Any

from xmceval.rows.block import Int64

MOST_ROWS = 1 << 53
MOST_LABELS = (1 << 63) - 2
LEAST, MOST = -(1 << 63), (1 << 63) - 1


def take(arrays: dict[str, Int64], name: str, shape: tuple[int, ...], low: int = LEAST, high: int = MOST) -> Int64:
    """Remove an array from those of a state, and return it.

    Parameters
    ----------
    arrays : dict of int64 array
    name : str
    shape : tuple of int
        -1 for any number.
    low, high : int
        The range of its numbers.
    """
    if name not in arrays:
        raise ValueError(f"the array {name} is missing")
    array = arrays.pop(name)
    if array.ndim != len(shape) or any(own not in {size, -1} for size, own in zip(array.shape, shape, strict=True)):
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    if array.size and not low <= int(array.min()) <= int(array.max()) <= high:
        raise ValueError(f"{name} has numbers outside {low:,} to {high:,}")
    return array


def fill_part(part: Any, prefix: str, arrays: dict[str, Int64]) -> None:
    """Let a part of the totals take the int64 arrays whose names begin with a prefix; it must take all of them."""
    names = [name for name in arrays if name.startswith(f"{prefix}.")]
    own = {name[len(prefix) + 1 :]: arrays.pop(name) for name in names}
    try:
        part.fill(own)
        refuse_rest(own)
    except ValueError as error:
        raise ValueError(f"{prefix}: {error}") from None


def refuse_rest(arrays: dict[str, Int64]) -> None:
    """Refuse arrays that nobody took."""
    for name in arrays:
        raise ValueError(f"there is no array {name}")
