"""Recipes: the examples below each heading of a guide, run as doctests."""

import doctest
import re
import warnings
from pathlib import Path

import xmceval

GUIDES = Path(xmceval.__file__).parent / "guide"
HEAD = re.compile(r"^## (.+)\n", re.MULTILINE)
FENCE = re.compile(r"^```.*\n", re.MULTILINE)


def find_recipes(guide):
    """Return the examples below each heading of a guide, by heading."""
    parts = HEAD.split(FENCE.sub("", (GUIDES / f"{guide}.md").read_text(encoding="utf-8")))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def find_imports(text):
    """Return the packages that a recipe imports."""
    return sorted({name.partition(".")[0] for name in re.findall(r"^>>> (?:import|from) (\S+)", text, re.MULTILINE)})


def run(name, text):
    """Run one recipe; return whether all of its output is as shown."""
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return doctest.DocTestRunner(verbose=False).run(test).failed == 0
