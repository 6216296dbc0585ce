"""PyTorch: `xmceval.torch.Metric` is a metric of torchmetrics; see `xmceval.api.loops.torchmetric`."""

from xmceval.api.loops.torchmetric import Metric

__all__ = ["Metric"]
