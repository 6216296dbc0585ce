"""Hide the credentials of addresses, such as ``s3://bucket/name``, in messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

WEB = frozenset({"http", "https"})

_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>]+")


def shown(address: str) -> str:
    """Return an address without credentials: without its query string, and without ``user:password@``."""
    return "::".join(_shown_part(part) for part in address.split("::"))


def redacted(text: str, address: str = "") -> str:
    """Return a text, such as another package's message, without the credentials of addresses in it."""
    for part in sorted(_secrets(address), key=len, reverse=True):
        text = text.replace(part, "")
    return _IN_TEXT.sub(lambda address: shown(address.group()), text)


def _shown_part(part: str) -> str:
    protocol, separator, rest = split_query(part)[0].partition("://")
    if not separator:
        return protocol
    host = rest.partition("/")[0]
    if "@" in host:
        return f"{protocol}://{rest[host.rindex('@') + 1 :]}"
    # A secret may have a slash in it: s3://KEY:SEC/RET@bucket/name.
    has_secret = "@" in rest and ":" in host and not host.rpartition(":")[2].isdigit()
    return f"{protocol}://{rest.partition('@')[2] if has_secret else rest}"


def split_query(part: str) -> tuple[str, str]:
    """Split an address before its query; outside the web, ``?`` may be part of a name or pattern."""
    place = part.find("?")
    if part.partition("://")[0].lower().rpartition("::")[2] in WEB:
        place = min((at for at in (place, part.find("#")) if at >= 0), default=-1)
    elif "=" not in part[place:]:
        place = -1
    if place < 0:
        return (part, "")
    return (part[:place], part[place:])


def _secrets(address: str) -> Iterable[str]:
    """Yield the parts of an address that must not be printed."""
    for part in address.split("::"):
        plain, query = split_query(part)
        yield from (text for text in (query, query[1:]) if text)
        hidden = plain[len(plain.partition("://")[0]) + 3 :].removesuffix(_shown_part(part).partition("://")[2])
        yield from (text for text in (hidden, *hidden.rstrip("@").split(":")) if len(text) > 3)
