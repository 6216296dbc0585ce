"""Signals at random moments, and copies of a process: fork and spawn."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from faults.harness import SCORE, XMCEVAL, Running, Tried, chosen, run, time_of

N_MOMENTS = 200
WRITE = [*SCORE, "--save-rows", "r.rows.npz"]


def signals_at_random_moments() -> Iterator[Tried]:
    """End a command that writes a file and prints a table, at 200 moments."""
    path = Path("r.rows.npz")
    time_of(*WRITE)  # which compiles what is not compiled yet
    path.unlink()
    begin = time.perf_counter()
    expected_out = run(*WRITE).out
    seconds = time.perf_counter() - begin
    content = path.read_bytes()
    before = set(os.listdir()) - {path.name}
    ways = ("SIGTERM", "SIGINT", "SIGPIPE", "closed pipe")
    for i in range(N_MOMENTS):
        path.unlink(missing_ok=True)
        way = ways[i % len(ways)]
        running = Running(WRITE)
        time.sleep(chosen.uniform(0, seconds))
        if way == "closed pipe":
            running.stop_reading()
        else:
            os.kill(running.pid, getattr(signal, way))
        ended = running.end()
        number = None if way == "closed pipe" else int(getattr(signal, way))
        codes = {0} if number in {None, signal.SIGPIPE} else {0, -number, 128 + number}
        is_sound = not path.exists() or path.read_bytes() == content
        is_sound &= ended.code != 0 or (path.exists() and (way == "closed pipe" or ended.out == expected_out))
        left = set(os.listdir()) - before - {path.name}
        held = ended.code in codes and is_sound and not left and "Traceback" not in ended.err
        words = (
            str(ended) if held else f"{ended}, {'' if is_sound else 'wrong, '}left {sorted(left)}: {ended.err[-99:]}"
        )
        expected = "the whole output, or its exit code; no half file and nothing left"
        yield Tried(f"{way} at a random moment", expected, words, held)


def signals_to_new_processes() -> Iterator[Tried]:
    """End processes that have just been started, while they load, compile, read, write and print."""
    path, caches = Path("r.rows.npz"), Path("caches")
    for is_compiled in (True, False):
        kept = os.environ if is_compiled else {**os.environ, "NUMBA_CACHE_DIR": str(caches.absolute())}
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": dict(kept)}
        path.unlink(missing_ok=True)
        begin = time.perf_counter()
        out = subprocess.run([*XMCEVAL, *WRITE], **options, check=True).stdout
        seconds = time.perf_counter() - begin
        content = path.read_bytes()
        before = set(os.listdir()) - {path.name}
        what = "a new process" if is_compiled else "a new process that compiles"
        for name in ("SIGTERM", "SIGINT", "SIGKILL") * (8 if is_compiled else 2):
            path.unlink(missing_ok=True)
            if not is_compiled:
                shutil.rmtree(caches)
            process = subprocess.Popen([*XMCEVAL, *WRITE], **options)
            time.sleep(chosen.uniform(0, seconds))
            number = getattr(signal, name)
            process.send_signal(number)
            printed, _ = process.communicate()
            is_sound = not path.exists() or path.read_bytes() == content
            is_sound &= process.returncode != 0 or (path.exists() and printed == out)
            left = set() if name == "SIGKILL" else set(os.listdir()) - before - {path.name, caches.name}
            path.unlink(missing_ok=True)
            begin = time.perf_counter()
            again = subprocess.run([*XMCEVAL, *WRITE], **options, check=False)
            seconds = min(seconds, time.perf_counter() - begin) if is_compiled else seconds
            is_back = (again.returncode, again.stdout) == (0, out) and path.read_bytes() == content
            left |= set(os.listdir()) - before - {path.name, caches.name}
            held = process.returncode in {0, -number, 128 + number} and is_sound and is_back and not left
            words = f"exit code {process.returncode}"
            words += "" if held else f", {'' if is_sound else 'wrong, '}{'' if is_back else 'not back, '}{sorted(left)}"
            yield Tried(f"{name} to {what}", "as above, and the next run writes the whole output", words, held)


def copies_of_a_process() -> Iterator[Tried]:
    """Score in a process, then in its copies by fork, spawn and forkserver, which must give the same."""
    for method in multiprocessing.get_all_start_methods():
        answers = _score_in_children(method)
        held = len(answers) == 3 and len(set(answers)) == 1 and "P@1" in answers[0]
        words = "equal" if held else f"{len(answers)} answers, {len(set(answers))} different"
        yield Tried(f"score, then in children by {method}", "the same bits", words, held)


def score_to(queue: multiprocessing.SimpleQueue[str]) -> None:
    """Score in this process, and send all digits of the values."""
    import xmceval

    queue.put(repr(dict(xmceval.score("t.txt", "a.txt", metrics="P"))))


def _score_in_children(method: str) -> list[str]:
    """Return the values of a process and of two children of it; no answer within a minute is none."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            import warnings

            warnings.simplefilter("ignore")
            context = multiprocessing.get_context(method)
            queue = context.SimpleQueue()
            children = [context.Process(target=score_to, args=(queue,)) for _ in range(2)]
            score_to(queue)
            for child in children:
                child.start()
            for child in children:
                child.join(60)
            answers = []
            while not queue.empty():
                answers.append(queue.get())
            os.write(writer, "\0".join(answers).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answers = file.read().decode().split("\0")
    os.waitpid(pid, 0)
    return answers


CASES = (signals_at_random_moments, signals_to_new_processes, copies_of_a_process)
