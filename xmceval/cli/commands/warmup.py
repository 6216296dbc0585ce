"""``xmceval warmup``: all kernels compiled ahead, such as for the image of a container."""

from __future__ import annotations

import click

from xmceval.cli import options
from xmceval.cli.runner import start
from xmceval.errors import DataError, counted


@options.command("warmup", short_help="Compile ahead of time, for example in a container image.")
@options.quiet
def command(quiet: bool) -> None:
    """Compile ahead of time what other commands would compile when they first need it.

    Compiled code is saved in NUMBA_CACHE_DIR, beside the package, or in the user's cache: the first of them that can
    be written to. It takes about 20 seconds, or one second if all is saved already. In a Dockerfile, run it after the
    installation, as the same user.

    \b
    Example:
      xmceval warmup
    """
    start(quiet=True)
    from xmceval.api.precompile import precompile

    done = precompile()
    if not done.n_kernels:
        raise DataError("compiling is switched off (hint: unset NUMBA_DISABLE_JIT)")
    if done.folder is None:
        raise DataError("no folder for compiled kernels can be written (hint: set NUMBA_CACHE_DIR)")
    if not quiet:
        compiled = f"{done.n_compiled:,} compiled now" if done.n_compiled else "all compiled before"
        click.echo(f"{counted(done.n_kernels, 'kernel')} in {done.folder}: {compiled}")
