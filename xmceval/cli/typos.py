"""Typos: what someone who typed an unknown option or command, or a file where a form belongs, probably meant."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import Any, NoReturn

import click

# Words of other tools for parameters of ours, by the parameter's name; the first that a command has is meant.
ELSEWHERE = {
    **dict.fromkeys(("format", "output_format"), ("form", "to", "dst")),
    **dict.fromkeys(("output", "out", "o"), ("form", "to", "dst", "html")),
    **dict.fromkeys(("metric", "measure", "measures"), ("metrics",)),
    **dict.fromkeys(("topk", "top_k", "cutoff", "cutoffs", "ks"), ("k",)),
    **dict.fromkeys(("baseline", "reference"), ("against",)),
    **dict.fromkeys(("trn", "training"), ("train",)),
    **dict.fromkeys(("latex", "tex", "json", "csv", "markdown"), ("form",)),
    "weights": ("sample_weight",),
    "counts": ("write_counts",),
    "truth": ("kind",),
    **dict.fromkeys(("jobs", "n_jobs", "workers", "num_threads"), ("threads",)),
}
COMMANDS_ELSEWHERE = {"evaluate": "score", "eval": "score"}
OF_ENDING = {".txt": "table", ".tex": "latex"}


class FormChoice(click.Choice[str]):
    """A choice of forms, which explains where the output goes when the name of a file is passed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the form."""
        text = str(value)
        if text == "html" and text not in self.choices:
            message = f"{text!r} is not one of {', '.join(map(repr, self.choices))}"
            raise click.BadParameter(f"{message} (hint: xmceval report writes a page)", ctx, param)
        if text in self.choices or not (PurePath(text).suffix or os.sep in text):
            return super().convert(value, param, ctx)
        ending = PurePath(text).suffix.lower()
        meant = OF_ENDING.get(ending, ending.removeprefix("."))
        meant = meant if meant in self.choices else self.choices[0]
        message = f"{text!r} is the name of a file; -o takes a form: {', '.join(self.choices)}"
        raise click.BadParameter(f"{message} (hint: -o {meant} > {text})", ctx, param)


@contextmanager
def explained() -> Iterator[None]:
    """Suggest for an unknown option the one that has this name in Python, or the same meaning in other tools."""
    try:
        yield
    except click.NoSuchOption as error:
        if error.ctx is not None and (flag := _find_flag(error.option_name, error.ctx.command)):
            message = f"No such option '{error.option_name}'. Did you mean '{flag}'?"
            raise click.UsageError(message, error.ctx) from None
        raise


def _find_flag(option: str, command: click.Command) -> str | None:
    word = option.lstrip("-").lower().replace("-", "_")
    flags = {each.name: max(each.opts, key=len) for each in command.params if isinstance(each, click.Option)}
    return next((flags[name] for name in (word, *ELSEWHERE.get(word, ())) if name in flags), None)


def refuse_command(name: str, commands: Collection[str], ctx: click.Context) -> NoReturn:
    """Refuse an unknown command, with the one that was probably meant.

    Raises
    ------
    click.UsageError
        Always.
    """
    import difflib

    meant = COMMANDS_ELSEWHERE.get(name.lower())
    near = [meant] if meant else difflib.get_close_matches(name.lower(), commands, 2)
    question = f" Did you mean {' or '.join(near)}?" if near else ""
    if not near and os.path.exists(name):
        question = " It is a file (hint: xmceval score TRUTH PREDS, or xmceval inspect FILE)."
    raise click.UsageError(f"No such command {name!r}.{question}", ctx)
