"""Parts of totals: each declares its fields and how two of a field combine; what else parts do follows from that."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from numpy.typing import NDArray

from xmceval.rows.locked import Locked

P = TypeVar("P", bound="Mergeable")

MOST_ROWS = 1 << 53
MOST_LABELS = (1 << 63) - 2


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


@dataclass(frozen=True)
class PartField:
    """One field of a part of totals."""

    name: str  # the attribute that holds it, and the array of a state
    # ``combine(left, right)`` is the field of the rows of both, as a new value; associative, and commutative
    combine: Callable[[Any, Any], Any]
    low: int | None = None  # the range of its numbers
    high: int | None = None
    # raises ValueError for numbers of a state that cannot be; called with the name and the array
    check: Callable[[str, Any], None] | None = None


class Mergeable(Locked):
    """A part of totals, whose fields are arrays; threads may add to it at the same time."""

    fields: ClassVar[tuple[PartField, ...]] = ()
    _combine: ClassVar[dict[str, Callable[[Any, Any], Any]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._combine = {field.name: field.combine for field in cls.fields}

    def combine(self, **values: Any) -> None:
        """Combine fields with those of further rows."""
        with self._lock:
            for name, value in values.items():
                setattr(self, name, self._combine[name](getattr(self, name), value))

    def merge(self: P, other: P) -> P:
        """Return the part of the rows of both; associative, and commutative."""
        both = copy(self)
        both.absorb(other)
        return both

    def absorb(self: P, other: P) -> None:
        """Add the rows of another part to this one."""
        self.combine(**{field.name: getattr(other, field.name) for field in self.fields})

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the fields as the arrays that a state has of them."""
        return {field.name: getattr(self, field.name) for field in self.fields}

    def fill(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Take the fields from the arrays of a state, which are removed from it: of the shapes that they have here."""
        for field in self.fields:
            present = getattr(self, field.name)
            array = take(arrays, field.name, present.dtype.kind, present.shape, field.low, field.high)
            if field.check is not None:
                field.check(field.name, array)
            setattr(self, field.name, array)
