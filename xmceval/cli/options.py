"""Declare the options of commands, in groups of their help; those of scoring are taken from scoring/options."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from xmceval.errors import UsageError
from xmceval.report.forms import CHOICES, DRAWN
from xmceval.report.sheet import LONGEST, WIDTH, Layout
from xmceval.scoring.options import GROUPS, Options, Spec, specs

Function = TypeVar("Function", bound=Callable[..., Any])
Completer = Callable[[click.Context, click.Parameter, str], list[str]]

HELP_ALL = "xmceval.help_all"  # key in the meta of a context: whether help shows all options
# options that the short help of score and compare begins with
MAIN = ("k", "metrics", "train", "dataset", "filter", "by_frequency", "by_group", "labels", "threshold")
IN_LATEX = frozenset({"caption", "label"})  # options of the layout that other forms lack
FILE = click.Path(readable=False)  # shells complete file names; readers refuse wrong files


class GroupedOption(click.Option):
    """An option with the group under which help shows it."""

    def __init__(self, *args: Any, group: str = GROUPS[0], **how: Any) -> None:
        super().__init__(*args, **how)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows its options in GROUPS.

    With the names of its `main_options`, ``--help`` shows these alone, and ``--help-all`` all of them.
    """

    def __init__(self, *args: Any, main_options: Sequence[str] = (), **how: Any) -> None:
        super().__init__(*args, **how)
        self.main_options = main_options
        if main_options:
            self.epilog = "Guides: xmceval guide"
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all_options,
                    help="Show all options.",
                )
            )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; the message about an option that is a form of output, such as --json, names -o."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            form = next((param for param in self.params if param.name == "form"), None)
            word = error.option_name[2:]
            word = {"markdown": "md", "tex": "latex"}.get(word, word)
            if form is not None and word in form.type.choices:  # type: ignore[attr-defined]
                raise click.UsageError(f"No such option {error.option_name!r} (hint: -o {word})", ctx) from None
            if word == "html" and any(param.name == "page" for param in self.params):
                raise click.UsageError("No such option '--html' (hint: --page FILE.html)", ctx) from None
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the main options in one section, or all options with one section per group."""
        params = self.get_params(ctx)
        is_short = bool(self.main_options) and not ctx.meta.get(HELP_ALL)
        if is_short:
            main = [param for name in self.main_options for param in params if param.name == name]
            params = [*main, *params[-2:]]  # adds --help-all and --help
        records: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for param in params:
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                records[GROUPS[0] if is_short else getattr(param, "group", GROUPS[0])].append(record)
        is_one = sum(map(bool, records.values())) == 1
        for group, rows in records.items():
            if rows:
                with formatter.section("Options" if is_one else group):
                    formatter.write_dl(rows)


def _show_all_options(ctx: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        ctx.meta[HELP_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def command(name: str, **how: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command; see GroupedCommand."""
    return click.command(name, cls=GroupedCommand, **how)


def option(*flags: str, **how: Any) -> Callable[[Function], Function]:
    """Make an option that help shows under a group; see GroupedOption."""
    return click.option(*flags, cls=GroupedOption, **how)


def file_option(*flags: str, metavar: str = "FILE", **how: Any) -> Callable[[Function], Function]:
    """Make an option that takes a file."""
    return option(*flags, type=FILE, metavar=metavar, **how)


def derived(of: type[Any], without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Make the options of a dataclass, except those that this command lacks."""

    def decorate(function: Function) -> Function:
        for name in reversed([name for name in specs(of) if name not in without]):
            function = derived_option(name, of)(function)
        return function

    return decorate


def derived_option(name: str, of: type[Any]) -> Callable[[Function], Function]:
    """Make one of the options of a dataclass."""
    spec = specs(of)[name]
    default = of.__dataclass_fields__[name].default
    how = _describe_kind(spec, default)
    if spec.names is not None:
        how["shell_complete"] = completing(spec.names, are_listed=spec.kind is list)
    flags = spec.flags or (f"--{name.replace('_', '-')}",)
    return option(*flags, name, help=spec.help, metavar=spec.metavar or None, group=spec.group, **how)


def _describe_kind(spec: Spec, default: Any) -> dict[str, Any]:
    """Return click's keyword arguments that describe the values of an option."""
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


def completing(names: Callable[[], Iterable[str]], *, are_listed: bool = False) -> Completer:
    """Let a shell complete names, ignoring case; with `are_listed`, also the last name after a comma."""

    def complete(_: click.Context, __: click.Parameter, word: str) -> list[str]:
        before, comma, start = word.rpartition(",") if are_listed else ("", "", word)
        return [f"{before}{comma}{name}" for name in names() if name.lower().startswith(start.lower())]

    return complete


def passed_options(names: Collection[str]) -> list[click.Parameter]:
    """Return the options that were passed on the command line."""
    context = click.get_current_context()
    return [
        parameter
        for parameter in context.command.params
        if parameter.name in names and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]


def terminal_width(otherwise: int = WIDTH) -> int:
    """Return the number of columns of the terminal, or another where there is none."""
    return shutil.get_terminal_size((otherwise, 24)).columns


def terminal() -> dict[str, object]:
    """Return the width of the terminal, and whether it shows bold text (unless NO_COLOR is set) and UTF-8."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    is_terminal = sys.stdout.isatty()
    return {
        "width": terminal_width(WIDTH if is_terminal else LONGEST),
        "is_terminal": is_terminal,
        "is_styled": is_terminal and not is_plain,
        "is_unicode": (sys.stdout.encoding or "").lower().startswith("utf"),
    }


def take_layout(arguments: Mapping[str, Any], form: str) -> Layout:
    """Return the layout asked for; a form without layout refuses layout options, unless a page uses them."""
    has_layout = form in DRAWN or arguments.get("page") is not None
    for parameter in () if has_layout else passed_options(set(specs(Layout)) - IN_LATEX):
        value = arguments[parameter.name or ""]
        if parameter.name == "percent" and not value:  # csv and json always have fractions
            continue
        flag = parameter.secondary_opts[0] if value is False else parameter.opts[0]
        raise UsageError(f"{flag} has no effect on -o {form} (hint: pass -o {' or '.join(DRAWN)})")
    for parameter in passed_options(() if form == "latex" else IN_LATEX):
        raise UsageError(f"{parameter.opts[0]} has no effect on -o {form} (hint: pass -o latex)")
    is_quiet = click.get_current_context().params["quiet"]
    return Layout.of(arguments, is_quiet=is_quiet, is_verbose=arguments["verbose"], **terminal())


class _Form(click.Choice):  # type: ignore[type-arg]
    """The forms of the output; the message about another word names one for the file that is meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a form."""
        endings = {".txt": "table", ".tex": "latex", ".htm": "html"} | {f".{form}": form for form in self.choices}
        form = endings.get(PurePath(value).suffix)
        if form in self.choices:
            self.fail(f"{value!r} is no form of output (hint: -o {form} > {value})", param, ctx)
        if "html" in value and ctx is not None and any(option.name == "page" for option in ctx.command.params):
            self.fail(f"{value!r} is no form of output (hint: --page FILE.html)", param, ctx)
        return super().convert(value, param, ctx)


def form_option(forms: Sequence[str]) -> Callable[[Function], Function]:
    """Make the option for the form of the output."""
    return option(
        *("-o", "--output-format", "form"),
        type=_Form(list(forms)),
        default="table",
        show_default=True,
        metavar="FORM",
        help=f"{' or '.join(', '.join(forms).rsplit(', ', 1))}.",
    )


scoring = derived(Options, without=["max_line"])
layout = derived(Layout)
layout_of_results = derived(Layout, without=["pairs"])
form = form_option(["table", "json"])
report_form = form_option(CHOICES)
save_rows = file_option("--save-rows", group="Output", help="Write the values of every instance: .npz or .csv.")
save_labels = file_option("--save-labels", group="Output", help="Write counts, precision, recall, F1 of labels: .csv.")
fail_if_worse = option(
    "--fail-if-worse",
    multiple=True,
    group="Testing",
    metavar="METRIC[:X]",
    help="Exit with code 3 if a system is significantly worse by more than X.",
)
fail_if_drop = option(
    "--fail-if-drop",
    multiple=True,
    group="Testing",
    metavar="METRIC[:X]",
    help="Exit with code 3 if a system is worse by more than X, significant or not.",
)
require = option(
    "--require",
    multiple=True,
    group="Output",
    metavar="RULE",
    help="Exit with code 3 unless the rule holds, such as 'P@5>=40'.",
)
dask = option("--dask", metavar="ADDRESS", help="Score on a Dask cluster: tcp://host:8786, or local:N for N processes.")
strict = option("--strict", is_flag=True, group="Output", help="Treat doubts about the values as errors.")
page = file_option("--page", group="Output", help="Write a page with tables and pictures.")
force = option("--force", is_flag=True, help="Overwrite files that exist.")
threads = derived_option("threads", Options)
quiet = option("-q", "--quiet", is_flag=True, help="Print only results, doubts and errors.")
verbose = option("-v", "--verbose", is_flag=True, help="Also print how files were read, and the worst and best labels.")
