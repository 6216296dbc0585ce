"""The command ``xmceval warm``, which compiles all kernels."""

from __future__ import annotations

import click

from xmceval.cli import options
from xmceval.cli.messages import long_work
from xmceval.errors import XmcevalError, counted


@options.command("warm", short_help="Compile all kernels, for images and CI.")
def command() -> None:
    """Compile all kernels on all processors, so that later runs need not.

    They are saved in a folder in NUMBA_CACHE_DIR, or else among the caches of the user, which is printed.

    \b
    Example:
      xmceval warm
    """
    from xmceval.kernels import load
    from xmceval.rows.progress import phase

    if load.is_disabled():
        raise XmcevalError("NUMBA_DISABLE_JIT is set, so kernels are not compiled")
    folder = load.find_folder()
    if folder is None:
        raise XmcevalError(load.NO_FOLDER)
    names = list(load.all_kernels())
    with long_work(quiet=False), phase("compiling kernels", len(names)) as add:
        for _ in load.warm(names, folder):
            add(1)
    click.echo(f"{counted(len(names), 'kernel')} in {folder}")
