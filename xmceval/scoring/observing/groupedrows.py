"""Grouped rows: the values of the rows of each group, handed to an observer of its own."""

from __future__ import annotations

from collections.abc import Sequence

from xmceval.rows.rowgroups import RowGroups
from xmceval.scoring.observing.observers import BlockValues, Observer


class GroupedRows(Observer):
    """An observer that hands each row to the observer of its group; these are given in the order of the groups."""

    def __init__(self, groups: RowGroups, observers: Sequence[Observer]) -> None:
        self._groups, self._observers = groups, observers

    def add(self, block: BlockValues) -> None:
        """Hand on the rows of a block."""
        for code, inside in self._groups.split(block.first_row, block.n_rows, block.kept):
            self._observers[code].add(block.of_rows(inside))
