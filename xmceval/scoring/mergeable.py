"""Parts of totals: each declares its fields and how two of a field combine; what else parts do follows from that."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from xmceval.rows.block import Int64
from xmceval.rows.locked import Locked
from xmceval.scoring.limbs import join, split, split_like
from xmceval.scoring.states.stored import LEAST, MOST, take

P = TypeVar("P", bound="Mergeable")


class Encoding(NamedTuple):
    """How a field becomes limbs, and a field like ``own`` comes from sums of them: ``decode(limbs, own)``."""

    encode: Callable[[Any], Int64]
    decode: Callable[[Int64, Any], Any]


NUMBERS = Encoding(split, lambda limbs, own: join(limbs).reshape(own.shape))


@dataclass(frozen=True)
class PartField:
    """One field of a part of totals.

    Attributes
    ----------
    name : str
        The attribute that holds it, and the array of a state.
    combine : callable
        ``combine(left, right)`` is the field of the rows of both, as a new value; associative, and commutative.
    low, high : int
        The range of its numbers.
    check : callable, optional
        Raises ValueError for numbers of a state that cannot be; called with the name and the array.
    encoding : Encoding, optional
        How it is sent where states are added element by element; others are left out there.
    is_stored : bool
        Whether states have it.
    """

    name: str
    combine: Callable[[Any, Any], Any]
    low: int = LEAST
    high: int = MOST
    check: Callable[[str, Any], None] | None = None
    encoding: Encoding | None = None
    is_stored: bool = True

    def take(self, arrays: dict[str, Int64], own: Any) -> Any:
        """Remove the array of a state, which has the shape and the bits of `own`."""
        array = take(arrays, self.name, own.shape, self.low, self.high).view(own.dtype)
        if self.check is not None:
            self.check(self.name, array)
        return array


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

    def arrays(self) -> dict[str, Int64]:
        """Return all numbers, as a state holds them: int64 arrays in the shapes of the fields."""
        return {field.name: getattr(self, field.name).view(np.int64) for field in self.fields if field.is_stored}

    def fill(self, arrays: dict[str, Int64]) -> None:
        """Take the numbers of a state: int64 arrays in the shapes of the fields."""
        for field in self.fields:
            if field.is_stored:
                setattr(self, field.name, field.take(arrays, getattr(self, field.name)))

    def limbs(self) -> Int64:
        """Return the fields that add up element by element, as limbs, int64 [n_limbs]."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._encoded()])

    def fill_limbs(self, limbs: Int64) -> None:
        """Take the numbers that sums of limbs, int64 [n_limbs], stand for."""
        own_limbs = split_like(limbs, [each.size for each in self._encoded()])
        sent = (field for field in self.fields if field.encoding is not None)
        for field, own in zip(sent, own_limbs, strict=True):
            setattr(self, field.name, field.encoding.decode(own, getattr(self, field.name)))  # type: ignore[union-attr]

    def _encoded(self) -> list[Int64]:
        return [each.encoding.encode(getattr(self, each.name)) for each in self.fields if each.encoding is not None]
