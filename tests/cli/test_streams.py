"""Standard streams that are closed, as cron and daemons leave them, or full."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xmceval.cli.main import COMMANDS

SAMPLE = Path(__file__).parents[2] / "datasets" / "sample"
STREAMS = ("stdin", "stdout", "stderr")
XMCEVAL = [sys.executable, "-m", "xmceval"]

LINES = {
    "score": "score t.txt p.txt -m P,PSP --save-rows {}.rows.npz",
    "compare": "compare t.txt p.txt q.txt -m P,PSP --page {}.html",
    "benchmark": "benchmark b.toml",
    "merge": "merge 1.state",
    "inspect": "inspect t.txt p.txt",
    "convert": "convert p.txt {}.npz -v",
    "metrics": "metrics P",
    "datasets": "datasets EURLex-4K",
}
# Runs each case in a copy of this process, with the streams that it names closed, and the others in files.
RUN = """
import json, os, sys
import click, numpy, xmceval.cli.main
from xmceval.kernels.rows.tally import count_labels
import matplotlib.figure, scipy.sparse, scipy.special
import xmceval.comparison.compare, xmceval.page.page, xmceval.scoring.evaluate
count_labels(numpy.zeros(1, int), numpy.zeros(1, numpy.uint8), numpy.zeros(1, numpy.int32))  # numba starts here, once
for line, closed, out, err in json.loads(sys.argv[1]):
    number = os.fork()
    if number == 0:
        for place, name in ((1, out), (2, err)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), place)
        for place, name in enumerate(("stdin", "stdout", "stderr")):
            if name in closed:
                os.close(place)
                setattr(sys, name, None)
        sys.argv = ["xmceval", *line.split()]
        code = 99
        try:
            xmceval.cli.main.main()
        except SystemExit as end:
            code = end.code or 0
            if sys.stdout:
                sys.stdout.flush()
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, source in (("t", "tst_X_Y"), ("p", "model_a"), ("q", "model_b")):
        shutil.copy(SAMPLE / f"{source}.txt", f"{name}.txt")
    Path("b.toml").write_text("metrics = 'P'\n[datasets.s]\ntruth = 't.txt'\n[systems]\np = 'p.txt'\nq = 'q.txt'\n")
    subprocess.run([*XMCEVAL, "score", "t.txt", "p.txt", "-m", "P", "-q", "--save-state", "1.state"], check=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="closes streams in copies of a process")
@pytest.mark.usefixtures("files")
def test_every_command_works_where_streams_are_closed():
    ways = [(), ("stdout",), ("stderr",), STREAMS]
    cases = {
        (command, way): [LINES[command].replace("{}", f"{command}{number}"), way, f"{command}{number}.out", "err"]
        for command in COMMANDS
        for number, way in enumerate(ways)
    }
    ended = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(list(cases.values()))], capture_output=True, text=True, check=True
    )
    assert dict(zip(cases, map(int, ended.stdout.split()), strict=True)) == dict.fromkeys(cases, 0)
    written = {path.name: path.read_bytes() for path in Path().iterdir()}
    for (command, way), (*_, out, _) in cases.items():
        if "stdout" not in way:
            assert written[out].replace(out[:-4].encode(), f"{command}0".encode()) == written[f"{command}0.out"]
    for command in COMMANDS:
        for ending in (".rows.npz", ".csv", ".html", ".npz", ".txt"):
            made = {written.get(f"{command}{number}{ending}") for number in range(len(ways))}
            if ending == ".html":  # which has the command in it
                made = {None if page is None else page.count(b"<section") for page in made}
            assert len(made) == 1, (command, ending)


@pytest.mark.usefixtures("files")
def test_closed_streams_of_a_shell():
    """Where the standard streams are closed, the files that are opened next must not get their numbers."""
    score = f"'{sys.executable}' -m xmceval score t.txt p.txt -m P,PSP"
    for line, code in (
        (f"{score} --save-rows 1.rows.csv <&- >&- 2>&-", 0),
        (f"{score} -m X >&- 2>&-", 2),
        (f"'{sys.executable}' -m xmceval convert - x.npz <&-", 1),
    ):
        ended = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
        assert ended.returncode == code, line
    assert ended.stderr.endswith("Error: -: standard input is closed\n")
    assert Path("1.rows.csv").read_text().startswith("row,system,weight,P@1,")
    assert "doubt:" not in Path("1.rows.csv").read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to /dev/full")
@pytest.mark.parametrize("command", ["score t.txt p.txt -m P -q", "convert t.txt -", "metrics", "--version"])
@pytest.mark.usefixtures("files")
def test_an_output_without_room_is_an_error(command):
    command = [*XMCEVAL, *command.split()]
    subprocess.run(command, capture_output=True, check=True)  # compiles what no test before it compiled, and says so
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (1, b"Error: cannot write the output: No space left on device\n")
