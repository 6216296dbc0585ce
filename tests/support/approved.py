"""Whole outputs, as somebody read and approved them: a folder `approved` beside the tests has a file for each.

After a change of what is shown, ``XMCEVAL_APPROVE=1 pytest -k approved`` writes them anew: read what changed before
it is committed.
"""

import os
from pathlib import Path


def check(folder, name, text):
    """Compare a text with the one that was approved, or approve it."""
    path = Path(folder).parent / "approved" / name
    if os.environ.get("XMCEVAL_APPROVE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
