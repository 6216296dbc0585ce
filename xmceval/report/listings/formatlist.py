"""The formats of files as a list: as text, one format or tool in detail, as Markdown, as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from xmceval.errors import listed
from xmceval.files.formats.format import SCORES, TRUTH, Format, Sample
from xmceval.files.formats.formattable import FORMATS, find_formats
from xmceval.report.fields import field as fields
from xmceval.report.forms.columns import align_terms, wrap_text
from xmceval.report.listings.namedlist import NamedList, write_entry
from xmceval.version import FORMATS_SCHEMA

GROUPS: Mapping[tuple[str, ...], str] = MappingProxyType(
    {(TRUTH, SCORES): "truth or predictions", (TRUTH,): "truth only", (SCORES,): "predictions only"}
)
OTHERS = "for an option or a command of its own"

FOOTER = (
    ("compressed", "gz, bz2 and xz, and zst with the extra xmceval[zstd]: recognized by content, in any format"),
    ("pipes", "- is standard input; <(command) is read too"),
    ("labels", "column numbers from 0 on, or with --labels FILE names"),
    ("refused", "pickles, which run code, and HDF5, with a hint what to save instead"),
    ("your file", "xmceval inspect FILE"),
    ("more", "xmceval formats FORMAT, or xmceval formats TOOL"),
)


Found = tuple[str, dict[str, Format]]  # the name of a format or of a tool, and the formats that it means


def write_table(width: int) -> str:
    """Write all formats as a table by what they are read as; texts are wrapped at a width."""
    indent = max(map(len, FORMATS)) + 4
    lines: list[str] = []
    for group in (*GROUPS.values(), OTHERS):
        own = {name: each for name, each in FORMATS.items() if GROUPS.get(each.holds, OTHERS) == group}
        lines += [group] if own else []
        for name, each in own.items():
            texts = (summarize(each), f"written by {listed(each.tools)}" if each.tools else "")
            first, *rest = [line for text in texts if text for line in wrap_text(text, width - indent)]
            lines.append(f"  {name}".ljust(indent) + first)
            lines.extend(" " * indent + line for line in rest)
        lines += [""] if own else []
    return "\n".join([*lines, *align_terms(FOOTER, width)]) + "\n"


def write_found(entry: Found, width: int) -> str:
    """Write one format in detail, with its examples; or which files of a tool can be passed, and in which formats."""
    name, formats = entry
    if name not in formats:
        terms = [(each, known.tools[name]) for each, known in formats.items()]
        return write_entry(name, terms, width, wrap_text(f"one format: xmceval formats {terms[0][0]}", width))
    known = formats[name]
    return write_entry(f"{name}: {known.summary}", _facts(known), width, _list_samples(known))


def write_markdown(entries: Sequence[Found]) -> str:
    """Write formats as a Markdown table."""
    head = ("format", "read as", "what it is", "example", "written by")
    rows: list[Sequence[str]] = [
        (f"`{name}`", _roles(each), each.summary, f"`{first_line(each.samples[0])}`", listed(each.tools))
        for name, each in _choose_formats(entries).items()
    ]
    rows = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def write_json(entries: Sequence[Found]) -> str:
    """Write formats as JSON."""
    return FORMAT_LIST.write([vars(each) for each in _choose_formats(entries).values()])


def _choose_formats(entries: Sequence[Found]) -> Mapping[str, Format]:
    """Return the formats that were asked for, or all."""
    return {name: known for _, formats in entries for name, known in formats.items()} or FORMATS


def _roles(known: Format) -> str:
    return ", ".join(known.holds)


def summarize(known: Format) -> str:
    """Say what a format is, and what it is passed as if that is neither truth nor predictions."""
    return known.summary if known.holds in GROUPS else f"{_roles(known)}: {known.summary}"


def _facts(known: Format) -> Iterator[tuple[str, str]]:
    """Yield the facts on a format, each with its term."""
    yield "read as", _roles(known)
    if known.title:
        yield "reported as", known.title
    for tool, files in known.tools.items():
        yield "written by", f"{tool}: {files}"
    if known.recognized:
        yield "recognized", known.recognized
    yield "checked", known.checked
    for form in known.converted:
        yield "written with", f"xmceval convert --to {form}"


def _list_samples(known: Format) -> Iterator[str]:
    """List the examples, with their lines as they are."""
    for sample in known.samples:
        beside = f"beside truth of the format {sample.beside}" if sample.beside else ""
        yield ""
        yield f"  {sample.file}{': ' if sample.about or beside else ''}{sample.about or beside}"
        yield from (f"    {_show(line)}".rstrip() for line in sample.content.splitlines())


def _show(line: str) -> str:
    return line.replace("\t", "<TAB>")


def first_line(sample: Sample) -> str:
    """Return a line that shows how rows look: not the first one, which may be a header."""
    first, *rest = sample.content.splitlines()
    line = rest[-1] if sample.is_python else max(rest or [first], key=len)
    return _show(line).strip()


SAMPLE = fields.record(
    file=fields.PLAIN,
    content=fields.PLAIN,
    about=fields.PLAIN,
    is_python=fields.PLAIN,
    beside=fields.UNLESS_EMPTY,
)

FORMAT = fields.record(
    name=fields.PLAIN,
    title=fields.UNLESS_EMPTY,
    holds=fields.many(fields.PLAIN),
    summary=fields.PLAIN,
    samples=fields.many(SAMPLE),
    tools=fields.by(fields.PLAIN),
    recognized=fields.PLAIN,
    checked=fields.PLAIN,
    converted=fields.many(fields.PLAIN),
)

FORMAT_LIST = fields.document(FORMATS_SCHEMA, {"formats": fields.many(FORMAT).of(fields.itself)}, is_ascii=False)


def _find_formats(names: Sequence[str]) -> list[Found]:
    return [find_formats(name) for name in names]


LIST = NamedList(_find_formats, write_table, write_found, {"json": write_json, "md": write_markdown})
