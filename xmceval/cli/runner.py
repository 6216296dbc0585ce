"""Runner: how commands score systems here or with Dask, and show what takes long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from xmceval.cli import progressbar
from xmceval.cli.messages import say
from xmceval.cli.systems import Inputs, name_systems

if TYPE_CHECKING:
    from xmceval.api.comparing.pairtests import Cost, Watch
    from xmceval.api.scoring.setup import OpenedTruth

LONG = 300_000_000  # rows drawn in resamples, which take about a second


def find_inputs(arguments: Mapping[str, Any]) -> Inputs:
    """Find what a command scores, and let a note say that kernels are compiled."""
    names, paths = name_systems(arguments["preds"], arguments["names"])
    note_compiling(arguments["quiet"])
    return Inputs.of(arguments, names, paths)


@contextmanager
def open_inputs(inputs: Inputs, arguments: Mapping[str, Any]) -> Iterator[OpenedTruth]:
    """Check what is to be saved, open the truth, and show progress while its systems are scored."""
    from xmceval.api.scoring.setup import OpenedTruth

    saved: dict[str, Any] = {name: arguments.get(name) for name in ("save_rows", "save_state", "shard")}
    if inputs.options.row_ids is not None or any(value is not None for value in saved.values()):
        from xmceval.api.scoring.saving import check_saving  # not loaded by a score that saves nothing

        check_saving(inputs.options, inputs.systems, **saved, force=bool(arguments.get("force")))
    with executor_of(arguments["dask"]) as executor, progressbar.shown(arguments["quiet"]):
        yield OpenedTruth.of(
            inputs.truth,
            inputs.options,
            inputs.systems,
            max_weight=arguments.get("max_weight"),
            executor=executor,
        )


@contextmanager
def executor_of(dask: str | None) -> Iterator[Executor | None]:
    """Return where rows are scored in parts, or None for this process."""
    if dask is None:
        yield None
        return
    from xmceval.cli.cluster import open_dask

    with open_dask(dask) as executor:
        yield executor


@contextmanager
def long_work(quiet: bool) -> Iterator[None]:
    """Show how far work is that may take long, and let a note say that kernels are compiled."""
    note_compiling(quiet)
    with progressbar.shown(quiet):
        yield


def note_compiling(quiet: bool) -> None:
    """Let a note on stderr say that kernels are compiled, if that takes long."""
    from xmceval.kernels.compile import show_notes

    show_notes((lambda _: None) if quiet else say)


def watch(quiet: bool) -> Watch:
    """Return what writes the cost of long resampling to stderr before it starts, and shows its progress."""
    from xmceval.rows.progress import phase

    def watch_cost(cost: Cost) -> AbstractContextManager[Callable[[int], None] | None]:
        if cost.steps >= LONG and not quiet:
            say(f"note: {cost}")
        return phase("randomization", cost.n_tests * cost.n_resamples)

    return watch_cost
