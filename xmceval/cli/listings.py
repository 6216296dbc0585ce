"""The commands that print a list which the package has, whole or some entries of it in detail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click

from xmceval.cli import completion, options
from xmceval.report.forms.registry import FORMS


def listing_command(
    name: str, names: Callable[[], Iterable[str]], text: str, *, short_help: str, forms: Sequence[str] = tuple(FORMS)
) -> click.Command:
    """Make the command of a list: a shell completes `names`, `text` is its help."""

    @click.command(name, help=text, short_help=short_help)
    @click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.of_names(names))
    @options.form_option(forms)
    def command(names: tuple[str, ...], form: str) -> None:
        from xmceval.report.listings.namedlist import write_list

        click.echo(write_list(name, names, form, options.terminal_width()), nl=False)

    return command
