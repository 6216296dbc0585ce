"""``xmceval auc``: AUC of a flat file, whole and within groups."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from xmceval.cli import shared
from xmceval.errors import counted

SCHEMA = "xmceval-auc/1"


@click.command("auc", short_help="AUC of a CSV of group,label,score.")
@click.argument("file")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", help="Form of the output.")
@click.option("-q", "quiet", is_flag=True, help="No warnings and no progress.")
def command(file: str, form: str, quiet: bool) -> None:
    """Compute AUC of FILE, a CSV of group,label,score, with or without a header, also gzipped.

    GAUC is the mean of the AUC within each group, weighted by the groups' sizes; groups of one class are left out and
    counted. A tie is one half.

    \b
    Example:
      xmceval auc clicks.csv -o json
    """
    from xmceval.api.grouped import group_aucs, roc_auc
    from xmceval.files.logs import read_log

    shared.start(quiet)
    log = read_log(file)
    found = group_aucs(log.labels, log.scores, log.groups)
    both = bool(log.labels.any()) and not bool(log.labels.all())
    auc = roc_auc(log.labels, log.scores) if both else math.nan
    summary = {
        "schema": SCHEMA,
        "name": file,
        "n_rows": int(log.labels.size),
        "n_positive": int(log.labels.sum()),
        "n_groups": int(found.groups.size),
        "n_groups_left_out": found.n_left_out,
        "n_rows_left_out": found.n_entries_left_out,
        "metrics": {"GAUC": {"value": _value(found.value)}, "AUC": {"value": _value(auc)}},
    }
    if not quiet and math.isnan(found.value):
        click.echo("warning: no group has both classes: GAUC is not defined", err=True)
    click.echo(json.dumps(summary, indent=2) if form == "json" else _table(summary))


def _value(value: float) -> float | None:
    return None if math.isnan(value) else value


def _table(summary: dict[str, Any]) -> str:
    rows, groups = counted(summary["n_rows"], "row"), counted(summary["n_groups"], "group")
    lines = [f"{rows} · {summary['n_positive']:,} positive · {groups}"]
    for name, entry in summary["metrics"].items():
        value = entry["value"]
        lines.append(f"{name:<5} {'-' if value is None else format(100 * value, '.2f'):>6}")
    if summary["n_groups_left_out"]:
        lines.append(
            f"groups of one class, left out of GAUC: {summary['n_groups_left_out']:,} "
            f"({counted(summary['n_rows_left_out'], 'row')})"
        )
    return "\n".join(lines)
