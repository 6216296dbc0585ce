"""Whole outputs that were read and approved: a folder `approved` next to the tests has a file for each.

After a change of what is shown, ``XMCEVAL_APPROVE=1 pytest -k approved`` writes them anew: read what changed before
it is committed.
"""

import os
from pathlib import Path

import xmceval


def check(folder, name, text):
    """Compare a text with the one that was approved, or approve it."""
    path = Path(folder).parent / "approved" / name
    if os.environ.get("XMCEVAL_APPROVE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def check_answers(file, name, answer):
    """Compare the indented lines below each other line of an approved file with the answers to it; # has none."""
    lines = (Path(file).parent / "approved" / name).read_text(encoding="utf-8").splitlines()
    asked = [line for line in lines if not line.startswith("  ")]
    answered = ([line] if line.startswith("#") else [line, *answer(line)] for line in asked)
    check(file, name, "".join("\n  ".join(lines) + "\n" for lines in answered))


def check_lines(file, name, names):
    """Compare what each line of an approved file, Python, returns or raises with the indented lines below it.

    A line that begins with # is what the lines below it claim.
    """

    def answer(line):
        if not line or line.startswith("#"):
            return []
        try:
            answered = eval(line, names)
        except (xmceval.XmcevalError, TypeError) as error:
            answered = f"{type(error).__name__}: {error}"
        except AssertionError as error:
            raise AssertionError(f"{line}: {error}") from error
        return str(answered).replace(str(Path.cwd()), ".").splitlines()

    check_answers(file, name, answer)


def evaluate(line, names):
    """Return what a line of Python gives, item by item of a list, or the error that it raises."""
    try:
        value = eval(line, names)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        return f"{type(error).__name__}: {error}".splitlines()
    return [*map(str, value)] if isinstance(value, (list, tuple)) else [str(value)]
