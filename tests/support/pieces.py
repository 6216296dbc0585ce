"""The sizes of the pieces that files and matrices are read in: no other file of tests needs to know their names."""

PLACES = {
    "text": ["files.io.chunks.CHUNK_BYTES"],  # bytes of whole lines
    "head": ["files.opened.HEAD_BYTES"],  # bytes by which a format is recognised
    "lines": ["files.tables.table.BATCH_ROWS"],  # of tables
    "cells": ["conversion.convert.CELLS"],  # of dense rows that are converted
    "rows": ["files.arrays.npz.ROWS_AT_ONCE"],
    "entries": [
        f"{module}.BLOCK_ENTRIES" for module in ("rows.matrices.source", "files.arrays.npz", "files.arrays.pairs")
    ],
}


def read_in_pieces(patch, **sizes):
    """Let pieces be of these sizes, as long as a MonkeyPatch holds."""
    for kind, size in sizes.items():
        for place in PLACES[kind]:
            patch.setattr(f"xmceval.{place}", size)
