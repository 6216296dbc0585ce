"""``xmceval guide``: the guides that come with the package."""

from __future__ import annotations

import difflib
import sys

import click

from xmceval.cli import completion, options
from xmceval.cli.rendering import render
from xmceval.errors import UsageError, listed
from xmceval.files.io.streams import list_resources, read_resource

PACKAGE, FOLDER = "xmceval", "guide"

# In the order in which they are read; others follow by name.
ORDER = (
    "start",
    "metrics",
    "formats",
    "compare",
    "propensities",
    "benchmark",
    "loops",
    "shards",
    "conventions",
    "agreement",
    "speed",
    "faults",
    "design",
)


def find_topics() -> list[str]:
    """Return the names of the guides, in the order in which they are read."""
    topics = [name.removesuffix(".md") for name in list_resources(PACKAGE, FOLDER) if name.endswith(".md")]
    return sorted(topics, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))


def read_guide(topic: str) -> str:
    """Return a guide as Markdown.

    Raises
    ------
    UsageError
        An unknown topic; the message suggests one.
    """
    topics = find_topics()
    if topic not in topics:
        near = difflib.get_close_matches(topic.lower(), topics, 1) or [each for each in topics if topic in each][:1]
        hint = f"did you mean {near[0]}?" if near else "hint: xmceval guide lists them"
        raise UsageError(f"there is no guide {topic!r} ({hint}); expected one of {listed(topics)}")
    return read_resource(PACKAGE, f"{FOLDER}/{topic}.md")


@click.command("guide", short_help="Read the guides.")
@click.argument("topic", required=False, shell_complete=completion.of_names(find_topics))
def command(topic: str | None) -> None:
    """Print the guide on TOPIC, or without it the list of all guides.

    On a terminal guides are rendered and paged; elsewhere they are Markdown.

    \b
    Example:
      xmceval guide start
    """
    if topic is None:
        click.echo("\n".join([*_list_titles(), "", "one guide: xmceval guide TOPIC"]))
        return
    text = read_guide(topic)
    if sys.stdout.isatty():
        is_styled = bool(options.terminal()["is_styled"])
        click.echo_via_pager(render(text, options.terminal_width(), is_styled=is_styled))
    else:
        click.echo(text, nl=False)


def _list_titles() -> list[str]:
    topics = find_topics()
    width = max(map(len, topics))
    return [f"{name.ljust(width)}  {read_guide(name).partition(chr(10))[0].removeprefix('# ')}" for name in topics]
