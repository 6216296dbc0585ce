"""PyTorch: `xmceval.torch.Metric` is a metric of torchmetrics; see `xmceval.loops.torch`."""

from xmceval.loops.torch import Metric

__all__ = ["Metric"]
