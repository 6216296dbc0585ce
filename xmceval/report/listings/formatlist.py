"""The formats of files as text: the list, one format or tool in detail, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

from xmceval.errors import listed
from xmceval.files.formats.format import SCORES, TRUTH, Known, Sample
from xmceval.files.formats.formattable import KNOWN
from xmceval.report.forms.columns import align_terms, wrap_text
from xmceval.report.forms.layout import WIDTH
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


def formats_table(formats: Mapping[str, Known] = KNOWN, width: int = WIDTH) -> str:
    """Write formats as a table by what they are read as; texts are wrapped at a width."""
    indent = max(map(len, formats)) + 4
    lines: list[str] = []
    for group in (*GROUPS.values(), OTHERS):
        own = {name: each for name, each in formats.items() if GROUPS.get(each.holds, OTHERS) == group}
        lines += [group] if own else []
        for name, each in own.items():
            texts = (_summary(each), f"written by {listed(each.tools)}" if each.tools else "")
            first, *rest = [line for text in texts if text for line in wrap_text(text, width - indent)]
            lines.append(f"  {name}".ljust(indent) + first)
            lines.extend(" " * indent + line for line in rest)
        lines += [""] if own else []
    return "\n".join([*lines, *align_terms(FOOTER, width)]) + "\n"


def format_text(name: str, known: Known, width: int = WIDTH) -> str:
    """Write one format in detail, with its examples; texts are wrapped at a width."""
    facts = [f"  {line}" for line in align_terms(list(_facts(known)), width - 2)]
    return "\n".join([*wrap_text(f"{name}: {known.summary}", width), *facts, *_list_samples(known)]) + "\n"


def tool_text(tool: str, formats: Mapping[str, Known], width: int = WIDTH) -> str:
    """Write which files of a tool can be passed, and in which formats they are."""
    terms = [(name, each.tools[tool]) for name, each in formats.items()]
    own = (f"  {line}" for line in align_terms(terms, width - 2))
    return "\n".join([tool, *own, *wrap_text(f"one format: xmceval formats {terms[0][0]}", width)]) + "\n"


def formats_markdown(formats: Mapping[str, Known] = KNOWN) -> str:
    """Write formats as a Markdown table."""
    head = ("format", "read as", "what it is", "example", "written by")
    rows: list[Sequence[str]] = [
        (f"`{name}`", _roles(each), each.summary, _first_line(each.samples[0]), listed(each.tools))
        for name, each in formats.items()
    ]
    rows = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def formats_json(formats: Mapping[str, Known] = KNOWN) -> str:
    """Write formats as JSON."""
    document = {"schema": FORMATS_SCHEMA, "formats": [_make_document(name, each) for name, each in formats.items()]}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _roles(known: Known) -> str:
    return ", ".join(known.holds)


def _summary(known: Known) -> str:
    return known.summary if known.holds in GROUPS else f"{_roles(known)}: {known.summary}"


def _facts(known: Known) -> Iterator[tuple[str, str]]:
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


def _list_samples(known: Known) -> Iterator[str]:
    """List the examples, with their lines as they are."""
    for sample in known.samples:
        beside = f"beside truth of the format {sample.beside}" if sample.beside else ""
        yield ""
        yield f"  {sample.file}{': ' if sample.about or beside else ''}{sample.about or beside}"
        yield from (f"    {_show(line)}".rstrip() for line in sample.content.splitlines())


def _show(line: str) -> str:
    return line.replace("\t", "<TAB>")


def _first_line(sample: Sample) -> str:
    """Return a line that shows how rows look: not the first one, which may be a header."""
    first, *rest = sample.content.splitlines()
    line = rest[-1] if sample.is_python else max(rest or [first], key=len)
    return f"`{_show(line).strip()}`"


def _make_document(name: str, known: Known) -> dict[str, Any]:
    samples = [asdict(each) | {"beside": each.beside or None} for each in known.samples]
    return {"name": name, **asdict(known), "title": known.title or None, "samples": samples}
