"""Synthetic data shaped like real sets, seeded: `python -m bench.data SHAPE` writes its text files."""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from bench.measure import MADE
from scipy.sparse import csr_matrix, save_npz

import xmceval

Ints = npt.NDArray[np.int32]
Entries = tuple[Ints, Ints, npt.NDArray[np.float64]]  # entries per row, label ids, values

VERSION = 2  # of the recipe: raise it and cached files are made anew
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


TITLES = (250, 1000, 4000, 16_000, 64_000, 256_000)

# Amazon-3M: the public figure is 36.04 training labels per row; 36.1 gives its 586 MB of text.
SHAPES: dict[str, Shape] = {
    "small": Shape(1_000, 3_400, 13.6, 9_000, 13.6),
    "amazon-670k": Shape(153_025, 670_091, 5.4, 490_449, 5.4),
    "amazon-3m": Shape(742_507, 2_812_281, 36.17, 1_717_899, 36.1, hit_decay=40.0),
    # LF-AmazonTitles-131K with other numbers of rows: few enough labels for tools that need dense matrices
    **{f"titles-{n}": Shape(n, 131_073, 2.29, n * 294_805 // 134_835, 2.29) for n in TITLES},
}


def make_matrix(shape: Shape, kind: str) -> csr_matrix:
    """Return the truth, train or preds of a shape."""
    n_rows = shape.train_rows if kind == "train" else shape.rows
    parts = []
    for chunk, first in enumerate(range(0, n_rows, ROWS_PER_CHUNK)):
        rows = min(ROWS_PER_CHUNK, n_rows - first)
        parts.append(draw_scores(shape, chunk, rows) if kind == "preds" else draw_truth(shape, kind, chunk, rows))
    per_row, labels, values = (np.concatenate(part) for part in zip(*parts, strict=True))
    return csr_matrix((values, labels, np.append(0, np.cumsum(per_row))), shape=(n_rows, shape.labels))


def rng_of(kind: str, chunk: int) -> np.random.Generator:
    """Return the generator of one chunk: chunks do not depend on each other."""
    return np.random.default_rng([SEED, zlib.crc32(kind.encode()), chunk])


def draw_labels(rng: np.random.Generator, size: int | tuple[int, int], n_labels: int) -> Ints:
    """Draw labels with frequencies proportional to rank**-0.5; frequent labels are spread over all ids."""
    u = rng.random(size, dtype=np.float32)  # the inverse of its distribution function is u**2
    ids = rng_of("ids", n_labels).permutation(n_labels).astype(np.int32)
    return ids[np.minimum((u * u * np.float32(n_labels)).astype(np.int32), n_labels - 1)]


def draw_truth(shape: Shape, kind: str, chunk: int, rows: int) -> Entries:
    """Return true labels of `rows` rows, ascending within the row, at least one each."""
    rng, mean = rng_of(kind, chunk), shape.train_labels_per_row if kind == "train" else shape.labels_per_row
    per_row = 1 + rng.poisson(rng.gamma(2.0, (mean - 1) / 2, rows))
    row = np.repeat(np.arange(rows, dtype=np.int64), per_row)
    key = np.unique(row << 32 | draw_labels(rng, len(row), shape.labels))
    labels = (key & 0xFFFFFFFF).astype(np.int32)
    return np.bincount(key >> 32, minlength=rows).astype(np.int32), labels, np.ones(len(labels))


def draw_scores(shape: Shape, chunk: int, rows: int) -> Entries:
    """Return predictions of `rows` rows: scores in (0, 1), falling about exponentially with the rank."""
    per_row, truth, _ = draw_truth(shape, "truth", chunk, rows)
    rng = rng_of("scores", chunk)
    rank = np.arange(shape.predictions, dtype=np.float32)
    hit = rng.random((rows, shape.predictions), dtype=np.float32) < shape.hit_at_1 * np.exp(-rank / shape.hit_decay)
    nth = np.cumsum(hit, axis=1, dtype=np.int32)
    n_true = per_row[:, None]
    hit &= nth <= n_true  # no label is found twice
    found = truth[(np.cumsum(per_row) - per_row)[:, None] + (nth + rng.integers(0, 1 << 20, (rows, 1))) % n_true]
    labels = np.where(hit, found, draw_labels(rng, hit.shape, shape.labels))
    step = rng.random(hit.shape, dtype=np.float32) * rng.uniform(0.05, 0.2, (rows, 1)).astype(np.float32)
    scores = np.exp(-np.cumsum(step, axis=1)).astype(np.float64).clip(1e-4).round(6)  # written without exponents
    key = make_distinct(rng, labels, hit, shape.labels)
    scores = np.take_along_axis(scores, key & 0x7F, axis=1)
    return np.full(rows, shape.predictions, np.int32), (key >> 8).astype(np.int32).ravel(), scores.ravel()


def make_distinct(rng: np.random.Generator, labels: Ints, hit: npt.NDArray[np.bool_], n: int) -> npt.NDArray[np.int64]:
    """Return sorted keys label << 8 | miss << 7 | rank, with repeated labels replaced by others."""
    rank = np.arange(labels.shape[1], dtype=np.int64)
    key = np.sort(labels.astype(np.int64) << 8 | (~hit).astype(np.int64) << 7 | rank, axis=1)
    todo = np.arange(len(key))
    while len(todo):
        part = key[todo]
        repeated = np.zeros(part.shape, bool)
        repeated[:, 1:] = part[:, 1:] >> 8 == part[:, :-1] >> 8  # a hit sorts before a miss of the same label and stays
        todo, part, repeated = (x[repeated.any(axis=1)] for x in (todo, part, repeated))
        part[repeated] = part[repeated] & 0xFF | rng.integers(0, n, int(repeated.sum())) << 8
        key[todo] = np.sort(part, axis=1)
    return key


def write(matrix: csr_matrix, path: Path, kind: str) -> None:
    """Write a matrix as text; the file appears under its name when it is whole."""
    part = path.with_name(f"part-{path.name}")
    save_npz(part.with_suffix(".npz"), matrix, compressed=False)
    xmceval.convert(part.with_suffix(".npz"), part, kind="scores" if kind == "preds" else "truth", force=True)
    part.with_suffix(".npz").unlink()
    part.replace(path)


def make(name: str, folder: Path = MADE) -> dict[str, str]:
    """Write truth, train and preds of a shape below `folder`, unless they are there, and return their paths."""
    shape, paths = SHAPES[name], {kind: folder / name / f"{kind}.txt" for kind in ("truth", "train", "preds")}
    stamp, recipe = folder / name / "recipe.json", json.dumps([VERSION, SEED, asdict(shape)])
    if not stamp.exists() or stamp.read_text() != recipe:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        for kind, path in paths.items():
            print(f"making {path}", file=sys.stderr)
            write(make_matrix(shape, kind), path, kind)
        stamp.write_text(recipe)
    return {kind: str(path) for kind, path in paths.items()}


if __name__ == "__main__":
    print(json.dumps(make(sys.argv[1])))
