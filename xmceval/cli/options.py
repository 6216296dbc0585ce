"""Options that several commands have; those of scoring are derived from Options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from xmceval.files.limits import MAX_LINE
from xmceval.metrics.names import check_cutoff
from xmceval.metrics.table import DEFAULT_CUTOFFS
from xmceval.scoring.options import Options, Spec, specs

Function = TypeVar("Function", bound=Callable[..., Any])

form = click.option(
    "-o", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Form of the output."
)
force = click.option("--force", is_flag=True, help="Overwrite DST.")
max_line = click.option(
    "--max-line",
    type=click.IntRange(min=1),
    default=MAX_LINE,
    show_default=True,
    metavar="MIB",
    help="The longest line of a text file.",
)
threads = click.option(
    "--threads", type=click.IntRange(min=1), metavar="N", help="Number of threads.  [default: one per processor]"
)


def scoring(function: Function) -> Function:
    """Add the options of scoring to a command."""
    return derived(function, Options)


def derived(function: Function, of: type[Any]) -> Function:
    """Add the options that a dataclass of options has to a command."""
    for name, spec in reversed(specs(of).items()):
        function = _option(name, spec, of.__dataclass_fields__[name].default)(function)
    return function


def _option(name: str, spec: Spec, default: Any) -> Callable[[Function], Function]:
    flags = spec.flags or (f"--{name.replace('_', '-')}",)
    how: dict[str, Any] = {"help": spec.help, "metavar": spec.metavar or None}
    if name == "k":
        how |= {"default": ",".join(map(str, DEFAULT_CUTOFFS)), "show_default": True, "callback": _parse_cutoffs}
    elif spec.kind is bool:
        how |= {"is_flag": True}
    elif spec.kind is list:
        how |= {"multiple": True, "callback": lambda _, __, value: value or None}
    elif spec.choices:
        how |= {"type": click.Choice(spec.choices), "default": default, "show_default": True}
    elif spec.kind is int:
        how |= {"type": click.IntRange(spec.low, spec.high), "default": default, "show_default": default is not None}
    else:
        how |= {"type": spec.kind}
    return click.option(*flags, name, **how)


def _parse_cutoffs(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    return [check_cutoff(part.strip()) for part in value.split(",")]


runs = click.option(
    "--runs",
    multiple=True,
    metavar="NAME=A,B,C",
    help="Add a system that was trained several times, such as with other seeds: the mean of its runs.",
)
fused = click.option(
    "--fuse",
    "fused",
    multiple=True,
    metavar="NAME=A,B",
    help="Add a system that fuses others, by score or NAME=RULE:A,B; see xmceval fuse.",
)
