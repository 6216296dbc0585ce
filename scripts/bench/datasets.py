"""Made data sets with several systems each, for benchmarks over data sets: npz files, and the file that names them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from bench import data

DATASETS = {f"set{i}": data.Shape(100_000, 40_000 * (i + 1), 3.0 + i, 250_000, 3.0 + i, 50) for i in range(6)}
SYSTEMS = tuple(f"system{i}" for i in range(8))
FILE = "benchmark.toml"


def make(folder: Path) -> None:
    """Write all data sets and the file of the benchmark, unless they are there."""
    for name, shape in DATASETS.items():
        home = folder / name
        home.mkdir(parents=True, exist_ok=True)
        if not (home / f"{SYSTEMS[-1]}.npz").exists():
            print(f"making {home}", file=sys.stderr)
            write(home, shape)
    tables = [f'[datasets.{name}]\ntruth = "{name}/truth.npz"\ntrain = "{name}/train.npz"\n' for name in DATASETS]
    systems = "".join(f'{name} = "{{dataset}}/{name}.npz"\n' for name in SYSTEMS)
    (folder / FILE).write_text(
        f'metrics = "P,PSP@1,3,5"\nagainst = "{SYSTEMS[0]}"\n{"".join(tables)}[systems]\n{systems}'
    )


def write(home: Path, shape: data.Shape) -> None:
    """Write the files of a data set; systems are the made predictions with more and more noise in their scores."""
    for kind, rows in (("truth", shape.rows), ("train", shape.train_rows)):
        sp.save_npz(home / f"{kind}.npz", sp.csr_matrix(data.arrays(shape, kind), (rows, shape.labels)), False)
    scores, indices, indptr = data.arrays(shape, "preds")
    for i, name in enumerate(SYSTEMS):
        noise = np.random.default_rng([data.SEED, i]).standard_normal(scores.size, dtype=np.float32)
        noisy = scores * np.exp(noise * np.float32(0.02 * i))
        sp.save_npz(home / f"{name}.npz", sp.csr_matrix((noisy, indices, indptr), (shape.rows, shape.labels)), False)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
    print(json.dumps({"datasets": list(DATASETS), "systems": list(SYSTEMS), "file": FILE}))
