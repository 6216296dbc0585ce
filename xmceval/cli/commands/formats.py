"""``xmceval formats``: which files are read, how they look, and which tools write them."""

from __future__ import annotations

from xmceval.cli.listings import listing_command

HELP = """List all formats of files that are read, or show NAME in detail: a format, or a tool that writes files.

The details are examples, the tools that write such files, how a format is recognized, and what is checked.

\b
Examples:
  xmceval formats npz
  xmceval formats AttentionXML
"""


def _names() -> list[str]:
    from xmceval.files.formats.formattable import FORMATS, list_tools

    return [*FORMATS, *list_tools()]


command = listing_command(
    *("formats", _names, HELP),
    short_help="List the formats of files, or show some of them.",
    forms=("table", "md", "json"),
)
