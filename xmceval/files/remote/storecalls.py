"""Calls of stores, in threads: nobody waits for a store longer than for an answer, and no process for a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from xmceval.errors import as_here

T = TypeVar("T")

PATIENCE = 30.0  # seconds without an answer
RETRIES = 4  # after a lost connection, without any progress between them
FIRST_PAUSE = 0.1  # seconds before the first retry; each further one takes twice as long


class NoAnswerError(Exception):
    """A store did not answer within PATIENCE."""


def start(work: Callable[[], T]) -> Future[T]:
    """Do something in a thread of its own, which ends with the process: no pool, as that would wait for it."""
    future: Future[T] = Future()
    work = as_here(work)

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="xmceval-remote", daemon=True).start()
    return future


def wait(future: Future[T]) -> T:
    """Return what a thread returns."""
    try:
        return future.result(PATIENCE)
    except BaseException as error:
        if not future.done():
            _raise_no_answer(error)
        raise


def call(work: Callable[[], T]) -> T:
    """Do something in a thread, and wait for it as long as PATIENCE."""
    return wait(start(work))


def pause(number: int) -> None:
    """Wait before a retry."""
    time.sleep(FIRST_PAUSE * 2**number)


def _raise_no_answer(error: BaseException) -> Any:
    """Turn the end of patience into an error; anything else, such as Ctrl-C, goes on."""
    if isinstance(error, Exception):
        raise NoAnswerError from None
    raise error
