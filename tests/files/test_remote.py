"""Remote files: the same bits as local ones, whatever the server does, and no word of credentials."""
# ruff: noqa: E501 - a command is one line

import bz2
import errno
import gc
import gzip
import io
import json
import lzma
import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pytest
import zstandard
from fsspec.implementations.memory import MemoryFileSystem
from pyarrow import parquet
from scipy import sparse
from support.approved import check_lines
from support.pieces import read_in_pieces
from support.processes import SIGNALS, wait_for
from support.strategies import to_rows, to_text
from support.webserver import Server

import xmceval
from xmceval import DataError, UsageError
from xmceval.files.io import remote, streams
from xmceval.files.io.paths import as_input
from xmceval.files.shards import check_files, find_shards
from xmceval.rows.progress import measure_progress

N_ROWS, N_LABELS = 400, 50
SECRET = "sig=S3CR3T"


def saved(save, *arguments, **how):
    file = io.BytesIO()
    save(file, *arguments, **how)
    return file.getvalue()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Truth and predictions in every kind of file that is opened in another way; by name."""
    folder = tmp_path_factory.mktemp("remote")
    rng = np.random.default_rng(7)
    truth = sparse.random(N_ROWS, N_LABELS, 0.1, "csr", random_state=rng).astype(bool).astype(float)
    labels = np.argsort(rng.random((N_ROWS, N_LABELS)), axis=1)[:, :20].astype(np.int64)
    values = rng.random((N_ROWS, 20)).round(6)
    scores = sparse.csr_matrix((values.ravel(), labels.ravel(), np.arange(0, 20 * N_ROWS + 1, 20)), truth.shape)
    dense = np.full(truth.shape, -np.inf)
    np.put_along_axis(dense, labels, values, axis=1)
    plain = to_text(to_rows(scores), N_LABELS).encode()
    rows = np.repeat(np.arange(N_ROWS), 20)
    table = pa.table({"row": rows, "label": labels.ravel(), "score": values.ravel()})
    packers = {"gz": gzip, "bz2": bz2, "xz": lzma, "zst": zstandard}
    made = {
        "truth.txt": to_text(to_rows(truth), N_LABELS).encode(),
        "p-labels.npy": saved(np.save, labels),
        "p.txt": plain,
        **{f"p.txt.{ending}": packer.compress(plain) for ending, packer in packers.items()},
        "p.npz": saved(sparse.save_npz, scores),
        "stored.npz": saved(sparse.save_npz, scores, compressed=False),
        "lists.npz": saved(np.savez, labels=labels, scores=values),
        "p-scores.npy": saved(np.save, values),
        "dense.npy": saved(np.save, dense),
        "columns.npy": saved(np.save, np.asfortranarray(dense)),
        "p.parquet": saved(lambda file: parquet.write_table(table, file)),
    }
    for name, content in made.items():
        (folder / name).write_bytes(content)
    assert [*made][2:] == [*PREDICTIONS]
    return folder, made


PREDICTIONS = (
    *("p.txt", "p.txt.gz", "p.txt.bz2", "p.txt.xz", "p.txt.zst", "p.npz", "stored.npz", "lists.npz", "p-scores.npy"),
    *("dense.npy", "columns.npy", "p.parquet"),
)


HOW = {"metrics": "P,PSP,nDCG", "k": 3, "n_labels": N_LABELS}


@pytest.fixture(scope="module")
def local(files):
    """What local files give, by name of the predictions."""
    folder, _ = files
    return {name: score(folder / "truth.txt", folder / name) for name in PREDICTIONS}


def score(truth, scores, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(xmceval.score(truth, scores, **{**HOW, **how}))


@pytest.fixture
def server(files):
    server = Server()
    server.files = dict(files[1])
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def memory(files):
    """The files in the memory of this process."""
    MemoryFileSystem.store.clear()
    store = fsspec.filesystem("memory")
    for name, content in files[1].items():
        store.pipe_file(f"/d/{name}", content)
    yield store
    MemoryFileSystem.store.clear()


@pytest.mark.parametrize("name", PREDICTIONS)
def test_remote_files_give_the_same_bits(name, server, memory, local):
    assert score("memory://d/truth.txt", f"memory://d/{name}") == local[name]
    assert score(server.url("truth.txt"), server.url(name)) == local[name]


@pytest.mark.parametrize("name", ["p.txt", "p.txt.gz", "stored.npz", "p.parquet"])
def test_a_file_whose_connection_is_lost_is_refused(name, server, files):
    server.drops, server.drop_after = 10**9, 3000
    with pytest.raises(DataError, match=rf"{name}: cannot be read \([^\n]*\)$"):
        score(files[0] / "truth.txt", server.url(name))


@pytest.mark.parametrize(
    ("fault", "value", "n_fetched"), [("has_size", False, 1), ("pause", 0.01, 1), ("has_tags", False, 2)]
)
def test_servers_that_tell_little_or_are_slow_are_read_to_the_end(server, local, fault, value, n_fetched):
    setattr(server, fault, value)
    for _ in range(2):
        assert score(server.url("truth.txt"), server.url("p.txt.gz")) == local["p.txt"]
    assert fault == "has_size" or server.requests.count(("GET", "p.txt.gz", None)) == n_fetched


def test_a_file_is_fetched_once(server, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(streams, "_fetched", {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = xmceval.score(server.url("truth.txt"), server.url("stored.npz"), train=server.url("truth.txt"), **HOW)
    assert [line.partition(", copied")[1] for line in result.inputs[:2]] == [", copied"] * 2
    for name in ("truth.txt", "stored.npz"):
        assert [what for what in server.requests if what[:2] == ("GET", name)] == [("GET", name, None)]
    assert len(list(tmp_path.iterdir())) == 2, "the last copies are kept"
    streams._fetched.clear()
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_a_worker_fetches_a_file_once_for_all_its_tasks(server, local, monkeypatch):
    read_in_pieces(monkeypatch, parts=1 << 12)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert score(server.url("truth.txt"), server.url("p.txt"), executor=pool) == local["p.txt"]
    assert server.requests.count(("GET", "p.txt", None)) == 2, "here and there"


def test_a_copy_that_is_not_of_the_size_that_the_store_declared_is_refused(server, memory, monkeypatch):
    server.bomb = gzip.compress(bytes(1 << 20))  # it grows when it is unpacked
    with pytest.raises(DataError, match=r"p.txt: its size is [\d,]+, but 1,048,576 bytes came \(hint: try again\)$"):
        score(server.url("truth.txt"), server.url("p.txt"))
    monkeypatch.setattr(
        MemoryFileSystem, "get_file", lambda self, name, path, **_: Path(path).write_bytes(self.cat_file(name)[:16000])
    )
    with pytest.raises(DataError, match=r"d/p.txt: its size is [\d,]+, but 16,000 bytes came"):
        score("memory://d/truth.txt", "memory://d/p.txt")


def test_no_room_for_a_copy_is_reported(memory, monkeypatch):
    def fill(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(MemoryFileSystem, "get_file", fill)
    with pytest.raises(DataError, match=r"truth.txt: cannot be copied to a .* No space left .* \(hint: set TMPDIR\)"):
        score("memory://d/truth.txt", "memory://d/p.txt")


def test_a_server_is_asked_once_whether_a_file_exists(server):
    address = server.url("p.txt")
    check_files([find_shards(as_input(find_shards(address)))])
    assert [method for method, name, *_ in server.requests if name == "p.txt"] == ["HEAD"]


def test_a_server_that_goes_silent_is_given_up(server, monkeypatch):
    monkeypatch.setattr(remote, "PATIENCE", 0.3)
    server.stall = 2.0
    since = time.monotonic()
    with pytest.raises(DataError, match=r"truth.txt: no answer within .* seconds"):
        score(server.url("truth.txt"), server.url("p.txt"))
    assert time.monotonic() - since < 2.0
    assert server.requests.count(("GET", "truth.txt", None)) == 1


def test_a_file_may_change_between_two_calls(memory, local):
    assert score("memory://d/truth.txt", "memory://d/p.txt") == local["p.txt"]
    memory.pipe_file("/d/p.txt", memory.cat_file("/d/truth.txt"))
    assert score("memory://d/truth.txt", "memory://d/p.txt")["P@3"] > local["p.txt"]["P@3"]


def test_what_servers_and_stores_refuse_is_said_in_one_line_without_credentials(server, memory, monkeypatch):
    fsspec.register_implementation("needy", "nosuchpackage.System", clobber=True, errtxt="Install it")
    memory.pipe_file("/d/empty.txt", b"")

    def refused(truth, scores):
        with pytest.raises(DataError) as error:
            score(truth, scores)
        message = str(error.value).replace(f":{server.server_port}/", "/")
        assert not [word for word in ("\n", "S3CR3T", "pw123") if word in message]
        return message

    def answered(status, reason=None):
        """Return the message of a server that answers with a status."""
        server.statuses["p.txt"], server.reasons[status] = status, reason
        return refused(server.url("truth.txt"), server.url(f"p.txt?{SECRET}"))

    def without(package, address):
        monkeypatch.setitem(sys.modules, package, None)
        return refused(address, address)

    check_lines(__file__, "servers.txt", globals() | locals())


# Outputs.


@pytest.mark.parametrize("name", ["q.txt", "q.npz", "q.txt.gz", "q.npy"])
def test_conversions_are_written_to_stores(name, run, memory, local, files):
    folder, address = files[0], f"memory://d/{name}"
    assert run("convert", folder / "p.txt", address, "--as", "scores")[0] == 0
    assert score("memory://d/truth.txt", address) == local["p.txt"]
    before = memory.cat_file(f"/d/{name}")
    with pytest.raises(UsageError, match=r"already exist.* \(hint: pass force=True to overwrite\)"):
        xmceval.convert(folder / "truth.txt", address, kind="truth")
    assert memory.cat_file(f"/d/{name}") == before
    xmceval.convert(folder / "p.txt", address, kind="scores", force=True)
    assert memory.cat_file(f"/d/{name}") == before
    assert [each for each in memory.find("/d") if "/q." in each] == [f"/d/{name}"], "and nothing next to it"


def test_files_are_put_on_web_servers(server, files, local):
    xmceval.convert(files[0] / "p.txt", server.url(f"q.npz?{SECRET}"))
    assert ("PUT", "q.npz", None) in server.requests
    assert score(server.url("truth.txt"), server.url("q.npz")) == local["p.txt"]
    server.statuses["denied.txt"] = 405
    with pytest.raises(DataError, match=r"denied.txt: cannot be"):
        xmceval.convert(files[0] / "p.txt", server.url("denied.txt"), force=True)


@pytest.mark.parametrize("name", ["q.txt", "q.npz"])
def test_failed_uploads_leave_what_was_there(name, memory, files, monkeypatch):
    before = memory.find("/d")

    def fail(self, local, remote, **how):
        self.pipe_file(remote, Path(local).read_bytes()[:100])  # half of it, and then an error
        raise PermissionError("no space for you")

    monkeypatch.setattr(MemoryFileSystem, "put_file", fail)
    with pytest.raises(DataError, match=r"access is denied \(no space for you\)"):
        xmceval.convert(files[0] / "p.txt", f"memory://d/{name}")
    assert memory.find("/d") == before


# Every command, and what it writes about addresses.


COMMANDS = {  # each with its exit code
    "score {truth.txt} {p.txt} --train {truth.txt} --sample-weight {weights.txt} --filter {filter.txt} --labels {names.txt} --save-rows memory://o/r.npz -v": 0,
    "score {truth.txt} {p.txt} {p.npz} -o json --counts {counts.txt} --n-train 9 -v": 0,
    "compare {truth.txt} {p.txt} {p.npz} --save-rows memory://o/c.csv": 0,
    "compare {truth.txt} --runs A={p.txt},{stored.npz} --runs B={p.npz},{dense.npy} -o json": 0,
    "inspect {truth.txt} {p.txt} --filter {filter.txt} -o json": 0,
    "convert {p.txt} memory://o/p.npz -v": 0,
    "score {truth.txt} {p.txt} --page memory://o/page.html --train={truth.txt}": 0,
    "compare {truth.txt} --runs A={p.txt},{stored.npz} --runs B={p.npz},{dense.npy} --page memory://o/q.htm": 0,
    "compare {truth.txt} --runs {p.txt}": 2,
    "compare {truth.txt} {p.txt} --save-rows {rows.txt}": 2,
    "score {truth.txt} {none.txt}": 1,
    "score {truth.txt} {names.txt}": 1,
}  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_credentials_are_never_written(command, server, memory, run):
    server.files |= {
        "weights.txt": b"1\n2\n" * (N_ROWS // 2),
        "filter.txt": b"0 1\n3 4\n",
        "names.txt": "".join(f"label {i}\n" for i in range(N_LABELS)).encode(),
        "counts.txt": b"3\n" * N_LABELS,
    }
    words = command.replace("{", f"http://us3r:pa55word@127.0.0.1:{server.server_port}/").replace("}", f"?{SECRET}")
    code, *streams = run(*words.split())
    written = "".join([*streams, *(memory.cat_file(name).decode("latin-1") for name in memory.find("/o"))])
    assert code == COMMANDS[command], written
    assert not [word for word in ("S3CR3T", "us3r", "pa55word", "Traceback") if word in written]


def test_saved_rows_and_pages_are_read_again(memory, files, run):
    folder = files[0]
    for name in ("p.txt", "dense.npy"):
        assert run("score", folder / "truth.txt", folder / name, "--save-rows", f"memory://o/{name}.rows.npz")[0] == 0
    code, output, _ = run("compare", "memory://o/p.txt.rows.npz", "memory://o/dense.npy.rows.npz", "-o", "json")
    assert code == 0
    assert json.loads(output)["systems"]


def test_patterns_and_directories_of_stores_are_shards(memory, local, files, run):
    lines = files[1]["p.txt"].split(b"\n", 1)[1].splitlines(keepends=True)
    parts = [f"memory://s/preds-{number}.txt" for number in range(1, 11)]
    for part, start in zip(parts, range(0, N_ROWS, 40), strict=True):
        memory.pipe_file(part.removeprefix("memory:/"), b"".join(lines[start : start + 40]))
    memory.pipe_file("/l/list.txt", "\n".join(parts).encode())
    for scores in ("memory://s/preds-*.txt", parts, "@memory://l/list.txt"):
        assert score("memory://d/truth.txt", scores) == local["p.txt"]
    assert run("score", "memory://d/truth.txt", "memory://s/*", "-k", 3)[0] == 0
    with pytest.raises(DataError, match=r"memory://s/none-\*.txt: no file matches this pattern"):
        score("memory://d/truth.txt", "memory://s/none-*.txt")


# Small laws.


def test_it_is_known_how_much_of_a_remote_file_has_come(memory, files, monkeypatch):
    seen, size, get = [], len(files[1]["p.txt"]), type(memory).get_file

    def get_file(self, name, copy, callback, **how):
        if name.endswith("p.txt"):
            callback.set_size(size)
            callback.absolute_update(size // 2)
            seen.append(measure_progress())
        get(self, name, copy, **how)

    monkeypatch.setattr(type(memory), "get_file", get_file)
    score("memory://d/truth.txt", "memory://d/p.txt")
    assert seen == [("memory://d/p.txt", size // 2 / size, "")]


def test_truth_and_other_files_may_be_on_different_stores(memory, local, files, server):
    near, far, scores = files[0] / "truth.txt", "memory://d/truth.txt", files[0] / "p.txt"
    expected = score(near, scores, train=near)
    for truth, preds, train in ((far, scores, near), (far, server.url("p.txt"), near), (near, scores, far)):
        assert score(truth, preds, train=train) == expected


def test_addresses_that_differ_in_their_query_are_different_files(server):
    url = server.url("truth.txt")
    for other, train, are_same in (("1", "1", True), ("2", "3", False)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            files = f"{url}?id=1", f"{url}?id={other}"
            noticed = "".join(xmceval.score(*files, train=f"{url}?id={train}", k="1", metrics="P,PSP").warnings)
        assert ("a perfect model" in noticed) == ("the training labels are" in noticed) == are_same


@pytest.fixture
def command(server, tmp_path):
    """A command with remote inputs, and an environment in which copies are made in the folder of the test."""
    words = [sys.executable, "-m", "xmceval", "score", server.url("truth.txt"), server.url("p.txt"), "-q", "-m", "P@1"]
    return {"args": words, "env": {**os.environ, "TMPDIR": str(tmp_path)}, "text": True}


def test_a_command_leaves_no_copy(command, tmp_path):
    subprocess.run(**command, check=True, stdout=subprocess.DEVNULL)
    assert not list(tmp_path.glob("xmceval-*[!0-9]*")), "but the private folder of locks"


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_that_is_ended_while_it_fetches_leaves_no_copy(server, command, tmp_path, number):
    server.stall = 60
    with subprocess.Popen(**command, stderr=subprocess.PIPE) as process:
        wait_for(lambda: ("GET", "truth.txt", None) in server.requests)
        process.send_signal(number)
        assert process.communicate(timeout=30)[1] == SIGNALS[number]
    assert process.returncode == 128 + number
    assert not list(tmp_path.glob("xmceval-*/copy"))


def test_a_store_that_does_not_answer_is_asked_once(server):
    server.pause, since, addresses = 60, time.monotonic(), [*map(server.url, ("truth.txt", "p.txt"))]
    code = (
        "import sys; from xmceval.files.io import remote; remote.PATIENCE = 1; import xmceval.__main__ as m; m.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "score", *addresses, "-q"], capture_output=True, text=True, check=False
    )
    message = f"Error: {addresses[0]}: no answer within 1 seconds (hint: check the address and the network)\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", message)
    assert sorted(server.requests) == [("GET", "truth.txt", None), ("HEAD", "truth.txt", None)], "each once"
    assert time.monotonic() - since < server.pause
