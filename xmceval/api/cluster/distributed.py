"""Distributed: score and compare with a client of Dask, on one machine or many; the same bits as in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from xmceval.api.cluster.daskbatches import kind_of, score_batches
from xmceval.api.cluster.dasktasks import DaskTasks, connect, load, open_client
from xmceval.api.cluster.engine import Engine
from xmceval.api.comparing.compare import compare_systems
from xmceval.api.extras.choose import choose_extras
from xmceval.api.matrixlike import MatrixLike, SupportsDask
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import UsageError, listed, warn
from xmceval.files.io.shardfiles import find_shards
from xmceval.report.comparison import Comparison
from xmceval.report.result import Result
from xmceval.rows.threads import Progress
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

if TYPE_CHECKING:
    from distributed import Client


def score(
    y_true: MatrixLike | SupportsDask,
    y_score: MatrixLike | SupportsDask | None = None,
    *,
    client: Client | str | None = None,
    max_weight: float | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Result:
    """Score predictions against the truth on a cluster; the same bits as `xmceval.score` in one process.

    Files are split where lines or rows end, and each task reads its own part where it runs, so workers must see the
    files under the same paths. Only totals come back.

    Parameters
    ----------
    y_true : path, list of paths, matrix or collection of Dask [n_rows, n_labels]
        As in `xmceval.score`. Files of text that are not compressed, npy files, and npz files of CSR matrices that are
        not compressed are split; of all others, each file is one task. Rows in memory are sent to the tasks.

        Or an array of Dask, whose chunks may also be sparse; a list of delayed matrices; or a bag whose elements are
        matrices, or tuples of truth, scores and if `max_weight` is passed weights, and then there is no `y_score`.
        Chunks and batches are scored where they are computed; nothing is estimated from them, so metrics that need
        propensities need `train`, `counts` or `inverse_propensities`, and a filter is not available.
    y_score : path, list of paths, matrix or collection of Dask [n_rows, n_labels]
        Likewise, of the same kind; also two arrays of Dask with labels and scores.
    client : distributed.Client or str, optional
        A client, the address of a scheduler, or ``"local:4"`` for 4 processes, which a script starts below
        ``if __name__ == "__main__":``, as they read it again. Default: the client that was made last; collections of
        Dask are computed as they are by ``compute()``.
    max_weight : float, optional
        The largest sample weight that may come, where batches have weights.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    **options
        Any other option of `xmceval.score` but those that need single rows, such as `save_rows`.

    Returns
    -------
    Result

    Raises
    ------
    DataError
        Data that is wrong, with its place, or a file that a worker does not see.
    UsageError
        An argument that is wrong, no scheduler, workers with another version, or metrics that need all rows at once.

    Warns
    -----
    XmcevalWarning
        What puts the numbers in doubt. ``result.warnings`` has it too, and says how instances without a true label, or
        with too few predictions, were counted.
    """
    chosen = _options_of(options, "score")
    if kind_of(y_true) or kind_of(y_score):
        result = _score_collections(y_true, y_score, chosen, client, max_weight, progress)
        warn(result.doubts)
        return result
    systems = [Named(find_shards(y_score, are_scores=True))]
    with _tasks_of(client) as tasks:
        setup = Setup.of(y_true, chosen, systems, engine=Engine(tasks), max_weight=max_weight)
        extras = choose_extras(chosen, systems)
        [result] = score_systems(setup, systems, extras, progress=progress).results
    warn(result.doubts)
    return result


def _score_collections(
    y_true: Any,
    y_score: Any,
    options: Options,
    client: Any,
    max_weight: float | None,
    progress: Progress | None,
) -> Result:
    options.refuse_groups("collections of Dask", "score files")
    if not isinstance(client, str):
        return score_batches(y_true, y_score, options, client=client, max_weight=max_weight, progress=progress)
    with open_client(client) as opened:
        return score_batches(y_true, y_score, options, client=opened, max_weight=max_weight, progress=progress)


def compare(
    y_true: MatrixLike,
    systems: Mapping[str, MatrixLike],
    *,
    client: Client | str | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems on the same truth on a cluster; the same bits as `xmceval.compare` in one process.

    Parameters
    ----------
    y_true : path, list of paths or matrix [n_rows, n_labels]
        As in `score`.
    systems : mapping of str to path or matrix
        The scores of each system by name; see `xmceval.compare`.
    client : distributed.Client or str, optional
        As in `score`.
    progress : callable, optional
        As in `score`.
    **options
        Any option of `xmceval.compare` but tests that resample rows, such as ``test="randomization"``, and what shows
        or saves single rows.

    Returns
    -------
    Comparison

    Raises
    ------
    DataError, UsageError
        As in `score`.
    """
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems must be a dict of scores by name, such as {{'a': ..., 'b': ...}}, got {type(systems).__name__}"
        )
    own = {name: options.pop(name) for name in Testing.__dataclass_fields__ if name in options}
    chosen, named = _options_of(options, "compare"), [Named(y_score, name) for name, y_score in systems.items()]
    with _tasks_of(client) as tasks:
        setup = Setup.of(y_true, chosen, named, engine=Engine(tasks))
        comparison = compare_systems(setup, named, Testing.of(own), progress=progress)
    warn(comparison.doubts)
    return comparison


def _options_of(options: Mapping[str, Any], name: str) -> Options:
    unknown = set(options) - set(specs())
    if unknown:
        raise TypeError(f"{name}() got an unexpected option {listed(sorted(unknown))}")
    found = Options.of(options)
    found.refuse_groups("Dask", "score files in one process")
    return found


@contextmanager
def _tasks_of(client: Any) -> Iterator[DaskTasks]:
    """Return the tasks of a client, an address, or the client that was made last."""
    if isinstance(client, str):
        with connect(client) as tasks:
            yield tasks
        return
    if client is None:
        try:
            client = load().get_client()
        except ValueError:
            raise UsageError("no Dask client (hint: pass client, such as 'local:4' or its address)") from None
    yield DaskTasks(client)
