"""Short import path of `xmceval.dropins.ir_measures`: `xmceval.ir_measures.measure` makes a measure of a metric."""

from xmceval.dropins.ir_measures import measure

__all__ = ["measure"]
