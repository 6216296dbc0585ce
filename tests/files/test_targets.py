"""Targets: files that are written appear when they are complete, keep their mode, and leave nothing behind."""

import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import xmceval
from xmceval.files.writing import targets


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o664])
@pytest.mark.parametrize("name", ["a.txt", "a.npz"])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, name, mode):
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(mode)
    np.save(tmp_path / "source.npy", np.eye(2))
    xmceval.convert(tmp_path / "source.npy", path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert xmceval.read(path).toarray().tolist() == np.eye(2).tolist()


KILLED = """
import os, pathlib, signal, sys
from xmceval.files.writing.targets import open_targets
with open_targets([pathlib.Path(sys.argv[1])], force=True) as files:
    files[0].write(b"half")
    files[0].flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "a [1].txt"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, env={**os.environ, "HOME": str(tmp_path)})
    [part] = tmp_path.iterdir()
    assert part.name.startswith(".a [1].txt.")
    assert part.name.endswith(".part")
    others = [part.with_name(part.name.replace(".txt.", f".txt.{more}")) for more in ("elsewhere.", "x.")]
    alive = targets._part_name(path).with_name(targets._part_name(path).name.replace(str(os.getpid()), "1"))
    for other in (*others, alive):  # of another machine, of another file, of a process that runs
        other.write_bytes(b"kept")
    xmceval.convert(_source(tmp_path), path)
    assert sorted(tmp_path.iterdir()) == sorted([*others, alive, path, tmp_path / "source"])


def _source(folder):
    (folder / "source").write_text("0:1\n")
    return folder / "source"
