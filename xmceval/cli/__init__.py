"""The command line: one file a command; errors become exit codes in one place."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

COMMANDS = {"score": "Score predictions against the truth."}


class _Lazy(click.Group):
    """A group whose commands are imported when they are run, so that --help loads nothing heavy."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"xmceval.cli.{name}").command
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="xmceval", prog_name="xmceval")
def cli() -> None:
    """Evaluate extreme multi-label classification: exact, sparse, in constant memory."""


def main(args: list[str] | None = None) -> Any:
    """Run the command line: exit 0 fine, 1 wrong data, 2 wrong usage, 130 interrupted."""
    from xmceval.errors import UsageError, XmcevalError

    try:
        return cli.main(args, prog_name="xmceval", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = 130
    except XmcevalError as error:
        click.echo(f"Error: {error}", err=True)
        code = 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        # The reader of our output has left: that is its right. Nothing more may be written, not even at exit.
        sys.stdout = open("/dev/null", "w")  # noqa: PTH123, SIM115
        code = 0
    except click.exceptions.Exit as leave:
        code = leave.exit_code
    sys.exit(code)
