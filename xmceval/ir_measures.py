"""Short import path of `xmceval.dropins.ir_measures`: `xmceval.ir_measures.measure` converts a metric."""

from xmceval.dropins.ir_measures import measure

__all__ = ["measure"]
