"""The file of a benchmark's history: one line for each run in which a value changed."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path

from xmceval.errors import DataError, argument
from xmceval.files.io.paths import RemotePath
from xmceval.files.saved.appendedlines import append_line, read_lines
from xmceval.report.history import History, HistoryRun, Values
from xmceval.version import VERSION

HISTORY = "history.jsonl"


def append_run(folder: Path, file: str, digest: str, values: Values, why: Mapping[str, Mapping[str, str]]) -> None:
    """Append a run, with the cells in which a value changed.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    path = folder / HISTORY
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = {"time": now, "version": VERSION, "file": file, "digest": digest, "values": values, "why": why}
    try:
        append_line(path, json.dumps(line, separators=(",", ":")))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None


def read_history(folder: Path, file: str) -> History:
    """Return the runs of a benchmark from the folder of its store.

    Parameters
    ----------
    folder : Path
        It need not exist.
    file : str
        The name of the file that describes the benchmark.

    Returns
    -------
    History
        Its warnings name the lines that were skipped, as a process that is killed may leave one cut.

    Raises
    ------
    DataError
        A remote folder.
    """
    if isinstance(folder, RemotePath):
        raise DataError(f"{folder}: is remote, so nothing is kept there (hint: pass {argument('cache', kind='DIR')})")
    path = folder / HISTORY
    runs, warnings = [], []
    for number, line in enumerate(read_lines(path), 1):
        if not line:
            continue
        try:
            document = json.loads(line)
            run = _read_run(document)
        except (ValueError, KeyError, TypeError, AttributeError):
            warnings.append(f"{path}:{number}: is damaged or was cut, and is skipped")
            continue
        if document["file"] == file:
            runs.append(run)
    return History(file, tuple(runs), tuple(warnings))


def _read_run(line: Mapping[str, object]) -> HistoryRun:
    """Return a run from its line; a line that lacks something is no run."""
    run = HistoryRun(line["time"], line["version"], line["digest"], line["values"], line["why"])  # type: ignore[arg-type]
    _ = run.minute, [dict(own) for own in run.cells.values()], line["file"]
    return run
