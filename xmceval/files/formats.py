"""The table FORMATS of all readable file formats, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

TRUTH = "truth"
SCORES = "predictions"
BOTH = (TRUTH, SCORES)


@dataclass(frozen=True)
class Format:
    """A format of files."""

    name: str  # in options and messages
    title: str  # begins the description of such a file
    holds: tuple[str, ...]  # the roles that such files have
    evidence: str = ""  # how to recognise it in text, if no format above it matches


IN_MEMORY = Format("memory", "matrix in memory", BOTH)

FRAME = Format("frame", "table", BOTH)  # in memory too

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        form.name: form
        for form in (
            # Text: READINGS tries them in this order, and KINDS tries the formats of rows.
            Format("run", "TREC run", (SCORES,), "most lines are of query, Q0, document, rank and score"),
            Format("beir", "BEIR", BOTH, "the first line is query-id, corpus-id and score, between tabs"),
            Format("qrels", "TREC qrels", (TRUTH,), "most lines are of query, 0, document and grade"),
            Format("json-queries", "JSON by query and document", BOTH, "an object of objects, or lines of query_id"),
            Format("csv", "table with a header line", BOTH, "the first line has known names of columns"),
            Format("short-run", "run without a header", (SCORES,), "query, document and number, if truth has queries"),
            Format("json", "JSON lines", BOTH, "the first line begins with { or ["),
            Format("fasttext-lists", "lists of __label__name", BOTH, "all words begin with __label__"),
            Format("fasttext", "rows of __label__name", BOTH, "some words begin with __label__"),
            Format("pairs", "rows of idx:value", BOTH, "a row begins with a number and a colon"),
            Format("labels", "rows of label,label feature:value", (TRUTH,), "a row begins with ids before a feature"),
            Format("scored", "rows of tab-separated 'label score'", (SCORES,), "a row has pairs of an id and a number"),
            Format("ids", "lists of label ids", BOTH, "rows have only whole numbers"),
            Format("names", "lists of label names", BOTH, "any other words, with --labels"),
            Format("tabbed-names", "tab-separated lists of label names", BOTH, "the same between tabs"),
            Format("comma-names", "lists of label names between commas", BOTH, "numbers that are names in --labels"),
            Format("parquet", "Parquet", BOTH),
            Format("arrow", "Arrow", BOTH),
            Format("npz", "npz, scipy.sparse", BOTH),
            Format("npz-arrays", "npz arrays", (SCORES,)),
            Format("npy-pair", "npy pair", (SCORES,)),
            Format("npy-ranked", "npy, ranked", (SCORES,)),
            Format("npy", "npy, dense", BOTH),
        )
    }
)
