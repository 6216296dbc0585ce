"""The sizes of the pieces that files and matrices are read in: no other file of tests needs to know their names."""

import importlib

PLACES = {
    "text": ["files.io.chunks.CHUNK_BYTES"],  # bytes of whole lines
    "head": ["files.opened.HEAD_BYTES"],  # bytes by which a format is recognised
    "lines": ["files.tables.table.BATCH_ROWS"],  # of tables
    "cells": ["conversion.convert.CELLS"],  # of dense rows that are converted
    "rows": ["files.arrays.npz.ROWS_AT_ONCE"],
    "block": ["rows.matrices.source.BLOCK_ROWS"],
    "numbers": ["scoring.evaluate.MOST_NUMBERS"],  # of a run of rows
    "ids": ["scoring.tasks.label_counts.DENSE_IDS"],  # of labels, from which on their counts are kept by id
    "entries": [
        f"{module}.BLOCK_ENTRIES" for module in ("rows.matrices.source", "files.arrays.npz", "files.arrays.pairs")
    ],
}


def read_in_pieces(patch, **sizes):
    """Let pieces be of these sizes, as long as a MonkeyPatch holds."""
    places = {f"xmceval.{place}": size for kind, size in sizes.items() for place in PLACES[kind]}
    for place in places:  # before one is patched: a module that is loaded later would keep the size that it finds
        importlib.import_module(place.rpartition(".")[0])
    for place, size in places.items():
        patch.setattr(place, size)
