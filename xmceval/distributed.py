"""Distributed: `xmceval.score` and `xmceval.compare` with a client of Dask; see `xmceval.api.cluster.distributed`."""

from xmceval.api.cluster.distributed import compare, score

__all__ = ["compare", "score"]
