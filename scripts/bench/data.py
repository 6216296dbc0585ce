"""Made data for the benchmarks: seeded, of the shape of real sets, as text files or as CSR arrays."""

from __future__ import annotations

import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Block = tuple[Ints, Ints, Floats | None]  # entries per row, label ids, scores

VERSION = 1  # of the recipe: raise it and cached files are made anew
SEED = 20160813
ROWS_PER_CHUNK = 16_384


@dataclass(frozen=True)
class Shape:
    """Size of a made set, and how often its predictions hit."""

    rows: int
    labels: int
    labels_per_row: float
    train_rows: int
    train_labels_per_row: float
    predictions: int = 100
    hit_at_1: float = 0.42
    hit_decay: float = 8.0  # ranks after which the rate of hits has fallen by e

    @classmethod
    def of_name(cls, name: str) -> Shape:
        """Return the shape of a case of the model, whose name has its sizes; it has as many training rows."""
        rows, labels, true, predictions = map(int, name.split("-")[1:])
        return cls(rows, labels, true, rows, true, predictions)


TITLES = (250, 1000, 4000, 16_000, 64_000, 256_000)

# Amazon-3M: the public figure is 36.04 training labels per row; 36.1 gives its 586 MB of text.
SHAPES: dict[str, Shape] = {
    "small": Shape(1_000, 3_400, 13.6, 9_000, 13.6),
    "amazon-670k": Shape(153_025, 670_091, 5.4, 490_449, 5.4),
    "amazon-3m": Shape(742_507, 2_812_281, 36.17, 1_717_899, 36.1, hit_decay=40.0),
    **{f"rows-{n}k": Shape(n * 1000, 670_091, 5.4, 490_449, 5.4) for n in (40, 80, 160, 320)},
    # LF-AmazonTitles-131K with other numbers of rows: few enough labels for tools that need dense matrices
    **{f"titles-{n}": Shape(n, 131_073, 2.29, n * 294_805 // 134_835, 2.29) for n in TITLES},
}


@dataclass(frozen=True)
class Layout:
    """How the text is written: order of a row's predictions, digits of a score, and the value of a true label."""

    order: str = "label"
    digits: int = 6
    value: str = "1"

    @property
    def suffix(self) -> str:
        """Part of a file's name that tells a layout from the default one."""
        changed = [str(v) for k, v in asdict(self).items() if v != getattr(type(self), k)]
        return "".join(f"-{word}" for word in changed)


def rng_of(kind: str, chunk: int) -> np.random.Generator:
    """Return the generator of one chunk: chunks do not depend on each other."""
    return np.random.default_rng([SEED, zlib.crc32(kind.encode()), chunk])


def label_ids(n_labels: int) -> Ints:
    """Return the id of the most frequent label, the second, and so on: frequent labels are spread over all ids."""
    return rng_of("ids", n_labels).permutation(n_labels).astype(np.int32)


def draw_labels(rng: np.random.Generator, size: int | tuple[int, int], ids: Ints) -> Ints:
    """Draw labels with frequencies proportional to rank**-0.5 (the inverse of its distribution function is u**2)."""
    u = rng.random(size, dtype=np.float32)
    u *= u
    u *= np.float32(len(ids))
    return ids[np.minimum(u.astype(np.int32), len(ids) - 1)]


def truth_block(kind: str, chunk: int, rows: int, mean: float, ids: Ints) -> Block:
    """Return true labels of `rows` rows, ascending within the row, at least one each and `mean` on average."""
    rng = rng_of(kind, chunk)
    per_row = 1 + rng.poisson(rng.gamma(2.0, (mean - 1) / 2, rows))
    row = np.repeat(np.arange(rows, dtype=np.int64), per_row)
    key = np.sort(row << 32 | draw_labels(rng, len(row), ids))
    key = key[np.diff(key, prepend=-1) != 0]
    return np.bincount(key >> 32, minlength=rows).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32), None


def hit_labels(
    rng: np.random.Generator, shape: Shape, per_row: Ints, truth: Ints
) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Return which ranks hit, and the true label found there; no label is found twice."""
    rank = np.arange(shape.predictions, dtype=np.float32)
    rate = np.float32(shape.hit_at_1) * np.exp(-rank / np.float32(shape.hit_decay))
    hit = rng.random((len(per_row), shape.predictions), dtype=np.float32) < rate
    nth = np.cumsum(hit, axis=1, dtype=np.int32)
    n_true = per_row[:, None]
    hit &= nth <= n_true
    start = (np.cumsum(per_row) - per_row)[:, None]
    shift = rng.integers(0, 1 << 20, (len(per_row), 1))
    where = start + (nth + shift) % n_true
    return hit, truth[where]


def distinct(
    rng: np.random.Generator, labels: Ints, hit: npt.NDArray[np.bool_], n_labels: int
) -> npt.NDArray[np.int64]:
    """Return sorted keys label << 8 | miss << 7 | rank, with repeated labels replaced by others."""
    rank = np.arange(labels.shape[1], dtype=np.int64)
    key = np.sort(labels.astype(np.int64) << 8 | (~hit).astype(np.int64) << 7 | rank, axis=1)
    todo = np.arange(len(key))
    while len(todo):
        part = key[todo]
        repeated = np.zeros(part.shape, bool)
        repeated[:, 1:] = part[:, 1:] >> 8 == part[:, :-1] >> 8  # a hit sorts before a miss of the same label and stays
        todo, part, repeated = (x[repeated.any(axis=1)] for x in (todo, part, repeated))
        part[repeated] = part[repeated] & 0xFF | rng.integers(0, n_labels, int(repeated.sum())) << 8
        key[todo] = np.sort(part, axis=1)
    return key


def score_block(chunk: int, rows: int, shape: Shape, ids: Ints, order: str = "label") -> Block:
    """Return predictions of `rows` rows: scores in (0, 1), falling about exponentially with the rank."""
    per_row, truth, _ = truth_block("truth", chunk, rows, shape.labels_per_row, ids)
    rng = rng_of("scores", chunk)
    hit, labels = hit_labels(rng, shape, per_row, truth)
    labels = np.where(hit, labels, draw_labels(rng, hit.shape, ids))
    step = rng.random(hit.shape, dtype=np.float32) * rng.uniform(0.05, 0.2, (rows, 1)).astype(np.float32)
    scores = np.exp(-np.cumsum(step, axis=1))
    key = distinct(rng, labels, hit, shape.labels)
    if order == "score":
        key = np.take_along_axis(key, np.argsort(key & 0x7F, axis=1), axis=1)
    scores = np.take_along_axis(scores, key & 0x7F, axis=1)
    return np.full(rows, shape.predictions, np.int32), (key >> 8).astype(np.int32).ravel(), scores.ravel()


def write_digits(out: npt.NDArray[np.uint8], numbers: npt.NDArray[np.integer], blank_zeros: bool) -> None:
    """Write decimal digits into the columns of `out`, right-aligned; leading zeros become NUL if asked."""
    rest = numbers
    for column in range(out.shape[1] - 1, -1, -1):
        quotient = rest // 10
        digit = (rest - quotient * 10).astype(np.uint8) + ord("0")
        if blank_zeros and column < out.shape[1] - 1:
            digit[rest == 0] = 0
        out[:, column] = digit
        rest = quotient


def to_text(block: Block, n_labels: int, layout: Layout) -> bytes:
    """Format rows as `id:value id:value` lines: a byte matrix, one entry a line, whose NULs go at the end."""
    per_row, labels, scores = block
    wide = len(str(n_labels - 1))
    value = ":" + ("0." + "0" * layout.digits if scores is not None else layout.value) + " "
    out = np.empty((len(labels), wide + len(value)), np.uint8)
    write_digits(out[:, :wide], labels, blank_zeros=True)
    out[:, wide:] = np.frombuffer(value.encode(), np.uint8)
    if scores is not None:
        unit = 10**layout.digits
        fixed = np.clip(np.rint(scores * np.float64(unit)), 1, unit - 1).astype(np.int32)
        write_digits(out[:, wide + 3 : -1], fixed, blank_zeros=False)
    out[np.cumsum(per_row) - 1, -1] = ord("\n")
    return out.tobytes().translate(None, b"\0")


def chunks(rows: int) -> Iterator[tuple[int, int]]:
    """Yield (number of the chunk, its rows)."""
    for chunk, first in enumerate(range(0, rows, ROWS_PER_CHUNK)):
        yield chunk, min(ROWS_PER_CHUNK, rows - first)


def blocks_of(shape: Shape, order: str = "label") -> dict[str, tuple[int, Callable[[int, int], Block]]]:
    """Return for each file its number of rows and the function (chunk, rows) -> block."""
    ids = label_ids(shape.labels)
    return {
        "truth": (shape.rows, lambda c, n: truth_block("truth", c, n, shape.labels_per_row, ids)),
        "train": (shape.train_rows, lambda c, n: truth_block("train", c, n, shape.train_labels_per_row, ids)),
        "preds": (shape.rows, lambda c, n: score_block(c, n, shape, ids, order)),
    }


def arrays(shape: Shape, kind: str) -> tuple[Floats, Ints, Ints]:
    """Return truth, train or preds as CSR parts (data, indices, indptr): the same labels and scores as in the files."""
    rows, block = blocks_of(shape)[kind]
    parts = [block(chunk, n) for chunk, n in chunks(rows)]
    indices = np.concatenate([labels for _, labels, _ in parts])
    data = [np.ones(len(labels), np.float32) if scores is None else scores for _, labels, scores in parts]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([per_row for per_row, _, _ in parts]))]).astype(np.int32)
    return np.concatenate(data), indices, indptr


def default_dir() -> Path:
    """Return the folder where made files are kept between runs."""
    return Path(tempfile.gettempdir()) / "xmceval-bench"


def make(name: str, shape: Shape, folder: Path, layout: Layout = Layout()) -> dict[str, Path]:
    """Write truth, train and preds of a shape below `folder`, unless they are there, and return their paths."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    suffix = {"truth": Layout(value=layout.value).suffix, "preds": Layout(layout.order, layout.digits).suffix}
    suffix["train"] = suffix["truth"]
    paths = {}
    for kind, (rows, block) in blocks_of(shape, layout.order).items():
        paths[kind] = home / f"{kind}{suffix[kind]}.txt"
        recipe = {"version": VERSION, "seed": SEED, "shape": asdict(shape), "layout": suffix[kind]}
        if not is_made(paths[kind], recipe):
            write(paths[kind], rows, shape.labels, block, layout)
            stamp_of(paths[kind]).write_text(
                json.dumps(recipe | {"bytes": paths[kind].stat().st_size}, indent=1) + "\n"
            )
    return paths


def make_states(name: str, folder: Path) -> dict[str, Path]:
    """Write the states of a case of the model, whose name has its sizes, unless they are there; return their pattern.

    Their rows have 10 true labels each.
    """
    from scipy.sparse import csr_matrix

    from xmceval import Evaluator

    n, n_labels, n_counted = map(int, name.split("-")[1:])
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    indptr = np.arange(0, n_counted + 1, 10)
    for number in range(n):
        path = home / f"{number}.state"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        labels, shape = rng.permutation(n_labels)[:n_counted], (n_counted // 10, n_labels)
        evaluator = Evaluator(metrics=["P", "macroF1"], k=5, n_labels=n_labels)
        evaluator.update(
            csr_matrix((np.ones(n_counted), labels, indptr), shape),
            csr_matrix((rng.random(n_counted), rng.permutation(labels), indptr), shape),
        )
        evaluator.save(path)
    return {"states": home / "*.state"}


def stamp_of(path: Path) -> Path:
    """Return the file that tells how `path` was made."""
    return path.with_suffix(".json")


def is_made(path: Path, recipe: dict[str, object]) -> bool:
    """Tell whether `path` is there, whole, and made by this recipe."""
    try:
        stamp = json.loads(stamp_of(path).read_text())
        return bool(stamp == recipe | {"bytes": path.stat().st_size})
    except (OSError, ValueError):
        return False


def write(path: Path, rows: int, n_labels: int, block: Callable[[int, int], Block], layout: Layout) -> None:
    """Write one text file in chunks of rows; it appears under its name when it is whole."""
    print(f"making {path}", file=sys.stderr)
    part = path.with_suffix(".part")
    with part.open("wb") as f:
        f.write(f"{rows} {n_labels}\n".encode())
        for chunk, n in chunks(rows):
            f.write(to_text(block(chunk, n), n_labels, layout))
    part.replace(path)
