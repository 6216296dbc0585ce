"""``python -m xmceval``, and the installed command: the command line in a process of its own, which Ctrl-C ends."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any

# Where to look for what must not be left behind when a process ends at once.
CLEANING = {
    "xmceval.cli.ahead": "stop_ahead",
    "xmceval.files.writing.targets": "remove_unfinished",
    "xmceval.kernels.cache": "remove_unfinished",
}
INTERRUPTED = 130
OBJECTS = 200_000  # made before the garbage collector runs: a start makes 60,000, and has no garbage to speak of


def main() -> None:
    """Run the command line; until its work is done, Ctrl-C ends the process at once with exit code 130."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as behind a shell's &
        signal.signal(signal.SIGINT, _end)
    gc.set_threshold(OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no BLAS is used here, and its threads take time to start
    from xmceval.cli import main as run

    try:
        run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()  # nothing needs to be searched for garbage when the process ends


def _end(_number: int, _frame: Any) -> None:
    """Remove unfinished files and end.

    As an exception the signal could be lost, in a callback or a destructor, or close a file that a thread still reads;
    this way nothing runs afterwards, and nobody has to wait for a thread.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module, function in CLEANING.items():
        with suppress(Exception):
            getattr(sys.modules[module], function)()
    with suppress(OSError):
        os.write(2, b"\ninterrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
