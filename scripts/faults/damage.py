"""Flipped bits and lost ends: of states and saved rows, and of compiled kernels by kernelcaches.py; none of them may
be taken for another result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from faults.harness import Tried, chosen, run


def flipped(content: bytes) -> bytes:
    """Return a content with one bit flipped."""
    damaged = bytearray(content)
    damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
    return bytes(damaged)


def flipped_bits_of_files() -> Iterator[Tried]:
    """Flip bits of what xmceval writes with a digest or checksums, and reads back."""
    warnings.simplefilter("ignore")
    for ending, n_times in (("state", 4000), ("npz", 2500), ("jsonl", 500)):
        yield from _damage(f"a bit of {_words(ending)}", ending, n_times, flipped, may_be_same=ending != "state")


def lost_ends_of_files() -> Iterator[Tried]:
    """Cut what xmceval writes and reads back, at some byte; CSV, which has no checksum, counts its rows."""
    warnings.simplefilter("ignore")
    for ending in ("state", "npz", "jsonl", "csv"):
        yield from _damage(f"{_words(ending)} without their end", ending, 250, cut, may_be_same=ending != "state")


def _words(ending: str) -> str:
    return "states" if ending == "state" else f"saved rows, .{ending}"


def cut(content: bytes) -> bytes:
    """Return a content without its end: at any byte, or at the end of any line."""
    size = chosen.randrange(len(content))
    return content[: content.rfind(b"\n", 0, size) + 1 if chosen.randrange(2) else size]


def _read(ending: str, content: bytes) -> object:
    """Return what a file holds."""
    from xmceval.files.saved.rowvalues import read_row_values
    from xmceval.files.saved.statefiles import from_bytes

    if ending == "state":
        return from_bytes(content, "it") and None
    Path(f"x.rows.{ending}").write_bytes(content)
    table = read_row_values(f"x.rows.{ending}")
    return table.systems, table.metrics, table.rows, table.values.tobytes(), table.weights.tobytes(), table.meta


def _damage(
    what: str, ending: str, n_times: int, damage: Callable[[bytes], bytes], *, may_be_same: bool
) -> Iterator[Tried]:
    from xmceval.errors import XmcevalError

    path = Path(f"whole.{ending}")
    if ending == "state":
        run("score", "t.txt", "a.txt", "-q", "-m", "P,macroF1", "--save-state", str(path))
    else:
        run("compare", "t.txt", "a.txt", "b.txt", "-q", "-m", "P,PSP", "--save-rows", str(path))
    content = path.read_bytes()
    expected = _read(ending, content)
    for _ in range(n_times):
        try:
            is_same = _read(ending, damage(content)) == expected
            words, held = f"accepted with {'the same' if is_same else 'other'} values", is_same and may_be_same
        except XmcevalError:
            words, held = "refused", True
        except Exception as error:
            words, held = f"{type(error).__name__}, not a message", False
        yield Tried(what, f"refused{', or the same values' if may_be_same else ''}", words, held)


CASES = (flipped_bits_of_files, lost_ends_of_files)
