"""The entry point of the command line, with the table of commands and the exit codes."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from xmceval.errors import UsageError, XmcevalError, describe_failure, escaped, naming_flags
from xmceval.files.io.addresses import redacted

# Commands by section of the help, and where they live: loaded when used, so that help costs little.
SECTIONS = {
    "Evaluation": {
        "score": "xmceval.cli.score:command",
        "compare": "xmceval.comparison.command:command",
        "benchmark": "xmceval.benchmarks.command:command",
        "merge": "xmceval.loops.command:command",
    },
    "Files": {
        "inspect": "xmceval.inspection.command:command",
        "convert": "xmceval.conversion.command:command",
    },
    "Reference": {
        "metrics": "xmceval.cli.listings:metrics",
        "datasets": "xmceval.cli.listings:datasets",
        "guide": "xmceval.cli.listings:guide",
    },
    "Installation": {"warm": "xmceval.cli.warm:command"},
}
COMMANDS = {name: home for commands in SECTIONS.values() for name, home in commands.items()}
WIDEST = 100  # columns of help on wider terminals
COMPLETION = "_XMCEVAL_COMPLETE"  # variable with which a shell asks for completions, or for its script


class _LazyGroup(click.Group):
    """A group that imports a command only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in sections."""
        width = max(map(len, COMMANDS))
        for section, names in SECTIONS.items():
            commands = [command for name in names if (command := self.get_command(ctx, name))]
            with formatter.section(section):
                formatter.write_dl(
                    [(str(command.name).ljust(width), command.get_short_help_str(WIDEST)) for command in commands]
                )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words of the command line, to show them on a page."""
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; the message about one that does not exist names a similar one."""
        similar = [] if args[0] in COMMANDS else difflib.get_close_matches(args[0], COMMANDS, 1)
        if similar:
            raise click.UsageError(f"No such command {args[0]!r}; did you mean {similar[0]}?", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; messages name its options."""
        with naming_flags():
            return super().invoke(ctx)


class _LossyFile(io.FileIO):
    """Standard error that drops what cannot be written: no message changes the exit code or the output."""

    def write(self, data: Any) -> int:
        """Write bytes, or drop them if nobody reads them, or there is no room."""
        written = None  # remains None if a pipe is full and does not block
        with contextlib.suppress(OSError):
            written = super().write(data)
        return len(data) if written is None else written


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    epilog="New here? Read xmceval guide start.",
)
@click.version_option(package_name="xmceval", prog_name="xmceval")
def cli() -> None:
    """Evaluate extreme multi-label classification: exact, sparse, in constant memory.

    \b
    Example:
      xmceval score tst_X_Y.txt predictions.txt --train trn_X_Y.txt
    """


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line; exit code 0 for success, 1 for wrong data, 2 for wrong usage, 130 if interrupted."""
    # Cron and daemons may close standard streams: the next files to be opened would get their descriptors, and
    # messages would be written into them. A command that reads standard input still fails.
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which this stream had
            if name != "stdin":
                lost = open(number, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
                setattr(sys, name, lost)
    with contextlib.suppress(AttributeError):  # stdout may be replaced by another kind of stream
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    stderr = sys.__stderr__
    if stderr is not None and sys.stderr is stderr and os.name == "posix":
        lossy = io.BufferedWriter(_LossyFile(2, "w", closefd=False))
        sys.stderr = io.TextIOWrapper(lossy, stderr.encoding, stderr.errors, line_buffering=True)
    code = 0
    # Not cli.main(), which would end a closed pipe with exit code 1.
    try:
        if instruction := os.environ.get(COMPLETION):
            from click.shell_completion import shell_complete

            code = shell_complete(cli, {}, "xmceval", COMPLETION, instruction)
        else:
            with cli.make_context("xmceval", list(sys.argv[1:] if args is None else args)) as context:
                cli.invoke(context)
    except click.exceptions.Exit as leave:
        code = leave.exit_code
    except BrokenPipeError:  # the reader of stdout, such as head, has closed the pipe
        pass
    except (KeyboardInterrupt, click.Abort):
        click.echo("\ninterrupted", err=True)
        code = 130
    except click.ClickException as error:
        if not isinstance(error, click.exceptions.NoArgsIsHelpError):  # its message is the help
            error.message = escaped(redacted(error.message))  # type: ignore[misc]  # click declares it as final
        error.show()
        code = error.exit_code
    except (ValueError, OSError, MemoryError) as error:
        message = describe_failure(error)
        message = redacted(message) if isinstance(error, XmcevalError) else escaped(message)
        click.echo(f"Error: {message}", err=True)
        code = 2 if isinstance(error, UsageError) else 1
    try:
        sys.stdout.flush()
    except OSError:  # as before; Python would try once more, and end with its own exit code
        sys.stdout = io.StringIO()
    sys.exit(code)
