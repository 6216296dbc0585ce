"""``xmceval inspect``: what files are, and whether they are sound."""

from __future__ import annotations

import click

from xmceval.cli import shared


@click.command("inspect", short_help="Tell what files are, and whether they are sound.")
@click.argument("files", nargs=-1, required=True)
@click.option("--as", "kind", type=click.Choice(["truth", "scores"]), help="What FILES are.  [default: by content]")
@click.option("--filter", "pairs", metavar="FILE", help="Pairs 'row label' that the predictions should not hold.")
@click.option("--train", metavar="FILE", help="Training labels, to hold against the truth.")
@click.option("--n-labels", type=click.IntRange(min=1), help="Number of labels, where a file does not tell it.")
@click.option("--labels", metavar="FILE", help="Names of labels, one a line, for files with names in place of ids.")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", help="Form of the output.")
@click.option("--threads", type=click.IntRange(min=1), help="Number of threads.  [default: one per processor]")
def command(
    files: tuple[str, ...],
    kind: str | None,
    pairs: str | None,
    train: str | None,
    n_labels: int | None,
    labels: str | None,
    form: str,
    threads: int | None,
) -> None:
    """Tell of each file its form, its size, how its rows and labels are spread, and why score would refuse it.

    Of a truth (the first of FILES that is one) and predictions it also tells the usual mistakes: labels counted from 1,
    shuffled rows, a transposed matrix, labels of the training set, a filter that was not applied. Exit 1 if score would
    refuse any of it.

    \b
    Example:
      xmceval inspect tst_X_Y.txt score_mat.txt --train trn_X_Y.txt
    """
    from xmceval.files.either import open_either
    from xmceval.files.filters import read_filter
    from xmceval.files.names import read_names
    from xmceval.inspection import text as soundness
    from xmceval.inspection.file import inspect
    from xmceval.inspection.pair import compare_files
    from xmceval.labels.training import count_training

    shared.start(quiet=False)
    names = None if labels is None else read_names(labels)
    if n_labels is None and names is not None:
        n_labels = len(names)
    found = [inspect(each, kind=kind, n_labels=n_labels, names=names, threads=threads) for each in files]
    if kind is None and len(found) > 1 and not any(each.kind == "truth" for each in found):
        # Lists of labels may be either: of several files the first is the truth, as with score.
        found[0] = inspect(files[0], kind="truth", n_labels=n_labels, names=names, threads=threads)
    truth = next((each for each in found if each.kind == "truth"), None)
    known = None if pairs is None else read_filter(pairs)
    training = None if train is None else count_training(train, threads=threads)
    together = [
        compare_files(
            (open_either(truth.path, "truth", names=names).source, truth),
            (open_either(each.path, "scores", names=names).source, each),
            pairs=known,
            training=training,
            threads=threads,
        )
        for each in found
        if truth is not None and each is not truth
    ]
    forms = {"table": soundness.as_table, "json": soundness.as_json}
    click.echo(forms[form](found, together), nl=False)
    if any(each.faults for each in found) or any(each.faults for each in together):
        raise click.exceptions.Exit(1)
