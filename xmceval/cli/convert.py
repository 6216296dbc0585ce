"""``xmceval convert``: the same rows in another form."""

from __future__ import annotations

import sys

import click

from xmceval.cli import shared


@click.command("convert", short_help="Write truth or predictions in another form.")
@click.argument("src")
@click.argument("dst")
@click.option(
    "--to", "form", metavar="FORM", help="xmc, plain, omikuji, lists, npz or npy.  [default: by DST's ending]"
)
@click.option("--truth", is_flag=True, help="SRC is truth, where it could be predictions too.")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Keep the K best labels of each row, best first.")
@click.option(
    "--sort", "order", type=click.Choice(["score", "label"]), help="Order within each row.  [default: as it is]"
)
@click.option("--n-labels", type=click.IntRange(min=1), help="Number of labels, where SRC does not tell it.")
@click.option("--labels", metavar="FILE", help="Names of labels, one a line, where SRC has names in place of ids.")
@click.option("--force", is_flag=True, help="Overwrite DST.")
@click.option("--threads", type=click.IntRange(min=1), help="Number of threads.  [default: one per processor]")
@click.option("-q", "quiet", is_flag=True, help="No warnings.")
@click.option("-v", "verbose", is_flag=True, help="Say what was read and written.")
def command(
    src: str,
    dst: str,
    form: str | None,
    truth: bool,
    top: int | None,
    order: str | None,
    n_labels: int | None,
    labels: str | None,
    force: bool,
    threads: int | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Write SRC, truth or predictions, as DST.

    DST ending in .npz is scipy's CSR, in -labels.npy a pair of npy files, else text with a header 'rows cols'; text may
    end in .gz, .bz2, .xz or .zst, and - is standard output. Numbers are the shortest that read back as the same double.

    \b
    Forms of --to:
      xmc      header 'rows cols', rows of idx:value (XMLRepository)
      plain    the same without a header (napkinXC)
      omikuji  rows of 'label value' with tabs between
      lists    truth only: rows of labels with commas between
      npz npy  scipy's CSR; predictions only: NAME-labels.npy and NAME-scores.npy

    \b
    Example:
      xmceval convert score_mat.npz score_mat.txt.gz --top 100
    """
    from xmceval.files.either import open_either
    from xmceval.files.names import read_names
    from xmceval.files.writing.convert import convert

    shared.start(quiet)
    names = None if labels is None else read_names(labels)
    opened = open_either(src, "truth" if truth else None, names=names)
    if n_labels is None and names is not None:
        n_labels = len(names)
    written = convert(
        opened.fit_width(n_labels),
        sys.stdout.buffer if dst == "-" else dst,
        to=form,
        are_scores=opened.role == "scores",
        top=top,
        order=order,
        n_labels=n_labels,
        force=force,
        threads=threads,
    )
    if verbose:
        click.echo(f"note: {src}: {opened.description}", err=True)
        click.echo(
            f"note: {dst}: {written.n_rows:,} rows, {written.n_labels:,} labels, {written.n_entries:,} entries",
            err=True,
        )
    for note in () if quiet else written.notes:
        click.echo(f"warning: {note}", err=True)
