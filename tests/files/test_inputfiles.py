"""Input files: local files, remote ones and pipes answer the same questions, and only they know what they are."""

import io
import os
import sys
from pathlib import Path

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from xmceval.errors import DataError
from xmceval.files.io import inputfiles
from xmceval.files.io.inputfiles import LocalInput, RemoteInput, find_pipe, input_at
from xmceval.files.io.paths import to_path
from xmceval.files.io.pipes import Pipe

TEXT = b"1 2 3\n0:0.5\n"


class Stdin:
    def __init__(self):
        self.buffer = io.BytesIO(TEXT)


KINDS = {"local.txt": LocalInput, "memory://inputs/remote.txt": RemoteInput, "-": Pipe, "pipe": Pipe}


@pytest.fixture(params=KINDS)
def path(request, tmp_path, monkeypatch):
    """The path of a text: on the disk, on a store, and two that come once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(inputfiles, "_pipes", {})
    monkeypatch.setattr(sys, "stdin", Stdin())
    Path("local.txt").write_bytes(TEXT)
    MemoryFileSystem().pipe_file("/inputs/remote.txt", TEXT)
    os.mkfifo("pipe")
    writer = os.open("pipe", os.O_RDWR)  # which waits for no reader
    os.write(writer, TEXT)
    yield to_path(request.param)
    os.close(writer)


def test_what_a_path_names_is_found_in_one_place(path):
    file = input_at(path)
    assert type(file) is KINDS[str(path)]
    assert (find_pipe(path) is file) == isinstance(file, Pipe)
    assert file.is_remote == str(path).startswith("memory")
    assert (file.is_copied, file.is_started) == (False, False)
    assert file.size == (None if isinstance(file, Pipe) else len(TEXT))


def test_reading_begins_with_the_first_byte(path):
    with input_at(path).open() as stream:
        buffer = bytearray(len(TEXT))
        assert stream.readinto(buffer) == len(TEXT)
        assert buffer == TEXT
        assert input_at(path).is_started == (input_at(path) is find_pipe(path))


@pytest.mark.parametrize("path", [name for name in KINDS if name != "pipe"], indirect=True)  # its writer never ends
def test_a_copy_is_made_only_of_what_comes_once(path):
    file = input_at(path)
    file.copy()
    file.copy()
    assert input_at(path).is_copied == isinstance(file, Pipe)
    for _ in range(2):
        with input_at(path).open() as stream:
            assert stream.read(5) == TEXT[:5]
    assert not input_at(path).is_started


def test_a_path_that_names_nothing_is_that_of_a_local_file(tmp_path):
    file = input_at(tmp_path / "none.txt")
    assert type(file) is LocalInput
    with pytest.raises(DataError, match=r"none.txt: no such file$"):
        file.open()
