"""Parts of totals: named arrays of some rows, and how those of each name add up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple, TypeVar

from numpy.typing import NDArray

from xmceval.rows.locked import Locked

P = TypeVar("P", bound="Part")

MOST_ROWS = 1 << 53
MOST_LABELS = (1 << 63) - 2


class Field(NamedTuple):
    """How arrays of one name add up, and what a state may have of them."""

    # ``add(left, right)`` is the array of the rows of both, as a new value or one of the two; associative, commutative
    add: Callable[[Any, Any], Any]
    low: int | None = None  # the range of the numbers
    high: int | None = None
    # raises ValueError for numbers of a state that cannot be; called with the name and the array
    check: Callable[[str, Any], None] | None = None


class Part(Locked):
    """Named arrays of some rows.

    What a thread counts for itself it writes into the arrays of a part that `begin` returns, or `spare`; `absorb` takes
    the rows of another part in, and threads may call it at the same time.
    """

    fields: ClassVar[Mapping[str, Field]] = {}

    def __init__(self, arrays: dict[str, Any]) -> None:
        super().__init__()
        self.values = arrays

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def begin(self: P) -> P:
        """Return a part of no rows, to which those of one block are added before this one absorbs them."""
        raise NotImplementedError

    def spare(self: P) -> P:
        """Return a copy to which rows are added; `adopt` makes it this part."""
        part = copy(self)
        part.values = {name: array.copy() for name, array in self.values.items()}
        return part

    def adopt(self: P, spare: P) -> P:
        """Return the part with the rows that were added to its spare copy."""
        return spare

    def absorb(self: P, other: P) -> None:
        """Add the rows of another part to this one."""
        with self._lock:
            self.values = {
                name: field.add(self.values[name], other.values[name]) for name, field in self.fields.items()
            }

    def merge(self: P, other: P) -> P:
        """Return the part of the rows of both; associative, and commutative."""
        both = copy(self)
        both.absorb(other)
        return both

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a state has of it."""
        return dict(self.values)

    def fill(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take the arrays of a state, which are removed from it: of the shapes that they have here."""
        for name, field in self.fields.items():
            present = self.values[name]
            array = take(arrays, name, present.dtype.kind, present.shape, field.low, field.high)
            if field.check is not None:
                field.check(name, array)
            self.values[name] = array


def take(
    arrays: dict[str, NDArray[Any]],
    name: str,
    kind: str,
    shape: tuple[int, ...],
    low: float | None = None,
    high: float | None = None,
) -> NDArray[Any]:
    """Remove an array from those of a file, and return it once its kind, shape and range are checked.

    Parameters
    ----------
    arrays : dict of int64 or float64 array
    name : str
    kind : str
        ``"i"`` or ``"f"``.
    shape : tuple of int
        -1 for any number.
    low, high : int or float, optional
        The range of its numbers.
    """
    if name not in arrays:
        raise ValueError(f"the array {name} is missing")
    array = arrays.pop(name)
    sizes = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(expected not in {size, -1} for size, expected in sizes):
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    if array.dtype.kind != kind:
        raise ValueError(f"{name} has numbers of type {array.dtype}")
    is_inside = (low is None or (array >= low).all()) and (high is None or (array <= high).all())
    if not is_inside:
        raise ValueError(f"{name} has numbers out of their range")
    return array
