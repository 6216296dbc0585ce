"""``xmceval score``: one table of metrics for one or more systems."""

from __future__ import annotations

import click

from xmceval.cli import options, shared
from xmceval.errors import UsageError
from xmceval.report.forms import FORMS, PLACES, render


@click.command("score", short_help="Score predictions against the truth.")
@click.argument("truth")
@click.argument("preds", nargs=-1, required=True)
@options.scoring
@options.fused
@click.option("-o", "form", type=click.Choice(list(FORMS)), default="table", help="Form of the output.")
@click.option("--name", "names", multiple=True, help="Name of a system, in the order of PREDS; may be repeated.")
@click.option(
    "--places", type=click.IntRange(0, 12), default=PLACES, show_default=True, help="Decimal places of the table."
)
@click.option("--published", is_flag=True, help="Show where these values would rank in the table of --dataset.")
@click.option("--save-rows", metavar="FILE", help="Write the values of every row: .npz, .csv or .jsonl.")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("-q", "quiet", is_flag=True, help="No warnings and no progress.")
@click.option("-v", "verbose", is_flag=True, help="Report what was inferred from the files.")
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    places: int,
    fused: tuple[str, ...],
    published: bool,
    save_rows: str | None,
    strict: bool,
    quiet: bool,
    verbose: bool,
    **arguments: object,
) -> None:
    """Score PREDS, one file per system, against TRUTH.

    TRUTH is in one of XMLRepository's text formats, lists of labels or of their names, fastText, JSON lines, npz, npy,
    mat or qrels; PREDS are text with rows of idx:score, tab-separated pairs, ranked lists, JSON lines, npz, npy, mat, a
    TREC run, or a pair NAME-labels.npy and NAME-scores.npy. All may be compressed (gz, xz, bz2, zst), one may be -,
    standard input. The format is detected by content.

    \b
    Example:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
    """
    if published and form == "csv":
        raise UsageError("published values are not part of the CSV (hint: pass -o table or -o json)")
    systems = shared.system_names(preds, names)
    shared.start(quiet)
    from xmceval.api.score import score_systems
    from xmceval.api.setup import Setup
    from xmceval.labels.standings import require_dataset
    from xmceval.report.result import with_standings
    from xmceval.scoring.options import Options

    chosen = Options.of(arguments)
    entry = require_dataset(chosen.dataset) if published else None
    setup = Setup.of(truth, chosen)
    shared.wait_for_kernels()
    with shared.progress(systems[0] if len(systems) == 1 else f"{len(systems)} systems", quiet) as report:
        named = shared.named_systems(preds, systems, fused)
        results = score_systems(setup, named, progress=report, save_rows=save_rows)
    results = results if entry is None else [with_standings(result, entry) for result in results]
    if strict:
        shared.refuse_warnings(results)
    shared.report(results, quiet=quiet, verbose=verbose)
    click.echo(render(form, results, places), nl=False)
