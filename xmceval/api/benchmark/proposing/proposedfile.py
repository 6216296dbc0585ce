"""The text of a proposed benchmark file: TOML with comments on what was left open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from xmceval.api.benchmark.proposing.cataloguematch import CatalogueMatch
from xmceval.api.benchmark.proposing.folderfiles import FoundFile
from xmceval.api.benchmark.proposing.guesseddatasets import GuessedDataset
from xmceval.api.benchmark.proposing.guessedsystems import GuessedSystem, describe_missing
from xmceval.labels.catalogue import published
from xmceval.report.forms.columns import pad, text_width

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_CUTOFFS = "1,3,5"
_BASELINES = ("base", "baseline")


def write_file(
    guessed: Sequence[GuessedDataset],
    systems: Sequence[GuessedSystem],
    matches: Sequence[CatalogueMatch],
    exists: Callable[[str], bool],
) -> str:
    """Return the text of a file; `exists` says whether there is a file of a path in the folder."""
    blocks = [
        _write_top(guessed, systems),
        *_write_datasets(guessed, matches),
        [*_write_systems(guessed, systems, exists), *_offer_published(guessed, matches)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _write_top(guessed: Sequence[GuessedDataset], systems: Sequence[GuessedSystem]) -> list[str]:
    has_propensities = any(each.trains or "inverse_propensities" in each.options for each in guessed)
    lines = [
        "# written by xmceval benchmark --init; paths are relative to this file",
        f'metrics = "{"P,PSP" if has_propensities else "P,nDCG"}@{_CUTOFFS}"',
    ]
    if len(systems) > 1:
        baseline = _choose_baseline(systems)
        lines.append(f"# against = {quote_string(baseline.name)}  # without it every pair is tested")
    return lines


def _choose_baseline(systems: Sequence[GuessedSystem]) -> GuessedSystem:
    """Return what others are probably compared with: a system on most data sets, better one that is called so."""
    most = max(len(each.cells) for each in systems)
    complete = [each for each in systems if len(each.cells) == most]
    named = [each for each in complete if each.name.lower() in _BASELINES]
    single = [each for each in complete if not each.are_runs]
    return (named or single or complete)[0]


def _write_datasets(guessed: Sequence[GuessedDataset], matches: Sequence[CatalogueMatch]) -> Iterator[list[str]]:
    heads = [f"[datasets.{quote_key(each.key)}]" for each in guessed]
    for each, head, match in zip(guessed, _align(heads), matches, strict=True):
        lines = [f"{head}  # {match.comment}" if match.comment else head.rstrip()]
        lines.extend(f"{name} = {_write_value(value)}" for name, value in match.settings)
        if each.folder != each.key:
            lines.append(f"folder = {quote_string(each.folder)}")
        for option, (file, *others) in {"truth": each.truths, **_inputs(each)}.items():
            lines.append(f"{option} = {quote_string(file.name)}")
            lines.extend(f"# {option} = {quote_string(other.name)}" for other in others)
        yield lines


def _write_value(value: str | float | bool) -> str:
    return quote_string(value) if isinstance(value, str) else str(value).lower()


def _inputs(guessed: GuessedDataset) -> Mapping[str, Sequence[FoundFile]]:
    return ({"train": guessed.trains} if guessed.trains else {}) | guessed.options


def _write_systems(
    guessed: Sequence[GuessedDataset], systems: Sequence[GuessedSystem], exists: Callable[[str], bool]
) -> Iterator[str]:
    yield "[systems]"
    for key, each in zip(_align([quote_key(each.name) for each in systems]), systems, strict=True):
        templates, paths = each.split_paths(guessed, exists)
        text = f"{key} = {_write_source(each, templates, paths)}"
        missing = describe_missing(each, guessed)
        yield f"{text}  # {missing}" if missing else text


def _write_source(system: GuessedSystem, templates: Sequence[str], paths: Mapping[str, Sequence[str]]) -> str:
    """Write the predictions of a system: a path, a list of runs, or a table where paths of data sets differ."""
    if not paths:
        return _write_paths(templates, system)
    single = ", ".join(f"{quote_key(key)} = {_write_paths(own, system)}" for key, own in paths.items())
    general = f"{'runs' if system.are_runs else 'path'} = {_write_paths(templates, system)}, " if templates else ""
    return f"{{ {general}paths = {{ {single} }} }}"


def _write_paths(paths: Sequence[str], system: GuessedSystem) -> str:
    if not system.are_runs:
        return quote_string(paths[0])
    return f"[{', '.join(map(quote_string, paths))}]"


def _offer_published(guessed: Sequence[GuessedDataset], matches: Sequence[CatalogueMatch]) -> Iterator[str]:
    """Yield a comment with the published results that most data sets have, and names of others."""
    found = [(match.entry, each.sizes) for each, match in zip(guessed, matches, strict=True)]
    entries = [entry for entry, sizes in found if entry is not None and not entry.forbids_ranking(sizes)]
    rows = {entry.name: {row.method: max(row.values.values()) for row in published(entry.name) if row.values}
            for entry in entries}  # fmt: skip
    counts = Counter(method for methods in rows.values() for method in methods)
    if not counts:
        return
    best = max(counts, key=lambda method: (counts[method], max(each.get(method, 0.0) for each in rows.values())))
    entry = next(entry for entry in entries if best in rows[entry.name])
    others = sorted(counts.keys() - {best}, key=str.lower)[:2]
    also = f"; also {', '.join(others)}, ...: xmceval datasets {entry.name}" if others else ""
    yield f"# {quote_key(best)} = {{ published = true }}  # shown, never tested{also}"


def quote_key(key: str) -> str:
    """Return a key as TOML writes it."""
    return key if _BARE.match(key) else quote_string(key)


def quote_string(text: str) -> str:
    """Return a string as TOML writes it; one with backslashes between single quotes, where it can be."""
    if "\\" in text and "'" not in text:
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _align(texts: Sequence[str]) -> list[str]:
    """Fill texts with blanks to one width."""
    width = max(map(text_width, texts))
    return [pad(text, width) for text in texts]
