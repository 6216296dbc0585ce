"""Recognise by name the columns of rows or queries, labels or documents, and grades or scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from xmceval.errors import DataError, Doubt, listed
from xmceval.rows.names import NUMBERS, QUERIES, naming_columns, plain

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

# Common names by role. Case, blanks, hyphens and underscores are ignored, and lists may have plural names.
NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "row": NUMBERS,
        "query": QUERIES,
        "document": (
            "doc_id", "docno", "docid", "doc", "document_id", "document", "corpus_id", "pid", "passage_id",
            "item_id", "item", "iid", "movie_id", "product_id",
        ),
        "label": ("label", "label_id", "column", "col", "class", "class_id", "target_ind"),
        "grade": ("relevance", "rel", "grade", "rating", "target_rel"),
        "score": ("score", "prediction", "pred", "probability", "prob", "similarity"),
        "number": ("value", "weight"),  # a grade in truth, a score in predictions
        "rank": ("rank", "ranking"),
    }
)  # fmt: skip

INDEX = frozenset({"index", "indexlevel0", "unnamed0"})  # the pandas index, in Arrow and in CSV

# Columns that long tables often have too, and that are not grades.
UNUSED = INDEX | {
    "timestamp", "time", "date", "datetime", "iter", "q0", "tag", "run", "runid", "system", "split",
}  # fmt: skip


# Names of columns with the names of systems, in lines of several of them.
SYSTEMS = frozenset(
    {
        *("system", "model", "method", "algorithm", "run", "runid", "tag", "ranker", "retriever", "recommender"),
        *("classifier", "estimator", "systemid", "modelid", "systemname", "modelname", "runname"),
    }
)

# Names that may also belong to text; a column of ids takes precedence.
TEXTS = frozenset({"query", "topic", "user", "document", "doc", "item", "label", "class"})


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their roles."""

    key: str | None  # the column of rows or queries; None if each line of the table is one row
    has_queries: bool  # whether the key names queries; otherwise it has row numbers
    label: str  # the column of labels or documents
    # the column of grades or scores; None in truth with entries that count 1, and in ranked lists
    value: str | None = None
    is_rank: bool = False  # whether the values are ranks, with 1 as the best
    are_lists: bool = False  # whether labels and values are lists, with one line per row
    are_scores: bool = False  # whether the values are scores
    has_grades: bool = False  # whether the name of the column of values declares grades
    others: tuple[str, ...] = ()  # columns without lists that have unknown names

    @property
    def are_ranked(self) -> bool:
        """Whether labels are lists of predictions without values, ranked best first."""
        return self.are_lists and self.are_scores and self.value is None

    @property
    def names(self) -> list[str]:
        """The columns to read."""
        return [name for name in (self.key, self.label, self.value) if name is not None]


_ROLES = {plain(name): role for role, names in NAMES.items() for name in names}


def find_roles(names: Iterable[str], lists: Collection[str] = ()) -> dict[str, list[str]]:
    """Return the columns of each role; those in `lists` may have plural names."""
    roles: dict[str, list[str]] = {role: [] for role in NAMES}
    may_be_plural = frozenset(lists)
    for name in names:
        word = plain(name)
        role = _ROLES.get(word)
        if role is None and name in may_be_plural:
            role = _ROLES.get(word.removesuffix("s")) or _ROLES.get(word.removesuffix("es"))
        if role is not None:
            roles[role].append(name)
    return roles


def find_graded(roles: Mapping[str, list[str]]) -> list[str]:
    """Return the columns of grades: next to documents, ``label`` is one, as in tools of search engines."""
    if roles["document"]:
        return roles["grade"] + roles["label"]
    return roles["grade"]


def are_known(names: Iterable[str]) -> bool:
    """Return whether columns make a long table: a key, and labels or documents."""
    roles = find_roles(names)
    keys = len(roles["row"] + roles["query"])
    labels = len(roles["document"] + roles["label"])
    return bool(keys and labels)


def find_columns(table: Table, names: Sequence[str], lists: Collection[str], *, are_scores: bool) -> Columns:
    """Find the columns of a table by name; `lists` are the columns of lists."""
    columns, roles = find_pairs(table.name, names, lists, are_scores=are_scores)
    label = columns.label
    are_lists = columns.are_lists
    if are_scores:
        noun = "scores"
        values = roles["score"] or roles["number"] + roles["grade"]
        if not roles["score"] and not roles["number"]:
            values = values + roles["rank"]
    else:
        noun = "grades"
        values = find_graded(roles) or roles["number"] + roles["score"]
    if len(values) > 1:
        raise DataError(f"{table}: {listed(values, 'and')} may both have the {noun} (hint: keep one of them)")
    value = next(iter(values), None)
    if value is None and are_scores and not are_lists:
        raise DataError(
            f"{table}: has no scores: found the columns {', '.join(names[:12])}; expected one of {_some('score')} "
            "(hint: rename the column of scores; for decisions add a column 'score' of 1)"
        )
    if value is not None and (value in lists) != are_lists:
        with_lists, without = sorted((label, value), key=lists.__contains__, reverse=True)
        raise DataError(
            f"{table}: {with_lists!r} has lists, and {without!r} has none; expected lists in both or in neither"
        )
    known = {name for of_role in roles.values() for name in of_role}
    others = tuple(name for name in names if name not in known and name not in lists)
    has_grades = not are_scores and value in {*roles["grade"], *roles["label"]}
    is_rank = value in roles["rank"]
    return replace(columns, value=value, is_rank=is_rank, are_scores=are_scores, has_grades=has_grades, others=others)


def find_pairs(
    place: str, names: Sequence[str], lists: Collection[str], *, are_scores: bool
) -> tuple[Columns, dict[str, list[str]]]:
    """Find the columns of rows or queries and of labels or documents; also return the names by role."""
    roles = find_roles(names, lists)
    labels = without_texts(roles["document"] or roles["label"])
    if not labels and lists:
        shown = listed(map(repr, sorted(lists)), "and")
        which = "the one of labels"
        if len(lists) == 1:
            which = shown
        raise DataError(
            f"{place}: has lists in {shown}; expected them in a column named labels or documents "
            f"(hint: rename {which} to 'labels')"
        )
    if len(labels) != 1:
        raise unknown_columns(place, names, are_scores=are_scores)
    (label,) = labels
    if plain(label) == "targetind":  # XC data sets: uid only names the text of a row
        roles["query"] = []
    key = next(iter(naming_columns([*roles["row"], *roles["query"]])), None)
    if key is None and label not in lists:
        raise unknown_columns(place, names, are_scores=are_scores)
    return Columns(key, key in roles["query"], label, are_lists=label in lists), roles


def explain_names(*, are_scores: bool) -> str:
    """Describe the expected columns and their accepted names, for a message."""
    score = _some("score", "number", "rank")
    grade = _some("grade", "number")
    value = f"in graded truth one of grades ({grade})"
    if are_scores:
        value = f"one of scores ({score})"
    return f"{explain_keys()}, one of documents or labels ({_some('document', 'label')}), and {value}"


def explain_keys() -> str:
    """Describe the accepted names of a column of queries or rows, for a message."""
    return f"a column of queries ({_some('query')}) or rows ({_some('row')})"


def _some(*roles: str) -> str:
    return ", ".join([name for role in roles for name in NAMES[role][: 8 // len(roles)]])


def without_texts(names: list[str]) -> list[str]:
    """Return the id columns among several; ``docno`` precedes ``docid``, PyTerrier's internal number."""
    ids = [name for name in names if plain(name) not in TEXTS and plain(name).endswith(("id", "no"))] or names
    return [name for name in ids if plain(name) == "docno"] or ids


def unknown_columns(place: str, names: Sequence[str], *, are_scores: bool) -> DataError:
    """Return the error for a table without the columns of a long one."""
    shown = ", ".join(names[:12]) or "none"
    return DataError(
        f"{place}: found the columns {shown}; expected {explain_names(are_scores=are_scores)} (hint: rename the "
        "columns, or save a matrix with a column per label by numpy.save; see xmceval guide inputs)"
    )


def describe_systems(table: Table, columns: Columns, lines: Sequence[int]) -> str:
    """Describe two lines of a label if another column tells them apart, with the hint to split the table by it."""
    for name in sorted(columns.others, key=lambda name: plain(name) not in SYSTEMS):
        is_system = plain(name) in SYSTEMS
        if not is_system and (plain(name) in UNUSED or not table.is_text(name)):
            continue
        values = _read_lines(table, name, lines)
        if len(values) < 2 or values[0] == values[1]:
            continue
        both = f"{values[0]!r} and {values[1]!r}"
        if is_system:
            return f"lines of two systems: {both} {_split_by(name)}"
        return (
            f"lines that differ in {name!r}: {both} (hint: if these are systems, split the lines, and score each part)"
        )
    return ""


def doubt_systems(table: Table, columns: Columns) -> Iterator[Doubt]:
    """Yield a doubt if the first lines are of several systems, which are then ranked together."""
    for name in [name for name in columns.others if plain(name) in SYSTEMS]:
        for column in table.head([name]):
            names = column.array.unique().to_pylist()
            if len(names) > 1:
                some = f"such as {names[0]!r}"
                if len(names) <= 3:
                    some = listed(map(repr, names), "and")
                yield Doubt(f"{table}: has lines of {len(names):,} systems: {some} {_split_by(name)}")


def _read_lines(table: Table, name: str, lines: Sequence[int]) -> list[Any]:
    """Read some lines of a column again; lines of a stream in memory are gone."""
    values: list[Any] = []
    with suppress(DataError):
        for (column,) in table.batches([name]):
            values += column.array.to_pylist()
    return [values[line] for line in lines if line < len(values)]


def _split_by(name: str) -> str:
    return f"(hint: split the lines by {name!r}, and score each part as a system)"


def doubt_unread(table: Table, columns: Columns, lists: Collection[str]) -> Iterator[Doubt]:
    """Yield a doubt for columns of numbers with unknown names, if no column has grades or scores."""
    if columns.value is not None:
        return
    names: Iterable[str] = columns.others
    label = None
    if columns.are_lists:
        names = lists
        label = columns.label
    unread = [name for name in names if name not in columns.names and plain(name) not in UNUSED]
    numbers = sorted(name for name in unread if not naming_columns([name]) and table.has_numbers(name, label))
    if numbers:
        what, known = ("scores", "score") if columns.are_scores else ("grades", "relevance")
        yield Doubt(
            f"{table}: {listed(map(repr, numbers), 'and')} may have the {what}, but no {what} are known by this name "
            f"(hint: rename it to {known!r} if so)"
        )
