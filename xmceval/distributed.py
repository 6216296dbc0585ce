"""Distributed: `xmceval.score` and `xmceval.compare` with a client of Dask; see `xmceval.api.distributed`."""

from xmceval.api.distributed import compare, score

__all__ = ["compare", "score"]
