"""Exceptions for users' mistakes, with messages that name the place, the offending value and a hint."""

from __future__ import annotations

import inspect
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

JOINER = "\u200d"  # joins several emoji into one

# At the end of a message: "... (hint: pass n_labels)", or "... (3 such rows; hint: pass n_labels)".
_HINT = re.compile(r"(?: \(|; )hint: (?P<hint>.*)\)\Z", re.DOTALL)


def split_hint(message: str) -> tuple[str, str]:
    """Return what a message says is wrong, and what it says to do: its hint, empty if there is none."""
    found = _HINT.search(message)
    if found is None:
        return message, ""
    return message[: found.start()] + ")" * found[0].startswith("; "), found["hint"]


class XmcevalError(ValueError):
    """Base of every error that xmceval raises on purpose; the command line ends with exit code 1.

    Parameters
    ----------
    *lines : str
        One mistake per line. Line breaks and control characters of terminals, which file names and foreign
        texts may contain, are escaped.

    Attributes
    ----------
    hint : str
        What to do, apart from the message, which ends with it: ``... (hint: pass n_labels)``. Of several mistakes each
        hint is on a separate line; empty if there is none.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__(*lines)
        self.hint = "\n".join(dict.fromkeys(hint for line in lines if (hint := split_hint(str(line))[1])))

    def __str__(self) -> str:
        return "\n".join(escaped(str(line)) for line in self.args)


class DataError(XmcevalError):
    """A file or matrix is malformed, or does not fit the other inputs."""


class AmbiguousError(DataError):
    """Data that can be read in two ways; the message names both, and how to decide."""


class UsageError(XmcevalError):
    """A wrong option or argument value; the command line ends with exit code 2."""


class XmcevalWarning(UserWarning):
    """A reason why the values may be wrong; the Python functions issue one for each of `Result.doubts`."""


class Doubt(str):
    """A line that says why values may be wrong; other lines on a result are facts, such as how rows count."""

    __slots__ = ()


def split_doubts(lines: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the lines on a result into doubts and facts, without repeats."""
    doubts: dict[str, None] = {}
    facts: dict[str, None] = {}
    for line in lines:
        (doubts if isinstance(line, Doubt) else facts)[line] = None
    return tuple(doubts), tuple(facts)


def warn(messages: Iterable[str], category: type[Warning] = XmcevalWarning) -> None:
    """Issue warnings at the line that called the package."""
    for message in messages:
        frame, depth = inspect.currentframe(), 0
        while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("xmceval."):
            frame, depth = frame.f_back, depth + 1
        warnings.warn(escaped(message), category, stacklevel=depth + 1)


def escaped(text: str) -> str:
    """Return a text on one line with control characters escaped, so that a terminal shows it verbatim."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each
        if each == JOINER or unicodedata.category(each) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else each.encode("unicode_escape").decode("ascii")
        for each in text
    )


def describe_failure(error: Exception) -> str:
    """Return the message of an error that a user's files or machine can cause; raise any other error."""
    if isinstance(error, MemoryError):
        return f"not enough memory ({error})"
    if isinstance(error, OSError):
        return f"{error.filename or 'cannot write the output'}: {error.strerror or error}"
    if not isinstance(error, XmcevalError):
        raise error
    return str(error)


@dataclass(eq=False)
class Fault(Exception):  # noqa: N818 - it is caught on its way and becomes a DataError
    """A mistake in one row of one input.

    Threads process blocks, so several faults may be found at once: they are reported in the order of rows, or
    in one line if they raise the same doubt about the whole input.
    """

    row: int
    message: str
    doubt: str = ""

    def __str__(self) -> str:
        return f"{self.message} ({self.doubt})" if self.doubt else self.message


_FLAGS = {
    "metrics": "-m",
    "k": "-k",
    "kind": "--as",
    "executor": "--dask",
}  # others are named like their argument
_names_flags: ContextVar[bool] = ContextVar("names_flags", default=False)


@contextmanager
def naming_flags(are_flags: bool = True) -> Iterator[None]:
    """Name arguments as the command line does, or as Python does, within this block and thread."""
    token = _names_flags.set(are_flags)
    try:
        yield
    finally:
        _names_flags.reset(token)


def names_flags() -> bool:
    """Return whether messages are for the command line."""
    return _names_flags.get()


def as_here(function: Callable[..., T]) -> Callable[..., T]:
    """Wrap a function so that in another thread or process it names arguments as this one does."""
    return partial(_name_as, names_flags(), function)


def _name_as(are_flags: bool, function: Callable[..., T], *arguments: Any) -> T:
    with naming_flags(are_flags):
        return function(*arguments)


def argument(name: str, value: str | float | bool = "", *, kind: str = "") -> str:
    """Name an argument as its caller writes it: ``train=`` in Python, ``--train FILE`` on the command line.

    Parameters
    ----------
    name : str
        The argument; shown alone without value and kind.
    value : str, number or bool
        The value to pass; True for an option without a value.
    kind : str
        The placeholder for the value of the option, such as ``FILE``.
    """
    if names_flags():
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        return f"{flag} {kind or value}" if kind or (value != "" and value is not True) else flag
    return f"{name}={value!r}" if value != "" else f"{name}=" if kind else name


def arguments(names: Iterable[str], last: str) -> str:
    """List arguments as their caller writes them, without those that the command line lacks: ``rows or save_rows``."""
    is_here = {"rows": not names_flags()}
    return listed((argument(name) for name in names if is_here.get(name, True)), last)


def missing_package(purpose: str, package: str) -> DataError:
    """Return the error of a package that is not installed, with the command that installs it."""
    return DataError(f"{purpose} needs the package {package} (hint: pip install {package})")


def missing_module(module: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error of a module of ours that cannot be imported without a package, with what installs it."""
    package = str(error.name).partition(".")[0]
    return ModuleNotFoundError(str(missing_package(module, package)), name=error.name)


def listed(choices: Iterable[object], last: str = "") -> str:
    """Join choices for a message: ``a, b, c``, or with a word before the last: ``a, b and c``."""
    words = [str(choice) for choice in choices]
    if last and len(words) > 1:
        words[-2:] = [f"{words[-2]} {last} {words[-1]}"]
    return ", ".join(words)


def averaged(mean: float) -> str:
    """Format a mean of counts with three digits, or more before the point: ``6.53``, ``12,345``."""
    return f"{mean:,.0f}" if mean >= 999.5 else f"{mean:.3g}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 row``, ``12,345 rows``."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


def describe_type(value: object) -> str:
    """Return the name of the type of a value, with its article: ``an int``."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def plural(noun: str) -> str:
    """Return the plural of a noun: ``rows``, ``queries``."""
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"


def agreeing(number: int, one: str, several: str) -> str:
    """Return the word that agrees with a number: ``is`` or ``are``."""
    return one if number == 1 else several
