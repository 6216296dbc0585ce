"""Systems of a folder: predictions on several data sets, and of several seeds, whose names differ in just that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from xmceval.api.benchmark.planning.namedfiles import PLACEHOLDER
from xmceval.api.benchmark.proposing.folderfiles import FolderFiles
from xmceval.api.benchmark.proposing.guesseddatasets import GuessedDataset
from xmceval.api.benchmark.proposing.nameparts import SEED, find_seeds, name_system
from xmceval.errors import listed
from xmceval.files.io.shardfiles import natural_key
from xmceval.files.io.signatures import split_ending

_PREFERRED_ENDINGS = (".npz", "", ".npy")


@dataclass
class GuessedSystem:
    """A system.

    Attributes
    ----------
    template : str
        The path of its predictions without ending, with PLACEHOLDER for the data set and SEED for the number of a run.
    cells : dict of str to dict of str to str
        The paths by the keys of the data sets, and the numbers of its runs.
    seeds : tuple of str
        Of all its runs, ascending; of a single run none.
    name : str
    """

    template: str
    cells: dict[str, dict[str, str]] = field(default_factory=dict)
    seeds: tuple[str, ...] = ()
    name: str = ""

    @property
    def are_runs(self) -> bool:
        """Whether it consists of training seeds."""
        return bool(self.seeds)

    @property
    def templates(self) -> list[str]:
        """The paths of its runs with PLACEHOLDER, with the most common ending."""
        found = Counter(_ending_of(path) for runs in self.cells.values() for path in runs.values())
        ending = found.most_common(1)[0][0]
        return [self.template.replace(SEED, seed) + ending for seed in self.seeds or ("",)]

    @property
    def title(self) -> str:
        """Its paths in short: ``ours-seed{1..3}.npz``."""
        numbers = [int(seed) for seed in self.seeds]
        is_range = len(numbers) > 2 and all(b - a == 1 for a, b in pairwise(numbers))
        short = f"{{{self.seeds[0]}..{self.seeds[-1]}}}" if is_range else f"{{{','.join(self.seeds)}}}"
        ending = self.templates[0][len(self.template.replace(SEED, (self.seeds or ("",))[0])) :]
        return self.template.replace(SEED, short) + ending

    def split_paths(
        self, guessed: Sequence[GuessedDataset], exists: Callable[[str], bool]
    ) -> tuple[list[str], dict[str, list[str]]]:
        """Return the templates that stand for its paths, if any can, and the paths by data set that they do not give.

        `exists` says whether there is such a file: a template must not name one that was left out.
        """
        own = {each.key: list(self.cells.get(each.key, {}).values()) for each in guessed}
        given = {each.key: [t.replace(PLACEHOLDER, each.folder) for t in self.templates] for each in guessed}
        given = {key: list(filter(exists, paths)) for key, paths in given.items()}
        differing = {key: paths for key, paths in own.items() if paths != given[key]}
        is_usable = all(differing.values()) and (PLACEHOLDER in self.template or len(guessed) == 1)
        if is_usable and len(differing) < sum(map(bool, own.values())):
            return self.templates, differing
        return [], {key: paths for key, paths in own.items() if paths}


def describe_missing(system: GuessedSystem, guessed: Sequence[GuessedDataset]) -> str:
    """Return on which data sets a system has no predictions, or, where these are most, on which it has some."""
    own = [each.key for each in guessed if each.key in system.cells]
    missing = [each.key for each in guessed if each.key not in system.cells]
    return f"only {listed(own)}" if len(missing) > len(own) else f"not {listed(missing)}" if missing else ""


def guess_systems(guessed: Sequence[GuessedDataset], files: FolderFiles) -> list[GuessedSystem]:
    """Find the systems of the predictions of all data sets, in the order of their names."""
    single: dict[str, GuessedSystem] = {}
    for dataset in guessed:
        for file in sorted(dataset.scores, key=lambda file: _preference(file.name)):
            stem, _ = split_ending(file.name)
            template = dataset.pattern.sub(PLACEHOLDER, stem)
            system = single.setdefault(template, GuessedSystem(template))
            other = system.cells.setdefault(dataset.key, {}).setdefault("", file.name)
            if other != file.name:
                dataset.scores.remove(file)
                files.leave_out(file, f"{other} has the same name")
    systems = _join_namesakes(_join_seeds(single))
    _name_systems(systems)
    return sorted(systems, key=lambda system: natural_key(system.name.lower()))


def _preference(name: str) -> tuple[int, str]:
    ending = _ending_of(name)
    return _PREFERRED_ENDINGS.index(ending) if ending in _PREFERRED_ENDINGS else len(_PREFERRED_ENDINGS), name


def _ending_of(name: str) -> str:
    return split_ending(name)[1]


def _join_seeds(single: Mapping[str, GuessedSystem]) -> list[GuessedSystem]:
    """Join systems whose templates differ in the number of a seed only, at least two of them."""
    groups: dict[str, dict[str, str]] = {}
    for template in single:
        for key, number in find_seeds(template):
            groups.setdefault(key, {})[number] = template
    left, joined = dict(single), list[GuessedSystem]()
    for key, members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        present = {number: left[template] for number, template in members.items() if template in left}
        if len(present) < 2:
            continue
        seeds = tuple(sorted(present, key=lambda number: (int(number), number)))
        system = GuessedSystem(key, seeds=seeds)
        for number in seeds:
            for dataset, runs in left.pop(present[number].template).cells.items():
                system.cells.setdefault(dataset, {})[number] = runs[""]
        joined.append(system)
    return [*left.values(), *joined]


def _join_namesakes(systems: Iterable[GuessedSystem]) -> list[GuessedSystem]:
    """Join systems of one name that are on different data sets, as where a path differs in more than its data set."""
    joined = list[GuessedSystem]()
    for system in sorted(systems, key=lambda each: (PLACEHOLDER not in each.template, -len(each.cells), each.template)):
        name = name_system(system.template)
        for other in joined:
            is_other_part = other.cells.keys().isdisjoint(system.cells)
            if is_other_part and other.seeds == system.seeds and name_system(other.template) == name:
                other.cells.update(system.cells)
                break
        else:
            joined.append(system)
    return joined


def _name_systems(systems: Iterable[GuessedSystem]) -> None:
    """Name systems by as little of their paths as tells them apart."""
    unnamed = list(systems)
    for depth in range(1, 10):
        names = Counter(name_system(each.template, depth=depth) for each in unnamed)
        for each in unnamed:
            each.name = name_system(each.template, depth=depth)
        unnamed = [each for each in unnamed if names[each.name] > 1]
    alike = Counter((each.name, each.are_runs) for each in unnamed)
    for each in unnamed:
        name, stem = name_system(each.template), each.template.replace(SEED, "").rpartition("/")[2]
        is_alone = alike[each.name, each.are_runs] == 1 or name == stem
        own = name if is_alone else f"{name}-{stem.replace(PLACEHOLDER, '').strip('-_. ')}"
        each.name = own + "-runs" * each.are_runs
    _number_repeated(list(systems))


def _number_repeated(systems: Sequence[GuessedSystem]) -> None:
    """Number names that are still the same."""
    seen: Counter[str] = Counter()
    for each in systems:
        seen[each.name] += 1
        if seen[each.name] > 1:
            each.name = f"{each.name} ({seen[each.name]})"
