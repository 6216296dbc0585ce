"""Results, comparisons and benchmarks in any form, with options of the layout, as the commands draw them."""

from xmceval.report.sheet import Layout


def render(shown, form="table", **layout):
    return shown._render(form, Layout(**layout))
