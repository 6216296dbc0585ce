"""``xmceval metrics``: what every metric is."""

from __future__ import annotations

from xmceval.cli.listings import listing_command
from xmceval.metrics.table import METRICS

HELP = """List all metrics, or explain NAME: formula, options, conventions, source.

NAME is written as in score -m. Names that other tools use, such as ndcg_cut_5, are understood too.

\b
Example:
  xmceval metrics nDCG
"""

command = listing_command("metrics", lambda: METRICS, HELP, short_help="List the metrics, or explain some of them.")
