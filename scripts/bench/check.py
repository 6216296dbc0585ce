"""A small bench for CI: processor time of scoring made data, in units of a plain loop that this process compiles.

The loop reads the bytes of the predictions and looks up each number, so that it waits for memory as scoring does. Both
are measured in turns in one thread, and the least times are compared: how fast or busy the machine is divides out. The
check fails where a ratio is more than LIMIT times the recorded one, also when it is measured again.
`python -m bench.check --record` writes the ratios beside this file, `--seconds` only prints the times.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numba
import numpy as np
from bench import data
from bench.measure import machine, provenance, write

import xmceval

RECORDED = Path(__file__).with_name("check.json")
LIMIT, LIMIT_ELSEWHERE = 1.5, 3.0  # the second on another processor than the recorded one
TURNS, ROUNDS = 9, 3  # turns of a round; rounds until all is within the limit
TABLE = 1 << 20  # numbers that the loop looks up: as far apart in memory as propensities of a million labels
SHAPE = data.Shape(data.ROWS_PER_CHUNK, 131_073, 5.4, data.ROWS_PER_CHUNK, 5.4)
MANY = ["P", "R", "RP", "F1", "Hit", "RR", "AP", "nDCG", "PSP", "PSR", "PSDCG", "PSnDCG"]

Calls = dict[str, Callable[[], object]]
Seconds = dict[str, float]


@numba.njit(nogil=True)
def add_numbers(text, table):
    """Add up what a table has for each whole number in a text, a byte at a time."""
    total = 0.0
    number = np.uint64(0)
    for i in range(text.size):
        digit = np.uint64(text[i]) - np.uint64(48)
        if digit < 10:
            number = number * np.uint64(10) + digit
        else:
            total += table[number % np.uint64(table.size)]
            number = np.uint64(0)
    return total


def make_calls(folder: Path) -> Calls:
    """Return what is measured: the reference first."""
    kinds = ("truth", "preds", "train")
    matrices, paths = [data.make_matrix(SHAPE, kind) for kind in kinds], [folder / f"{kind}.txt" for kind in kinds]
    for kind, matrix, path in zip(kinds, matrices, paths, strict=True):
        data.write(matrix, path, kind)
    text = np.frombuffer(paths[1].read_bytes(), np.uint8)
    truth, preds, train = (matrix.astype(np.float32) for matrix in matrices)
    logits = np.random.default_rng(0).standard_normal((64, SHAPE.labels), dtype=np.float32)
    score = partial(xmceval.score, threads=1, k=[1, 3, 5])
    return {
        "reference": partial(add_numbers, text, np.random.default_rng(1).random(TABLE)),
        "text": partial(score, paths[0], paths[1], train=paths[2]),
        "matrices": partial(score, truth, preds, train=train),
        "metrics": partial(score, truth[:4096], preds[:4096], train=train, metrics=MANY),
        "labels": partial(score, truth[:4096], preds[:4096], metrics=["macroF1", "coverage"]),
        "whole rows": partial(score, truth[:4096], preds[:4096], metrics=["LRAP", "AUC"]),
        "logits": partial(score, truth[:64], logits, metrics=["P", "nDCG"]),
    }


def measure(calls: Calls, least: Seconds) -> None:
    """Lower the least processor times in some turns."""
    for _ in range(TURNS):
        for name, call in calls.items():
            start = time.process_time()
            call()
            least[name] = min(least.get(name, np.inf), time.process_time() - start)


def ratios(least: Seconds) -> Seconds:
    """Return times in units of the reference."""
    return {name: seconds / least["reference"] for name, seconds in least.items() if name != "reference"}


def find_slow(calls: Calls, least: Seconds) -> list[str]:
    """Measure until all calls are within the limit, print a table, and return those that are not."""
    kept = json.loads(RECORDED.read_text(encoding="utf-8"))
    limit = LIMIT if kept["processor"] == machine()["processor"] else LIMIT_ELSEWHERE
    for _ in range(ROUNDS):
        measure(calls, least)
        times = {name: ratio / kept["ratios"][name] for name, ratio in ratios(least).items()}
        if max(times.values()) <= limit:
            break
    print(f"{'':<12}{'ms':>9}{'/ reference':>13}{'/ recorded':>12}")
    for name, seconds in least.items():
        print(f"{name:<12}{1e3 * seconds:>9.1f}{seconds / least['reference']:>13.3f}{times.get(name, 1):>12.2f}")
    slow = [name for name in times if times[name] > limit]
    if slow:
        print(f"{', '.join(slow)}: more than {limit} times as slow as recorded ({kept['date']}, {RECORDED.name})")
    return slow


def main() -> None:
    """Do what the argument says, and print the least seconds, or which calls are slow, as JSON."""
    warnings.simplefilter("ignore", xmceval.XmcevalWarning)
    least: Seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        calls = make_calls(Path(folder))
        for call in calls.values():  # what is compiled or loaded once does not count
            call()
        if len(sys.argv) == 1:
            print(json.dumps(find_slow(calls, least)))
            return
        for _ in range(1 if "--seconds" in sys.argv else ROUNDS):
            measure(calls, least)
    if "--record" in sys.argv:
        found, now = {name: round(ratio, 5) for name, ratio in ratios(least).items()}, provenance()
        write(RECORDED, {"date": now["date"], "processor": now["machine"]["processor"], "ratios": found})
    print(json.dumps(least))


if __name__ == "__main__":
    main()
