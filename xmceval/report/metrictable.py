"""METRICS as Python users see it: the table of metrics, which shows itself as the list of ``xmceval metrics``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xmceval.metrics.entry import Metric
from xmceval.metrics.table import METRICS as TABLE
from xmceval.report.forms.layout import Layout
from xmceval.report.listings.metriclist import display_name, write_metrics
from xmceval.report.renderable import Displayed, fit_line


class MetricTable(Displayed, Mapping[str, Metric]):
    """The metrics by name: ``METRICS["P"].formula``; ``print(METRICS)`` shows all."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Metric:
        return TABLE[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE)

    def __len__(self) -> int:
        return len(TABLE)

    def _render(self, form: str, layout: Layout) -> str:
        return write_metrics([], form, layout.width)

    def _describe(self) -> tuple[str, ...]:
        names = [display_name(metric) for metric in self.values()]
        return f"METRICS: {len(self)} metrics", fit_line(names, len(names)), 'print() shows the table, ["P"] one Metric'


METRICS = MetricTable()
