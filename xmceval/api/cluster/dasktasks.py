"""Dask tasks: a scheduler of Dask, or processes of this machine, that run the tasks of an engine."""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakSet

from xmceval.errors import DataError, UsageError, XmcevalError, argument, as_here, counted
from xmceval.files.io.byteranges import FileStatus, status_of
from xmceval.files.io.digests import sample_files
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.version import VERSION

PATIENCE = 3.0  # seconds until a scheduler has answered
PATIENCE_FOR_WORKERS = 30.0  # seconds until the first worker is there
PAUSE = 0.05  # seconds between two looks at the workers that are left
RETRIES = 2  # of tasks that raise something else than is known of their data, such as an error of a network drive
LOCAL = "local:"
INSTALL = "(hint: pip install 'xmceval[dask]')"


class WorkerInfo(NamedTuple):
    """A worker: its address, the version of xmceval ("" for none), its folder, and the status of its files."""

    address: str
    version: str
    folder: str
    files: Sequence[FileStatus | None]


@contextmanager
def connect(target: str) -> Iterator[DaskTasks]:
    """Connect to a scheduler, or start processes on this machine; see `open_client`."""
    with open_client(target) as client:
        yield DaskTasks(client)


@contextmanager
def open_client(target: str) -> Iterator[Any]:
    """Connect to a scheduler, or start processes on this machine.

    Parameters
    ----------
    target : str
        An address such as ``"tcp://host:8786"``, or ``"local:4"`` for 4 processes of one thread each.
    """
    distributed = load()
    n_processes = _parse_local(target)
    with warnings.catch_warnings(), _quiet():
        warnings.simplefilter("ignore")  # such as a port of the dashboard that is taken
        if n_processes:
            cluster = _start_processes(distributed, n_processes)
            with cluster, distributed.Client(cluster) as client:
                yield client
            return
        with _connect(distributed, target) as client:
            yield client


def _start_processes(distributed: Any, number: int) -> Any:
    try:
        return distributed.LocalCluster(
            n_workers=number, threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
        )
    except RuntimeError:
        raise UsageError(
            "Dask could not start its processes (hint: in a script, this must be below "
            'if __name__ == "__main__":, as processes read the script again)'
        ) from None


def load() -> Any:
    """Import dask.distributed."""
    try:
        import distributed
    except ImportError:
        raise UsageError(f"Dask needs the packages dask and distributed {INSTALL}") from None
    return distributed


class DaskTasks:
    """The tasks of one job on a client of Dask.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client, self._token = client, uuid4().hex[:8]
        self._all = WeakSet[Any]()  # what nobody waits for any more is released

    @property
    def n_threads(self) -> int:
        """How many tasks run at the same time."""
        return sum(self._client.nthreads().values()) or 1

    def check(self, paths: Sequence[Path]) -> None:
        """Refuse workers with another version, or which do not see the same files."""
        self._wait_for_workers()
        local = [path for path in paths if not isinstance(path, RemotePath)]
        names = [str(path) for path in local]
        expected, version = [status_of(path) for path in local], VERSION
        doubtful = dict[str, None]()
        for address, seen in self._ask(_make_probe(names)):
            worker = WorkerInfo(address, *seen)
            _check_worker(worker, version, names, expected)
            doubtful.update(dict.fromkeys(_find_doubtful(worker, names, expected)))
        if doubtful:
            self._check_samples(list(doubtful))

    def _check_samples(self, names: Sequence[str]) -> None:
        """Refuse workers that see other files of the same sizes."""
        own = sample_files(names)
        for address, theirs in self._ask(partial(sample_files, names)):
            for name, mine, other in zip(names, own, theirs, strict=True):
                if mine != other:
                    raise DataError(
                        f"{name}: worker {address} sees another file of the same size (hint: pass the absolute path of "
                        "a file on storage that all workers share)"
                    )

    def _ask(self, function: Callable[[], Any]) -> list[tuple[str, Any]]:
        """Run a function in each worker; return addresses and answers, without workers that died meanwhile."""
        failed = dict[str, Any]()
        for _ in range(RETRIES + 1):
            self._wait_for_workers()
            answers = self._client.run(function, on_error="return")
            failed = {address: each for address, each in answers.items() if isinstance(each, BaseException)}
            if any(not isinstance(each, OSError) for each in failed.values()) or not self._are_gone(failed):
                break
            if len(failed) < len(answers):
                return [(address, answers[address]) for address in sorted(answers.keys() - failed.keys())]
        address, error = min(failed.items())
        raise UsageError(f"worker {address}: cannot be asked for its files: {error}")

    def _are_gone(self, addresses: Collection[str]) -> bool:
        """Return whether the scheduler loses some workers within a moment: those that died."""
        deadline = time.monotonic() + PATIENCE
        while not self._client.nthreads().keys().isdisjoint(addresses):
            if time.monotonic() > deadline:
                return False
            time.sleep(PAUSE)
        return True

    def _wait_for_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE_FOR_WORKERS)
        except OSError:
            address = self._client.scheduler.address
            raise UsageError(
                f"{address}: the scheduler has no workers (hint: dask worker {address} starts one)"
            ) from None

    def submit(self, name: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Start a task; the dashboard shows it under its name."""
        key = f"{name}-{self._token}-{number}" if name == "xmceval-job" else (f"{name}-{self._token}", number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large arguments: they are meant
            future = self._client.submit(as_here(function), *arguments, key=key, retries=RETRIES, pure=False)
        self._all.add(future)
        return future

    def compute(self, values: Sequence[Any]) -> list[Any]:
        """Start the tasks of delayed values; return what stands for their results."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            futures: list[Any] = self._client.compute(list(values), retries=RETRIES)
        self._all.update(futures)
        return futures

    def results(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield places and results as they come; the scheduler is asked once for all that are there."""
        places = {future.key: place for place, future in enumerate(tasks)}
        for futures in load().as_completed(tasks, loop=self._client.loop).batches():
            try:
                results = self._client.gather(futures)
            except (Exception, asyncio.CancelledError):  # one by one, the first that failed says why
                results = map(self.result, futures)
            yield from zip((places[future.key] for future in futures), results, strict=True)

    def result(self, task: Any) -> Any:
        """Wait for a result."""
        distributed = load()
        try:
            return task.result()
        except XmcevalError:
            raise
        except distributed.KilledWorker:
            raise DataError(
                f"{task.key}: the workers that ran this task died, one after the other; did they run out of memory?"
            ) from None
        except (CancelledError, asyncio.CancelledError):
            raise DataError("the work was cancelled: was the scheduler of Dask stopped, or restarted?") from None

    def cancel(self) -> None:
        """Stop all tasks and forget their results."""
        unfinished = [each for each in self._all if not each.done()]
        if unfinished and self._client.status == "running":
            self._client.cancel(unfinished)
        self._all.clear()
        self._token = uuid4().hex[:8]


class LazyTasks:
    """Tasks without a client: a graph that Dask computes in its usual way, once the result is asked for."""

    n_threads = 1

    def __init__(self) -> None:
        self._token = uuid4().hex[:8]

    def check(self, paths: Sequence[Path]) -> None:
        """Do nothing: there are no workers to refuse."""

    def submit(self, name: str, number: int, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a task as a delayed value."""
        import dask

        return dask.delayed(function, pure=False)(*arguments, dask_key_name=(f"{name}-{self._token}", number))

    def compute(self, values: Sequence[Any]) -> list[Any]:
        """Return delayed values as they are."""
        return list(values)

    def results(self, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:  # noqa: ARG002 - nothing runs yet
        """Yield nothing: no result is there before the last one."""
        return iter(())

    def result(self, task: Any) -> Any:
        """Compute a task."""
        return task.compute()

    def cancel(self) -> None:
        """Do nothing: no task runs by itself."""


def _connect(distributed: Any, address: str) -> Any:
    try:
        with ThreadPoolExecutor(1) as pool:  # a notebook has a loop of its own in this thread
            pool.submit(as_here(asyncio.run), _ask_scheduler(distributed, address)).result()
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        reason = f" ({error})" if isinstance(error, ValueError) else ""
        raise UsageError(
            f"{address}: no Dask scheduler answered{reason} (hint: dask scheduler starts one; "
            f"{argument('client', 'local:4')} needs none)"
        ) from None


async def _ask_scheduler(distributed: Any, address: str) -> None:
    """Ask a scheduler who it is: a client would wait forever for what takes connections but never answers."""
    arguments = distributed.Security().get_connection_args("client")

    async def ask() -> None:
        async with distributed.rpc(address, connection_args=arguments) as scheduler:
            await scheduler.identity()

    await asyncio.wait_for(ask(), PATIENCE)


def _parse_local(target: str) -> int:
    """Return the number of processes of ``local:N``; 0 for an address."""
    if not target.startswith(LOCAL):
        if "://" not in target:
            raise UsageError(f"{argument('client', target)}: expected an address such as tcp://host:8786, or local:N")
        return 0
    number = target[len(LOCAL) :]
    if not number.isdigit() or not int(number):
        raise UsageError(f"{argument('client', target)}: expected a number of processes of at least 1, such as local:4")
    return int(number)


def _make_probe(names: Sequence[str]) -> Callable[[], tuple[str, str, list[Any]]]:
    """Return a function that a worker can run even where it has another xmceval, or none."""

    def probe() -> tuple[str, str, list[Any]]:
        import importlib.metadata
        import os

        try:
            version = importlib.metadata.version("xmceval")
        except importlib.metadata.PackageNotFoundError:
            version = ""
        files: list[Any] = []
        for name in names:
            try:
                status = os.stat(name)
                files.append((status.st_size, status.st_mtime_ns))
            except (OSError, ValueError):
                files.append(None)
        return version, os.getcwd(), files

    return probe


def _check_worker(seen: WorkerInfo, version: str, names: Sequence[str], expected: Sequence[Any]) -> None:
    if seen.version != version:
        has = f"has xmceval {seen.version}" if seen.version else "has no xmceval"
        raise UsageError(f"worker {seen.address} {has}; this is {version} (hint: install the same version everywhere)")
    for name, own, theirs in zip(names, expected, seen.files, strict=True):
        if theirs is None:
            where = "" if to_path(name).is_absolute() else f", and looks in {seen.folder}"
            raise DataError(
                f"{name}: worker {seen.address} does not see this file{where} (hint: pass the absolute path of a file "
                "on storage that all workers share)"
            )
        if own is not None and theirs[0] != own[0]:
            raise DataError(
                f"{name}: has {counted(own[0], 'byte')}, but {counted(theirs[0], 'byte')} where worker {seen.address} "
                "sees it; is it another file?"
            )


def _find_doubtful(seen: WorkerInfo, names: Sequence[str], expected: Sequence[Any]) -> Iterator[str]:
    """Yield files that may be others for a worker: changed at another time, or looked for in another folder."""
    is_elsewhere = seen.folder != str(Path.cwd())
    for name, own, theirs in zip(names, expected, seen.files, strict=True):
        if own is not None and (theirs != own or (is_elsewhere and not to_path(name).is_absolute())):
            yield name


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs of lost workers from stderr: what matters is raised."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {each: each.level for each in map(logging.getLogger, names)}
    for each in levels:
        each.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for each, level in levels.items():
            each.setLevel(level)
