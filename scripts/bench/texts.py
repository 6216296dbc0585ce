"""How fast text of each kind is read, by one thread: `python -m bench.texts FOLDER KIND` prints bytes and seconds.

Without KIND it makes the files, unless they are there, and prints the kinds as JSON. Rows are 100,000 of 60 labels of
300,000, whose names have 6 to 30 bytes; runs have 4,000 queries of 500 documents of a million. What is timed is from
the path to arrays of all rows, block by block.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import xmceval

ROWS, WIDTH, LABELS = 100_000, 60, 300_000
QUERIES, DEPTH, DOCUMENTS = 4_000, 500, 1_000_000
PART = 1_000  # rows that are made at once

Lines = Iterator[str]


class Kind(NamedTuple):
    """How lines of a kind are made, whether they are predictions, and which other file they need."""

    make: Callable[[], Lines]
    are_scores: bool = True
    names: bool = False
    qrels: str = ""


def names() -> list[str]:
    """Return a name for each label."""
    rng = np.random.default_rng(1)
    letters = rng.integers(97, 123, (LABELS, 30), dtype=np.uint8).tobytes().decode()
    sizes = rng.integers(0, 25, LABELS).tolist()
    return [f"{label:06d}{letters[30 * label : 30 * label + size]}" for label, size in enumerate(sizes)]


def rows() -> Iterator[tuple[list[int], list[float]]]:
    """Yield labels, all different, and falling scores of each row."""
    rng = np.random.default_rng(0)
    for _ in range(ROWS // PART):
        steps = rng.integers(1, LABELS // WIDTH, (PART, WIDTH))
        labels = rng.permuted(np.cumsum(steps, axis=1), axis=1)
        yield from zip(labels.tolist(), np.sort(rng.random((PART, WIDTH)), axis=1)[:, ::-1].tolist(), strict=True)


def joined(form: str, separator: str = " ", around: str = "{}", *, has_names: bool = False) -> Callable[[], Lines]:
    """Return what makes a line of each row from what is written for each label."""

    def make() -> Lines:
        shown = names() if has_names else range(LABELS)
        for labels, scores in rows():
            pairs = zip(labels, scores, strict=True)
            yield around.replace("{}", separator.join(form % {"l": shown[label], "s": s} for label, s in pairs))

    return make


def documents() -> Iterator[tuple[int, list[int], list[float]]]:
    """Yield a query, its documents and their falling scores."""
    rng = np.random.default_rng(0)
    for query in rng.permutation(1_000_000)[:QUERIES].tolist():
        found = rng.choice(DOCUMENTS, DEPTH, replace=False).tolist()
        yield query, found, np.sort(rng.random(DEPTH) * 20)[::-1].tolist()


def run() -> Lines:
    """Make a TREC run."""
    for query, found, scores in documents():
        for rank, (document, score) in enumerate(zip(found, scores, strict=True), 1):
            yield f"{query} Q0 D{document:07d} {rank} {score:.6f} made"


def qrels() -> Lines:
    """Make the qrels of the run."""
    for query, found, _ in documents():
        for document in found[::10]:
            yield f"{query} 0 D{document:07d} 1"


PAIR, ENTRY = "[%(l)d, %(s).6f]", '{"label": %(l)d, "score": %(s).6f}'
KINDS = {
    "id:value": Kind(joined("%(l)d:%(s).6f")),
    "label score": Kind(joined("%(l)d %(s).6f", "\t")),
    "ids": Kind(joined("%(l)d"), are_scores=False),
    "names": Kind(joined("%(l)s", has_names=True), names=True),
    "names, tabs": Kind(joined("%(l)s", "\t", has_names=True), names=True),
    "fastText names": Kind(joined("__label__%(l)s", has_names=True), are_scores=False, names=True),
    "JSON target_ind": Kind(joined("%(l)d", ", ", '{"target_ind": [{}]}'), are_scores=False),
    "JSON data": Kind(joined(PAIR, ", ", '{"data": [{}]}')),
    "JSON data, long scores": Kind(joined("[%(l)d, %(s)r]", ", ", '{"data": [{}]}')),
    "JSON [{label, score}]": Kind(joined(ENTRY, ", ", "[{}]")),
    "JSON data, names": Kind(joined('["%(l)s", %(s).6f]', ", ", '{"data": [{}]}', has_names=True), names=True),
    "JSON [{label, score}], names": Kind(
        joined('{"label": "%(l)s", "score": %(s).6f}', ", ", "[{}]", has_names=True), names=True
    ),
    "TREC qrels": Kind(qrels, are_scores=False),
    "TREC run": Kind(run, qrels="TREC qrels"),
}


def path_of(folder: Path, kind: str) -> Path:
    """Return the file of a kind."""
    return folder / f"{''.join(c if c.isalnum() else '-' for c in kind)}.txt"


def write(path: Path, lines: Lines) -> None:
    """Write lines, unless the file is there; it appears under its name when it is whole."""
    if not path.exists():
        print(f"making {path}", file=sys.stderr)
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        part.replace(path)


def read(folder: Path, name: str) -> Callable[[], int]:
    """Return what reads a file, and tells how many entries it has."""
    from xmceval.files.opening import open_scores, open_truth
    from xmceval.files.sidecars.labelnames import read_names
    from xmceval.rows.block import Scratch

    kind, path, scratch = KINDS[name], path_of(folder, name), Scratch()
    known = read_names(path_of(folder, "names of labels")) if kind.names else None
    judgments = open_truth(path_of(folder, kind.qrels)).judgments if kind.qrels else None

    def parse() -> int:
        if kind.are_scores:
            source = open_scores(path, names=known, judgments=judgments).source
        else:
            source = open_truth(path, names=known).source
        return sum(int(block.stored.parse(scratch).indptr[block.stored.n_rows]) for block in source.blocks())

    return parse


def main() -> None:
    """Do what the arguments say."""
    folder = Path(sys.argv[1])
    if len(sys.argv) == 2:
        folder.mkdir(parents=True, exist_ok=True)
        for name, kind in KINDS.items():
            write(path_of(folder, name), kind.make())
        write(path_of(folder, "names of labels"), iter(names()))
        print(json.dumps(list(KINDS)))
        return
    read(folder, sys.argv[2])()  # what is loaded once does not count
    call = read(folder, sys.argv[2])
    wall, cpu = time.perf_counter(), time.process_time()
    n = call()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    size = path_of(folder, sys.argv[2]).stat().st_size
    print(json.dumps({"wall": wall, "cpu": cpu, "bytes": size, "entries": n, "xmceval": xmceval.__file__}))


if __name__ == "__main__":
    main()
