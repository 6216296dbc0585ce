"""A torchmetrics metric that wraps an Evaluator and gathers it across processes; imported only on request."""

from __future__ import annotations

import functools
from numbers import Integral
from typing import Any

from xmceval.errors import DataError, UsageError, XmcevalError, counted, describe_type, missing_module, split_hint

try:
    import torch
    import torchmetrics
    from torch import distributed
except ModuleNotFoundError as error:
    raise missing_module("xmceval.torch", error) from None

from xmceval.loops.evaluator import Evaluator
from xmceval.rows.checks import SWAPPED

STATE = "state"  # the key of the rows in checkpoints
FLOAT32_ONLY = frozenset({"mps"})  # devices without float64


class Metric(torchmetrics.Metric):
    """The metrics of an Evaluator as one metric of torchmetrics: in several processes, in collections, in Lightning.

    ``compute`` returns a dict of scalar tensors by name, which ``self.log_dict`` of a LightningModule takes; the values
    equal one `score` over the rows of all processes. After ``persistent(True)``, ``state_dict()`` has the rows
    of this process so far, and ``load_state_dict()`` goes on from there.

    Parameters
    ----------
    n_labels : int, optional
        The number of labels; default the number in `train`, `counts` or `inverse_propensities`. One of the four is
        needed, as a process may have no rows.
    n_rows : int, optional
        The rows of the whole data set, where a ``DistributedSampler`` spreads them over processes: it repeats some at
        the end, so that all processes have as many, and with `n_rows` each row counts once.
    sep : str
        What stands for the ``@`` in names: ``"_at_"`` for loggers that refuse it. See `Result.flat`.
    dist_options : dict, optional
        Keyword arguments of ``torchmetrics.Metric``, such as ``{"dist_sync_on_step": True}``.
    **options
        As of `Evaluator`.

    Raises
    ------
    UsageError
        An argument that is wrong, metrics that cannot be merged, or that need propensities without a source of them.

    Examples
    --------
    >>> import torch
    >>> from xmceval.torch import Metric
    >>> metric = Metric(metrics=["P"], k=1, n_labels=4)
    >>> metric.update(torch.eye(4), torch.eye(4))
    >>> metric.compute()
    {'P@1': tensor(1., dtype=torch.float64)}
    """

    full_state_update = False
    is_differentiable = False

    def __init__(
        self,
        *,
        n_labels: int | None = None,
        n_rows: int | None = None,
        sep: str = "@",
        dist_options: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**(dist_options or {}))
        if n_rows is not None and not (isinstance(n_rows, Integral) and n_rows >= 1):
            raise UsageError(f"n_rows must be a whole number of at least 1, got {n_rows!r}")
        self._n_rows = n_rows
        self._sep = sep
        self._n_seen = 0
        self._evaluator = Evaluator(n_labels=n_labels, **options)
        self._is_persistent = False
        if not self._evaluator._base.setup.width.is_known:
            raise UsageError("the number of labels is not known (hint: pass n_labels)")

    def update(self, preds: Any, target: Any) -> None:
        """Add a batch, with the scores first as in torchmetrics; a batch that raises an error is not added.

        Parameters
        ----------
        preds : tensor, matrix or pair [n_rows, n_labels]
            Scores, as `Evaluator.update` takes them; also what ``logits.topk(100)`` returns.
        target : tensor, matrix or lists [n_rows, n_labels]
            True labels.

        Raises
        ------
        DataError
            Data that is wrong, with its row.
        """
        is_pair = isinstance(preds, (tuple, list))
        n_batch = len(preds[0]) if is_pair else len(preds)
        n_left = 1 << 62  # no limit
        if self._n_rows is not None:  # rows that a sampler repeats at the end of this process do not count
            n_own = self._n_rows
            if distributed.is_available() and distributed.is_initialized():
                n_own = len(range(distributed.get_rank(), self._n_rows, distributed.get_world_size()))
            n_left = max(n_own - self._n_seen, 0)
            if n_batch > n_left + 1:  # a sampler repeats at most one row in each process
                raise DataError(
                    f"preds: {self._n_seen + n_batch:,} rows, but n_rows={self._n_rows:,} leaves {n_own:,} to this "
                    "process (hint: call reset() between epochs, or leave out n_rows)"
                )
        if n_left < n_batch:
            target = target[:n_left]
            if is_pair:
                preds = tuple(part[:n_left] for part in preds)
            else:
                preds = preds[:n_left]
        if n_left:
            try:
                self._evaluator.update(target, preds)
            except DataError as error:
                if self._takes(preds, target):
                    fault = split_hint(str(error).splitlines()[0])[0].replace("y_true", "target")
                    fault = fault.replace(f" ({SWAPPED})", "").replace(f": {SWAPPED})", ")")  # which is asked here
                    raise DataError(f"are preds and target swapped? expected update(preds, target): {fault}") from None
                raise
        self._n_seen += n_batch

    def _takes(self, y_true: Any, y_score: Any) -> bool:
        """Whether a batch can be scored."""
        try:
            self._evaluator._emptied().update(y_true, y_score)
        except XmcevalError:
            return False
        return True

    def compute(self) -> dict[str, torch.Tensor]:
        """Return the values of all rows so far by name, over all processes."""
        dtype = torch.float32 if self.device.type in FLOAT32_ONLY else torch.float64
        evaluator = self._evaluator
        if self._to_sync and self.distributed_available_fn():
            gathered: list[Evaluator] = [evaluator] * distributed.get_world_size(self.process_group)
            distributed.all_gather_object(gathered, evaluator, group=self.process_group)
            evaluator = functools.reduce(Evaluator.merge, gathered)
        values = evaluator.flat(sep=self._sep)
        return {name: torch.tensor(value, dtype=dtype, device=self.device) for name, value in values.items()}

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Add a batch and return its own values, over all processes only with ``dist_sync_on_step``."""
        before = self._evaluator
        self._evaluator = before._emptied()
        self._to_sync = self.dist_sync_on_step
        try:
            self.update(*args, **kwargs)
            values: dict[str, torch.Tensor] = self.compute()
            before.merge(self._evaluator)
        finally:
            self._evaluator = before
            self._to_sync = self.sync_on_compute
            self._computed = None
        return values

    def merge_state(self, incoming_state: Any) -> None:
        """Add the rows of another such metric."""
        if not isinstance(incoming_state, Metric):
            raise UsageError(f"a Metric is merged with another one, not with {describe_type(incoming_state)}")
        self._evaluator.merge(incoming_state._evaluator)
        self._computed = None  # torchmetrics keeps what it computed before

    def persistent(self, mode: bool = False) -> None:
        """Set whether ``state_dict()`` has the rows so far, for a checkpoint in the middle of an epoch."""
        self._is_persistent = mode

    def state_dict(
        self, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Return the rows so far as a tensor of bytes, if they are persistent."""
        state: dict[str, Any] = super().state_dict(destination=destination, prefix=prefix, keep_vars=keep_vars)
        if self._is_persistent:
            state[prefix + STATE] = torch.frombuffer(bytearray(self._evaluator._packed()), dtype=torch.uint8)
        return state

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take the rows of a checkpoint; a persistent metric reports them as missing if there are none."""
        name = prefix + STATE
        if name in state_dict:
            content = state_dict.pop(name).to("cpu", torch.uint8).numpy().tobytes()
            self._evaluator = self._evaluator._unpacked(content, f"the checkpoint ({name})")
            self._n_seen = self._evaluator._state.n_rows
            self._computed = None
        elif strict and self._is_persistent:
            missing_keys.append(name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def __repr__(self) -> str:
        state = self._evaluator._state
        return f"Metric({', '.join(map(str, state.setup.program.measures))}: {counted(state.n_rows, 'row')})"

    def reset(self) -> None:
        """Forget all rows."""
        super().reset()
        self._evaluator.reset()
        self._n_seen = 0
