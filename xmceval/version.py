"""The version number, kept here because reading package metadata is slower than importing most of the package.

And the names of the schemas of documents, ``xmceval/<kind>/<version>``: what writes or reads one needs no more of them.
"""

VERSION = "0.1.0"

SCORE_SCHEMA = "xmceval/score/3"
COMPARE_SCHEMA = "xmceval/compare/3"
BENCHMARK_SCHEMA = "xmceval/benchmark/3"
INSPECT_SCHEMA = "xmceval/inspect/2"
METRICS_SCHEMA = "xmceval/metrics/1"
DATASETS_SCHEMA = "xmceval/datasets/1"
ROWS_SCHEMA = "xmceval/rows/1"
STATE_SCHEMA = "xmceval/state/7"
