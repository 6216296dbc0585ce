"""Systems: what TRUTH, PREDS, --name, --fuse, --runs and --shards of a command mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, counted, listed
from xmceval.files.io.addresses import is_address
from xmceval.files.io.paths import to_path
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.api.scoring.setup import Named


@dataclass(frozen=True)
class Inputs:
    """What a command scores: the truth, the systems, and the options of scoring."""

    truth: Any
    systems: list[Named]
    options: Options

    @classmethod
    def of(cls, arguments: Mapping[str, Any], names: Sequence[str]) -> Inputs:
        """Find the files that the arguments of a command name; `names` are those of PREDS.

        Raises
        ------
        UsageError
            A fusion or runs that are wrong, or options that do not go together.
        """
        shards = arguments["shards"]
        systems = [
            *named_systems(arguments["preds"], names, arguments["fused"], shards=shards),
            *systems_of_runs(arguments.get("runs", ()), shards=shards),
        ]
        options = Options.of({**arguments, "train": shards_of(arguments["train"], shards)})
        return cls(shards_of(arguments["truth"], shards), systems, options)


def system_names(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the name of each system: as passed, or the shortest path ending that no other shares.

    Raises
    ------
    UsageError
        More names than paths.
    """
    if len(names) > len(paths):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(paths), 'file')} of predictions")
    return numbered([*names, *short_names(paths)[len(names) :]])


def shards_of(path: Any, shards: bool) -> Any:
    """Return the files of a directory where they are shards; anything else as it is."""
    if not shards:
        return path
    from xmceval.files.io.shardfiles import find_shards

    return find_shards(path, directories=True)


def named_systems(
    preds: Sequence[str], names: Sequence[str], fused: Sequence[str], *, shards: bool = False
) -> list[Named]:
    """Return the systems of the command line: files, then fusions ``NAME=A,B`` or ``NAME=RULE:A,B``.

    What is fused are files, or systems by their names. With `shards`, the files of a directory are the shards of a
    system.

    Raises
    ------
    UsageError
        A fusion without a name, of fewer than two files, or of an unknown rule.
    """
    from xmceval.api.files.fuse import fuse
    from xmceval.api.scoring.setup import Named
    from xmceval.files.arrays.npypairs import has_pair
    from xmceval.rows.fusion import RULES

    systems = [Named(shards_of(path, shards), name) for path, name in zip(preds, names, strict=True)]
    by_name = dict(zip(names, preds, strict=True))
    for text in fused:
        name, is_named, files = text.partition("=")
        rule, has_rule, rest = files.partition(":")
        has_rule = "" if is_address(files) and rule not in RULES else has_rule
        found = [each for each in (rest if has_rule else files).split(",") if each]
        found = [
            each if is_address(each) or Path(each).exists() or has_pair(Path(each)) else by_name.get(each, each)
            for each in found
        ]
        paths = [shards_of(each, shards) for each in found]
        if not (name and is_named) or len(paths) < 2:
            raise UsageError(f"--fuse {text}: expected NAME=A,B or NAME=RULE:A,B with at least two files")
        if has_rule and rule not in RULES:
            raise UsageError(f"--fuse {text}: the rule must be one of {listed(RULES)}, got {rule!r}")
        systems.append(Named(fuse(paths, by=rule if has_rule else "score"), name))
    return systems


def systems_of_runs(texts: Sequence[str], *, shards: bool = False) -> list[Named]:
    """Return the systems of ``--runs NAME=A,B,C``; each run may have shards.

    Raises
    ------
    UsageError
        A system without a name, or with fewer than two runs.
    """
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
    return names


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that appear more than once: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]
