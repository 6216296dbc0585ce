"""``xmceval datasets``: the catalogue of public data sets."""

from __future__ import annotations

from xmceval.cli.listings import listing_command
from xmceval.labels.catalogue import datasets

HELP = """List all public data sets, or show NAME in detail.

The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

\b
Example:
  xmceval datasets Amazon-670K
"""

command = listing_command("datasets", datasets, HELP, short_help="List the public data sets, or show some of them.")
