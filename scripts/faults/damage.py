"""Flipped bits: 10,000 in states and saved rows, and in compiled kernels by kernelcaches.py, none of which may
be taken for another result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from faults.harness import SCORE, Tried, chosen, run


def flipped(content: bytes) -> bytes:
    """Return a content with one bit flipped."""
    damaged = bytearray(content)
    damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
    return bytes(damaged)


def flipped_bits_of_files() -> Iterator[Tried]:
    """Flip bits of what xmceval writes with a digest or checksums, and reads back."""
    from xmceval.files.saved.rowvalues import read_row_values
    from xmceval.files.saved.statefiles import from_bytes

    def read_rows(content: bytes) -> tuple[object, ...]:
        Path("x.rows.npz").write_bytes(content)
        table = read_row_values("x.rows.npz")
        return table.systems, table.metrics, table.rows, table.values.tobytes(), table.weights.tobytes(), table.meta

    def read_state(content: bytes) -> object:
        return from_bytes(content, "it") and None

    run("score", "t.txt", "a.txt", "-q", "-m", "P,macroF1", "--save-state", "s.state")
    run(*SCORE, "--save-rows", "r.rows.npz")
    warnings.simplefilter("ignore")
    yield from _flip("a state", Path("s.state").read_bytes(), 4000, read_state, may_be_same=False)
    yield from _flip("saved rows, .npz", Path("r.rows.npz").read_bytes(), 3000, read_rows, may_be_same=True)


def _flip(
    what: str, content: bytes, n_times: int, read: Callable[[bytes], object], *, may_be_same: bool
) -> Iterator[Tried]:
    from xmceval.errors import XmcevalError

    expected = read(content)
    for _ in range(n_times):
        try:
            is_same = read(flipped(content)) == expected
            words, held = f"accepted with {'the same' if is_same else 'other'} values", is_same and may_be_same
        except XmcevalError:
            words, held = "refused", True
        except Exception as error:
            words, held = f"{type(error).__name__}, not a message", False
        yield Tried(f"a bit of {what}", f"refused{', or the same values' if may_be_same else ''}", words, held)


CASES = (flipped_bits_of_files,)
