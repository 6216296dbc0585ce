"""Locked: what threads share under a lock, and what goes to other processes without it."""

from __future__ import annotations

import threading
from typing import Any


class Locked:
    """An object with a lock of its own, which is not pickled: a copy in another process has a new one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
