"""Score several systems on the same truth, which is read once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from xmceval.api.matrixlike import MatrixLike
from xmceval.api.scoring.inputs import find_scores
from xmceval.api.scoring.saving import check_saving
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, OpenedTruth, check_systems
from xmceval.errors import UsageError, listed, warn
from xmceval.report.results import Results
from xmceval.rows.threads import Progress
from xmceval.scoring.options import Options, specs


def score_all(
    y_true: MatrixLike,
    systems: Mapping[str, MatrixLike],
    *,
    rows: bool = False,
    save_rows: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Results:
    """Score several systems on the same truth, without testing their differences; `compare` tests them.

    Parameters
    ----------
    y_true : sparse matrix, array or path [n_rows, n_labels]
        As in `score`.
    systems : mapping of str to matrix or path
        The scores of each system by name, each as in `score`.
    rows : bool
        Hold the values of every row, as in `score`: ``results["b"].rows`` has them.
    save_rows : path, optional
        Write the values of every row there, as in `score`.
    force : bool
        Overwrite `save_rows`.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    **options
        Any option of `score`.

    Returns
    -------
    Results
        A mapping: ``results["b"]["P@5"]`` is a fraction; ``str(results)`` is one table of all systems.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        An argument that is wrong, or no system.

    Warns
    -----
    XmcevalWarning
        What puts the numbers in doubt; see `score`.

    See Also
    --------
    compare : The same with tests of the differences.
    score : One system.
    Results : Puts results that there are already into one table.

    Examples
    --------
    >>> import numpy as np
    >>> results = score_all(np.eye(6), {"old": np.eye(6)[::-1], "new": np.eye(6)}, k=1, metrics="P")
    >>> results["old"]["P@1"], results["new"]["P@1"]
    (0.0, 1.0)
    """
    unknown = set(options) - set(specs())
    if unknown:
        raise TypeError(f"score_all() got an unexpected option {listed(sorted(unknown))}")
    check_systems(systems)
    if not systems:
        raise UsageError("systems must be a dict of scores by name, such as {'a': ..., 'b': ...}, got an empty one")
    named = [Named(find_scores(y_score, y_true), name) for name, y_score in systems.items()]
    chosen = Options.of(options)
    check_saving(chosen, named, rows=rows, save_rows=save_rows, force=force)
    truth = OpenedTruth.of(y_true, chosen, named)
    results = Results(score_systems(truth, named, rows=rows, save_rows=save_rows, force=force, progress=progress))
    warn(dict.fromkeys(line for result in results.values() for line in result.doubts))
    return results
