"""ir_measures: `xmceval.ir_measures.measure` makes a measure of a metric; see `xmceval.api.irmeasure`."""

from xmceval.api.irmeasure import measure

__all__ = ["measure"]
