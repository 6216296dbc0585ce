"""Dataclasses whose methods are written when the first of them is needed.

The standard decorator compiles six methods for each class, a millisecond, though most runs use few of the classes that
they import: that was a third of a start.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Do as the decorator of the standard library, of which it takes init, repr, eq, frozen and kw_only."""
        return (lambda each: _postpone(each, options)) if cls is None else _postpone(cls, options)


__all__ = ["dataclass"]

_lock = threading.RLock()


class _Fields:
    """Stands for the fields of a class until somebody asks for them."""

    def __init__(self, cls: type, finish: Callable[[], None]) -> None:
        self._cls = cls
        self._finish = finish

    def __get__(self, _instance: object, _owner: type) -> Any:
        self._finish()
        return vars(self._cls)["__dataclass_fields__"]


def _postpone(cls: Any, options: dict[str, bool]) -> Any:
    own = dict(vars(cls))
    is_frozen, has_eq = options.get("frozen", False), options.get("eq", True)

    def finish() -> None:
        with _lock:
            if isinstance(vars(cls)["__dataclass_fields__"], _Fields):
                _finish(cls, own, options)

    def postponed(name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            finish()
            return getattr(cls, name)(self, *args, **kwargs)

        return method

    names = {"__init__": options.get("init", True), "__repr__": options.get("repr", True), "__eq__": has_eq}
    for name, is_wanted in {**names, "__hash__": has_eq and is_frozen}.items():
        if is_wanted and name not in own:
            setattr(cls, name, postponed(name))
    if has_eq and not is_frozen and "__hash__" not in own:
        cls.__hash__ = None
    if is_frozen:
        cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
    for name, value in own.items():
        if isinstance(value, dataclasses.Field):
            if value.default is dataclasses.MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    cls.__dataclass_fields__ = _Fields(cls, finish)
    return cls


def _finish(cls: Any, own: dict[str, Any], options: dict[str, bool]) -> None:
    """Give a class the methods that the standard decorator writes for a copy of it.

    Each takes the place of the postponed one at once, so other threads find one or the other.
    """
    namespace = {name: value for name, value in own.items() if name not in {"__dict__", "__weakref__"}}
    copy: Any = type(cls)(cls.__name__, cls.__bases__, {**namespace, "__qualname__": cls.__qualname__})
    decorate: Any = dataclasses.dataclass(**options)
    done = decorate(copy)
    for name, value in list(vars(done).items()):
        if name.startswith("__") and name not in {*own, "__setattr__", "__delattr__", "__dataclass_fields__"}:
            setattr(cls, name, value)
    cls.__dataclass_fields__ = done.__dataclass_fields__


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
