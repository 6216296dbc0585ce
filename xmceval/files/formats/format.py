"""Format: a format of files, as data: what readers report it as, and what users ask about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TRUTH, SCORES = "truth", "predictions"


@dataclass(frozen=True)
class Sample:
    """An example of a file.

    Attributes
    ----------
    file : str
        How it may be called.
    content : str
        Its lines, or Python that writes it.
    about : str
        What it is an example of, where there are several kinds.
    is_python : bool
        Whether the content is Python.
    beside : str
        The name of the format of the truth that such predictions need.
    """

    file: str
    content: str
    about: str = ""
    is_python: bool = False
    beside: str = ""


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name : str
        How users and messages call it.
    title : str
        How readers begin to describe a file of it; empty where a command of its own or an option reads it.
    holds : tuple of str
        What such files are passed as.
    summary : str
    samples : tuple of Sample
    tools : mapping of str to str
        Who writes such files, and which of its files are in this format.
    recognized, checked : str
        By what, and for what.
    converted : tuple of str
        The forms of ``convert`` that write it.
    """

    name: str
    title: str
    holds: tuple[str, ...]
    summary: str
    samples: tuple[Sample, ...]
    tools: Mapping[str, str] = field(default_factory=dict)
    recognized: str = ""
    checked: str = ""
    converted: tuple[str, ...] = ()


def python(file: str, *lines: str, about: str = "") -> Sample:
    """Return an example of a binary file: the Python that writes it."""
    return Sample(file, "\n".join(lines) + "\n", about, is_python=True)


IDS = "that label ids are below the number of labels, and that none appears twice in a row"
SIZES = "that there are as many rows as the header declares"
ENTRIES = "that rows and labels are whole numbers from 0 on, and that no label appears twice in a row"
