"""``xmceval guide``: the guides that come with the package."""

from __future__ import annotations

import sys

import click

from xmceval.cli import completion, options
from xmceval.errors import UsageError, listed
from xmceval.files.io.streams import list_resources, read_resource

PACKAGE, FOLDER = "xmceval", "guide"
BOLD, UNSTYLED = "\x1b[1m", "\x1b[0m"
INDENT = "    "  # of code


def find_topics() -> list[str]:
    """Return the names of the guides."""
    return sorted(name.removesuffix(".md") for name in list_resources(PACKAGE, FOLDER) if name.endswith(".md"))


@click.command("guide", short_help="Read the guides.")
@click.argument("topic", required=False, shell_complete=completion.of_names(find_topics))
def command(topic: str | None) -> None:
    """Print a guide, or without TOPIC the list of all."""
    topics = find_topics()
    if topic is None:
        width = max(map(len, topics))
        lines = (f"{name.ljust(width)}  {_read(name).partition(chr(10))[0].removeprefix('# ')}" for name in topics)
        click.echo("\n".join([*lines, "", "one guide: xmceval guide TOPIC"]))
    elif topic not in topics:
        raise UsageError(f"there is no guide {topic!r}; expected one of {listed(topics)}")
    elif sys.stdout.isatty():
        click.echo_via_pager(render(_read(topic), is_styled=bool(options.terminal()["is_styled"])))
    else:
        click.echo(_read(topic), nl=False)


def render(text: str, *, is_styled: bool) -> str:
    """Render Markdown for a terminal: heads are bold, and code is indented instead of fenced."""
    lines, is_code = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            is_code = not is_code
        elif is_code:
            lines.append(INDENT + line if line else line)
        elif line.startswith("#"):
            head = line.lstrip("#").strip()
            lines.append(f"{BOLD}{head}{UNSTYLED}" if is_styled else head)
        else:
            lines.append(line)
    return "\n".join(lines)


def _read(topic: str) -> str:
    return read_resource(PACKAGE, f"{FOLDER}/{topic}.md")
