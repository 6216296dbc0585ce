"""``xmceval report``: results, or a comparison, as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from xmceval.cli import options, progressbar
from xmceval.cli.commandline import passed_flags, write_command
from xmceval.cli.commands.compare import is_row_file
from xmceval.cli.messages import say, say_written, warn_of_results
from xmceval.cli.runner import find_inputs, watch
from xmceval.errors import UsageError, listed
from xmceval.files.io.paths import is_address, to_path
from xmceval.report.forms.layout import Layout
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import specs

PAGE = "report.html"
ENDINGS = (".html", ".htm")
STDOUT = "-"
NOT_IN_COMMAND = frozenset({"open_it", "force", "quiet", "verbose"})  # they do not change the page


@options.command("report", short_help="Write an HTML page of results, or of a comparison.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, type=options.FILE)
@options.option(
    "--html",
    default=PAGE,
    show_default=True,
    type=options.FILE,
    metavar="FILE",
    help="The page; - is standard output.",
)
@options.option(
    "--title", metavar="TEXT", group="Output", help="Title of the page.  [default: the names of the systems]"
)
@options.option("--open", "open_it", is_flag=True, group="Output", help="Open the page in the browser.")
@options.derived(Testing)
@options.scoring
@options.runs
@options.names
@options.derived_option("places", Layout)
@options.derived_option("percent", Layout)
@options.derived_option("intervals", Layout)
@options.derived_option("pairs", Layout)
@options.shards
@options.force
@options.strict
@options.quiet
@options.verbose
def command(html: str, title: str | None, open_it: bool, force: bool, **arguments: Any) -> None:
    """Score PREDS against TRUTH, compare them where there are several, and write all of it to one HTML page.

    The page is self-contained: it needs no network and has no scripts. It shows verdicts, tables, pictures, values by
    label frequency, differences, the definition of each metric, the files with their SHA-256, and the command that made
    it. The same files and options give the same page.

    Pictures need matplotlib: pip install 'xmceval[plot]'.

    \b
    Examples:
      xmceval report tst_X_Y.txt a.txt b.txt --train trn_X_Y.txt
      xmceval report tst_X_Y.txt a.txt b.txt c.txt --against a --html page.html
    """
    context = click.get_current_context()
    _check_files([arguments["truth"], *arguments["preds"]], html, open_it)
    _check_systems(context, arguments)
    from xmceval.report.pictures import check_installed

    check_installed()
    inputs = find_inputs(arguments)
    from xmceval.api.page import list_inputs, make_page

    testing = Testing.of({**arguments, "against": inputs.find_system(arguments["against"])})
    paths = [path for _, path in list_inputs(inputs.truth, inputs.systems, inputs.options)]
    with _open_page(html, force, paths) as write:
        with progressbar.shown(arguments["quiet"]):
            page = make_page(
                inputs.truth,
                inputs.systems,
                inputs.options,
                testing,
                title=title,
                command=write_command(context, without=NOT_IN_COMMAND),
                layout=Layout.of(arguments),
                watch=watch(arguments["quiet"]),
            )
        warn_of_results(arguments, page.results, None if page.comparison is None else page.comparison.doubts)
        write(page.text)
    if html != STDOUT:
        say_written(html, len(page.text.encode()), quiet=arguments["quiet"])
    if open_it and click.launch(Path(html).absolute().as_uri()):
        say(f"note: {html}: no browser found to open it")


def _check_systems(context: click.Context, arguments: Mapping[str, Any]) -> None:
    """Refuse a report of nothing, and options of a comparison where there is one system."""
    preds, runs = arguments["preds"], arguments["runs"]
    has_several = len(preds) > 1 or runs
    if not has_several and (passed := passed_flags(context, set(specs(Testing)))):
        raise UsageError(f"{listed(passed)} needs at least two systems, got one (hint: pass more PREDS)")
    if not (preds or runs):
        raise UsageError("nothing to report: pass at least one file of predictions after TRUTH")


def _check_files(inputs: Sequence[str], html: str, open_it: bool) -> None:
    """Refuse names that a page cannot have, and files that have no lists of labels."""
    if html != STDOUT and to_path(html).suffix.lower() not in ENDINGS:
        raise UsageError(
            f"--html {html}: expected a name that ends with {' or '.join(ENDINGS)}, or - for standard output"
        )
    if (html == STDOUT or is_address(html)) and open_it:
        raise UsageError("--open needs a local file (hint: pass --html report.html)")
    row_files = [each for each in inputs if is_row_file(each)]
    if row_files:
        raise UsageError(
            f"{listed(row_files)}: a report needs predictions, not per-instance values "
            "(hint: xmceval compare takes them, and so does compare_rows(...).to_html() in Python)"
        )


@contextmanager
def _open_page(html: str, force: bool, inputs: Iterable[Path]) -> Iterator[Callable[[str], None]]:
    """Open the page before anything is scored, so that a file that cannot be written is refused at once."""
    if html == STDOUT:
        yield lambda text: click.echo(text, nl=False)
        return
    from xmceval.files.io.outputs import open_output

    with open_output(to_path(html), force=force, inputs=inputs) as file:

        def write(text: str) -> None:
            file.write(text.encode())

        yield write
