"""The command line: one file a command; errors become exit codes in one place."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Sequence

import click

COMMANDS = {
    "score": "Score predictions against the truth.",
    "auc": "AUC of a CSV of group,label,score.",
    "inspect": "Tell what files are, and whether they are sound.",
    "convert": "Write truth or predictions in another form.",
    "propensity": "Write the inverse propensities of training labels.",
    "metrics": "List the metrics, or explain some of them.",
    "datasets": "List the public data sets, or show some of them.",
}


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


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line: exit 0 fine, 1 wrong data, 2 wrong usage, 130 interrupted."""
    with contextlib.suppress(AttributeError):  # a stream of someone's own
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Not cli.main(), which would end a closed pipe with exit code 1.
    try:
        with cli.make_context("xmceval", list(sys.argv[1:] if args is None else args)) as context:
            cli.invoke(context)
        code = 0
    except click.exceptions.Exit as leave:
        code = leave.exit_code
    except BrokenPipeError:
        # The reader of our output has left: that is its right. Nothing more may be written, not even at exit.
        sys.stdout = io.StringIO()
        code = 0
    except (KeyboardInterrupt, click.Abort):
        click.echo("\ninterrupted", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (ValueError, OSError, MemoryError) as error:
        code = _tell(error)
    sys.exit(code)


def _tell(error: Exception) -> int:
    """Write an error that is no mistake of the program to stderr, and return its exit code."""
    from xmceval.errors import UsageError, XmcevalError

    if isinstance(error, MemoryError):
        click.echo(f"Error: not enough memory ({error})", err=True)
    elif isinstance(error, OSError):
        click.echo(f"Error: {error.filename or 'cannot write the output'}: {error.strerror or error}", err=True)
    elif isinstance(error, XmcevalError):
        click.echo(f"Error: {error}", err=True)
    else:
        raise error
    return 2 if isinstance(error, UsageError) else 1
