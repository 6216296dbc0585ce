"""Run scoring on Dask for ``--dask``, either on a running scheduler or in local worker processes."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from typing import Any

from xmceval.errors import DataError, UsageError

PATIENCE = 3.0  # seconds to wait for an answer of the scheduler
PATIENCE_FOR_WORKERS = 30.0  # seconds to wait for the first worker
PATIENCE_FOR_CLOSING = 10.0  # seconds to wait until the local processes have ended
RETRIES = 3  # for tasks that failed for a reason other than their data


class LazyExecutor(Executor):
    """An executor opened by the first task, so that inputs refused earlier start no processes."""

    def __init__(self, open_executor: Callable[[], Executor]) -> None:
        self._open = cache(open_executor)

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Submit a task."""
        return self._open().submit(function, *arguments, **options)


@contextmanager
def open_dask(target: str) -> Iterator[Executor]:
    """Connect to a scheduler, such as ``tcp://host:8786``, or start ``local:N`` processes when there is a task."""
    try:
        import distributed
    except ImportError:
        raise UsageError("--dask needs the package distributed (hint: pip install distributed)") from None
    is_local = target.startswith("local:")
    number = target.removeprefix("local:")
    if not is_local and "://" not in target:
        raise UsageError(f"--dask {target}: expected an address such as tcp://host:8786, or local:N")
    if is_local and not (number.isdigit() and int(number)):
        raise UsageError(f"--dask {target}: expected a number of processes of at least 1, such as local:4")

    def connect() -> Executor:
        if is_local:
            cluster = distributed.LocalCluster(
                n_workers=int(number), threads_per_worker=1, dashboard_address=None, silence_logs=logging.CRITICAL
            )
            stack.callback(_close, cluster)
            client = stack.enter_context(distributed.Client(cluster))
        else:
            client = stack.enter_context(_connect(distributed, target))
        try:
            client.wait_for_workers(1, timeout=PATIENCE_FOR_WORKERS)
        except OSError:
            raise UsageError(f"{target}: no workers (hint: dask worker {target} starts one)") from None
        return client.get_executor(retries=RETRIES, pure=False)  # type: ignore[no-any-return]

    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.callback(logging.disable, logging.root.manager.disable)
        logging.disable()  # Dask logs lost workers; errors that matter are raised
        warnings.simplefilter("ignore")  # about a dashboard port in use, or large arguments
        try:
            yield LazyExecutor(connect) if is_local else connect()
        except distributed.KilledWorker as error:
            raise DataError(
                f"workers died, one after the other, over the same rows; out of memory? ({error})"
            ) from None


def _close(cluster: Any) -> None:
    """Close the local processes; older versions of Dask may wait forever for one that died as it started."""
    # Dask asserts that every worker was started, even while one is being restarted; this must not hide the real
    # error.
    with suppress(TimeoutError, AssertionError):
        cluster.close(timeout=PATIENCE_FOR_CLOSING)


def _connect(distributed: Any, address: str) -> Any:
    """Return a client once the scheduler has identified itself; Client alone may wait forever for an answer."""

    async def ask() -> None:
        async with distributed.rpc(address, connection_args=security) as scheduler:
            await scheduler.identity()

    try:
        security = distributed.Security().get_connection_args("client")
        asyncio.run(asyncio.wait_for(ask(), PATIENCE))
        return distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, ImportError) as error:
        reason = f" ({error})" if isinstance(error, ValueError) else ""
        raise UsageError(
            f"{address}: no Dask scheduler answered{reason} (hint: dask scheduler starts one; --dask local:4 needs "
            "none)"
        ) from None
