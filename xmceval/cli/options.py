"""Options that several commands have; those of scoring are derived from Options, and help shows them in groups."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from xmceval.cli import completion
from xmceval.cli.parameters import GroupedCommand, GroupedOption
from xmceval.errors import UsageError
from xmceval.report.forms import CHOICES, DRAWN
from xmceval.report.forms.layout import WIDTH, Layout
from xmceval.scoring.options import GROUPS, Options, Spec, specs

Function = TypeVar("Function", bound=Callable[..., Any])

# The forms that an option of the layout has an effect on, if not all of DRAWN.
FORMS_OF = {"caption": ("latex",), "label": ("latex",)}

FILE = click.Path(readable=False)  # so that a shell completes names of files; the readers refuse what is wrong


def command(name: str, **how: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command; see GroupedCommand."""
    return click.command(name, cls=GroupedCommand, **how)


def option(*flags: str, **how: Any) -> Callable[[Function], Function]:
    """Make an option that help shows under a group; see GroupedOption."""
    return click.option(*flags, cls=GroupedOption, **how)


def derived(of: type[Any], without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Make all options that a dataclass of options has, without those that have no effect on a command."""

    def decorate(function: Function) -> Function:
        for name in reversed([each for each in specs(of) if each not in without]):
            function = derived_option(name, of)(function)
        return function

    return decorate


def derived_option(name: str, of: type[Any], **changes: Any) -> Callable[[Function], Function]:
    """Make one of the options that a dataclass of options has; `changes` replace what click shows."""
    spec, default = specs(of)[name], of.__dataclass_fields__[name].default
    flags = spec.flags or (f"--{name.replace('_', '-')}",)
    how = {
        "help": spec.help,
        "metavar": spec.metavar or None,
        "group": spec.group,
        **_describe_kind(spec, default),
    }
    if spec.names is not None:
        how["shell_complete"] = completion.of_names(spec.names, are_listed=spec.kind is list)
    return option(*flags, name, **{**how, **changes})


def _describe_kind(spec: Spec, default: Any) -> dict[str, Any]:
    """Return what click knows of the values of an option."""
    if spec.kind is bool:
        return {"default": default, "show_default": True} if "/" in "".join(spec.flags) else {"is_flag": True}
    if spec.kind is list:
        return {"multiple": True, "callback": lambda _, __, value: value or None}
    if spec.choices:
        return {"type": click.Choice(spec.choices), "default": default, "show_default": True}
    if spec.is_file:
        return {"type": FILE}
    # The dataclass checks the bounds.
    return {"type": spec.kind, "default": default, "show_default": default is not None}


def terminal_width() -> int:
    """Return the columns of the terminal; 80 where there is none."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def terminal() -> dict[str, object]:
    """Return the width of the terminal, and what it shows: bold text, for which NO_COLOR does not ask, and UTF-8."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    is_terminal = sys.stdout.isatty()
    return {
        "width": terminal_width(),
        "is_terminal": is_terminal,
        "is_styled": is_terminal and not is_plain,
        "is_unicode": (sys.stdout.encoding or "").lower().startswith("utf"),
    }


def take_layout(arguments: Mapping[str, Any], form: str) -> Layout:
    """Return the layout that a command was asked for."""
    context = click.get_current_context()
    passed = [
        parameter
        for parameter in context.command.params
        if parameter.name in specs(Layout)
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    for parameter in passed:
        effective = FORMS_OF.get(parameter.name, DRAWN)
        value = arguments[parameter.name]
        is_same = parameter.name == "percent" and not value  # csv and json have fractions
        if form not in effective and not is_same:
            flag = parameter.secondary_opts[0] if value is False else parameter.opts[0]
            raise UsageError(f"{flag} has no effect on -o {form} (hint: pass -o {' or '.join(effective)})")
    return Layout.of(arguments, **terminal())


def form_option(forms: Iterable[str], more: str = "") -> Callable[[Function], Function]:
    """Make the option for the form of the output; `more` continues its help."""
    return option(
        *("-o", "--output-format", "form"),
        type=click.Choice(list(forms)),
        default="table",
        show_default=True,
        help=f"Output format{more}.",
    )


scoring = derived(Options)
layout = derived(Layout)
layout_of_results = derived(Layout, without=["pairs"])
form = form_option(["table", "json"])
report_form = form_option(CHOICES, "; csv and json have fractions in full precision")
names = option(
    "--name",
    "names",
    multiple=True,
    group="Output",
    metavar="NAME",
    help="Name of a system, in the order of PREDS; may be repeated. NAME=FILE does the same.",
)
save_rows = option(
    "--save-rows",
    type=FILE,
    group="Output",
    metavar="FILE",
    help="Write the values of every instance: .npz or .csv.",
)
runs = option(
    "--runs",
    multiple=True,
    group="Input",
    metavar="NAME=A,B,C",
    help="Add a system trained several times, such as with different seeds, as the mean of its runs.",
)
shards = option(
    "--shard-dirs",
    "shards",
    is_flag=True,
    group="Input",
    help="Treat a directory as the shards inside it.",
)
dask = option(
    "--dask",
    metavar="ADDRESS",
    help="Score on a Dask cluster: tcp://host:8786, or local:N for N local processes.",
)
strict = option("--strict", is_flag=True, group="Output", help="Treat doubts about the values as errors.")
force = option("--force", is_flag=True, help="Overwrite files that exist.")
max_line = derived_option("max_line", Options, group=GROUPS[0])
threads = derived_option("threads", Options)
quiet = option("-q", "--quiet", is_flag=True, help="Print only results, errors and doubts about the values.")
verbose = option("-v", "--verbose", is_flag=True, help="Also print notes on how the files were read.")
