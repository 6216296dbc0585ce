"""Short import path of `xmceval.loops.torch`: `xmceval.torch.Metric` is a metric of torchmetrics."""

from xmceval.loops.torch import Metric

__all__ = ["Metric"]
