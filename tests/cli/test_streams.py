"""Standard streams that are closed, as cron and daemons leave them, or full."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import COMMANDS, COMPILING
from support.sample import SAMPLE

import xmceval

STREAMS = ("stdin", "stdout", "stderr")

LINES = {
    "score": "score t.txt p.txt -m P,PSP --save-rows {}.rows.npz",
    "compare": "compare t.txt p.txt q.txt -m P,PSP --page {}.html",
    "benchmark": "benchmark b.toml",
    "merge": "merge 1.state",
    "inspect": "inspect t.txt p.txt",
    "convert": "convert p.txt {}.npz -v",
    "metrics": "metrics P",
    "datasets": "datasets EURLex-4K",
    "guide": "guide start",
    "warm": "warm",
}
# Runs each case in a copy of this process, with the streams that it names closed, and the others in files; an output
# called | is a pipe without a reader.
RUN = """
import contextlib, gc, json, os, sys
import xmceval.cli.main
import matplotlib.figure, xmceval.page.page

# What the copies need is loaded here, once: modules and compiled kernels.
WARM = "score t.txt p.txt -m P,PSP", "compare t.txt p.txt q.txt -m P,PSP", "inspect t.txt p.txt", "convert p.txt -"
with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
    for line in (*WARM, "merge 1.state", "benchmark b.toml"):
        with contextlib.suppress(SystemExit):
            xmceval.cli.main.main(line.split())
gc.freeze()  # a copy that ends need not look through what was loaded before it
for line, closed, out, err in json.loads(sys.argv[1]):
    number = os.fork()
    if number == 0:
        for place, name in ((1, out), (2, err)):
            reading, end = os.pipe() if name == "|" else (0, os.open(name, os.O_WRONLY | os.O_CREAT))
            os.dup2(end, place)
            if name == "|":
                os.close(reading)
                os.close(end)
        for place, name in enumerate(("stdin", "stdout", "stderr")):
            if name in closed:
                os.close(place)
                setattr(sys, name, None)
        sys.argv = ["xmceval", *line.split()]
        xmceval.cli.main.main()  # exits as Python does, with a code of its own if a stream cannot be flushed
    print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
"""


@pytest.fixture
def files():
    for name, source in (("t", "tst_X_Y"), ("p", "model_a"), ("q", "model_b")):
        shutil.copy(SAMPLE / f"{source}.txt", f"{name}.txt")
    Path("b.toml").write_text("metrics = 'P'\n[datasets.s]\ntruth = 't.txt'\n[systems]\np = 'p.txt'\nq = 'q.txt'\n")
    xmceval.score("t.txt", "p.txt", metrics="P", save_state="1.state")


def run_all(cases):
    """Run [line, closed streams, output, errors] one after the other; return their exit codes."""
    command = [sys.executable, "-c", RUN, json.dumps(list(cases))]
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=buffered)
    return [*map(int, ended.stdout.split())]


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="closes streams in copies of a process")


@forks
@pytest.mark.usefixtures("files")
def test_every_command_works_where_streams_are_closed():
    ways = [(), ("stdout",), ("stderr",), STREAMS]
    cases = {
        (command, way): [LINES[command].replace("{}", f"{command}{number}"), way, f"{command}{number}.out", "err"]
        for command in COMMANDS
        for number, way in enumerate(ways)
    }
    assert dict(zip(cases, run_all(cases.values()), strict=True)) == dict.fromkeys(cases, 0)
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


NO_ROOM = "Error: cannot write the output: No space left on device\n"
SCORE = "score t.txt p.txt -m P -q"
COMPARE = "compare t.txt p.txt q.txt -q -m P -k 1,3 --fail-if-worse "
UNWRITTEN = [  # where the output goes: | has no reader; then the exit code, and how the errors begin
    *((line, "/dev/full", 1, NO_ROOM) for line in (SCORE, "convert t.txt -", "metrics", "--version")),
    *((line, "|", 0, "") for line in (SCORE, "--help", "--version", f"{COMPARE}P@1:14")),
    (f"{COMPARE}P@1", "|", 3, "breach: q is worse than p on P@1 by 13.60 "),
    (f"{SCORE} -k 1,2 --page page.html --plot plot.svg", "|", 0, ""),
]


@forks
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to /dev/full")
@pytest.mark.usefixtures("files")
def test_an_output_without_room_is_an_error_and_one_without_a_reader_is_none():
    codes = run_all([line, (), out, f"{number}.err"] for number, (line, out, *_) in enumerate(UNWRITTEN))
    for number, (code, (line, _, expected, begins)) in enumerate(zip(codes, UNWRITTEN, strict=True)):
        error = Path(f"{number}.err").read_text().replace(f"{COMPILING}\n", "")
        assert (code, error[: len(begins) or None]) == (expected, begins), line
    assert Path("page.html").read_text(encoding="utf-8").endswith("</html>\n")
    assert Path("plot.svg").exists()


SPOKEN = {  # exit codes of commands that write to stderr
    "score t.txt p.txt -m P,PSP": 0,
    "score t.txt p.txt -m P,PSP -o json -v --require P@1>=99": 3,
    "score t.txt p.txt -m P,PSP --strict": 1,
    "compare t.txt p.txt q.txt -m P,PSP --fail-if-worse P@1": 3,
    "benchmark b.toml --require P@1>=99": 3,
    "benchmark failing.toml": 1,
    "merge 1.state --require P@1>=99": 3,
    "inspect t.txt 1.state p.txt none.txt": 1,
    "convert p.txt - -v": 0,
    "metrics P": 0,
    "metrics none": 2,
    "score t.txt none.txt": 1,
    "score t.txt p.txt --none": 2,
    "none": 2,
    "": 2,
    "--help": 0,
}


@forks
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to /dev/full")
@pytest.mark.usefixtures("files")
def test_no_state_of_stderr_changes_the_exit_code_or_the_output():
    failing = Path("b.toml").read_text() + "[datasets.none]\ntruth = 'p.txt'\n"
    Path("failing.toml").write_text(failing)
    outputs = ("file", "|", "/dev/full")
    errors = [((), "err"), (("stderr",), "err"), ((), "|"), ((), "/dev/full")]
    ways = [(line, out, *way) for line in SPOKEN for out in outputs for way in errors]
    names = [f"{number}.out" if out == "file" else out for number, (_, out, *_) in enumerate(ways)]
    codes = run_all([line, closed, name, err] for (line, _, closed, err), name in zip(ways, names, strict=True))
    found = {}
    for (line, out, *_), name, code in zip(ways, names, codes, strict=True):
        written = Path(name).read_bytes() if out == "file" else b""
        if line.startswith("benchmark") or "json" in line:
            assert not written or b"P@1" in written
        found.setdefault((line, out), set()).add((code, written))
    for line, code in SPOKEN.items():
        [(code_of_file, written)] = found[line, "file"]
        assert code_of_file == code, line
        assert found[line, "|"] == {(code, b"")}, line
        assert found[line, "/dev/full"] == {(1 if written else code, b"")}, line


def test_the_exit_code_of_a_gate_survives_a_pipe_that_closes_early(files):
    words = ["compare", "t.txt", "p.txt", "q.txt", "-m", "P,PSP", "--fail-if-worse", "P@1"]
    command = [sys.executable, "-m", "xmceval", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 3
