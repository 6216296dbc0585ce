"""Pictures on the command line: what ``--plot`` writes, checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli.options import FILE, Function, option
from xmceval.errors import UsageError, counted
from xmceval.report.pictures import OF_COMPARISON, check_ending, check_installed, plot, save

if TYPE_CHECKING:
    from xmceval.scoring.options import Options


def plot_options(kinds: Sequence[str], default: str) -> Callable[[Function], Function]:
    """Make the options for pictures of some kinds."""

    def decorate(function: Function) -> Function:
        kind = option(
            *("--plot-kind", "plot_kinds"),
            multiple=True,
            type=click.Choice(kinds),
            group="Output",
            help=f"Kind of picture: one for all, or one for each --plot.  [default: {default}]",
        )
        plot = option(
            *("--plot", "plots"),
            multiple=True,
            type=FILE,
            group="Output",
            metavar="FILE",
            help="Draw a picture: .svg, .png or .pdf; may be repeated.",
        )
        return plot(kind(function))

    return decorate


@dataclass(frozen=True)
class Plots:
    """Pictures to write: files and their kinds; an empty kind is the default."""

    files: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    force: bool = False

    @classmethod
    def of(cls, files: Sequence[str], kinds: Sequence[str], *, force: bool, inputs: Sequence[str]) -> Plots:
        """Take pictures from the command line, and check that they can be written."""
        if not files and not kinds:
            return cls()
        if not files:
            raise UsageError("--plot-kind has no effect without a file (hint: pass --plot FILE)")
        if len(kinds) not in {0, 1, len(files)}:
            raise UsageError(
                f"{counted(len(kinds), '--plot-kind')} for {counted(len(files), '--plot')}; "
                "expected one for all, or one for each"
            )
        from xmceval.files.io.outputs import check_output
        from xmceval.files.io.paths import to_path

        for file in files:
            if files.count(file) > 1:
                raise UsageError(f"--plot {file} is passed {files.count(file)} times; expected a file for each picture")
            check_ending(file)
            check_output(to_path(file), force=force, inputs=inputs)
        check_installed()
        return cls(tuple(files), tuple(kinds) if len(kinds) == len(files) else (*kinds, *[""])[:1] * len(files), force)

    def check(self, kinds: Sequence[str], options: Options) -> None:
        """Refuse what cannot show any of the metrics that are asked for; `kinds` are those of the command."""
        if not self.files:
            return
        from xmceval.report.pictures.chosen import require_any, require_bins

        has_bins = options.by_frequency is not None or options.by_group is not None
        default = "differences" if kinds == OF_COMPARISON else "bins" if has_bins else "curves"
        for kind in (kind or default for kind in self.kinds):
            if kind == "bins":
                require_bins(has_bins=has_bins)
            require_any(kind, options.measures)

    def write(self, subject: Any) -> None:
        """Draw and write all pictures, of all metrics that each can show."""
        for file, kind in zip(self.files, self.kinds, strict=True):
            save(plot(subject, kind or None), file, force=self.force)
