"""The history of a benchmark: what moved since when, in each form."""

import pytest

from xmceval.errors import UsageError
from xmceval.report.forms.layout import Layout
from xmceval.report.history import History, HistoryRun


def make_run(time, values, why):
    return HistoryRun(f"2026-11-{time}:04Z", "0.2.0", "5c1e", {"Delicious": values}, {"Delicious": why})


HISTORY = History(
    "benchmark.toml",
    (
        make_run(
            "20T09:12",
            {name: {"P@1": 0.5, "P@5": 0.25, "ECE@5": None} for name in ("PECOS", "PLT", "BR", "Base")},
            dict.fromkeys(("PECOS", "PLT", "BR", "Base"), "new"),
        ),
        make_run("22T20:15", {"Ours": {"P@1": 0.6693, "P@5": 0.5623, "ECE@5": 0.01}}, {"Ours": "new"}),
        make_run(
            "22T20:31",
            {"Ours": {"P@1": 0.6712, "P@5": 0.56259, "ECE@5": 0.02}, "BR": {"P@1": 0.5, "P@5": 0.245, "ECE@5": None}},
            {"Ours": "runs/ours-2.npz changed", "BR": ""},
        ),
    ),
)

TABLE = """\
3 runs, 2026-11-20 09:12 to 2026-11-22 20:31 UTC · P@5, percent
                   11-20 09:12  11-22 20:15  11-22 20:31
  Delicious, BR          25.00        25.00        24.50  −0.50
  Delicious, Ours            –        56.23        56.26  +0.03
  3 cells did not move

what changed
  11-20 09:12  4 cells: new
  11-22 20:15  Delicious, Ours: new
  11-22 20:31  Delicious, Ours: runs/ours-2.npz changed
"""


def test_the_table_shows_what_moved_since_when():
    assert str(HISTORY) == TABLE


def test_a_history_from_a_date_on_keeps_earlier_values():
    since = HISTORY.since("2026-11-22 20:20")
    assert since.render("table", metric="p@1").splitlines() == [
        "1 run, 2026-11-22 20:31 UTC · P@1, percent",
        "                   11-22 20:15  11-22 20:31",
        "  Delicious, Ours        66.93        67.12  +0.19",
        "  4 cells did not move",
        "",
        "what changed",
        "  11-22 20:31  Delicious, Ours: runs/ours-2.npz changed",
    ]
    assert "Delicious, PECOS        50.00        50.00\n" in since.render("table", has_all=True, metric="P@1")
    assert str(HISTORY.since("2027-01-01")) == "benchmark.toml: no value has changed since 2027-01-01\n"
    assert str(History("benchmark.toml")) == "benchmark.toml: no runs yet\n"
    with pytest.raises(UsageError, match="no run has PSP; expected one of P@1, P@5, ECE@5"):
        HISTORY.render("table", metric="PSP")


def test_csv_has_a_line_for_each_value_that_a_run_has():
    lines = HISTORY.since("2026-11-22T20:20").render("csv").splitlines()
    assert lines[:3] == [
        "time,run,dataset,system,metric,value,digest,version",
        "2026-11-22T20:31:04Z,3,Delicious,Ours,P@1,0.6712,5c1e,0.2.0",
        "2026-11-22T20:31:04Z,3,Delicious,Ours,P@5,0.56259,5c1e,0.2.0",
    ]
    assert lines[-1] == "2026-11-22T20:31:04Z,3,Delicious,BR,ECE@5,,5c1e,0.2.0"
    assert len(lines) == 7


def test_changes_are_told_with_as_many_places_as_it_takes():
    values = {"Delicious": {"Ours": {"P@1": 0.6712, "P@5": 0.562592, "ECE@5": None}, "New": {"P@1": 1.0}}}
    assert HISTORY.describe_changes(values) == (
        "moved since 2026-11-22 20:31:",
        "  Delicious  Ours  P@5 56.2590 → 56.2592, ECE@5 2.00 → –",
    )
    assert HISTORY.describe_changes(values, Layout(percent=False))[1] == (
        "  Delicious  Ours  P@5 0.562590 → 0.562592, ECE@5 0.0200 → –"
    )
