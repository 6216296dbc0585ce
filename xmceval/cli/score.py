"""``xmceval score``: one table of metrics for one or more systems."""

from __future__ import annotations

from pathlib import Path

import click

from xmceval.cli import shared
from xmceval.report.forms import FORMS, PLACES, render


@click.command("score", short_help="Score predictions against the truth.")
@click.argument("truth")
@click.argument("preds", nargs=-1, required=True)
@shared.scoring
@click.option("-o", "form", type=click.Choice(list(FORMS)), default="table", help="Form of the output.")
@click.option("--name", "names", multiple=True, help="Name of a system, in the order of PREDS; may be repeated.")
@click.option(
    "--places", type=click.IntRange(0, 12), default=PLACES, show_default=True, help="Decimal places of the table."
)
@click.option("--published", is_flag=True, help="Say where these values would stand in the table of --dataset.")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@click.option("-q", "quiet", is_flag=True, help="No warnings and no progress.")
@click.option("-v", "verbose", is_flag=True, help="Say what was inferred from the files.")
def command(
    truth: str,
    preds: tuple[str, ...],
    form: str,
    names: tuple[str, ...],
    places: int,
    published: bool,
    strict: bool,
    quiet: bool,
    verbose: bool,
    **options: object,
) -> None:
    """Score PREDS, one file a system, against TRUTH.

    TRUTH is in one of XMLRepository's text formats, lists of labels or of their names, fastText, JSON lines, npz, npy,
    mat or qrels; PREDS are text with rows of idx:score, pairs between tabs, ranked lists, JSON lines, npz, npy, mat, a
    TREC run, or a pair NAME-labels.npy and NAME-scores.npy. All may be compressed (gz, xz, bz2, zst), one may be -,
    standard input. What a file is, is told by its content.

    \b
    Example:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
    """
    from xmceval.api.setup import prepare
    from xmceval.errors import UsageError, counted
    from xmceval.labels.standings import require_dataset
    from xmceval.report.result import with_standings

    if len(names) > len(preds):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(preds), 'file')} of predictions")
    if published and form == "csv":
        raise UsageError("published values are not part of the CSV (hint: -o table or -o json)")
    called = shared.numbered([*names, *shared.short_names(preds)[len(names) :]])
    entry = require_dataset(options["dataset"]) if published else None  # type: ignore[arg-type]
    shared.start(quiet)
    setup = prepare(truth, **options)  # type: ignore[arg-type]
    shared.wait_for_kernels()
    results = []
    for path, name in zip(preds, called, strict=True):
        with shared.progress(name, quiet) as told:
            result = setup.score(Path(path), name=name, progress=told)
        results.append(result if entry is None else with_standings(result, entry))
    if strict:
        shared.refuse_warnings(results)
    shared.say(results, quiet=quiet, verbose=verbose)
    click.echo(render(form, results, places), nl=False)
