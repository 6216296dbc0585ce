"""Limits: what a small file may ask for before it is refused."""

from __future__ import annotations

MAX_LINE = 128  # MiB in a line of text, by default: a row of all labels of the largest public sets takes half of that
