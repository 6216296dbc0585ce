"""Checks every JSON document that the program writes during the tests against its schema."""

import importlib
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import jsonschema
from xmceval.report.schemas.schematable import SCHEMAS

import xmceval

# Heads of files for the program itself, which their readers check.
OWN = ("xmceval/rows/", "xmceval/labels/", "xmceval/state/")
BY_NAME = {entry.name: entry for entry in SCHEMAS.values()}
seen = set()  # schemas of which a document was checked

PACKAGE = Path(xmceval.__file__).parent


def check(text):
    """Check a JSON document, if it is one of the program's."""
    document = json.loads(text)
    name = document["schema"]
    if name.startswith(OWN):
        return
    assert name in BY_NAME, f"{name} has no schema (hint: describe it in xmceval/report/schemas)"
    seen.add(name)
    error = next(validator(name).iter_errors(document), None)
    assert error is None, f"{name}{error.json_path[1:]}: {error.message[:200]} (hint: see xmceval/report/schemas)"


@cache
def validator(name):
    return jsonschema.Draft202012Validator(BY_NAME[name].make())


def find_writers():
    """Import the modules of the program that write JSON."""
    files = sorted(PACKAGE.rglob("*.py"))
    writers = [file for file in files if re.search(r"\bjson\.dump", file.read_text(encoding="utf-8"))]
    names = (".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in writers)
    return [importlib.import_module(name.removesuffix(".__init__")) for name in names]


def dumps(value, *args, **options):
    """Write JSON as ``json.dumps`` does, and check it."""
    text = json.dumps(value, *args, **options)
    if isinstance(value, dict) and str(value.get("schema", "")).startswith("xmceval"):
        check(text)
    return text


Json = SimpleNamespace(**{**vars(json), "dumps": dumps})  # in the program's place of ``json``
