"""``xmceval propensity``: inverse propensities of training labels as a file."""

from __future__ import annotations

import sys

import click

from xmceval.cli import shared


@click.command("propensity", short_help="Write the inverse propensities of training labels.")
@click.argument("train")
@click.argument("dst")
@click.option("-A", "a", type=float, help="A of the propensity model.  [default: 0.55, or that of --dataset]")
@click.option("-B", "b", type=float, help="B of the propensity model.  [default: 1.5, or that of --dataset]")
@click.option("--dataset", metavar="NAME", help="A public data set, for its A and B.")
@click.option("--counts", is_flag=True, help="Write the training rows of each label, for score --counts.")
@click.option("--n-labels", type=click.IntRange(min=1), help="Number of labels, where TRAIN has no header.")
@click.option("--force", is_flag=True, help="Overwrite DST.")
@click.option("--threads", type=click.IntRange(min=1), help="Number of threads.  [default: one per processor]")
@click.option("-q", "quiet", is_flag=True, help="No warnings, and not what was written.")
def command(
    train: str,
    dst: str,
    a: float | None,
    b: float | None,
    dataset: str | None,
    counts: bool,
    n_labels: int | None,
    force: bool,
    threads: int | None,
    quiet: bool,
) -> None:
    """Write 1/p of each label of TRAIN to DST, one number a line, or an npy array where DST ends in .npy.

    DST may be -, standard output. score --inverse-propensities DST then gives the same bits as score --train TRAIN.

    \b
    Example:
      xmceval propensity trn_X_Y.txt inv_prop.txt -A 0.6 -B 2.6
    """
    from xmceval.files.writing.numbers import write_numbers
    from xmceval.labels.training import count_training

    shared.start(quiet)
    training = count_training(train, n_labels=n_labels, threads=threads)
    values = training.counts if counts else training.inverse(dataset, a, b)
    write_numbers(sys.stdout.buffer if dst == "-" else dst, values, force=force)
    if quiet:
        return
    for said in training.warnings:
        click.echo(f"warning: {said}", err=True)
    size = f"{training.counts.size:,} labels, N={training.n_rows:,}"
    if counts:
        click.echo(f"{dst}: counts of {size} (score --counts {dst} --n-train {training.n_rows})", err=True)
    else:
        known_a, known_b = training.constants(dataset, a, b)
        click.echo(f"{dst}: 1/p of {size}, A={known_a:g} B={known_b:g}", err=True)
