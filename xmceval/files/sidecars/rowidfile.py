"""Files of ids of rows: one per line."""

from __future__ import annotations

from pathlib import Path

from xmceval.files.io.inputfiles import take_pipe
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import check_is_text, read_all_bytes
from xmceval.rows.rowids import RowIds
from xmceval.rows.shards import Shards, parts_of


def read_row_ids(path: str | Path | Shards) -> RowIds:
    """Read one id per line, of one file or of several, whose rows run on."""
    shards = find_shards(path)
    files = [to_path(part) for part in parts_of(shards)]
    lines = [read_lines(file) for file in files]
    found = RowIds([line for of_file in lines for line in of_file], shards.name if len(files) > 1 else str(files[0]))
    if found.is_doubtful:
        places = (f"{file}:{i}" for file, of_file in zip(files, lines, strict=True) for i in range(1, len(of_file) + 1))
        found.check_each(list(places))
    return found


def read_lines(path: Path) -> list[str]:
    """Return the lines of a small file without the spaces around them."""
    take_pipe(path)
    check_is_text(path)
    text = read_all_bytes(path).removeprefix(UTF8_BOM).rstrip()
    return [line.strip().decode(errors="surrogateescape") for line in text.split(b"\n")] if text else []
