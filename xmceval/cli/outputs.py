"""Write the pictures of ``--plot`` and the page of ``--page`` in addition to the table."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli.messages import say_written
from xmceval.cli.options import Function, file_option, option, page as page_option
from xmceval.errors import UsageError, counted
from xmceval.files.io.paths import to_path, without_secrets
from xmceval.report.forms import load_form
from xmceval.report.pictures import check_ending, check_installed, plot, save
from xmceval.report.sheet import Layout

if TYPE_CHECKING:
    from xmceval.comparison.comparison import Comparison
    from xmceval.report.result import Result
    from xmceval.scoring.options import Options

PAGE_ENDINGS = (".html", ".htm")
NOT_IN_COMMAND = frozenset({"--force", "-q", "--quiet", "-v", "--verbose"})  # they do not change the page


def output_options(kinds: Sequence[str], default: str) -> Callable[[Function], Function]:
    """Make the options for pictures of some kinds, and for the page."""

    def decorate(function: Function) -> Function:
        picture = "Draw a picture: .svg, .png or .pdf."
        plots = file_option("--plot", "plots", multiple=True, group="Output", help=picture)
        plot_kinds = option(
            *("--plot-kind", "plot_kinds"),
            multiple=True,
            type=click.Choice(kinds),
            group="Output",
            help=f"Kind of picture: one for all, or one for each --plot.  [default: {default}]",
        )
        return plots(plot_kinds(page_option(function)))

    return decorate


def check_plots(files: Sequence[str], kinds: Sequence[str], *, force: bool, inputs: Iterable[str | Path]) -> None:
    """Check before reading that pictures can be written; `kinds` are for all files, or one per file."""
    if kinds and not files:
        raise UsageError("--plot-kind has no effect without a file (hint: pass --plot FILE)")
    if len(kinds) not in {0, 1, len(files)}:
        raise UsageError(
            f"{counted(len(kinds), '--plot-kind')} for {counted(len(files), '--plot')}; "
            "expected one for all, or one for each"
        )
    for file in files:
        if files.count(file) > 1:
            raise UsageError(f"--plot {file} is passed {files.count(file)} times; expected a file for each picture")
        check_ending(file)
        _check_output(file, force=force, inputs=inputs)


def _check_output(file: str, *, force: bool, inputs: Iterable[str | Path]) -> None:
    """Check before anything is read that a file with pictures can be written."""
    from xmceval.files.io.write import check_output  # loads numpy

    check_output(to_path(file), force=force, inputs=inputs)
    check_installed()


def prepare_outputs(
    arguments: Mapping[str, Any],
    inputs: Iterable[tuple[str, Path]],
    options: Options | None = None,
    default_kind: str = "",
) -> Callable[..., None]:
    """Check before scoring that pictures and page can be written, and return a function that writes them.

    `inputs` are the files that the command reads, each with its role. Without the `options` of scoring, no
    picture is refused for lack of metrics. The page is of results, or what `render` returns.
    """
    plots, kinds, page, force = (arguments[name] for name in ("plots", "plot_kinds", "page", "force"))
    inputs = list(inputs) if plots or page is not None else []
    paths = [path for _, path in inputs]
    check_plots(plots, kinds, force=force, inputs=paths)
    kinds = kinds if len(kinds) == len(plots) else len(plots) * (kinds or (None,))
    if options is not None and plots:
        from xmceval.report.pictures import require_any, require_bins

        has_bins = options.by_frequency is not None or options.by_group is not None
        for kind in (kind or default_kind or ("bins" if has_bins else "curves") for kind in kinds):
            if kind == "bins":
                require_bins(has_bins=has_bins)
            require_any(kind, options.measures)
    if page is not None:
        if to_path(page).suffix.lower() not in PAGE_ENDINGS:
            raise UsageError(f"--page {page}: expected a name that ends with {' or '.join(PAGE_ENDINGS)}")
        _check_output(page, force=force, inputs=paths)

    def write(
        results: Sequence[Result], comparison: Comparison | None = None, render: Callable[..., str] | None = None
    ) -> None:
        for file, kind in zip(plots, kinds, strict=True):
            save(plot(results, comparison, kind), file, force=force)
        if page is not None:
            from xmceval.files.io.write import write_output
            from xmceval.page.provenance import Provenance, digest_inputs

            words: Sequence[str] = click.get_current_context().obj
            n_flags = words.index("--") if "--" in words else len(words)
            words = [word for i, word in enumerate(words) if i > n_flags or word not in NOT_IN_COMMAND]
            command = shlex.join(["xmceval", *map(without_secrets, words)])
            provenance = Provenance(digest_inputs(inputs, arguments["threads"]), command)
            draw = render or partial(load_form("page").render_page, results, comparison)
            text = draw(provenance=provenance, layout=replace(Layout.of(arguments), pairs=True))
            write_output(arguments["page"], text, force=arguments["force"])
            say_written(arguments["page"], len(text.encode()), quiet=arguments["quiet"])

    return write
