"""Running a data set of a benchmark: what is kept of it is used, and the rest is scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xmceval.api.benchmark.dependencies import comparison_key
from xmceval.api.benchmark.plan import PlannedCell, PlannedDataset
from xmceval.api.benchmark.planning.published import keep_comparable
from xmceval.api.benchmark.scorecells import FAILURES, CellScorer, systems_of
from xmceval.api.benchmark.store import Keys, Store
from xmceval.errors import DataError, UsageError, describe_failure
from xmceval.files.io.contentdigests import join_digests
from xmceval.labels.catalogue import Sizes
from xmceval.report.benchmark import FAILED, KEPT, MISSING, PUBLISHED, SCORED, CellOutcome, DatasetOutcome
from xmceval.report.comparison import Comparison
from xmceval.rows import progress


@dataclass(frozen=True)
class Obtained:
    """What is known of the systems of a data set.

    Attributes
    ----------
    comparison : Comparison or None
        Of those that have values.
    failures : mapping of str to str
        Why the others have none, by system.
    scored : mapping of str to str
        The systems of which a run was scored now, with what has changed.
    digests : mapping of str to str
        Of all that the values of each system depend on, where they are kept.
    is_kept : bool
        Whether the comparison is one that was kept.
    """

    comparison: Comparison | None
    failures: Mapping[str, str] = field(default_factory=dict)
    scored: Mapping[str, str] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    is_kept: bool = False


@dataclass
class Runner:
    """Runs data sets one by one.

    Attributes
    ----------
    systems : tuple of str
        The shown names of all systems, in order.
    scorer : CellScorer
    store : Store or None
    rescore : bool
        Whether to score again what is kept.
    keeps_runs : bool
        Whether each run can be kept while it is scored, beside finished comparisons.
    """

    systems: Sequence[str]
    scorer: CellScorer
    store: Store | None = None
    rescore: bool = False
    keeps_runs: bool = True

    def run(self, dataset: PlannedDataset) -> DatasetOutcome:
        """Compare the systems of a data set, of which only what changed is scored."""
        cells = [cell for cell in dataset.cells if cell.runs]
        with progress.named(dataset.name):
            found = self._score(dataset, cells) if self.store is None else self._update(self.store, dataset, cells)
        if found.comparison is not None:
            dataset = keep_comparable(dataset, found.comparison.results[0].sizes)
        outcomes = {cell.system: _describe_cell(cell, found) for cell in dataset.cells}
        outcomes |= {name: CellOutcome(name, PUBLISHED, is_published=True) for name in dataset.published}
        outcomes |= {
            name: CellOutcome(name, MISSING, why, is_published=True) for name, why in dataset.unpublished.items()
        }
        return DatasetOutcome(
            dataset.name,
            found.comparison,
            tuple(outcomes[name] for name in self.systems if name in outcomes),
            dataset.published,
            "" if dataset.entry is None else dataset.entry.name,
            dataset.notes,
        )

    def _score(self, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> Obtained:
        """Score all systems, and keep nothing."""
        comparison, failures = self.scorer.attempt(self.scorer.compare, dataset, cells, {})
        return Obtained(comparison, failures, {cell.system: "" for cell in cells})

    def _update(self, store: Store, dataset: PlannedDataset, cells: Sequence[PlannedCell]) -> Obtained:
        """Use what is kept, score the rest, and keep that."""
        keys = store.find_keys(dataset)
        if self.rescore:
            store.discard([key for cell in cells for key in keys[cell.system]])
        found = None if self.rescore else self._load(store, cells, keys)
        if found is None:
            found = self._complete(store, dataset, cells, keys) or self._score_and_keep(store, dataset, cells, keys)
            found = replace(found, scored={name: store.explain(dataset.name, name) for name in found.scored})
        self._save(store, dataset, cells, keys, found)
        return replace(found, digests={cell.system: join_digests(keys[cell.system]) or "" for cell in cells})

    def _load(self, store: Store, cells: Sequence[PlannedCell], keys: Keys) -> Obtained | None:
        """Return the comparison of some systems, if it is kept."""
        document = store.load_comparison(comparison_key(cells, keys, self.scorer.testing))
        try:
            return None if document is None else Obtained(_read_comparison(document), is_kept=True)
        except (DataError, LookupError, TypeError):
            return None

    def _complete(
        self, store: Store, dataset: PlannedDataset, cells: Sequence[PlannedCell], keys: Keys
    ) -> Obtained | None:
        """Score the runs that are not kept, and compare all from their files; None where none is, or it fails."""
        of_cells = [key for cell in cells for key in keys[cell.system]]
        places = _find_places(store, cells, keys)
        missing = list(_only_placed(cells, places))
        if None in of_cells or not any(map(store.has_cell, of_cells)) or (missing and not self.keeps_runs):
            return None
        files = {system: [place for place in own if place is not None] for system, own in places.items()}
        _, failures = self.scorer.attempt(self.scorer.keep, dataset, missing, files)
        if not store.has_same_inputs():
            return None
        scored = {cell.system: "" for cell in missing if cell.system not in failures}
        rest = [cell for cell in cells if cell.system not in failures]
        found = self._load(store, rest, keys) or self._compare_kept(store, dataset, rest, keys)
        return None if found is None else replace(found, failures=failures, scored=scored)

    def _compare_kept(
        self, store: Store, dataset: PlannedDataset, cells: Sequence[PlannedCell], keys: Keys
    ) -> Obtained | None:
        """Compare systems of which all runs are kept; None where a file is missing or damaged."""
        from xmceval.api.comparing.comparekept import KeptSystem, compare_kept

        if not cells:
            return Obtained(None)
        if not all(store.has_cell(key) for cell in cells for key in keys[cell.system]):
            return None
        kept = [
            KeptSystem(cell.system, each.y_score, tuple(store.cell_path(key) for key in keys[cell.system] if key))
            for cell, each in zip(cells, systems_of(cells), strict=True)
        ]
        threads, watch = dataset.options.threads, self.scorer.watch
        try:
            return Obtained(compare_kept(kept, self.scorer.testing, threads=threads, watch=watch, needs_pairs=False))
        except UsageError:
            raise
        except FAILURES:
            store.discard([key for cell in cells for key in keys[cell.system]])
            return None

    def _score_and_keep(
        self, store: Store, dataset: PlannedDataset, cells: Sequence[PlannedCell], keys: Keys
    ) -> Obtained:
        """Score all systems, and keep each run."""
        files = _find_places(store, cells, keys) if self.keeps_runs else {}
        comparison, failures = self.scorer.attempt(self.scorer.compare, dataset, cells, files)
        return Obtained(comparison, failures, {cell.system: "" for cell in cells if cell.system not in failures})

    def _save(
        self, store: Store, dataset: PlannedDataset, cells: Sequence[PlannedCell], keys: Keys, found: Obtained
    ) -> None:
        """Keep the comparison, if all is still as it was when its key was found."""
        if found.scored and not store.has_same_inputs():
            store.discard([key for name in found.scored for key in keys[name]])
            return
        rest = [cell for cell in cells if cell.system not in found.failures]
        try:
            if found.comparison is not None and not found.is_kept:
                key = comparison_key(rest, keys, self.scorer.testing)
                store.save_comparison(key, _write_comparison(found.comparison))
            store.finish_dataset(dataset)
        except FAILURES as error:
            self.scorer.unkept.append(describe_failure(error))


def _write_comparison(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as it is kept: its document, and the sizes of the data, which that does not have."""
    return {"comparison": comparison.to_dict(), "sizes": [each.sizes for each in comparison.results]}


def _read_comparison(document: Mapping[str, Any]) -> Comparison:
    """Return a comparison that was kept."""
    comparison = Comparison.from_dict(document["comparison"])
    pairs = zip(comparison.results, document["sizes"], strict=True)
    return replace(comparison, results=tuple(replace(result, sizes=Sizes(*sizes)) for result, sizes in pairs))


def _find_places(store: Store, cells: Sequence[PlannedCell], keys: Keys) -> dict[str, list[Path | None]]:
    """Return where each run is to be kept, by system; None where it is kept already, or cannot be."""
    seen, places = set[str | None]([None]), dict[str, list[Path | None]]()
    for cell in cells:
        places[cell.system] = []
        for key in keys[cell.system]:
            is_new = key is not None and key not in seen and not store.has_cell(key)
            places[cell.system].append(store.cell_path(key) if key is not None and is_new else None)
            seen.add(key)
    return places


def _only_placed(cells: Sequence[PlannedCell], places: Mapping[str, Sequence[Path | None]]) -> Iterator[PlannedCell]:
    """Yield cells with those runs only that are to be kept."""
    for cell in cells:
        runs = tuple(run for run, place in zip(cell.runs, places[cell.system], strict=True) if place is not None)
        if runs:
            yield replace(cell, runs=runs)


def _describe_cell(cell: PlannedCell, found: Obtained) -> CellOutcome:
    """Return how a tested system fared."""
    name, n_runs = cell.system, len(cell.runs)
    if not cell.runs:
        return CellOutcome(name, MISSING, cell.missing, 0)
    if name in found.failures:
        return CellOutcome(name, FAILED, found.failures[name], n_runs)
    status = SCORED if name in found.scored else KEPT
    return CellOutcome(name, status, found.scored.get(name, ""), n_runs, found.digests.get(name, ""))
