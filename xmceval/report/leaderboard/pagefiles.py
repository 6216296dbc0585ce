"""Page files: a leaderboard and the report of each data set, as files of one folder that lead to each other."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from xmceval.files.writing.targets import make_folder, save_texts
from xmceval.labels.catalogue import find_dataset
from xmceval.report.benchmark import Benchmark, DatasetOutcome
from xmceval.report.comparison import Comparison
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.leaderboard import render_leaderboard
from xmceval.report.page import render_page
from xmceval.report.pictures import check_installed
from xmceval.report.result import with_standings

INDEX = "index.html"
LONGEST = 60  # characters of a name, which leaves room for what systems allow
RESERVED = re.compile("index|con|prn|aux|nul|com[0-9]|lpt[0-9]")  # the first is taken; Windows has no files of the rest


def open_folder(folder: str | Path) -> Path:
    """Make the folder of pages, and check what they need, before anything is scored.

    Raises
    ------
    DataError
        A folder that cannot be made or written to; matplotlib is not installed.
    UsageError
        A path that is no folder.
    """
    check_installed()
    return make_folder(folder, INDEX)


def write_pages(
    benchmark: Benchmark, folder: str | Path, *, title: str | None = None, layout: Layout = DEFAULT
) -> dict[Path, int]:
    """Write ``index.html`` and a page for each data set with values; files of these names are replaced.

    Returns
    -------
    dict of Path to int
        The bytes of each page; the index is the last.

    Raises
    ------
    DataError
        As `open_folder`.
    UsageError
        Likewise.
    """
    folder = open_folder(folder)
    # The same pages whatever the terminal is, and however its table is turned.
    layout = Layout(places=layout.places, percent=layout.percent, intervals=layout.intervals)
    names = name_files(benchmark)
    pages = {}
    for dataset in benchmark.datasets:
        if dataset.comparison is not None:
            pages[names[dataset.name]] = _render_report(dataset, dataset.comparison, layout)
    # The index is last, so that it never leads to a page that is not there yet.
    pages[INDEX] = render_leaderboard(benchmark, title=title, layout=layout, reports=names)
    save_texts({folder / name: text for name, text in pages.items()})
    return {folder / name: len(text.encode(errors="backslashreplace")) for name, text in pages.items()}


def _render_report(dataset: DatasetOutcome, comparison: Comparison, layout: Layout) -> str:
    """Write the page of a data set, with its places within published results if it is in the catalogue."""
    if dataset.entry:
        entry = find_dataset(dataset.entry)
        comparison = replace(comparison, results=tuple(with_standings(each, entry) for each in comparison.results))
    several = comparison if len(comparison.results) > 1 else None
    return render_page(comparison.results, several, title=dataset.name, layout=layout, index=INDEX)


def name_files(datasets: Iterable[str]) -> dict[str, str]:
    """Name a file for each data set, of letters, digits and dashes; no two differ in case only.

    Examples
    --------
    >>> list(name_files(["Wiki10-31K", "ours/v2", "Ours v2", "index"]).values())
    ['wiki10-31k.html', 'ours-v2.html', 'ours-v2-2.html', 'index-2.html']
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for dataset in datasets:
        plain = unicodedata.normalize("NFKD", dataset).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain)[:LONGEST].strip("-") or "dataset"
        n, name = 1, stem
        while name in taken or RESERVED.fullmatch(name):
            n += 1
            name = f"{stem}-{n}"
        taken.add(name)
        names[dataset] = f"{name}.html"
    return names
