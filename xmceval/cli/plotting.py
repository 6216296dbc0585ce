"""Pictures on the command line: what ``--plot`` writes, checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli.options import FILE, Function, option
from xmceval.errors import UsageError, counted
from xmceval.report.pictures import (
    COMPARISON,
    check_installed,
    check_measures,
    default_kind,
    draw,
    kinds_of,
)

if TYPE_CHECKING:
    from xmceval.scoring.options import Options


def plot_options(subject: str, default: str) -> Callable[[Function], Function]:
    """Make the options for pictures of a subject; see `xmceval.report.pictures.Kind`."""
    kinds = kinds_of(subject)

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
        from xmceval.report.pictures.picturefiles import check_ending

        for file in files:
            if files.count(file) > 1:
                raise UsageError(f"--plot {file} is passed {files.count(file)} times; expected a file for each picture")
            check_ending(file)
            check_output(to_path(file), force=force, inputs=inputs)
        check_installed()
        return cls(tuple(files), tuple(kinds) if len(kinds) == len(files) else (*kinds, *[""])[:1] * len(files), force)

    def check(self, subject: str, options: Options) -> None:
        """Refuse kinds that cannot show any of the metrics that are asked for."""
        has_bins = options.by_frequency is not None or options.by_group is not None
        of_results = "bins" if has_bins else "curves"
        usual = "differences" if subject == COMPARISON else of_results
        for kind in self.kinds:
            check_measures(kind or usual, options.measures, has_bins=has_bins)

    def write(self, subject: Any) -> None:
        """Draw and write all pictures, of all metrics that each can show."""
        for file, kind in zip(self.files, self.kinds, strict=True):
            from xmceval.report.pictures.picturefiles import save

            save(draw(kind or default_kind(subject), subject), file, force=self.force)
