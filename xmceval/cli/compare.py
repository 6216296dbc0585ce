"""``xmceval compare``: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path

import click

from xmceval.cli import options, shared
from xmceval.report.forms import FORMS, PLACES, render_comparison
from xmceval.scoring.testing import Testing


@click.command("compare", short_help="Compare systems on the same truth.")
@click.argument("truth")
@click.argument("preds", nargs=-1, required=True)
@lambda function: options.derived(function, Testing)
@options.scoring
@click.option("-o", "form", type=click.Choice(list(FORMS)), default="table", help="Form of the output.")
@click.option("--name", "names", multiple=True, help="Name of a system, in the order of PREDS; may be repeated.")
@click.option(
    "--places", type=click.IntRange(0, 12), default=PLACES, show_default=True, help="Decimal places of the table."
)
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("-q", "--quiet", "quiet", is_flag=True, help="No warnings and no progress.")
@click.option("-v", "--verbose", "verbose", is_flag=True, help="Report what was inferred from the files.")
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    places: int,
    strict: bool,
    quiet: bool,
    verbose: bool,
    **arguments: object,
) -> None:
    """Compare PREDS, one file per system, on the instances of TRUTH.

    For each pair of systems and each metric: the difference (system minus baseline) with its 95% interval, p, the
    rows won, tied and lost, and what it comes to in a sentence. The system named earlier is the baseline.

    \b
    Example:
      xmceval compare tst_X_Y.txt old.txt new.txt --train trn_X_Y.txt -k 1,3,5
    """
    systems = shared.system_names(preds, names)
    shared.start(quiet)
    from xmceval.api.compare import compare_systems
    from xmceval.api.setup import Named, Setup
    from xmceval.scoring.options import Options

    testing = Testing.of(arguments)
    setup = Setup.of(truth, Options.of(arguments))
    shared.wait_for_kernels()
    with shared.progress(f"{len(systems)} systems", quiet) as report:
        named = [Named(Path(path), name) for path, name in zip(preds, systems, strict=True)]
        comparison = compare_systems(setup, named, testing, report)
    if strict:
        shared.refuse_warnings(comparison.results, comparison.warnings)
    shared.report(comparison.results, quiet=quiet, verbose=verbose, warnings=comparison.warnings)
    click.echo(render_comparison(form, comparison, places), nl=False)
