"""Options that several commands have."""

from __future__ import annotations

import click

form = click.option(
    "-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Form of the output."
)

force = click.option("--force", is_flag=True, help="Overwrite DST.")

threads = click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Number of threads.  [default: one per processor]"
)
