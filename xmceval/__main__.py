"""Run the command line as ``python -m xmceval`` or as the installed command, and end cleanly on signals."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import Any

# Signals that end the process, and the message it then prints; not every operating system has all of them.
ENDINGS = {"SIGTERM": b"\nterminated\n", "SIGHUP": b"\nhung up\n", "SIGINT": b"\ninterrupted\n"}
OBJECTS = 200_000  # made before the garbage collector runs: imports make 60,000, hardly any garbage


def main() -> None:
    """Run the command line; while it works, Ctrl-C ends the process at once with exit code 130.

    Other termination signals do the same, with exit code 128 plus the signal number: 143 for SIGTERM.
    """
    numbers = [getattr(signal, name) for name in ENDINGS if hasattr(signal, name)]
    for number in numbers:  # unless it is ignored, as under nohup or a shell's &
        if signal.getsignal(number) in {signal.SIG_DFL, signal.default_int_handler}:
            signal.signal(number, _end)
    gc.set_threshold(OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # BLAS is not used, and starting its threads takes time
    from xmceval.cli.main import main as run

    try:
        run()
    finally:
        for number in numbers:
            if signal.getsignal(number) is _end:
                signal.signal(number, signal.SIG_IGN if number == signal.SIGINT else signal.SIG_DFL)
        gc.freeze()  # saves the collection of garbage when the process ends


def _end(number: int, _frame: Any) -> None:
    """Remove unfinished files and end.

    Raising an exception instead could lose the signal in a callback or a destructor, or close a file that a
    thread still reads; this way nothing runs afterwards, and there is no thread to wait for.
    """
    for name in ENDINGS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    with suppress(Exception):
        sys.modules["xmceval.files.io.streams"].remove_all()  # if it is loaded
    with suppress(OSError):
        os.write(2, ENDINGS[signal.Signals(number).name])
    os._exit(128 + number)


if __name__ == "__main__":
    main()
