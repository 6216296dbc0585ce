"""The installed command in processes of its own: pipes, signals, terminals, what it loads."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.files import A_QUIET
from support.processes import COMPILING, SIGNALS, fed
from support.sample import MODEL_A, MODEL_B, SAMPLE, TRAIN, TRUTH

pytestmark = pytest.mark.usefixtures("in_sample")
COMMAND = Path(sys.executable).with_name("xmceval")


def installed(*args, **options):
    return subprocess.run([COMMAND, *args], capture_output=True, text=True, timeout=120, check=False, **options)


def test_installed_command_prints_the_same():
    ended = installed("score", TRUTH, MODEL_A, "--train", TRAIN, "-q")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, A_QUIET, "")


def test_odd_file_names_and_streams_are_no_error(tmp_path, run):
    name = tmp_path / os.fsdecode(b"odd\xff.txt")
    name.write_bytes((SAMPLE / MODEL_A).read_bytes())
    asked = ("score", TRUTH, name, MODEL_B, "-m", "P@1", "-q")
    for encoding in ("utf-8", "iso8859-2"):
        assert "\nodd\\udcff  " in installed(*asked, env={**os.environ, "PYTHONIOENCODING": encoding}).stdout
    assert json.loads(run(*asked, "-o", "json")[1])["systems"][0]["name"] == "odd\udcff"


@pytest.mark.usefixtures("interruptible")
def test_a_signal_while_a_pipe_is_read_leaves_no_traceback(tmp_path):
    number = signal.SIGTERM
    os.mkfifo(tmp_path / "preds.txt")
    process = subprocess.Popen(
        [COMMAND, "score", TRUTH, tmp_path / "preds.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with fed(process, tmp_path / "preds.txt", b"500 300\n" + b"1:0.5\n" * 400):
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (128 + number, b"")
    assert err.decode().removeprefix(f"{COMPILING}\n") == SIGNALS[number]
