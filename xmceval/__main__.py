"""Run the command line as ``python -m xmceval`` or as the installed command, and end cleanly on signals."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any

# Where to look for what must not be left behind when a process ends at once.
CLEANING = {
    "xmceval.files.io.write": "remove_unfinished",
    "xmceval.files.io.copies": "delete_copies",
}
# Signals that end the process, and what it then writes; not every system has all of them.
ENDINGS = {"SIGTERM": b"\nterminated\n", "SIGHUP": b"\nhung up\n", "SIGINT": b"\ninterrupted\n"}
OBJECTS = 200_000  # made before the garbage collector runs: a start makes 60,000, and has no garbage to speak of


def main() -> None:
    """Run the command line; until its work is done, Ctrl-C ends the process at once with exit code 130.

    So do other requests to end, with 128 and the number of the signal: 143 for SIGTERM.
    """
    numbers = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    for number in numbers:  # not where it is ignored, as behind nohup or a shell's &
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _end)
    gc.set_threshold(OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no BLAS is used here, and its threads take time to start
    from xmceval.cli.main import main as run

    try:
        run()
    finally:
        for number in numbers:
            if signal.getsignal(number) is _end:
                signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
        gc.freeze()  # nothing needs to be searched for garbage when the process ends


def _end(number: int, _frame: Any) -> None:
    """Remove unfinished files and end.

    As an exception the signal could be lost, in a callback or a destructor, or close a file that a thread still reads;
    this way nothing runs afterwards, and there is no thread to wait for.
    """
    for name in ENDINGS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    for module, function in CLEANING.items():
        with suppress(Exception):
            getattr(sys.modules[module], function)()
    with suppress(OSError):
        os.write(2, ENDINGS[signal.Signals(number).name])
    os._exit(128 + number)


if __name__ == "__main__":
    main()
