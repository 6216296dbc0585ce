"""Faults: what the errors of stores mean, in one line, without credentials."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from xmceval.errors import DataError
from xmceval.files.io.addresses import Address, redacted
from xmceval.files.remote.storecalls import PATIENCE, NoAnswerError

_MISSING = frozenset({404, 410})
_DENIED = frozenset({401, 403, 407})
_BUSY = frozenset({408, 425, 429})  # worth a retry, as are all from 500 on
_CHANGED = 412
_LONGEST = 200  # characters of another package's message

# Names of the errors of packages that are not imported here.
_CREDENTIALS = (
    *("credential", "refresherror", "tokenexpired", "forbidden", "accessdenied", "gatedrepo", "authentication"),
)
_NOWHERE = ("connectordns", "endpointconnection", "connectorerror", "connecttimeout", "nameresolution")
_DROPPED = ("payloaderror", "contentlength", "disconnected", "connectionreset", "incompleteread")
_PERMANENT = (
    *(FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError),
    *(NotImplementedError, ImportError, TypeError, AttributeError, DataError, NoAnswerError),
)


class MissingError(DataError):
    """There is no such file."""


def is_permanent(error: BaseException) -> bool:
    """Return whether trying again is in vain."""
    error, status = _origin(error), _status(error)
    if status is not None:
        return status < 500 and status not in _BUSY
    return isinstance(error, _PERMANENT) or is_changed(error) or _has_name(error, _CREDENTIALS) or _is_nowhere(error)


def is_lost(error: BaseException) -> bool:
    """Return whether a connection that worked before was lost, so that trying again makes sense."""
    return not is_permanent(error) or (_is_nowhere(_origin(error)) and _status(error) is None)


def is_changed(error: BaseException) -> bool:
    """Return whether a store refuses to go on with a file that changed."""
    return _status(error) == _CHANGED or _has_name(error, ("fileexpired", "preconditionfailed"))


def explain(path: Address, error: BaseException, what: str = "read") -> DataError:
    """Return the error for an address that another package's error means."""
    if isinstance(error, DataError):
        return error
    error = _origin(error)
    status, text = _status(error), _describe(path, error)
    if isinstance(error, NoAnswerError) or _has_name(error, ("timeout",)):
        return DataError(f"{path}: no answer within {PATIENCE:.0f} seconds (hint: check the address and the network)")
    if _is_nowhere(error):
        return DataError(f"{path}: cannot connect ({text}) (hint: check the address and the network)")
    if status in _DENIED or isinstance(error, PermissionError) or _has_name(error, _CREDENTIALS):
        return DataError(f"{path}: access is denied ({text}) (hint: {_credentials_hint(path)})")
    if status in _MISSING or (status is None and isinstance(error, FileNotFoundError)):
        return MissingError(f"{path}: no such file")
    if isinstance(error, IsADirectoryError):
        return DataError(f"{path}: is a directory; expected a file")
    if isinstance(error, NotImplementedError):
        return DataError(f"{path}: {path.protocol} files cannot be {'read' if what == 'read' else 'written'}")
    return DataError(f"{path}: cannot be {what} ({text})")


def describe_missing_package(path: Address, error: ImportError) -> str:
    """Return the message for a protocol that needs another package."""
    from fsspec.registry import known_implementations

    protocols = path.text.split("::")
    known = (known_implementations.get(each.partition("://")[0], {}) for each in protocols)
    module = next((each["class"].partition(".")[0] for each in known if str(error) == each.get("err")), "fsspec")
    package = str(getattr(error.__cause__, "name", None) or module) if module == "fsspec" else module
    if package == "aiohttp":
        return "web addresses need the package aiohttp (hint: pip install 'xmceval[remote]')"
    return f"the protocol {path.protocol!r} needs the package {package} (hint: pip install {package})"


def _credentials_hint(path: Address) -> str:
    if path.protocol in {"http", "https"}:
        return "check that the address is public, or has its token or signature"
    return f"set the credentials as {_package(path.protocol)} expects them; see its documentation"


def _package(protocol: str) -> str:
    from fsspec.registry import known_implementations

    package = str(known_implementations.get(protocol, {}).get("class", "")).partition(".")[0]
    return package if package not in {"", "fsspec"} else "fsspec"


def _origin(error: BaseException) -> BaseException:
    """Return what went wrong in the web, of which fsspec makes a missing file, whatever it is."""
    cause = error.__cause__
    is_web = cause is not None and type(cause).__module__.partition(".")[0] in {"aiohttp", "asyncio", "builtins"}
    return cause if isinstance(error, FileNotFoundError) and cause is not None and is_web else error


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, and those that it comes from."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _status(error: BaseException) -> int | None:
    """Return the number with which a web server refused, None where there is none."""
    for each in _chain(error):
        status = getattr(each, "status", getattr(getattr(each, "response", None), "status_code", None))
        if isinstance(status, int):
            return status
    return None


def _has_name(error: BaseException, names: tuple[str, ...]) -> bool:
    """Return whether an error, or one that it comes from, is of a class with one of some words in its name."""
    return any(name in type(each).__name__.lower() for each in _chain(error) for name in names)


def _is_nowhere(error: BaseException) -> bool:
    refused = (socket.gaierror, ConnectionRefusedError)
    return any(isinstance(each, refused) for each in _chain(error)) or _has_name(error, _NOWHERE)


def _describe(path: Address, error: BaseException) -> str:
    """Return another package's message without credentials, on one line."""
    first = list(_chain(error))[-1] if _is_nowhere(error) or _status(error) else error
    status = _status(error)
    if status is not None and path.protocol in {"http", "https"}:
        reason = str(getattr(first, "message", "") or getattr(first, "reason", ""))
        reason = " ".join(reason.split())  # what the server says, which may have many lines
        return f"status {status}{', ' if reason else ''}{redacted(reason, path.text)}"[:_LONGEST]
    if _has_name(error, _DROPPED):
        return "the server closed it"
    text = getattr(first, "strerror", None) or str(first) or type(first).__name__
    return redacted(" ".join(str(text).split()), path.text)[:_LONGEST]
