"""JSON: everything in a result under the versioned schema; fractions in full precision, null where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison
    from xmceval.report.result import Result


def render(results: Sequence[Result]) -> str:
    """Write results as JSON."""
    from xmceval.report.fields.scorefields import SCORE

    return SCORE.write(results)


def render_comparison(comparison: Comparison) -> str:
    """Write a comparison as JSON."""
    from xmceval.report.fields.comparefields import COMPARE

    return COMPARE.write(comparison)
