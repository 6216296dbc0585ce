"""Checks every JSON document that the program writes during the tests against its schema."""

import json
from functools import cache

import jsonschema

from xmceval.report.schemas.table import SCHEMAS

# Heads of files for the program itself, which their readers check.
OWN = ("xmceval-rows/", "xmceval-labels/", "xmceval/state/")
BY_NAME = {entry.name: entry for entry in SCHEMAS.values()}
seen = set()  # schemas of which a document was checked

write = json.dumps


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


def dumps(value, *args, **options):
    """Write JSON as ``json.dumps`` does, and check it."""
    text = write(value, *args, **options)
    if isinstance(value, dict) and str(value.get("schema", "")).startswith("xmceval"):
        check(text)
    return text
