"""Systems: what TRUTH, PREDS, --name, --runs, --shard-dirs and --against of a command mean."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, counted
from xmceval.files.io.paths import is_address, split_ending, to_path
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.api.scoring.setup import Named


@dataclass(frozen=True)
class Inputs:
    """What a command scores: the truth, the systems, the options of scoring, and the files of PREDS by system."""

    truth: Any
    systems: list[Named]
    options: Options
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, arguments: Mapping[str, Any], names: Sequence[str], paths: Sequence[str]) -> Inputs:
        """Find the files that the arguments of a command name; `names` and `paths` are those of PREDS."""
        from xmceval.api.scoring.setup import Named

        shards = arguments["shards"]
        refuse_expanded(arguments["truth"], arguments["preds"])
        systems = [
            *(Named(shards_of(path, shards), name) for path, name in zip(paths, names, strict=True)),
            *systems_of_runs(arguments.get("runs", ()), shards=shards),
        ]
        options = Options.of({**arguments, "train": shards_of(arguments["train"], shards)})
        return cls(shards_of(arguments["truth"], shards), systems, options, dict(zip(names, paths, strict=True)))

    def find_system(self, text: str | None) -> str | None:
        """Return the one system that a name, a file, its name without an ending, or the tag of a TREC run means.

        A text that is none of them is returned as it is.
        """
        if text is None or text in {each.name for each in self.systems}:
            return text
        for words_of in (_words_of_path, _words_in_file):
            found = [name for name, path in self.files.items() if text in words_of(path)]
            if len(found) == 1:
                return found[0]
        return text


def refuse_expanded(truth: str, preds: Sequence[str]) -> None:
    """Refuse several files of predictions of which one has the name of the truth but for its digits; pipes may."""
    pattern = re.sub(r"\d+", "*", truth)
    like_truth = [path for path in preds if path != truth and re.sub(r"\d+", "*", path) == pattern]
    if len(preds) > 1 and like_truth and Path(truth).is_file():
        raise UsageError(
            f"{like_truth[0]} is passed as predictions, but is named like the truth, {truth}: did the shell expand a "
            f"pattern? (hint: quote it, as in {pattern!r}; a name, as in new={like_truth[0]}, says that they are "
            "predictions)"
        )


def _words_of_path(path: str) -> set[str]:
    name = to_path(path).name
    return {path, name, without_endings(name)}


def _words_in_file(path: str) -> Iterator[str]:
    from xmceval.files.ranking.kinds import find_tag

    tag = find_tag(to_path(path))
    yield from () if tag is None else (tag,)


def name_systems(texts: Sequence[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the name and the path of each system of PREDS.

    The name is that of ``NAME=FILE``, or of --name, or the shortest ending of the path that no other shares, without
    the ending of its format where it is still the only one.
    """
    own, paths = zip(*map(split_name, texts), strict=True) if texts else ((), ())
    if len(names) > len(paths):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(paths), 'file')} of predictions")
    for name, text in zip(names, texts, strict=False):
        if split_name(text)[0]:
            raise UsageError(f"{text}: has the name {name!r} too, from --name (hint: pass only one of them)")
    passed = [*names, *own[len(names) :]]
    return numbered([name or short for name, short in zip(passed, short_names(paths), strict=True)]), list(paths)


def split_name(text: str) -> tuple[str, str]:
    """Split ``NAME=FILE`` into name and path; the name is empty where there is none, or a file has this very name.

    Examples
    --------
    >>> split_name("ours=runs/seed1.npz"), split_name("runs/x=1/preds.npz")
    (('ours', 'runs/seed1.npz'), ('', 'runs/x=1/preds.npz'))
    """
    from xmceval.files.arrays.npypairs import has_pair

    name, _, path = text.partition("=")
    if not (name and path) or "/" in name or "\\" in name or is_address(text):
        return "", text
    is_there = Path(text).exists() or has_pair(Path(text)) or (glob.has_magic(text) and bool(glob.glob(text)))
    return ("", text) if is_there else (name, path)


def shards_of(path: Any, shards: bool) -> Any:
    """Return the files of a directory where they are shards; anything else as it is."""
    if not shards:
        return path
    from xmceval.files.io.shardfiles import find_shards

    return find_shards(path, directories=True)


def systems_of_runs(texts: Sequence[str], *, shards: bool = False) -> list[Named]:
    """Return the systems of ``--runs NAME=A,B,C``; each run may have shards."""
    from xmceval.api.scoring.setup import Named

    systems = []
    for text in texts:
        name, _, files = text.partition("=")
        paths = [shards_of(each, shards) for each in files.split(",") if each]
        if not name or len(paths) < 2:
            raise UsageError(f"--runs {text}: expected NAME=A,B with at least two files")
        systems.append(Named(paths, name))
    return systems


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the shortest ending of each path that no other path shares; a path that is passed twice has one name."""
    parts = [to_path(path).parts for path in paths]
    names = []
    for own in parts:
        endings = [own[-length:] for length in range(1, len(own) + 1)]
        unique = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in set(parts)) == 1)
        names.append(str(Path(*next(unique, own))))
    bare = {name: without_endings(name) for name in names}
    return [name if [*bare.values()].count(bare[name]) > 1 else bare[name] for name in names]


def without_endings(name: str) -> str:
    """Return the name of a file without the ending of its format and of its compression; a pattern as it is."""
    return name if glob.has_magic(name) else split_ending(name)[0]


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that appear more than once: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]
