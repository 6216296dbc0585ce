"""Guides: their text, its parts and its code, run as doctests."""

import doctest
import re
from pathlib import Path

import xmceval

GUIDES = {path.stem: path.read_text("utf-8") for path in sorted((Path(xmceval.__file__).parent / "guide").glob("*.md"))}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def split_parts(text, mark="##"):
    """Return the text before the first heading, and by heading what is below it."""
    start, *parts = re.split(rf"^{mark} (.+)\n", text, flags=re.MULTILINE)
    return start, dict(zip(parts[::2], parts[1::2], strict=True))


def find_code(text, kind="python"):
    return "".join(code for found, code in BLOCK.findall(text) if found == kind)


def find_imports(code):
    """Return the packages that examples import."""
    return sorted({name.partition(".")[0] for name in re.findall(r"^>>> (?:import|from) (\S+)", code, re.MULTILINE)})


def run(code):
    """Run examples, all of whose output must be as shown; return their names."""
    test = doctest.DocTestParser().get_doctest(code, {}, "guide", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0
    return test.globs
