"""Places in the package that tests change or watch: no other file of tests needs to know where they are."""

import pkgutil

SIZES = {  # of the pieces that files and matrices are read in
    "text": ["files.io.chunks.CHUNK_BYTES"],  # bytes of whole lines
    "head": ["files.opened.HEAD_BYTES"],  # bytes by which a format is recognised
    "packed": ["files.io.compressed.READ_BYTES", "files.io.compressed.ZSTD_READ_BYTES"],
    "lines": ["files.tables.table.BATCH_ROWS"],  # of tables
    "cells": ["conversion.convert.CELLS"],  # of dense rows that are converted
    "rows": ["files.arrays.npz.ROWS_AT_ONCE"],
    "block": ["rows.matrices.source.BLOCK_ROWS"],
    "numbers": ["scoring.evaluate.MOST_NUMBERS"],  # of a run of rows
    "ids": ["scoring.tasks.label_counts.DENSE_IDS"],  # of labels, from which on their counts are kept by id
    "compact": ["scoring.tasks.label_counts.COMPACT_ABOVE"],  # totals by id, from which on those without counts go
    "chunk": ["scoring.tasks.label_counts.CHUNK"],  # ids that are added up at a time
    "counts": ["scoring.tasks.labelwise.COUNTS_AT_ONCE"],  # of labels, that are read at a time
    "fewest": ["scoring.tasks.labelwise.FEWEST_LABELS"],  # but so many at least
    "parts": ["scoring.executor.PART_BYTES"],  # of files, for a task of an executor
    "marks": ["scoring.executor.MARK_BYTES"],  # of text between two places where a task may begin to read
    "waiting": ["scoring.executor.MOST_WAITING"],  # tasks
    "copied": ["rows.matrices.dense.DEVICE_ENTRIES"],  # from another device at a time
    "selected": ["rows.matrices.dense.SELECT_ENTRIES"],  # from which the best are selected at a time
    "held": ["files.io.streams.HELD_BYTES"],  # that a compressed file may expand to in memory
    "entries": [
        f"{module}.BLOCK_ENTRIES" for module in ("rows.matrices.source", "files.arrays.npz", "files.arrays.pairs")
    ],
}
WATCHED = {
    "check of scores": "kernels.rows.checks.check_scores",
    "check of truth": "kernels.rows.checks.validate_truth",
    "read": "rows.source.Source.blocks",
    "read of a held file": "rows.source._reopen",
}


def read_in_pieces(patch, **sizes):
    """Let pieces be of these sizes, as long as a MonkeyPatch holds."""
    places = {f"xmceval.{place}": size for kind, size in sizes.items() for place in SIZES[kind]}
    for place in places:  # before one is patched: a module that is loaded later would keep the size that it finds
        pkgutil.resolve_name(place)
    for place, size in places.items():
        patch.setattr(place, size)


def watch(patch, *kinds):
    """Return a list that gets the kind and the first argument of each call of some functions."""
    calls = []
    for kind in kinds:
        function = pkgutil.resolve_name(f"xmceval.{WATCHED[kind]}")

        def call(first, *others, kind=kind, function=function):
            calls.append((kind, first))
            return function(first, *others)

        patch.setattr(f"xmceval.{WATCHED[kind]}", call)
    return calls
