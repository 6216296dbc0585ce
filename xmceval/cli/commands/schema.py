"""``xmceval schema``: the JSON Schema of what other commands write."""

from __future__ import annotations

import click

from xmceval.cli import completion


def _names() -> list[str]:
    from xmceval.report.fields.documents import DOCUMENTS

    return list(DOCUMENTS)


@click.command("schema", short_help="List the JSON Schemas of -o json, or print one of them.")
@click.argument("name", required=False, metavar="[COMMAND]", shell_complete=completion.of_names(_names))
def command(name: str | None) -> None:
    """List the JSON Schemas of what is written with -o json, or print that of COMMAND.

    Each field has its type, its unit and its meaning. A document names its schema in its first field; that name is
    understood instead of COMMAND too. Within a version, fields are only added.

    \b
    Example:
      xmceval schema score
    """
    from xmceval.report.fields.documents import schema_json, schemas_table

    click.echo(schemas_table() if name is None else schema_json(name), nl=False)
