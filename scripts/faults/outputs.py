"""Faults while outputs are written: killed, a full disk, closed streams."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from itertools import chain, combinations
from pathlib import Path

from faults.harness import SCORE, Running, Tried, chosen, run, small_disk, time_of

# By the name of the file: the command that writes it, in which the last word is replaced by it.
KINDS = {
    **{f"r.rows.{ending}": [*SCORE, "--save-rows", ""] for ending in ("npz", "csv", "jsonl")},
    **{f"l.{ending}": [*SCORE, "--save-labels", ""] for ending in ("npz", "csv", "jsonl")},
    "s.state": ["score", "t.txt", "a.txt", "-q", "-m", "P", "--save-state", ""],
    **{name: ["convert", "a.txt", ""] for name in ("c.npz", "c.txt", "c.txt.gz", "c.txt.bz2", "c.txt.xz")},
    "p.txt": ["propensity", "t.txt", ""],
    "f.npz": ["fuse", "a.txt", "b.txt", ""],
    "h.txt": ["threshold", "t.txt", "a.txt", ""],
    "plot.png": ["score", "t.txt", "a.txt", "-q", "-m", "P", "--plot", ""],
    "page.html": ["report", "t.txt", "a.txt", "-q", "-m", "P", "--no-inspect", "--html", ""],
}
BENCHMARK = """
metrics = "P"
[datasets.sample]
folder = "."
truth = "t.txt"
[systems]
a = "{dataset}/a.txt"
b = "{dataset}/b.txt"
"""
ALL_OR_NOTHING = "no file, or the whole one; the next run writes it and leaves nothing else"
EACH_WHOLE = "each page is whole or not there; the next run gives the same and leaves nothing else"
REFUSED = "a message with the name of the file, and nothing left"


def writing(name: str, folder: Path = Path()) -> list[str]:
    """Return the command that writes a file."""
    return [*KINDS[name][:-1], str(folder / name)]


def is_whole(path: Path, content: bytes) -> bool:
    """Whether a file has its content; that of a page has times in it."""
    found = path.read_bytes()
    return found.endswith(content[-8:]) and len(found) == len(content) if path.suffix == ".html" else found == content


def contents(name: str) -> bytes:
    """Return what a command writes that is left alone."""
    ended = run(*writing(name))
    if ended.code:
        raise RuntimeError(f"{name}: {ended.err}")
    content = Path(name).read_bytes()
    Path(name).unlink()
    return content


def killed_while_writing() -> Iterator[Tried]:
    """Kill at some bytes of each output, by a limit whose signal nobody handles, then at random moments."""
    at_a_byte = f"killed at some byte of {len(KINDS)} kinds of output"
    at_random = "SIGKILL at random moments of the same"
    for name in KINDS:
        content = contents(name)
        before = set(os.listdir())
        for n_bytes in (0, len(content) // 2, len(content) - 1):
            ended = run(*writing(name), before=lambda n_bytes=n_bytes: _limit_files(n_bytes))
            yield _judge_kill(
                at_a_byte,
                name,
                content,
                before,
                ended.code == -signal.SIGXFSZ,
            )
        seconds = time_of(*writing(name))
        Path(name).unlink()
        for _ in range(3):
            is_killed = _kill_within(seconds, writing(name))
            yield _judge_kill(at_random, name, content, before, is_killed)


def _limit_files(n_bytes: int) -> None:
    """Let a signal that nobody handles end this process once a file has more bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))


def _kill_within(seconds: float, command: list[str]) -> bool:
    """Kill a command at a random moment; return whether that is how it ended, if it had not finished."""
    running = Running(command)
    time.sleep(chosen.uniform(0, seconds))
    os.kill(running.pid, signal.SIGKILL)
    return running.end().code in {0, -signal.SIGKILL}


def _judge_kill(what: str, name: str, content: bytes, before: set[str], was_as_meant: bool) -> Tried:
    path = Path(name)
    exists = path.exists()
    is_sound = not exists or is_whole(path, content)
    path.unlink(missing_ok=True)
    run(*writing(name))
    is_back = path.exists() and is_whole(path, content)
    path.unlink(missing_ok=True)
    left = set(os.listdir()) - before
    for each in left:
        Path(each).unlink()
    words = f"{'whole' if exists else 'no'} file" if is_sound else "a part of the file"
    words += "" if is_back and not left else f"; then not written, or left: {sorted(left)}"
    held = was_as_meant and is_sound and is_back and not left
    return Tried(what, ALL_OR_NOTHING, words if held else f"{name}: {words}", held)


def killed_in_a_benchmark() -> Iterator[Tried]:
    """Kill a benchmark, which writes pages and keeps results, at some byte of a file, then at random moments."""
    Path("benchmark.toml").write_text(BENCHMARK)
    command = ["benchmark", "-q", "--pages", "pages"]
    kept = [Path("pages"), Path(".xmceval")]

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for each in kept for path in each.rglob("*") if path.is_file()}

    def clear() -> None:
        for each in kept:
            shutil.rmtree(each, ignore_errors=True)

    def judge(what: str, *, was_as_meant: bool) -> Tried:
        halves = [path for path, content in files().items() if path in pages and not is_whole(path, pages[path])]
        again = run(*command)
        words = [f"a part of {path}" for path in halves]
        words += [] if again.out == whole.out else [f"then {again}, other output"]
        words += [f"then {path} was left or missing" for path in written ^ files().keys()]
        words += [] if was_as_meant else ["ended otherwise"]
        clear()
        return Tried(what, EACH_WHOLE, ", ".join(words) or "as expected", not words)

    seconds = time_of(*command)
    whole = run(*command)
    written = files().keys()
    pages = {path: content for path, content in files().items() if path.suffix == ".html"}
    clear()
    for n_bytes in (0, 100, *(len(content) - 1 for content in pages.values())):
        ended = run(*command, before=lambda n_bytes=n_bytes: _limit_files(n_bytes))
        yield judge("killed at some byte of a page or a kept result", was_as_meant=ended.code == -signal.SIGXFSZ)
    for _ in range(40):
        yield judge("SIGKILL at random moments", was_as_meant=_kill_within(seconds, command))


def full_disks() -> Iterator[Tried]:
    """Write each output to a disk of one page, and to /dev/full."""
    what = f"a full disk, {len(KINDS)} kinds of output"
    for name in KINDS:
        content = contents(name)
        with small_disk(Path("full"), 4096) as disk:
            if disk is None:
                yield Tried(what, REFUSED, "a file system cannot be mounted here", None)
                continue
            filler = disk / "filler"
            filler.write_bytes(b"x" * (4096 if len(content) <= 4096 else 1))
            ended = run(*writing(name, disk))
            left = set(os.listdir(disk)) - {"filler"}
            held = ended.is_refusal and name in ended.err and "No space left" in ended.err and not left
            yield Tried(what, REFUSED, str(ended) if held else f"{name}: {ended}, left {sorted(left)}", held)
    for command in (SCORE, ["convert", "a.txt", "-"], ["metrics"], [*SCORE, "-o", "json"]):
        ended = run(*command, before=lambda: os.dup2(os.open("/dev/full", os.O_WRONLY), 1))
        held = ended.is_refusal and "No space left" in ended.err
        yield Tried("standard output to /dev/full", "a message, exit code 1", str(ended), held)


def closed_streams() -> Iterator[Tried]:
    """Close each set of the standard streams."""
    content = contents("r.rows.npz")
    expected = run(*SCORE).out
    for closed in chain.from_iterable(combinations(("stdin", "stdout", "stderr"), n) for n in (1, 2, 3)):

        def close(closed: tuple[str, ...] = closed) -> None:
            for place, name in enumerate(("stdin", "stdout", "stderr")):
                if name in closed:
                    os.close(place)
                    setattr(sys, name, None)

        ended = run(*writing("r.rows.npz"), before=close)
        path = Path("r.rows.npz")
        is_written = path.exists() and path.read_bytes() == content
        path.unlink(missing_ok=True)
        held = ended.code == 0 and is_written and ("stdout" in closed or ended.out == expected)
        words = "as expected" if held else f"{ended}, {'whole' if is_written else 'wrong'} file"
        yield Tried(f"closed {', '.join(closed)}", "the file and the output as usual", words, held)


CASES = (killed_while_writing, killed_in_a_benchmark, full_disks, closed_streams)
