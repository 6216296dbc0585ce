"""Open a file with the reader of its format, which is detected from its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from xmceval.errors import AmbiguousError, DataError, Doubt, UsageError, argument, counted, listed
from xmceval.files.formats import FORMATS, SCORES, TRUTH
from xmceval.files.io import signatures
from xmceval.files.io.chunks import NUMBER, count_lines, without_comment
from xmceval.files.io.paths import MAX_LINE, is_pair, to_path
from xmceval.files.io.streams import is_copied, quote, read_first_bytes
from xmceval.files.opened import Head, Opened, Request, Role
from xmceval.files.ranking import queries
from xmceval.files.ranking.dicts import names_queries, read_records
from xmceval.files.ranking.queries import LineColumns, QuerySource, line_file
from xmceval.files.sidecars.values import Names, is_id, names_beside_ids
from xmceval.files.text.foreign import doubt_grades, refuse_columns, refuse_decimals, refuse_foreign
from xmceval.files.text.source import BLANK, FASTTEXT_PREFIX, GRAMMARS, NO_PREDICTION, TextLayout, text_source

if TYPE_CHECKING:
    from xmceval.files.tables.table import Table

Reading: TypeAlias = Callable[[Head, Request], "Opened | None"]  # opens a file that has evidence of its format
ROLES: tuple[Role, Role] = ("truth", "scores")
LONGEST_LINE = 1 << 12  # bytes of a line to search for a tag
_DECLARED = {2: "pairs", 3: "labels"}  # the rows that a header declares, by its count of numbers
LINES_LOOKED_AT = 1000  # lines to search for marks of a format
WORDS_COMPARED = 1 << 16  # words to look up in the label names, to distinguish names from ids
_TARGETS = re.compile(rb'"target_ind"\s*:')
_INTEGER = re.compile(rb"[-+]?\d+")
_GRADE = re.compile(rb"[-+]?\d+(\.\d*)?")  # fractions are refused later, unless they are declared
_FASTTEXT_LABEL = re.compile(rb"(?:\A|[ \t])__label__")
_FASTTEXT_LIST = re.compile(rb"__label__\S*(?:[ \t]+__label__\S*)*\Z")
_JSON_ROW = re.compile(rb'"row"\s*:\s*(\d+)')
_JSON_IDS = re.compile(rb'"(?:label"\s*:|(?:target_ind|data)"\s*:\s*\[[\s\[]*)\s*\d')
_FEATURE = re.compile(rb"\d+:")
_USUAL_START = re.compile(rb"(\d{1,18} +\d{1,18})[ \t]*\r?\n(?=\s*\d+:)")  # a header above a row of idx:value
_NO_ID_LIST = re.compile(rb"[^\d ,]")
_NAME = re.compile(rb"[^\W\d][^|\[\];@<>]*")  # a word that may be the name of a label
_TRIPLE = re.compile(rb"(?:(?>\S+)\s|\S[^\s,]*,)\S+[\s,]-?[0-9.]+")
_LABEL_AND_SCORE = rb"\d+[ \t]+[-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|(?i:inf|infinity|nan))"


def open_truth(path: str | Path, *, names: Names | None = None, max_line: int = MAX_LINE) -> Opened:
    """Open a file of truth or of training labels."""
    return open_source(to_path(path), Request("truth", names, max_line=max_line))


def open_source(path: Path | QuerySource | Table, request: Request) -> Opened:
    """Open a file, or records or a table in memory; refuse numeric labels if the truth has text labels."""
    if isinstance(path, QuerySource):
        from xmceval.files.ranking.runs import open_by_query

        opened = open_by_query(path, request)
    elif isinstance(path, Path):
        opened = _open(path, request)
    else:
        from xmceval.files.tables.open import open_table

        opened = open_table(path, request)
    truth = request.by_row
    if truth is not None and truth.labels is not None and (opened.by_row is None or opened.by_row.labels is None):
        raise names_beside_ids(truth.table.name, str(path))
    return opened


def check_kind(kind: str | None) -> None:
    """Refuse an unknown kind of file."""
    if kind not in {None, *ROLES}:
        raise UsageError(f"kind must be one of {listed(ROLES)}, got {kind!r}")


def open_either(
    path: str | Path,
    kind: str | None,
    *,
    names: Names | None,
    max_line: int,
    n_labels: int | None,
    is_alone: bool = False,
) -> Opened:
    """Open a file as `kind`, by default as its content decides; with `is_alone`, only to describe it."""
    check_kind(kind)
    path = to_path(path)
    truth = Request("truth", names, n_labels=n_labels, max_line=max_line, is_alone=is_alone)
    scores = replace(truth, role="scores")
    if kind is None:
        with suppress(DataError):  # a pair of npy files named by its stem, or an error that opening reports
            content = Head.of(path).text.lstrip()
            if content.startswith(b"{") and _TARGETS.search(content):  # truth, even if some lines are wrong
                kind = "truth"
    if kind == "truth":
        return _open(path, truth)
    try:
        return _open(path, scores)
    except DataError as error:
        if kind == "scores" or isinstance(error, AmbiguousError):
            raise
        try:
            return _open(path, truth)
        except DataError:
            raise error from None


def _open(path: Path, request: Request) -> Opened:
    """Open a file, or a pipe that was copied before, according to a request."""
    if request.are_scores and is_pair(path):
        from xmceval.files.arrays.pairs import open_pair

        return open_pair(path, request)
    head = Head.of(path)
    if not head.content:
        raise DataError(f"{path}: the file is empty")
    for signature, (what, hint) in signatures.REFUSED.items():
        if head.content.startswith(signature, signatures.OFFSETS.get(signature, 0)):
            raise DataError(f"{path}: is {what}; expected UTF-8 text, npz or npy (hint: {hint})")
    opened = _open_signed(head, request) or _open_text(head, request)
    if is_copied(path):
        return replace(opened, is_copied=True)
    return opened


def _open_signed(head: Head, request: Request) -> Opened | None:
    """Open a file that begins with the signature of its format."""
    if head.content.startswith(signatures.NPY):
        from xmceval.files.arrays.pairs import open_npy

        return open_npy(head.path, request)
    if head.content.startswith(signatures.ZIP):
        from xmceval.files.arrays.npz import open_npz

        return open_npz(head.path, request)
    for signature, name in signatures.TABLES.items():
        if head.content.startswith(signature):
            from xmceval.files.tables.open import open_table
            from xmceval.files.tables.table import file_table

            return open_table(file_table(head.path, name), request)
    return None


def _open_text(head: Head, request: Request) -> Opened:
    """Open text: the usual rows of idx:value, or the first format with evidence, or else rows of some kind."""
    usual = _USUAL_START.match(head.text)
    if usual is not None and request.names is None:
        n_rows, n_labels = map(int, usual[1].split())
        layout = TextLayout("pairs", head.start + usual.end(), 1, n_rows, n_labels, usual[1].decode())
        return _opened(head, request, layout)
    for open_if_evident in READINGS.values():
        opened = open_if_evident(head, request)
        if opened is not None:
            return opened
    refuse_foreign(head, request)
    if _may_have_header(head):
        from xmceval.files.tables.open import refuse_header

        refuse_header(head, request)
    return _open_rows(head, request)


def _open_run(head: Head, request: Request) -> Opened | None:
    """Open a TREC run if most of the first lines match; other lines are reported later."""
    rows = [row.fields for row in head.rows]
    n_of_run = 0
    for row in rows:
        if len(row) >= 5 and row[1].upper() == b"Q0":
            n_of_run += 1
        elif len(row) >= 6 and (row[1] == b"0" or request.judgments is not None):
            # without Q0, a tag or a score distinguishes it from a list of ids
            is_ranked = _INTEGER.fullmatch(row[3]) and NUMBER.fullmatch(row[4])
            n_of_run += bool(is_ranked) and not all(map(_INTEGER.fullmatch, row[:6]))
    if 2 * n_of_run <= len(rows):
        return None
    columns = queries.UNTAGGED
    if any(len(row) > 5 for row in rows):
        columns = queries.RUN
    return _open_lines(head, request, columns)


def _open_beir(head: Head, request: Request) -> Opened | None:
    number, header = head.first_line
    names = [field.strip().lower() for field in header.split(b"\t")]
    if names != queries.BEIR.names.encode().split():
        return None
    return _open_lines(head, request, queries.BEIR, number)


def _open_qrels(head: Head, request: Request) -> Opened | None:
    """Open qrels if most lines can be nothing else, or, for truth, if all lines match."""
    rows = [row.fields for row in head.rows]
    grade = _GRADE
    if request.are_scores:
        grade = _INTEGER
    graded = [row for row in rows if len(row) == 4 and grade.fullmatch(row[3])]
    usual = [row for row in graded if row[1].upper() in {b"0", b"Q0"}]
    is_usual = not request.are_scores and len(usual) == len(rows) > 1
    if not is_usual:
        certain = [row for row in usual if not (row[0].isdigit() and row[2].isdigit())]
        certain += [
            row for row in graded if row[1] != b"0" and NUMBER.fullmatch(row[1]) and not NUMBER.fullmatch(row[2])
        ]
        if 2 * len(certain) <= len(rows) or request.are_names(rows[0]):
            return None
    return _open_lines(head, request, queries.QRELS)


def _open_json_by_query(head: Head, request: Request) -> Opened | None:
    """Open JSON with queries as keys of one object, or with a query in each line."""
    if not head.text.lstrip().startswith(b"{"):
        return None
    place = names_queries(head.text, head.lines)
    if place is None:
        return None
    from xmceval.files.ranking.runs import open_by_query

    noun = "grade"
    if request.are_scores:
        noun = "score"
    return open_by_query(read_records(head.path, place, noun), request)


def _may_have_header(head: Head) -> bool:
    return bool(head.rows) and not head.rows[0].text[:1].isdigit()  # a header does not begin with a number


def _open_csv(head: Head, request: Request) -> Opened | None:
    """Open a table as text, if the names in its header are known."""
    if not _may_have_header(head):
        return None
    from xmceval.files.tables.open import open_csv

    return open_csv(head, request)


def _open_short_run(head: Head, request: Request) -> Opened | None:
    """Open headerless lines of query, document and rank or score, which only judgments show to be a run."""
    if request.judgments is None or not request.are_scores:
        return None
    rows = [row.fields for row in head.rows]
    widths = {len(row) for row in rows}
    if widths not in ({3}, {4}) or not all(NUMBER.fullmatch(row[-1]) for row in rows):
        return None
    if widths == {4}:
        if _are_ranks(rows):
            return _open_lines(head, request, queries.RANKED_AND_SCORED)
        return None
    if not all(_INTEGER.fullmatch(row[2]) for row in rows):
        return _open_lines(head, request, queries.SCORED)
    if _are_ranks(rows):
        return _open_lines(head, request, queries.RANKED)
    # Ranks are 1, 2, ... for each query, as in runs of MS MARCO; other whole numbers could also be scores.
    raise DataError(
        f"{head.path}: the third column may have ranks or scores, as it has whole numbers that are not 1, 2, ... for "
        "each query (hint: write a first line 'query_id document_id rank' or 'query_id document_id score' between tabs)"
    )


def _are_ranks(rows: Sequence[list[bytes]]) -> bool:
    """Return whether the third words of each query's lines are 1, 2, ... or 0, 1, ... in any order."""
    if not all(row[2].isdigit() for row in rows):
        return False
    ranks: dict[bytes, list[int]] = {}
    for row in rows:
        ranks.setdefault(row[0], []).append(int(row[2]))
    first = min(int(row[2]) for row in rows)
    are_next = (sorted(of_query) == list(range(first, first + len(of_query))) for of_query in ranks.values())
    return first in {0, 1} and all(are_next)


def _open_lines(head: Head, request: Request, columns: LineColumns, n_header_lines: int = 0) -> Opened:
    from xmceval.files.ranking.runs import open_by_query

    return open_by_query(line_file(head.path, columns, n_header_lines), request)


def find_tag(path: Path) -> str | None:
    """Return the tag in the first line of a run; None if there is no tag, or it cannot be read."""
    try:
        words = read_first_bytes(path, LONGEST_LINE).split(b"\n", 1)[0].split()
    except (DataError, OSError):
        return None
    if len(words) != 6 or words[1].upper() != b"Q0":
        return None
    return words[5].decode(errors="replace")


def _open_json_lines(head: Head, request: Request) -> Opened | None:
    """Open JSON lines."""
    lines = head.lines[:LINES_LOOKED_AT]
    first = next((row for line in lines if (row := line.strip())), b"")
    if not first.startswith((b"{", b"[")):
        return None
    if len(set(_JSON_ROW.findall(first))) > 1:  # records of a table, not the labels of one row
        raise DataError(f'{head.path}: its first line has objects of several "row"; expected one row per line')
    are_ids = any(map(_JSON_IDS.search, lines))
    opened = _open_rows(head, request, TextLayout("json", head.start, names=request.names, are_ids=are_ids))
    from xmceval.files.text.jsonlines import keys_beside, read_key  # not loaded for other text

    return replace(opened, columns={key: partial(read_key, head.path, key) for key in keys_beside(first)})


def _open_fasttext(head: Head, request: Request, *, are_lists: bool) -> Opened | None:
    rows = [row for line in head.lines[:LINES_LOOKED_AT] if (row := line.strip())]
    if not any(FASTTEXT_PREFIX in row and _FASTTEXT_LABEL.search(row) for row in rows):
        return None
    kind = "fasttext"
    if are_lists:
        if not all(row == NO_PREDICTION or _FASTTEXT_LIST.match(row) for row in rows):
            return None
        kind = "fasttext-lists"
    return _open_rows(head, request, TextLayout(kind, head.start, names=request.names))


def _open_rows(head: Head, request: Request, layout: TextLayout | None = None) -> Opened:
    """Open rows of labels in a layout that was recognised by a mark, or else is inferred."""
    if b"\0" in head.lines[0]:
        raise DataError(f"{head.path}: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy")
    if b"\r" in head.lines[0].rstrip():
        raise DataError(f"{head.path}: its lines end with carriage returns only; expected newlines")
    if head.is_whole and not head.text.strip():
        raise DataError(f"{head.path}: {BLANK}")
    filled = (line.lstrip() for line in head.lines if line.strip())
    if head.is_whole and request.names is None and all(line.startswith(b"%") for line in filled):
        raise DataError(f"{head.path}: has only comments, which begin with %; expected rows of idx:value")
    if layout is None:
        if request.are_scores:
            refuse_decimals(head)
        layout = _find_rows(head, request.names)
    if layout.kind == "ids":
        n_labels = layout.n_labels
        if n_labels is None:
            n_labels = request.n_labels
        refuse_columns(head, n_labels)
    if layout.kind == "labels" and not layout.header and request.n_labels is None:
        layout = replace(layout, warning=layout.warning or doubt_grades(head))
    return _opened(head, request, layout)


def _opened(head: Head, request: Request, layout: TextLayout) -> Opened:
    """Return rows of labels in a known layout."""
    form = FORMATS[layout.kind]
    facts = ["text", form.title, "no header"]
    if layout.header:
        facts[2] = f"header {layout.header!r}"
    labels_by = "number"
    if layout.names is not None and not layout.are_ids:
        facts.append(f"label names from {layout.names.source}")
        labels_by = "name"
    wanted = TRUTH
    example = "idx:value"
    if request.are_scores:
        wanted = SCORES
        example = "idx:score"
    if wanted not in form.holds:
        problem = f"{head.path}: looks like {form.holds[0]} ({', '.join(facts)})"
        raise DataError(f"{problem}; expected {wanted}, such as rows of {example}")
    return Opened(
        text_source(head.path, layout, are_scores=request.are_scores, max_line=request.max_line),
        form,
        tuple(facts),
        request.role,
        is_ranked=GRAMMARS[layout.kind].is_ranked,
        has_grades=layout.kind == "json",  # in "target_rel"
        labels_by=labels_by,
    )


def _find_rows(head: Head, names: Names | None) -> TextLayout:
    """Infer the layout of any other text from its first megabyte: from a header, and the rows below it."""
    lines = head.lines
    start = head.start
    layout = None
    for number, line in enumerate(lines):
        after = start + len(line) + 1
        layout = _read_header(head, number, after)
        if layout is not None or not line.lstrip().startswith(b"#"):
            break
        start = after
    if layout is None:
        kind = _find_kind(lines[number:])
        if not kind:
            kind = "names"  # or pairs, if none are known
        layout = TextLayout(kind, start, number)
    layout = _decide_names(head.path, layout, lines[layout.header_lines :], names)
    if layout.names is not None and not layout.header:  # names may begin with a hash, so there are no comments
        return replace(layout, start=head.start, header_lines=0)
    return layout


def _read_header(head: Head, number: int, after: int) -> TextLayout | None:
    """Return the layout of the rows from byte `after` on if the line above is a header, maybe in a comment."""
    line = head.lines[number].strip()
    rows = head.lines[number + 1 :]
    text = line.lstrip(b"# \t")
    mark = line[: len(line) - len(text)]
    text = without_comment(text).rstrip()  # a comment may follow the header
    numbers = _whole_numbers(text)
    declared = _DECLARED.get(len(numbers))
    if declared is None or (declared == "labels" and line.startswith(b"#")) or (b"," in text and not mark):
        return None  # also a list of ids between commas: headers have blanks
    header = mark + text
    if not all(is_id(word.decode()) for word in numbers):
        raise DataError(f"{head.path}:{number + 1}: a number of the header {quote(header)} is above 2^63 - 2")
    n_rows = int(numbers[0])
    n_labels = int(numbers[-1])
    layout = TextLayout(declared, after, number + 1, n_rows, n_labels, header.decode())
    kind = _find_kind(rows)
    if kind in {"", "pairs", "labels"}:
        if declared == "pairs":
            return layout
        if any(b":" in row for row in rows):
            firsts = (without_comment(row).split(None, 1)[:1] for row in rows)
            if any(b":" not in word for words in firsts for word in words):
                return layout
            raise DataError(
                f"{head.path}:{number + 1}: the header {layout.header!r} declares points, features and labels, but "
                "no row begins with labels; expected the header 'rows cols' before rows of idx:value"
            )
    else:
        if kind == "ids":  # a row if labels reach the number that it would declare as a header
            words = _words(rows)
            if any(word.isdigit() and (len(word) >= 20 or int(word) >= n_labels) for word in words):
                return None
        layout = replace(layout, kind=kind)
    # A header above lists, or three numbers that could be three labels, must declare the number of rows below.
    if count_lines(head.path) - layout.header_lines == n_rows:
        return layout
    return None


def _words(rows: Iterable[bytes]) -> list[bytes]:
    """Return the words of rows between blanks or commas, without comments."""
    return [word for row in rows for word in without_comment(row).replace(b",", b" ").split()]


def _whole_numbers(text: bytes) -> list[bytes]:
    """Return the whole numbers in a line; none if it has anything else."""
    words = _words([text])
    if all(word.isdigit() for word in words) and not text.startswith(b","):
        return words
    return []


def _find_kind(lines: Iterable[bytes]) -> str:
    """Return the kind of the first row that decides, or an empty string if there is no row.

    Features behind a blank may be a row without labels, so that they do not decide.
    """
    first = ""
    for line in lines:
        if first and b":" not in line and not (first == "ids" and _NO_ID_LIST.search(line)):
            continue
        row = without_comment(line).strip()
        if not row:
            continue
        kind = next(kind for kind, pattern in KINDS if pattern.match(row))
        decides = kind in {"pairs", "labels"} or (kind == "scored" and first in {"", "ids"})
        if decides and not (kind == "pairs" and line[:1].isspace()):
            return kind
        first = first or kind
    if first == "texts":
        return "labels"
    return first


def _decide_names(path: Path, layout: TextLayout, lines: Sequence[bytes], names: Names | None) -> TextLayout:
    """Decide whether words are label ids or names; check rows that can only have ids."""
    if layout.kind == "names" and names is None:
        layout = replace(layout, kind="pairs")
    elif layout.kind == "labels" and names is not None and not layout.header:
        # names between tabs; digits before a tab could also be ids before text
        tabbed = [[field.strip() for field in row.split(b"\t")] for row in lines[:1000] if b"\t" in row.strip()]
        if 2 * sum(map(names.has_all, tabbed)) > len(tabbed):
            layout = replace(layout, kind="names")
    if layout.kind in {"pairs", "labels"}:
        return replace(layout, warning=_check_rows(path, layout, lines))
    if layout.kind == "scored" or names is None:
        return layout
    rows = [line for line in lines if line.strip()]
    if layout.kind == "names":
        words = [word for row in rows for word in row.split()][:WORDS_COMPARED]
        if not names.has_all(words):
            fields = [field.strip() for row in rows for field in row.split(b"\t")][:WORDS_COMPARED]
            are_fields = names.has_all(fields)
            if names.others is not None:  # then neither may be names alone
                are_fields = bool((names.find(fields) >= 0).mean() > (names.find(words) >= 0).mean())
            if any(b"\t" in row for row in rows) or are_fields:
                return replace(layout, kind="tabbed-names", names=names)
        return replace(layout, names=names)
    # Digits are names if any of them is a known name; unknown names are then reported.
    words = _words(rows)[:WORDS_COMPARED]
    labels = {word: label for word, label in zip(words, names.find(words).tolist(), strict=True) if label >= 0}
    if not labels:
        return layout
    warning = ""
    if any(label != int(word) for word, label in labels.items() if word.isdigit() and len(word) < 19):
        warning = f"{path}: its words were read as names in {names.source}, not as label ids"
    kind = "names"
    if any(b"," in without_comment(row) for row in rows):
        kind = "comma-names"
    return replace(layout, kind=kind, names=names, warning=warning)


def _check_rows(path: Path, layout: TextLayout, lines: Sequence[bytes]) -> str:
    """Refuse text whose first row is not idx:value, or return a warning if only the first row has a label.

    Then the newline after the header may be missing; a row that really has no labels begins with a blank.
    """
    numbered = enumerate(map(without_comment, lines), layout.header_lines + 1)
    if layout.kind == "labels":
        if layout.header:
            return ""
        (number, row), *others = ((number, row) for number, row in numbered if row.strip())
        is_alone = bool(others) and row.split(None, 1)[0].isdigit() and all(_FEATURE.match(row) for _, row in others)
        if not is_alone:
            return ""
        return Doubt(
            f"{path}:{number}: only this one of the first {counted(len(others) + 1, 'row')} begins with a label, "
            f"{quote(row)}; is the newline after the header missing?"
        )
    number, row = next(((number, row.strip()) for number, row in numbered if row.strip()), (0, b""))
    if not row:
        return ""
    if not layout.header and _whole_numbers(row):
        raise DataError(f"{path}:{number}: expected a header 'rows cols', or a row of idx:value, found {quote(row)}")
    if not any(b":" in line for line in lines):
        ways = list[str]()
        if any(map(_NAME.fullmatch, row.split())):
            ways.append(f"pass {argument('labels', kind='FILE')} if these are label names")
        if _TRIPLE.fullmatch(row):
            ways.append("for query, document and value, name the columns, as in 'query_id,doc_id,score'")
        elif row.count(b"\t") == 1:
            ways.append("for query and document, name the columns, with a tab between 'query_id' and 'doc_id'")
        if all(map(NUMBER.fullmatch, row.split())):
            ways.append("save a matrix with numpy.save")
        hint = ""
        if ways:
            hint = f" (hint: {'; '.join(ways)})"
        raise DataError(
            f"{path}:{number}: expected rows of idx:value such as '12:0.5 90:0.25', found {quote(row)}{hint}"
        )
    return ""


# The first format with evidence in the file is taken; FORMATS describes the evidence in words. Any other text
# has rows, whose kind is found by the table KINDS.
READINGS: Mapping[str, Reading] = MappingProxyType(
    {
        "run": _open_run,
        "beir": _open_beir,
        "qrels": _open_qrels,
        "json-queries": _open_json_by_query,
        "csv": _open_csv,
        "short-run": _open_short_run,
        "json": _open_json_lines,
        "fasttext-lists": partial(_open_fasttext, are_lists=True),
        "fasttext": partial(_open_fasttext, are_lists=False),
    }
)

# The kinds of rows, with patterns of their beginning: the first pattern that matches is the kind of a row. The
# first row gives the kind of the file, except that pairs and labels, and scored rows after ids, decide wherever
# they occur.
KINDS = (
    ("pairs", _FEATURE),
    # Ids and commas, with blanks around commas; each blank can match in only one way, so that time is linear.
    ("labels", re.compile(rb"[\d,]+(?:(?:(?<=,)[ \t]+|(?<!,)[ \t]+(?=,))[\d,]+)*[ \t]+\d+:")),
    # Pairs of whole numbers separated by tabs, with a blank inside: labels with scores, not labels.
    ("scored", re.compile(rb"\d+ +\d+(?: *\t\d+ +\d+)+\Z")),
    ("ids", re.compile(rb"\d+(?:[ \t]*,[ \t]*\d+|[ \t]+\d+)*\Z")),
    ("scored", re.compile(rb"%b(?: *\t[ \t]*%b)*\Z" % (_LABEL_AND_SCORE, _LABEL_AND_SCORE))),
    ("texts", re.compile(rb"\d+(?:,\d+)*\t")),  # label ids before text: the kind is labels
    ("names", re.compile(rb"")),
)
