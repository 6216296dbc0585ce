"""Turn TRUTH, PREDS, ``--runs`` and ``--against`` into systems to score, in this process or with Dask."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.cli.messages import long_work, say
from xmceval.errors import UsageError
from xmceval.files.io.paths import is_address, is_pattern, named_path, number_alike, split_ending, to_path
from xmceval.scoring.options import Options, Saving

if TYPE_CHECKING:
    from xmceval.comparison.pairs import Cost, Watch
    from xmceval.scoring.setup.resolve import System
    from xmceval.scoring.setup.truth import OpenedTruth

LONG = 300_000_000  # rows drawn in resamples, which take about a second


@dataclass(frozen=True)
class Inputs:
    """The inputs of a command: truth, systems, scoring options, and the files of PREDS by system."""

    truth: Any
    systems: list[System]
    options: Options
    files: Mapping[str, str]

    def find_system(self, text: str | None) -> str | None:
        """Return the one system with this name, file, file name without its ending, or tag of a TREC run.

        Any other text is returned unchanged.
        """
        if text is None or text in {system.name for system in self.systems}:
            return text
        file_names = {name: to_path(path).name for name, path in self.files.items()}
        meant = [name for name, file in file_names.items() if text in {self.files[name], file, _without_endings(file)}]
        if len(meant) != 1:
            from xmceval.files.open import find_tag

            meant = [name for name, path in self.files.items() if text == find_tag(to_path(path))]
        return meant[0] if len(meant) == 1 else text

    def list_files(self) -> Iterator[tuple[str, Path]]:
        """Yield the role and path of each input file."""
        from xmceval.page.provenance import list_inputs

        yield from list_inputs(self.truth, [system.y_score for system in self.systems], self.options)


def find_inputs(arguments: Mapping[str, Any]) -> Inputs:
    """Find the inputs of a command."""
    from xmceval.scoring.setup.resolve import System

    for text in arguments["preds"]:
        if re.fullmatch(r"@[\d,]+", text) and not Path(text[1:]).exists():
            metrics = " ".join(arguments["metrics"] or ["P"])
            raise UsageError(f"{text}: no such list of files (hint: for cutoffs, pass -m {metrics},{text[1:]})")
    texts = arguments["preds"]
    passed, paths = zip(*map(split_name, texts), strict=True) if texts else ((), ())
    shortest = [name or short for name, short in zip(passed, short_names(paths), strict=True)]
    names = number_alike(shortest)
    _refuse_expanded(arguments["truth"], arguments["preds"])
    systems = [*map(System, paths, names)]
    for text in arguments.get("runs", ()):
        name, _, files = text.partition("=")
        if not (name and files):
            raise UsageError(f"--runs {text}: expected NAME=FILES")
        systems.append(System(_find_runs(text, files), name))
    return Inputs(arguments["truth"], systems, Options.of(arguments), dict(zip(names, paths, strict=True)))


def _find_runs(text: str, files: str) -> list[Any]:
    """Return the runs of a system: those that a pattern matches, or files with commas between them."""
    from xmceval.files.shards import find_shards
    from xmceval.rows.shards import parts_of

    runs: list[Any] = [path for path in files.split(",") if path]
    if len(runs) == 1:
        runs = list(parts_of(find_shards(runs[0])))
    if len(runs) < 2:
        raise UsageError(f"--runs {text}: expected at least two files (hint: a single one is a system without --runs)")
    return runs


def _refuse_expanded(truth: str, preds: Sequence[str]) -> None:
    """Refuse several prediction files if one differs from the truth's name only in its digits; pipes may."""
    pattern = re.sub(r"\d+", "*", truth)
    like_truth = [path for path in preds if path != truth and re.sub(r"\d+", "*", path) == pattern]
    if len(preds) > 1 and like_truth and Path(truth).is_file():
        raise UsageError(
            f"{like_truth[0]} is passed as predictions, but is named like the truth, {truth}: did the shell expand a "
            f"pattern? (hint: quote it, as in {pattern!r}; a name, as in new={like_truth[0]}, says that they are "
            "predictions)"
        )


def split_name(text: str) -> tuple[str, str]:
    """Split ``NAME=FILE`` into name and path; the name is empty if the text has none or is a file itself.

    Examples
    --------
    >>> split_name("ours=runs/seed1.npz"), split_name("runs/x=1/preds.npz")
    (('ours', 'runs/seed1.npz'), ('', 'runs/x=1/preds.npz'))
    """
    from xmceval.files.io.paths import has_pair

    name, _, path = text.partition("=")
    if not (name and path) or "/" in name or "\\" in name or is_address(text):
        return "", text
    is_there = Path(text).exists() or has_pair(Path(text)) or (glob.has_magic(text) and bool(glob.glob(text)))
    return ("", text) if is_there else (name, path)


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the shortest ending of each path that no other path shares; a path that is passed twice has one name.

    Patterns are not cut.
    """
    named = [named_path(to_path(path)) for path in paths]
    parts = [(str(path),) if is_pattern(path) else path.parts for path in named]
    names = []
    for of_path in parts:
        endings = [of_path[-length:] for length in range(1, len(of_path) + 1)]
        unique = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in set(parts)) == 1)
        names.append(str(Path(*next(unique, of_path))))
    bare = {name: _without_endings(name) for name in names}
    return [name if [*bare.values()].count(bare[name]) > 1 else bare[name] for name in names]


def _without_endings(name: str) -> str:
    """Return a file name without the endings of its format and compression; leave a pattern unchanged."""
    return name if glob.has_magic(name) else split_ending(name)[0]


@contextmanager
def open_inputs(inputs: Inputs, arguments: Mapping[str, Any], saving: Saving) -> Iterator[OpenedTruth]:
    """Check the outputs, open the truth, and show progress while its systems are scored."""
    from xmceval.scoring.setup.truth import OpenedTruth

    if saving.is_asked or inputs.options.row_ids is not None:
        from xmceval.api.saving import check_saving  # not loaded by a score that saves nothing

        check_saving(inputs.options, inputs.systems, saving)
    with executor_of(arguments["dask"]) as executor, long_work(arguments["quiet"]):
        yield OpenedTruth.of(
            inputs.truth, inputs.options, inputs.systems, max_weight=arguments.get("max_weight"), executor=executor
        )


def executor_of(dask: str | None) -> AbstractContextManager[Executor | None]:
    """Open the executor that scores rows in parts; None means this process."""
    if dask is None:
        return nullcontext()
    from xmceval.cli.cluster import open_dask

    return open_dask(dask)


def watch(quiet: bool) -> Watch:
    """Return a callback that announces long resampling on stderr before it starts, and then shows progress."""
    from xmceval.rows.progress import phase

    def watch_cost(cost: Cost) -> AbstractContextManager[Callable[[int], None] | None]:
        if cost.steps >= LONG and not quiet:
            say(f"note: {cost}")
        return phase("randomization", cost.n_tests * cost.n_resamples)

    return watch_cost
