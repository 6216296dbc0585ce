"""The table FORMATS of all readable file formats, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

TRUTH, SCORES = "truth", "predictions"
BOTH = (TRUTH, SCORES)


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # how users and messages call it
    title: str  # how readers begin to describe a file of it
    holds: tuple[str, ...]  # what such files are passed as


IN_MEMORY = Format("memory", "matrix in memory", BOTH)

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        each.name: each
        for each in (
            Format("pairs", "rows of idx:value", BOTH),
            Format("labels", "rows of label,label feature:value", (TRUTH,)),
            Format("ids", "lists of label ids", BOTH),
            Format("scored", "rows of tab-separated 'label score'", (SCORES,)),
            Format("names", "lists of label names", BOTH),
            Format("tabbed-names", "tab-separated lists of label names", BOTH),
            Format("comma-names", "lists of label names between commas", BOTH),
            Format("fasttext", "rows of __label__name", BOTH),
            Format("fasttext-lists", "lists of __label__name", BOTH),
            Format("json", "JSON lines", BOTH),
            Format("json-queries", "JSON by query and document", BOTH),
            Format("csv", "table with a header line", BOTH),
            Format("parquet", "Parquet", BOTH),
            Format("arrow", "Arrow", BOTH),
            Format("frame", "table", BOTH),
            Format("qrels", "TREC qrels", (TRUTH,)),
            Format("beir", "BEIR", BOTH),
            Format("run", "TREC run", (SCORES,)),
            Format("short-run", "run without a header", (SCORES,)),
            Format("npz", "npz, scipy.sparse", BOTH),
            Format("npz-arrays", "npz arrays", (SCORES,)),
            Format("npy-pair", "npy pair", (SCORES,)),
            Format("npy-ranked", "npy, ranked", (SCORES,)),
            Format("npy", "npy, dense", BOTH),
        )
    }
)
