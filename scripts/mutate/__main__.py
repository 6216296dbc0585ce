"""Change the package in one place at a time, and count the changes that no test notices.

`python scripts/mutate` draws changes ("mutants") of functions of the rooms that numbers and verdicts come from, and
runs the tests that run a changed statement until one fails. Kernels run as plain Python, so that changes take effect.
It needs coverage (`pip install coverage`), which tells which lines a test runs.

With `--compiled`, kernels are compiled, and mutants of other rooms are tried: their tests take less, so that more of
them run. `--compiled --again` after a first run tries what survived there.

A run can be cut into parts: `--seconds 200` ends after that, and the same command continues. What survives is written
to `tests/survivors.tsv` with `--record`, how many to `datasets/mutants.json`; reasons that stand there are kept.

`--lines` tries no mutants: it prints how many lines of functions the tests run without compilation, and which they
leave out.

A mutant counts as noticed where a test fails that passes without it, in a process of its own, or where its tests take
far more processor time than they did. It is not noticed where no test runs its statement.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts"), str(ROOT / "tests")]

from mutate import running
from mutate.lines import print_lines
from mutate.mutants import Mutant, all_mutants
from mutate.record import read_reasons, write_record, write_survivors
from mutate.running import KEPT, MOST_OF_MUTANT, Tests, UnfinishedError, collect, digest_of, learn, run_forks, say

OUTCOMES = KEPT / "outcomes.jsonl"
WORDS = {running.SURVIVED: "", running.ENDED: "endless", running.STUCK_CODE: "", running.ABSENT: ""}


def draw(options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that are drawn, the same ones after changes elsewhere; what changes nothing is skipped."""

    def turn(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{options.seed} {mutant.key}".encode()).digest()

    everything = sorted(all_mutants(options.only), key=turn)
    drawn: list[Mutant] = []
    for mutant in everything:
        if len(drawn) == options.n:
            break
        if mutant.is_possible():
            drawn.append(mutant)
    return drawn


def read_outcomes() -> dict[tuple[str, str], str]:
    """Return what became of mutants: the test that noticed it, or nothing, by mutant and digest of its file."""
    if not OUTCOMES.exists():
        return {}
    rows = (json.loads(line) for line in OUTCOMES.read_text(encoding="utf-8").splitlines())
    return {(row[0], row[1]): row[2] for row in rows}


class Trial:
    """What `main` does with the tests that were collected."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.deadline = time.monotonic() + options.seconds
        self.is_finished = False
        self.outcomes = read_outcomes()
        self.drawn: list[Mutant] = []
        self.tests: Tests

    def __call__(self, items: list[Any]) -> None:
        """Learn the lines of tests, then try the mutants."""
        try:
            folder = KEPT / ("compiled" if self.options.compiled else "lines")
            self.tests = Tests(items, learn(items, self.options.jobs, self.deadline, folder), self.options.most)
            if not self.options.lines:
                self.drawn = draw(self.options)
                self._try_all()
            self.is_finished = True
        except UnfinishedError:
            say("time is over: the same command continues")

    def _try_all(self) -> None:
        OUTCOMES.parent.mkdir(parents=True, exist_ok=True)
        todo = [each for each in self.drawn if self._is_due(each)]
        say(f"{len(self.drawn):,} mutants, {len(todo):,} to try")
        while todo:  # a test that fails without a mutant too is left out, and the mutant tried again
            again: list[Mutant] = []
            suspects: dict[str, list[Mutant]] = {}
            try:
                for mutant, code in run_forks(self._jobs(todo), self.options.jobs, self.deadline):
                    name = (
                        self._place(mutant).read_text(encoding="utf-8")
                        if code == running.NOTICED and self._place(mutant).exists()
                        else ""
                    )
                    self._place(mutant).unlink(missing_ok=True)
                    if name and name not in self.tests.alone:
                        suspects.setdefault(name, []).append(mutant)
                    elif name and not self.tests.alone[name]:
                        again.append(mutant)
                    else:
                        self._keep(mutant, name or WORDS.get(code, "ended the process"))
            finally:
                self._clear(suspects, again)
            todo = again

    def _clear(self, suspects: dict[str, list[Mutant]], again: list[Mutant]) -> None:
        """Find out whether tests that noticed mutants pass alone and without."""
        place = KEPT / "alone"
        jobs = ((name, lambda name=name: self.tests.try_mutant(None, [name], place)) for name in suspects)
        for name, code in run_forks(jobs, self.options.jobs):
            self.tests.alone[name] = code == running.SURVIVED
            if code != running.SURVIVED:
                say(f"{name} fails alone, and is left out")
            for mutant in suspects[name]:
                if code == running.SURVIVED:
                    self._keep(mutant, name)
                else:
                    again.append(mutant)

    def _is_due(self, mutant: Mutant) -> bool:
        if self.options.compiled and mutant.file.startswith("xmceval/kernels/"):
            return False
        outcome = self.outcomes.get(self._name(mutant))
        return outcome is None or (self.options.again and not outcome)

    def _name(self, mutant: Mutant) -> tuple[str, str]:
        return mutant.key, digest_of(ROOT / mutant.file)

    def _place(self, mutant: Mutant) -> Path:
        return KEPT / f"noticed-{mutant.key.replace('/', '.')}"

    def _keep(self, mutant: Mutant, outcome: str) -> None:
        self.outcomes[self._name(mutant)] = outcome
        with OUTCOMES.open("a", encoding="utf-8") as file:
            file.write(json.dumps([*self._name(mutant), outcome]) + "\n")

    def _jobs(self, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Callable[[], int]]]:
        for number, mutant in enumerate(mutants, 1):
            if number % 50 == 0:
                say(f"{number} of {len(mutants)}")
            if names := self.tests.of(mutant):
                yield (
                    mutant,
                    lambda mutant=mutant, names=names: self.tests.try_mutant(mutant, names, self._place(mutant)),
                )
            else:  # not written: another test may run it next time
                self.outcomes[self._name(mutant)] = ""

    def outcome(self, mutant: Mutant) -> str:
        """What became of a mutant."""
        return self.outcomes.get(self._name(mutant), "")


def _row_of(mutant: Mutant) -> tuple[str, ...]:
    """Return what the table of survivors tells of a mutant beside the reason."""
    return mutant.file, mutant.function, *mutant.texts()


def main() -> int:
    """Run the tests, then the mutants, and print what became of them by room."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1000, help="how many mutants are drawn (default: 1,000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="of files whose path has this text")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="files or folders of tests (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at once (default: 2)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after that, to be continued")
    parser.add_argument(
        "--most", type=float, default=MOST_OF_MUTANT, help="processor seconds of the tests of a mutant (default: 5)"
    )
    parser.add_argument("--again", action="store_true", help="try once more what survived an earlier run")
    parser.add_argument("--compiled", action="store_true", help="with compiled kernels: mutants of other rooms")
    parser.add_argument("--lines", action="store_true", help="print which lines of functions all tests leave out")
    parser.add_argument("--record", action="store_true", help="write tests/survivors.tsv and datasets/mutants.json")
    options = parser.parse_args()
    is_plain = "0" if options.compiled else "1"
    if os.environ.get("NUMBA_DISABLE_JIT") != is_plain:
        settings = {"NUMBA_DISABLE_JIT": is_plain, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})
    os.chdir(ROOT)
    trial = Trial(options)
    collect(options.tests, trial, ignored=() if options.lines else running.OTHERS)
    if not trial.is_finished:
        return 75  # to be continued
    return report(trial)


def report(trial: Trial) -> int:
    """Print what became of the mutants, and record it."""
    tests, drawn = trial.tests, trial.drawn
    print(f"{len(tests.seconds):,} tests; left out: {len(tests.failed)} that fail, {len(tests.slow)} that are slow")
    print_lines(tests.all_lines(), has_missing=trial.options.lines)
    if trial.options.lines:
        return 0
    counts: Counter[tuple[str, str]] = Counter()
    for mutant in drawn:
        outcome = trial.outcome(mutant)
        what = {"": "survived", "endless": "endless"}.get(outcome, "noticed")
        counts[mutant.file.split("/")[1], what] += 1
    rooms = sorted({room for room, _ in counts})
    for room in rooms:
        n = sum(counts[room, what] for what in ("survived", "endless", "noticed"))
        print(f"{room:<12} {n - counts[room, 'survived']:>4} of {n:>4} noticed, {1 - counts[room, 'survived'] / n:.1%}")
    survivors = [mutant for mutant in drawn if not trial.outcome(mutant)]
    print(
        f"{'all':<12} {len(drawn) - len(survivors):>4} of {len(drawn):>4} noticed, "
        f"{1 - len(survivors) / len(drawn):.1%}"
    )
    reasons = read_reasons()
    for mutant in sorted(survivors, key=lambda each: each.key):
        row = _row_of(mutant)
        print("\t".join((*row, reasons.get(row) or ("no test runs it" if not tests.of(mutant) else "no reason yet"))))
    if trial.options.record:
        rows = {each.key: _row_of(each) for each in drawn}
        left = {rows[each.key] for each in survivors}
        write_survivors(left, set(rows.values()) - left, reasons)
        write_record(trial.options, counts, rooms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
