"""ir_measures: `xmceval.ir_measures.measure` makes a measure of a metric; see `xmceval.dropins.ir_measures`."""

from xmceval.dropins.ir_measures import measure

__all__ = ["measure"]
