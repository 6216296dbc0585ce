"""Input files: local files, remote ones and copies of pipes answer the same questions."""

import io
import os
import sys
import threading
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from xmceval.errors import DataError
from xmceval.files.io import pipes
from xmceval.files.io.inputfiles import input_at
from xmceval.files.io.paths import to_path

TEXT = b"1 2 3\n0:0.5\n"


class Stdin:
    def __init__(self):
        self.buffer = io.BytesIO(TEXT)


@pytest.fixture(params=["local.txt", "memory://inputs/remote.txt", "-", "pipe"])
def path(request, monkeypatch):
    """The path of a text: on the disk, on a store, and two that come once."""
    monkeypatch.setattr(pipes, "_copies", {})
    monkeypatch.setattr(sys, "stdin", Stdin())
    Path("local.txt").write_bytes(TEXT)
    MemoryFileSystem().pipe_file("/inputs/remote.txt", TEXT)
    os.mkfifo("pipe")
    if request.param == "pipe":
        threading.Thread(target=Path("pipe").write_bytes, args=(TEXT,), daemon=True).start()
    return to_path(request.param)


def test_what_a_path_names_is_found_in_one_place(path):
    file = input_at(path)
    assert file.is_copied == (str(path) != "local.txt")
    assert file.size == len(TEXT)


def test_a_file_can_be_read_any_number_of_times(path):
    for _ in range(2):
        with input_at(path).open() as stream:
            buffer = bytearray(len(TEXT))
            assert stream.readinto(buffer) == len(TEXT)
            assert buffer == TEXT


def test_copies_of_pipes_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "_copies", {})
    monkeypatch.setattr(sys, "stdin", Stdin())
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pipes.kept_pipes([Path("-")]):
        assert pipes.stored_at(Path("-")) in tmp_path.iterdir()
    assert not list(tmp_path.iterdir())


def test_a_path_that_names_nothing_is_that_of_a_local_file(tmp_path):
    file = input_at(tmp_path / "none.txt")
    with pytest.raises(DataError, match=r"none.txt: no such file$"):
        file.open()
