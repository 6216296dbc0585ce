"""Dependencies: all that the values of a run depend on, the key that this makes, and what of it has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.errors import DataError
from xmceval.files.arrays.npypairs import find_files
from xmceval.files.io.contentdigests import digest_array, digest_text, join_digests
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.saved.inputdigests import InputDigests
from xmceval.kernels.compile.cache import find_sources
from xmceval.labels.catalogue import find_dataset
from xmceval.rows.shards import parts_of
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs
from xmceval.scoring.spec import input_name
from xmceval.version import VERSION

SCORES = "scores"  # the part that a run has for itself


@dataclass(frozen=True)
class Dependencies:
    """What the values of a run depend on.

    Attributes
    ----------
    inputs : mapping of str to list
        The shown path, the name in reports, and the digest of each input, by the argument that it is.
    options : mapping
        Those that change a number, as reports record them.
    version, source : str
        Of this package: its version, and a digest of its source.
    """

    inputs: Mapping[str, Sequence[str]]
    options: Mapping[str, Any]
    version: str
    source: str

    @cached_property
    def key(self) -> str:
        """A digest of it all, but not of where the files are."""
        inputs = {role: rest for role, (_, *rest) in self.inputs.items()}
        return digest_text(json.dumps([inputs, self.options, self.version, self.source], sort_keys=True))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain

    def differences(self, before: Mapping[str, Any]) -> Iterator[str]:
        """Yield what has changed since, in words; `before` is what `to_dict` returned."""
        if before["version"] != self.version:
            yield f"xmceval {before['version']} → {self.version}"
        elif before["source"] != self.source:
            yield "the source of xmceval changed"
        old, options = before["options"], self.to_dict()["options"]
        names = [name for name in {**old, **options} if name not in {**before["inputs"], **self.inputs}]
        changed = [name for name in names if old.get(name) != options.get(name)]
        if changed:
            yield f"{', '.join(changed)} changed"
        for role, (path, *rest) in self.inputs.items():
            old = before["inputs"].get(role)
            if old is None:
                yield f"{path} is new"
            elif old[1:] != rest:
                yield f"{path} changed"
        yield from (f"without {old[0]}" for role, old in before["inputs"].items() if role not in self.inputs)


def find_dependencies(
    dataset: PlannedDataset, digests: InputDigests, source: str, home: Path | None = None
) -> dict[str, tuple[Dependencies | None, ...]]:
    """Return what each run of each system of a data set depends on; None where an input cannot be told by a digest.

    Parameters
    ----------
    dataset : PlannedDataset
    digests : InputDigests
    source : str
        A digest of the source of this package.
    home : Path, optional
        The folder that shown paths are relative to.
    """
    options = dataset.options
    files = {name: getattr(options, name) for name, spec in specs().items() if spec.is_file}
    common = {"truth": dataset.truth, **{name: value for name, value in files.items() if value is not None}}
    runs = [run for cell in dataset.cells for run in cell.runs]
    digests.find(path for value in (*common.values(), *runs) for path in _list_files(value))
    inputs = {role: _describe(value, digests, home) for role, value in common.items()}
    recorded = _list_options(options)

    def depend(run: Any) -> Dependencies | None:
        own = {**inputs, SCORES: _describe(run, digests, home)}
        known = {role: each for role, each in own.items() if each is not None}
        return Dependencies(known, recorded, VERSION, source) if len(known) == len(own) else None

    return {cell.system: tuple(map(depend, cell.runs)) for cell in dataset.cells}


def comparison_key(
    cells: Sequence[PlannedCell], keys: Mapping[str, Sequence[str | None]], testing: Testing
) -> str | None:
    """Return the key of a comparison of some cells, in their order; None where a run has none."""
    if any(key is None for cell in cells for key in keys[cell.system]):
        return None
    systems = [[cell.system, cell.is_averaged, list(keys[cell.system])] for cell in cells]
    return digest_text(json.dumps([systems, asdict(testing)], sort_keys=True))


def digest_source(digests: InputDigests) -> str:
    """Return a digest of the source of this package; empty where it is not a folder of files."""
    home = to_path(__file__).parents[2]
    if not home.is_dir():
        return ""
    found = digests.find(map(to_path, find_sources(str(home))))
    return digest_text(repr([(path.relative_to(home).as_posix(), digest) for path, digest in found.items()]))


def _list_options(options: Options) -> dict[str, Any]:
    """Return the options that change a number; with a data set of the catalogue its A and B."""
    changed = options.changed()
    if options.dataset is not None:
        entry = find_dataset(options.dataset)
        changed["dataset"] = [entry.name, entry.a, entry.b]
    return changed


def _list_files(value: Any) -> list[Path]:
    """Return the files of an input; none where they cannot be found, which scoring reports."""
    try:
        parts = parts_of(find_shards(value, directories=True))
        return [file for part in parts if isinstance(part, (str, Path)) for file in find_files(to_path(part))]
    except (DataError, OSError):
        return []


def _describe(value: Any, digests: InputDigests, home: Path | None) -> list[str] | None:
    """Return the shown path of an input, its name and its digest; None without a digest."""
    try:
        found = find_shards(value, directories=True)
    except (DataError, OSError):
        return None
    digest = join_digests([_digest_part(part, digests) for part in parts_of(found)])
    return None if digest is None else [_shown_path(value, home), input_name(value), digest]


def _digest_part(part: Any, digests: InputDigests) -> str | None:
    """Return the digest of a file, of a pair of files, or of a matrix in memory."""
    if isinstance(part, (str, Path)):
        return join_digests(list(digests.find(find_files(to_path(part))).values()))
    return join_digests([digest_array(each) if each.dtype.kind in "biuf" else None for each in _list_arrays(part)])


def _list_arrays(matrix: Any) -> Iterable[Any]:
    """Return the arrays of a matrix: of a sparse one with its shape; none of what is no matrix of numpy or scipy."""
    if isinstance(matrix, np.ndarray):
        return [matrix]
    if hasattr(matrix, "tocsr"):
        csr = matrix.tocsr()
        return [np.array(csr.shape), csr.indptr, csr.indices, csr.data]
    is_pair = isinstance(matrix, tuple) and all(isinstance(each, np.ndarray) for each in matrix)
    return matrix if is_pair else []


def _shown_path(value: Any, home: Path | None) -> str:
    """Return a path as messages show it: relative to a folder that it is in."""
    if not isinstance(value, (str, Path)) or isinstance(to_path(value), RemotePath):
        return str(value) if isinstance(value, (str, Path)) else input_name(value)
    path = str(value)
    inside = "" if home is None else os.path.abspath(home) + os.sep
    return os.path.abspath(path).removeprefix(inside) if inside else path
