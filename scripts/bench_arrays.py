"""Time `xmceval.score` on CSR matrices in memory: `python bench_arrays.py SHAPE RUNS` prints the figures as JSON."""

from __future__ import annotations

import json
import sys
import time

import bench_data as data
from scipy.sparse import csr_matrix

import xmceval


def main(name: str, runs: int) -> None:
    """Build the matrices, call once, call again, and print."""
    shape = data.SHAPES[name]
    y_true, y_train, y_score = (
        csr_matrix(parts, shape=(len(parts[2]) - 1, shape.labels))
        for parts in (data.arrays(shape, kind) for kind in ("truth", "train", "preds"))
    )
    wall, cpu = [], []
    for _ in range(runs + 1):
        start = time.perf_counter(), time.process_time()
        result = xmceval.score(y_true, y_score, k=(1, 3, 5), train=y_train)
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
    figures = {"first": wall[0], "later": wall[1:], "cpu": sorted(cpu[1:])[runs // 2], "P@1": float(result["P@1"])}
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
