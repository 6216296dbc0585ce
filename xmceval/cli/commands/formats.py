"""``xmceval formats``: which files are read, how they look, and which tools write them."""

from __future__ import annotations

import click

from xmceval.cli import completion, options


def _names() -> list[str]:
    from xmceval.files.formats.formattable import FORMATS, list_tools

    return [*FORMATS, *list_tools()]


@click.command("formats", short_help="List the formats of files, or show some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.of_names(_names))
@click.option(
    "-o",
    "form",
    type=click.Choice(["table", "md", "json"]),
    default="table",
    show_default=True,
    help="Form of the output.",
)
def command(names: tuple[str, ...], form: str) -> None:
    """List all formats of files that are read, or show NAME in detail: a format, or a tool that writes files.

    The details are examples, the tools that write such files, how a format is recognized, and what is checked.

    \b
    Examples:
      xmceval formats npz
      xmceval formats AttentionXML
    """
    from xmceval.report.listings.namedlist import write_list

    click.echo(write_list("formats", names, form, options.terminal_width()), nl=False)
