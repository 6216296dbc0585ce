"""Refuse text in formats of other programs, and text that only looks like rows of labels.

Such are grades before features, matrices, and tables without a header.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from xmceval.errors import AmbiguousError, DataError, Doubt, argument, counted
from xmceval.files.formats import SCORES, TRUTH
from xmceval.files.io.chunks import COMMA, NUMBER, PERCENT, expected_score
from xmceval.files.io.streams import quote
from xmceval.files.opened import Head, Request

GRADES = frozenset({b"0", b"1", b"2", b"3", b"4"})  # usual grades
SIZES = frozenset({".query", ".group"})  # endings of files with the number of lines per query
RECIPES = "see the recipes for other formats in xmceval guide inputs"
RECIPE = "see the recipe for LETOR and SVMlight files, with qid: or sizes of queries, in the guide recipes.md"
_FEATURE = re.compile(rb"\d+:")
_GRADED = re.compile(rb"\d+:|qid:")

# A label and a score between tabs, and a score with a percent sign or decimal comma.
_SCORED = re.compile(rb"(?:\A|\t)[ \t]*\d+[ \t]+[-+]?\d[\d.,eE+-]*%?[ ]*(?=\t|\Z)")
_ODD_SCORE = re.compile(rb"[ \t](%b)(?=[ \t]|\Z)" % (PERCENT + b"|" + COMMA))

_CELL = re.compile(rb'"?\[[^\[\]]*\]"?')  # a list in a table as text
_NAME_AND_VALUE = re.compile(rb"(\S+):[-+]?[\d.]+(?:[eE][-+]?\d+)?")


class Foreign(NamedTuple):
    """A format that is not read: what a file of it is, and what its first lines look like."""

    what: str
    pattern: re.Pattern[bytes]
    is_of_rows: bool = False  # whether all of the first rows match, and not the beginning of the text
    hint: str = RECIPES

    def matches(self, head: Head) -> bool:
        """Return whether a file has the format."""
        if not self.is_of_rows:
            return self.pattern.match(head.text) is not None
        return bool(head.rows) and all(self.pattern.fullmatch(row.text) for row in head.rows)


_PAGE = re.compile(
    rb"(?is)\s*(?:<!doctype html|<html|<head|<\?xml(?!.*?<label\s+name\s*=))(?:.*?<title[^>]*>(?P<title>.*?)</title)?"
)

FOREIGN = (
    Foreign(
        "is XML with names of labels, as Mulan has it",
        re.compile(rb"(?is)\s*<\?xml.*?<label\s+name\s*="),
        hint="the rows are in the ARFF file next to it",
    ),
    Foreign("is a MatrixMarket file", re.compile(rb"%%MatrixMarket")),
    Foreign("is an ARFF file", re.compile(rb"(?i)(?:\s*%[^\n]*\n)*\s*@relation\b")),
    Foreign("has predictions as MEKA prints them", re.compile(rb"\|=+ PREDICTIONS")),
    Foreign("has a first line for Excel", re.compile(rb"sep=.\r?\n"), hint="leave out the first line"),
    Foreign("is data of Vowpal Wabbit", re.compile(rb"(?:\d+(?:,\d+)*[ \t]+)?\|.*"), is_of_rows=True),
    Foreign(
        "has lines of an id and labels between bars",
        re.compile(rb"(?=[^|\s]*\d)[^|\s]+(?:\|[^|\s]*)+"),  # names of columns have no digit
        is_of_rows=True,
    ),
    Foreign(
        "has lines of an id and the ranks of its candidates, as for MIND",
        re.compile(rb"\S+[ \t]+\[\d+(?:, ?\d+)*\]"),
        is_of_rows=True,
    ),
    Foreign(
        "has lines of an id and labels with a semicolon between them",
        re.compile(rb"[^;\s]+;\d+(?:,\d+)*"),
        is_of_rows=True,
        hint="keep what follows the semicolon, with the rows of both files in one order",
    ),
)


def refuse_foreign(head: Head, request: Request) -> None:
    """Refuse text in a format that is known from its first lines, unless its first line has names of labels."""
    page = _PAGE.match(head.text)
    if page is not None:
        title = ""
        if page["title"]:
            title = f", titled {quote(b' '.join(page['title'].split()))}"
        raise DataError(f"{head.path}: is a web page{title}; expected data (hint: check the address it came from)")
    if not head.rows:
        return
    if head.path.suffix in SIZES and all(row.text.isdigit() for row in head.rows):
        expected = TRUTH
        if request.are_scores:
            expected = SCORES
        raise DataError(
            f"{head.path}: has the sizes of queries, as LightGBM and XGBoost keep them next to their data; expected "
            f"{expected} (hint: {RECIPE})"
        )
    if request.are_names(head.rows[0].words):
        return
    for foreign in FOREIGN:
        if foreign.matches(head):
            raise DataError(f"{head.path}: {foreign.what}; expected rows or a table (hint: {foreign.hint})")
    _refuse_cells(head)
    _refuse_scored_names(head, request)
    _refuse_graded_features(head)


def _refuse_cells(head: Head) -> None:
    """Refuse a table whose columns of lists became text, as pandas writes them as CSV."""
    header, *rows = (row.text for row in head.rows)
    cells = [_CELL.findall(row) for row in rows]
    if not rows or not all(cells) or header.startswith((b"[", b"{", b'"[')) or rows[0].startswith(b"{"):
        return
    from xmceval.files.tables.table import split_fields

    if any(_CELL.fullmatch(field.encode()) for field in split_fields(rows[0], b",")):
        raise DataError(
            f"{head.path}:{head.rows[0].number}: is a table whose lists became text, found {quote(rows[0])}; CSV has "
            "none (hint: write Parquet)"
        )


def _refuse_scored_names(head: Head, request: Request) -> None:
    """Refuse names of labels with values after a colon, where the names are known or can be no ids."""
    words = [_NAME_AND_VALUE.fullmatch(word) for word in head.rows[0].words]
    if not words or not all(words):
        return
    names = [word[1] for word in words if word is not None]
    if any(map(bytes.isdigit, names)):  # ids; or names that are numbers, which are refused as such
        return
    if request.names is not None and (request.names.find(names) < 0).all():
        return
    value = "a value"
    form = "the names alone"
    if request.are_scores:
        value = "a score"
        form = "lines of __label__name score"
    labels = ""
    if request.names is None:
        labels = f", and pass {argument('labels', kind='FILE')}"
    raise DataError(
        f"{head.path}:{head.rows[0].number}: has names of labels with {value} after a colon, found "
        f"{quote(head.rows[0].text)} (hint: write {form}{labels})"
    )


def _refuse_graded_features(head: Head) -> None:
    """Refuse lines of a grade and features, as in SVMlight, LETOR and LightGBM files, which have no labels.

    A grade is recognised by a ``qid:``, a sign or a fraction; whole numbers are labels.
    """
    rows = [row.words for row in head.rows]
    first = next((row for row in head.rows if len(row.words) > 1 and _GRADED.match(row.words[1])), None)
    if first is None:
        return
    are_numbers = all(NUMBER.fullmatch(row[0]) and all(map(_FEATURE.match, row[1:])) for row in rows)
    have_grades = are_numbers and not all(row[0].isdigit() for row in rows)
    if have_grades or first.words[1].startswith(b"qid:"):
        raise DataError(
            f"{head.path}:{first.number}: expected labels, found a grade before features, as in SVMlight and LETOR "
            f"files: {quote(first.text)} (hint: {RECIPE}; labels before features need a first line 'points features "
            "labels')"
        )


def doubt_grades(head: Head) -> str:
    """Return the doubt that the number before the features of each line is a grade; empty if some can be none."""
    grades = {row.words[0] for row in head.rows}
    if len(grades) == 1 or not grades <= GRADES:
        return ""
    return Doubt(
        f"{head.path}: each of the first {counted(len(head.rows), 'line')} has one number of 0 to 4 before its "
        f"features: are these grades of documents? (hint: {RECIPE}; {argument('n_labels', kind='N')} declares labels)"
    )


def refuse_columns(head: Head, n_labels: int | None) -> None:
    """Refuse lists of ids between tabs, which are columns, and lists that are, or may be, a matrix of 0 and 1."""
    tabbed = next((row for row in head.rows if b"\t" in row.text), None)
    if tabbed is not None:
        raise DataError(
            f"{head.path}:{tabbed.number}: has whole numbers between tabs, which are columns, but no header line: "
            f"{quote(tabbed.text)} (hint: name the columns in a first line, or put blanks or commas between ids)"
        )
    rows = [row.text.replace(b",", b" ").split() for row in head.rows]
    widths = {len(row) for row in rows}
    if not all(set(row) <= {b"0", b"1"} for row in rows):
        return
    if len(widths) == 1 and max(widths) > 2:  # as ids, some label would be there twice
        raise DataError(
            f"{head.path}:{head.rows[0].number}: looks like a matrix with a column per label, found "
            f"{quote(head.rows[0].text)} (hint: save a matrix with numpy.save)"
        )
    if n_labels in {None, 2} and widths == {2}:
        raise AmbiguousError(
            f"{head.path}:{head.rows[0].number}: its rows have two numbers each, all 0 or 1: a matrix of two labels, "
            f"or lists of ids? (hint: save a matrix with numpy.save; {argument('n_labels', kind='N')} above 2 says "
            "that they are ids)"
        )


def refuse_decimals(head: Head) -> None:
    """Refuse rows of 'label score' with percent signs or decimal commas, which look like lists of names or ids."""
    if not all(_SCORED.sub(b"", row.text) == b"" for row in head.rows):
        return
    for row in head.rows:
        odd = _ODD_SCORE.search(row.text)
        if odd is not None:
            raise DataError(f"{head.path}:{row.number}: {expected_score(odd[1])}")
