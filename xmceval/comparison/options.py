"""Options of the significance tests."""

# ruff: noqa: RUF009 - every default is a dataclasses.field

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from xmceval.errors import UsageError, argument, listed
from xmceval.scoring.options import chosen, option, specs

# How a value compares with the baseline's: better or worse, no difference found, or not tested.
MARKS = BETTER, WORSE, NONE, UNTESTED = ("better", "worse", "none", "untested")

Test = Literal["t", "randomization"]
Adjust = Literal["holm", "none"]
AdjustOver = Literal["metric", "all"]


@dataclass(frozen=True, kw_only=True)
class Testing:
    """How differences are tested; `xmceval.compare` documents the options."""

    __test__ = False  # not a test class, despite its name

    against: str | None = option(None, "Testing", "Test every system against this one only.", metavar="NAME")
    test: Test = option("t", "Testing", "Paired t test over instances, or randomization of signs.", literal=Test)
    adjust: Adjust = option("holm", "Testing", "Adjust p for several comparisons.", literal=Adjust)
    adjust_over: AdjustOver = option(
        "metric", "Testing", "Adjust over the pairs of each metric, or over all differences.", literal=AdjustOver
    )
    resamples: int = option(
        10_000, "Testing", "Number of resamples, for randomization.", kind=int, low=100, metavar="N"
    )
    seed: int = option(
        0,
        "Testing",
        "Random seed, for randomization and label-wise metrics.",
        kind=int,
        low=0,
        high=2**63 - 1,
        metavar="N",
    )

    def __post_init__(self) -> None:
        for name, spec in specs(type(self)).items():
            value = getattr(self, name)
            if spec.choices and value not in spec.choices:
                raise UsageError(f"{name} must be one of {listed(spec.choices)}, got {value!r}")
            if spec.kind is int:
                spec.check_whole(name, value)
                object.__setattr__(self, name, int(value))  # json cannot write numpy integers

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Testing:
        """Take the testing options from a function's arguments; refuse the number of resamples for other tests.

        The seed is also that of tests of label-wise metrics.
        """
        testing = cls(**chosen(cls, arguments))
        if testing.resamples != cls.resamples and not testing.holds_rows:
            raise UsageError(
                f"{argument('resamples')} has no effect on t tests (hint: pass {argument('test', 'randomization')})"
            )
        return testing

    @property
    def holds_rows(self) -> bool:
        """Whether the values of rows have to be held in memory."""
        return self.test == "randomization"
