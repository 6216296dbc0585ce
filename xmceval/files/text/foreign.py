"""Refuse text in formats of other programs, with a line that converts it, and text that only looks like rows of labels.

Such are grades before features, matrices, and tables without a header.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from xmceval.errors import AmbiguousError, DataError, argument, names_flags
from xmceval.files.io.chunks import COMMA, NUMBER, PERCENT, explain_decimal
from xmceval.files.io.streams import quote
from xmceval.files.opened import MOST_LINES, Head, Request

SIZES = frozenset({".query", ".group"})  # endings of files with the number of lines per query
RECIPE = "see the recipe for LETOR and SVMlight files, with qid: or sizes of queries, in the guide recipes.md"
_SEPARATOR = re.compile(rb"[ \t]*[,;][ \t]*|[ \t]+")
_DECIMAL = re.compile(rb"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")
_PAIR = re.compile(rb"[ \t,;][^ \t,;]*:").search  # a word with a colon, except the first word
_FEATURE, _GRADED = re.compile(rb"\d+:"), re.compile(rb"\d+:|qid:")
_GRADES = frozenset((b"0", b"1", b"2", b"3", b"4"))
_ODD = PERCENT + b"|" + COMMA

# A score with a percent sign or decimal comma, by kind of text.
_IN_PAIRS = re.compile(rb"\A[^#]*?[ \t]*\d+:(%b)(?=[ \t\r]|\Z)" % _ODD)
_IN_SCORED = re.compile(rb"[ \t](%b)(?=[ \t]|\Z)" % _ODD)
_ALL_SCORED = re.compile(rb"(?:\A|\t)[ \t]*\d+[ \t]+[-+]?\d[\d.,eE+-]*%?[ ]*(?=\t|\Z)")
_IN_FASTTEXT = re.compile(rb"\A[ \t]*__label__\S+[ \t]+(%b)(?=[ \t\r]|\Z)" % _ODD)
_IN_JSON = re.compile(rb',\s*"(%b)"\s*\]' % _ODD)
_NAMES = "row, label and score or user, item and rating"

_CELL = re.compile(rb'"?\[[^\[\]]*\]"?')  # a list in a table as text
_NAME_AND_VALUE = re.compile(rb"(\S+):[-+]?[\d.]+(?:[eE][-+]?\d+)?")
_MODULES = re.compile(r"\b(?:ast|csv|json|numpy|pandas|re|scipy\.[a-z]+|skmultilearn\.dataset)(?=\.)")

# How a value is written to a new file by a line of Python.
_NPY, _NPZ = "numpy.save(NEW.npy, CODE)", "scipy.sparse.save_npz(NEW.npz, CODE)"
_PARQUET, _JSON = "CODE.to_parquet(NEW.parquet)", 'json.dump(CODE, open(NEW.json, "w"))'


class Foreign(NamedTuple):
    """A format that is not read: what a file of it is, what its first lines look like, and how it is converted."""

    what: str
    pattern: re.Pattern[bytes]
    code: str  # Python for its value, given the PATH, or a line of a shell that ends in NEW and the ending of its file
    write: str = ""  # Python that writes the value; none for a line of a shell
    is_of_rows: bool = False  # whether all of the first rows match, and not the beginning of the text

    def matches(self, head: Head) -> bool:
        """Return whether a file has the format."""
        if not self.is_of_rows:
            return self.pattern.match(head.text) is not None
        return bool(head.rows) and all(self.pattern.fullmatch(row.text) for row in head.rows)


FOREIGN = (
    Foreign(
        "is a MatrixMarket file",
        re.compile(rb"%%MatrixMarket"),
        "scipy.sparse.csr_array(scipy.io.mmread(PATH))",
        _NPZ,
    ),
    Foreign(
        "is a sparse ARFF file",
        re.compile(rb"(?is)(?:\s*%[^\n]*\n)*\s*@relation\b.*\n@data\s*\{"),
        "skmultilearn.dataset.load_from_arff(PATH, label_count, load_sparse=True)[1].tocsr()",
        _NPZ,
    ),
    Foreign(
        "is an ARFF file",
        re.compile(rb"(?i)(?:\s*%[^\n]*\n)*\s*@relation\b"),
        # labels are the attributes of {0,1}, which are read as bytes
        "pandas.DataFrame(scipy.io.arff.loadarff(PATH)[0]).select_dtypes(object).astype(int).to_numpy()",
        _NPY,
    ),
    Foreign(
        "has predictions as MEKA prints them",
        re.compile(rb"\|=+ PREDICTIONS"),
        r'numpy.array([re.findall(r"\[(.*?)\]", line)[COLUMN].split() for line in open(PATH) if "[" in line], float)',
        _NPY,
    ),
    Foreign("has a first line for Excel", re.compile(rb"sep=.\r?\n"), "tail -n +2 PATH > NEW.csv"),
    Foreign(
        "is data of Vowpal Wabbit",
        re.compile(rb"(?:\d+(?:,\d+)*[ \t]+)?\|.*"),
        "cut -d'|' -f1 PATH > NEW.txt",
        is_of_rows=True,
    ),
    Foreign(
        "has lines of an id and labels between bars",
        re.compile(rb"(?=[^|\s]*\d)[^|\s]+(?:\|[^|\s]*)+"),  # names of columns have no digit
        '{row[0]: dict.fromkeys(filter(None, row[1:]), 1) for row in csv.reader(open(PATH), delimiter="|")}',
        _JSON,
        is_of_rows=True,
    ),
    Foreign(
        "has lines of an id and the ranks of its candidates, as for MIND",
        re.compile(rb"\S+[ \t]+\[\d+(?:, ?\d+)*\]"),
        "{line.split()[0]: {str(i): -rank for i, rank in enumerate(json.loads(line.split(None, 1)[1]))} "
        "for line in open(PATH)}",
        _JSON,
        is_of_rows=True,
    ),
    Foreign(
        "has lines of an id and labels with a semicolon between them",
        re.compile(rb"[^;\s]+;\d+(?:,\d+)*"),
        "cut -d';' -f2 PATH > NEW.txt, if both files have their ids in one order",
        is_of_rows=True,
    ),
)


def refuse_foreign(head: Head, request: Request) -> None:
    """Refuse text in a format that is known from its first lines, unless its first line has names of labels."""
    if not head.rows:
        return
    if head.path.suffix in SIZES and all(row.text.isdigit() for row in head.rows):
        raise DataError(
            f"{head.path}: has the sizes of queries, as LightGBM and XGBoost keep them next to their data; expected "
            f"{'predictions' if request.are_scores else 'truth'} (hint: {RECIPE})"
        )
    if request.are_names(head.rows[0].words):
        return
    for foreign in FOREIGN:
        if foreign.matches(head):
            code = foreign.code.replace("COLUMN", "1" if request.are_scores else "0")
            hint = _convert(head.path, code, foreign.write)
            raise DataError(f"{head.path}: {foreign.what}; expected rows or a table (hint: {hint})")
    _refuse_cells(head)
    _refuse_scored_names(head, request)
    _refuse_graded_features(head)


def _convert(path: Path, code: str, write: str) -> str:
    """Return what to do with a file, for a hint; `code` and `write` are as in Foreign."""
    new = f"{path.name.partition('.')[0]}-new"
    if not write:
        return code.replace("PATH", shlex.quote(str(path))).replace("NEW", shlex.quote(new))
    code = code.replace("PATH", json.dumps(str(path)))
    if not names_flags():
        return f"pass {code}"
    line = re.sub(r"NEW(\.\w+)", lambda match: json.dumps(f"{new}{match[1]}"), write).replace("CODE", code)
    modules = ", ".join(sorted({*_MODULES.findall(line)}))
    return f"run python -c {shlex.quote(f'import {modules}; {line}')}"


def _refuse_cells(head: Head) -> None:
    """Refuse a table whose columns of lists became text, as pandas writes them as CSV."""
    header, *rows = (row.text for row in head.rows)
    cells = [_CELL.findall(row) for row in rows]
    if not rows or not all(cells) or header.startswith((b"[", b"{", b'"[')) or rows[0].startswith(b"{"):
        return
    from xmceval.files.tables.table import split_fields

    names, fields = split_fields(header, b","), split_fields(rows[0], b",")
    lists = [name for name, field in zip(names, fields, strict=False) if _CELL.fullmatch(field.encode())]
    if not lists:
        return
    columns = json.dumps(lists)
    read = f"pandas.read_csv(PATH, usecols={columns}, converters=dict.fromkeys({columns}, ast.literal_eval))"
    raise DataError(
        f"{head.path}:{head.rows[0].number}: is a table whose lists became text, found {quote(rows[0])}; CSV has none "
        f"(hint: write Parquet, or {_convert(head.path, read, _PARQUET)})"
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
    change, value = r"s/([^ ]+):([^ ]+)/__label__\1 \2/g", "a score"
    if not request.are_scores:
        change, value = r"s/:[^: ]*( |$)/\1/g", "a value"
    new = shlex.quote(f"{head.path.name.partition('.')[0]}-new.txt")
    labels = "" if request.names is not None else f", and pass {argument('labels', kind='FILE')}"
    raise DataError(
        f"{head.path}:{head.rows[0].number}: has names of labels with {value} after a colon, found "
        f"{quote(head.rows[0].text)} (hint: sed -E '{change}' {shlex.quote(str(head.path))} > {new}{labels})"
    )


def _refuse_graded_features(head: Head) -> None:
    """Refuse lines of a grade and features, as in SVMlight, LETOR and LightGBM files, which have no labels.

    A grade is recognised by a ``qid:``, a sign or a fraction; whole numbers are grades if there is no header
    and every line has a single one from 0 to 4.
    """
    rows = [row.words for row in head.rows]
    first = next((row for row in head.rows if len(row.words) > 1 and _GRADED.match(row.words[1])), None)
    if first is None:
        return
    have_grades = all(NUMBER.fullmatch(row[0]) and all(map(_FEATURE.match, row[1:])) for row in rows)
    if have_grades and all(row[0].isdigit() for row in rows):
        has_header = any(line.lstrip().startswith(b"#") for line in head.lines[:MOST_LINES])
        are_small = len(rows) > 1 and all(len(row) > 1 and row[0] in _GRADES for row in rows)
        have_grades = are_small and not has_header
    if have_grades or 2 * sum(len(row) > 1 and row[1].startswith(b"qid:") for row in rows) > len(rows):
        raise DataError(
            f"{head.path}:{first.number}: expected labels, found a grade before features, as in SVMlight and LETOR "
            f"files: {quote(first.text)} (hint: {RECIPE}; labels before features need a first line 'points features "
            "labels')"
        )


def refuse_columns(head: Head, n_labels: int | None) -> None:
    """Refuse lists of ids between tabs, which are columns, and lists that may be a matrix of two labels."""
    tabbed = next((row for row in head.rows if b"\t" in row.text), None)
    if tabbed is not None:
        raise DataError(
            f"{head.path}:{tabbed.number}: has whole numbers between tabs, which are columns, but no header line: "
            f"{quote(tabbed.text)} (hint: name the columns in a first line, or put blanks or commas between ids)"
        )
    rows = [row.text.replace(b",", b" ").split() for row in head.rows]
    if n_labels in {None, 2} and rows and all(len(row) == 2 and set(row) <= {b"0", b"1"} for row in rows):
        raise AmbiguousError(
            f"{head.path}:{head.rows[0].number}: its rows have two numbers each, all 0 or 1: a matrix of two labels, "
            f"or lists of ids? (hint: save a matrix with numpy.save; {argument('n_labels', kind='N')} above 2 says "
            "that they are ids)"
        )


def refuse_decimals(head: Head) -> None:
    """Refuse predictions with percent signs or decimal commas in scores, with one message per file."""
    if b"%" not in head.content and b"," not in head.content:
        return
    are_scored = all(not _ALL_SCORED.sub(b"", row.text) for row in head.rows)
    for row in head.rows:
        if row.text.startswith((b"{", b"[")):
            odd = _IN_JSON.search(row.text)
        elif are_scored:
            odd = _IN_SCORED.search(row.text)
        else:
            odd = _IN_PAIRS.search(row.text) or _IN_FASTTEXT.search(row.text)
        if odd:
            hint = explain_decimal(odd[1], is_json=odd.re is _IN_JSON)
            raise DataError(f"{head.path}:{row.number}: expected a number as the score, found {quote(odd[1])}{hint}")
