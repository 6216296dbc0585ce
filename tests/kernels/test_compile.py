"""Kernels as object files: what is passed, how they are compiled, and who may write their folder, or damages it."""

import os
import pickle
import pty
import shutil
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from support.processes import room, wait_for

from xmceval.kernels import compile as compiling, load
from xmceval.kernels.load import Kernel, find_folder, read_object
from xmceval.kernels.rows.tally import count_labels

pytestmark = pytest.mark.skipif(load.is_disabled(), reason="nothing is compiled")
on_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners and modes")


def count_up(x):
    return x + 1


def add_arrays(arrays, factor, total):
    first, second = arrays
    for i in range(first.size):
        total[i] = factor * (first[i] + second[i])


def allocate(n):
    return np.ones(n).size + 1


ADD = (("f8[:]", "f8[:]"), "f8", "f8[:]")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folder of caches."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def compiled(monkeypatch):
    """The names of the kernels that are compiled."""
    names = []

    def compile_object(function, *types):
        names.append(function.__name__)
        return compiling.compile_object(function, *types)

    monkeypatch.setattr(load, "compile_object", compile_object)
    return names


@pytest.fixture
def count_again(compiled):
    """A function that calls a new kernel, which gives what it must, and was compiled this often, or loaded."""

    def count_again(n_compiled):
        compiled.clear()
        assert Kernel(("i8",), "i8", count_up)(3) == 4
        assert len(compiled) == n_compiled

    return count_again


def saved(home):
    return sorted(path.name for path in home.rglob("*") if path.is_file())


FILES = ["lock", "test_compile.count_up.o"]


# A call.


def whole(x):
    return Kernel(("i8",), "i8", count_up)(x)


def add(*arrays, factor=2.0, total=None):
    total = np.empty(3) if total is None else total
    Kernel(ADD, None, add_arrays)(arrays, factor, total)
    return total.tolist()


NUMBERS = np.arange(3.0)


@pytest.mark.usefixtures("home")
def test_numbers_of_numpy_and_read_only_arrays_are_passed():
    constant = NUMBERS.copy()
    constant.flags.writeable = False
    assert add(constant, NUMBERS) == [0.0, 4.0, 8.0]
    assert add(NUMBERS, NUMBERS, factor=np.float32(0.5)) == [0.0, 1.0, 2.0]
    assert add(NUMBERS[:0], NUMBERS[:0], total=np.empty(0)) == []
    for number in (2**63 - 2, -(2**63), np.int32(7), np.uint8(200), np.bool_(True)):
        assert whole(number) == int(number) + 1


WRONG = {
    "another type": lambda: add(NUMBERS.astype(np.float32), NUMBERS),
    "another order of bytes": lambda: add(NUMBERS.astype(">f8"), NUMBERS),
    "more axes": lambda: add(NUMBERS[:, None], NUMBERS),
    "gaps": lambda: add(np.zeros(6)[::2], NUMBERS),
    "backwards": lambda: add(NUMBERS[::-1], NUMBERS),
    "not aligned": lambda: add(np.frombuffer(bytes(25), np.uint8)[1:].view(np.float64), NUMBERS),
    "an array too many": lambda: add(NUMBERS, NUMBERS, NUMBERS),
    "an array too few": lambda: add(NUMBERS),
    "a number for an array": lambda: add(1.0, NUMBERS),
    "an array for a number": lambda: whole(NUMBERS),
    "too large": lambda: whole(2**63),
    "too small": lambda: whole(-(2**63) - 1),
    "too large, of numpy": lambda: whole(np.uint64(2**63)),
    "a fraction": lambda: whole(2.5),
    "a whole float": lambda: whole(np.float64(2)),
    "text": lambda: whole("2"),
}


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("wrong", WRONG)
def test_other_arguments_are_refused_before_the_call(wrong):
    with pytest.raises((TypeError, ValueError, OverflowError, AttributeError)):
        WRONG[wrong]()


@on_posix
@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_compiled_code_is_saved_once_in_a_private_folder_whatever_the_umask(home, count_again, umask):
    before = os.umask(umask)
    try:
        count_again(1)
    finally:
        os.umask(before)
    [folder] = home.iterdir()
    assert folder == find_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert saved(home) == FILES
    count_again(0)


@pytest.mark.usefixtures("home")
def test_sixteen_threads_share_one_compiled_kernel(compiled):
    fresh, results, barrier = Kernel(("i8",), "i8", count_up), [], threading.Barrier(16)

    def call():
        barrier.wait()
        results.append(fresh(3))

    threads = [threading.Thread(target=call) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [4] * 16
    assert len(compiled) == 1


def test_kernels_pass_between_processes_by_name():
    assert pickle.loads(pickle.dumps(count_labels)) is count_labels


def test_a_kernel_that_needs_more_than_its_object_file_is_compiled_by_numba_in_each_process(home, renew):
    notes = renew(0.0)
    assert Kernel(("i8",), "i8", allocate)(3) == 4
    assert notes == [load.COMPILING, load.NO_OBJECTS]
    assert saved(home) == ["lock"]


# Who may write the folder.


def replace_by(link):
    """Return a function that puts a link in place of the folder, to where it now is or to nowhere."""

    def move(folder, _):
        target = folder.rename(folder.parents[1] / "elsewhere") if link == "whole" else folder.parents[1] / "gone"
        shutil.rmtree(folder, ignore_errors=True)
        folder.symlink_to(target)

    return move


def refuse(*_):
    raise OSError(30, "Read-only file system")


UNUSED = {  # what is wrong with the folder
    **{
        f"others can write it, {mode:o}": lambda folder, _, mode=mode: folder.chmod(mode)
        for mode in (0o770, 0o720, 0o702, 0o1777)
    },
    "it is of somebody else": lambda _, patch: patch.setattr(os, "geteuid", lambda: os.getuid() + 1),
    "it is a link": replace_by("whole"),
    "it is a link to nowhere": replace_by("dangling"),
    "it is a file": lambda folder, _: (shutil.rmtree(folder), folder.touch()),
    "that of all folders is a file": lambda folder, _: (shutil.rmtree(folder.parent), folder.parent.touch()),
    "it cannot be written": lambda _, patch: patch.setattr(os, "access", lambda *_: False),
    "its system is read-only": lambda _, patch: patch.setattr(os, "utime", refuse),
    "the sources are in an archive": lambda _, patch: patch.setattr(load, "SOURCES", []),
}


@on_posix
@pytest.mark.parametrize("wrong", UNUSED)
def test_a_folder_that_is_not_writable_or_that_others_can_write_is_not_used(home, monkeypatch, count_again, wrong):
    count_again(1)
    [folder] = home.iterdir()
    with monkeypatch.context() as patch:
        UNUSED[wrong](folder, patch)
        before = saved(home) if home.exists() else None
        assert find_folder() is None
        count_again(1)
        assert (saved(home) if home.exists() else None) == before
    if wrong.startswith("others"):
        folder.chmod(0o755)
        count_again(0)


def test_the_folder_is_in_the_cache_of_the_user(monkeypatch, tmp_path):
    def refuse():
        raise RuntimeError("Could not determine home directory.")

    name = f"xmceval-{load.digest()}"
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "user")
    for value, folder in {str(tmp_path / "caches"): "caches", "relative": "user/.cache", "": "user/.cache"}.items():
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert find_folder() == tmp_path / folder / name
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert find_folder() == tmp_path / "user" / ".cache" / name
    monkeypatch.setattr(Path, "home", refuse)
    assert find_folder() is None


# Damaged files.


def test_any_changed_byte_is_noticed(home, count_again):
    count_again(1)
    [path] = home.rglob("*.o")
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        assert read_object("test_compile.count_up", path.parent) is None
    count_again(1)
    count_again(0)


@pytest.mark.parametrize("damage", [lambda _: b"", lambda content: content[:-1], lambda content: content + b"\0"])
def test_damaged_files_are_replaced(home, count_again, damage):
    count_again(1)
    [path] = home.rglob("*.o")
    path.write_bytes(damage(path.read_bytes()))
    count_again(1)
    count_again(0)


def test_a_file_that_is_that_of_another_kernel_is_replaced(home, count_again):
    count_again(1)
    [path] = home.rglob("*.o")
    content = path.read_bytes()
    add(NUMBERS, NUMBERS)
    other = path.with_name("test_compile.add_arrays.o")
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)
    count_again(1)
    assert add(NUMBERS, NUMBERS) == [0.0, 4.0, 8.0]


@on_posix
@pytest.mark.parametrize("number", [13, 28, 30])
def test_a_failed_save_costs_nothing(home, monkeypatch, count_again, number):
    def fail(source, target):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        count_again(1)
    for size in (0, 500):  # of a full disk
        with room(size):
            count_again(1)
    assert saved(home) == ["lock"]
    count_again(1)
    count_again(0)


# Old folders.


def test_folders_without_use_for_a_month_are_removed(home, tmp_path, count_again):
    def make(name, days):
        folder = home / name
        folder.mkdir(parents=True, mode=0o700)
        (folder / "a.o").touch()
        os.utime(folder, (time.time() - days * 86400,) * 2)
        return folder

    count_again(1)
    os.utime(find_folder(), (0, 0))
    count_again(0)
    assert find_folder().stat().st_mtime > time.time() - 60, "a call makes a folder recent"
    shutil.rmtree(find_folder())
    old, recent = make(f"xmceval-{1:016x}", 31), make(f"xmceval-{2:016x}", 29)
    foreign = [make("xmceval-data", 99), make(f"xmceval-{3:017x}", 99), make(f"numba-{4:016x}", 99)]
    shared = make(f"xmceval-{5:016x}", 99)
    shared.chmod(0o777)
    link = home / f"xmceval-{6:016x}"
    link.symlink_to(make("target", 99))
    count_again(1)
    remaining = {recent, *foreign, shared, link, home / "target", find_folder()}
    assert set(home.iterdir()) == remaining
    assert not old.exists()
    assert all((path / "a.o").exists() for path in remaining - {find_folder()})


# The digest.


def test_the_digest_changes_with_every_source(tmp_path):
    folder = tmp_path / "kernels"
    shutil.copytree(Path(load.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    sources = [load.read_sources(folder)]
    assert sources == [load.SOURCES]
    paths = sorted(folder.rglob("*.py"))
    assert len(paths) > 20
    edits = [partial(path.write_text, path.read_text() + "# edited\n") for path in paths]
    another = folder / "another.py"
    for edit in (*edits, another.touch, lambda: another.rename(folder / "other.py")):
        edit()
        sources.append(load.read_sources(folder))
    assert len(set(map(repr, sources))) == len(paths) + 3
    (folder / "notes.txt").touch()
    assert load.read_sources(folder) == sources[-1]
    assert not load.read_sources(tmp_path / "a.zip" / "kernels"), "of an archive"


@pytest.mark.parametrize("name", ["NUMBA_OPT", "NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", *sorted(load.HARMLESS)])
def test_the_digest_changes_with_settings_of_numba_that_change_code(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert (load.digest.__wrapped__() == load.digest()) == (name in load.HARMLESS)


# Processes.

FAR = """
from xmceval.kernels.load import helper
STEP = 10

@helper
def far(x):
    return x + STEP
"""
NEAR = """
from xmceval.kernels.load import helper
from xmceval.kernels.far import far
STEP = 1

@helper
def near(x):
    return far(x) + STEP
"""
USED = """
from xmceval.kernels.load import kernel
from xmceval.kernels.near import near

@kernel("i8", returns="i8")
def use(x):
    return near(x)
"""
# Prints a result, and whether it was compiled here.
USE = "from xmceval.kernels.used import use; import sys; print(use(0), 'numba' in sys.modules)"


@pytest.fixture
def project(tmp_path):
    """A package of kernels: one with a helper in another file, which calls one in a third."""
    folder = tmp_path / "project" / "xmceval" / "kernels"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    for module in (load, compiling):
        shutil.copy(module.__file__, folder)
    for name, source in (("__init__", ""), ("far", FAR), ("near", NEAR), ("used", USED)):
        (folder / f"{name}.py").write_text(source)
    return folder


def start(project, code=USE, /, *, before="", stderr=subprocess.PIPE, cwd=None, **options):
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(project.parents[2] / "cache"), **options}
    environ["PYTHONPATH"] = str(project.parents[1])
    command = [sys.executable, "-W", "error", "-c", f"{before}\n{code}"]
    cwd = cwd or project.parents[1]
    return subprocess.Popen(command, cwd=cwd, env=environ, stdout=subprocess.PIPE, stderr=stderr, text=True)


def run(project, *args, **options):
    process = start(project, *args, **options)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err or "") == (0, "")
    return out


def test_an_edit_in_another_file_is_never_missed(project, tmp_path):
    # Of another length: Python takes bytecode for current that has the size of the source and its second.
    edit = "import xmceval.kernels.used, pathlib\n"
    edit += f"pathlib.Path('xmceval/kernels/far.py').write_text({FAR.replace('10', '200')!r})"
    assert run(project, before=edit) == "11 True\n", "what was imported before an edit is saved as what it is"
    assert [run(project), run(project)] == ["201 True\n", "201 False\n"]
    (project / "used.py").write_text(USED.replace("near(x)", "near(x) + 1000"))
    assert run(project) == "1201 True\n"
    assert len(list((tmp_path / "cache").iterdir())) == 3


def test_processes_that_start_together_compile_once(project, tmp_path):
    processes = [start(project) for _ in range(3)]
    outputs = sorted(process.communicate(timeout=120) for process in processes)
    assert outputs == [("11 False\n", "")] * 2 + [("11 True\n", "")]
    assert saved(tmp_path / "cache") == ["lock", "used.use.o"]


SLOWLY = """
from xmceval.kernels import load
def wait(*_):
    import time
    print("begun", flush=True)
    time.sleep(60)
load.compile_object = wait
"""


@on_posix
def test_a_lock_ends_with_its_process_and_after_a_minute(project):
    holder = start(project, before=SLOWLY)
    assert holder.stdout.readline() == "begun\n"
    shorter = "from xmceval.kernels import load; load.make_object.__defaults__ = (0.3,)"
    assert run(project, before=shorter) == "11 True\n", "a run that waited long enough compiles for itself"
    holder.kill()
    holder.communicate()
    shutil.rmtree(project.parents[2] / "cache")
    holder = start(project, before=SLOWLY)
    assert holder.stdout.readline() == "begun\n"
    waiting = start(project)
    time.sleep(0.5)
    holder.kill()
    holder.communicate()
    assert waiting.communicate(timeout=60) == ("11 True\n", "")


NOBODY = """
import os
from xmceval.kernels.load import digest, find_folder
digest()  # loads modules, which nobody may not read
os.setgid(65534), os.setuid(65534), os.environ.pop("HOME", None)
for os.environ["NUMBA_CACHE_DIR"] in ("", "/", "/proc/caches"):
    print(find_folder())
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become nobody")
def test_the_user_nobody_has_no_folder(project):
    assert run(project, NOBODY) == "None\n" * 3


def test_plain_python_needs_neither_a_folder_nor_a_compiler(project, tmp_path):
    listed = f"{USE}; print('llvmlite' in sys.modules)"
    assert run(project, listed, NUMBA_DISABLE_JIT="1") == "11 False\nFalse\n"
    assert not (tmp_path / "cache").exists()


# Forks while another thread compiles.
FORK = """
import os, signal, threading
import concurrent.futures.thread, logging  # which complain if they are loaded while a fork waits
from xmceval.kernels import load
from xmceval.kernels.used import use

find, is_inside = load.find_folder, threading.Event()
def find_slowly():
    is_inside.set()
    import time; time.sleep(0.3)
    return find()
load.find_folder = find_slowly
thread = threading.Thread(target=use, args=(0,))
thread.start()
is_inside.wait()
number = os.fork()
signal.alarm(60)
if number == 0:
    print(use(0), flush=True)
    os._exit(0)
thread.join()
print(os.waitpid(number, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_while_another_thread_compiles_does_not_hang(project):
    assert run(project, before="import warnings; warnings.simplefilter('ignore')" + FORK) == "11\n0\n11 True\n"


# Other processes that compile.

TOGETHER = """
import os, sys
sys.path.remove("")  # the working folder, which a command has not on its path
from xmceval.kernels import load
from xmceval.kernels.more import more
from xmceval.kernels.used import use
load.USUAL = ["used.use", "more.more"]
load.begin_command(lambda _: None)
os.sched_getaffinity = lambda _: {0, 1}
print(use(0), more(0), "numba" in sys.modules)
"""


@pytest.fixture
def work(project, tmp_path):
    """A folder to work in, nothing of which is imported, and another kernel."""
    (project / "more.py").write_text(USED.replace("def use", "def more"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "numba.py").write_text("raise SystemExit")
    return folder


def test_a_command_lets_others_compile_what_it_needs(project, tmp_path, work):
    assert run(project, TOGETHER, cwd=work) == "11 11 False\n"
    assert saved(tmp_path / "cache") == ["lock", "more.more.o", "used.use.o"]


@on_posix
def test_others_end_with_a_command_that_is_killed(project, tmp_path, work):
    (project / "far.py").write_text(f"{FAR}\nimport sys, time\nif '-m' in sys.orig_argv: time.sleep(100)\n")
    mark = f"NUMBA_CACHE_DIR={tmp_path / 'cache'}\0".encode()

    def relatives():
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                found += [path] if mark in path.read_bytes() else []
        return found

    with start(project, TOGETHER, cwd=work) as process:
        wait_for(lambda: len(relatives()) == 3)
        process.kill()
    wait_for(lambda: not relatives())
    assert not saved(tmp_path / "cache")


# The note.


@pytest.fixture
def renew(monkeypatch):
    """A function that makes a note which has not been shown yet, and waits so long before it is."""

    def renew(patience=load.PATIENCE):
        monkeypatch.setattr(load, "_note", load._Note())
        load._note.patience = patience
        load._note.show = shown.append
        return shown

    shown = []
    return renew


def test_the_note_says_what_becomes_of_compiled_code(home, renew, count_again):
    notes = renew(0.0)
    count_again(1)
    count_again(0)
    assert notes == [load.COMPILING], "once in a process"
    renew(0.0)
    home.joinpath(f"xmceval-{load.digest()}").chmod(0o777)
    count_again(1)
    assert notes[1:] == [load.UNSAVED]


@pytest.mark.usefixtures("home")
def test_the_note_appears_after_a_second_of_compiling_alone(renew, count_again):
    notes = renew(100.0)
    count_again(1)
    assert 0 < load._note.patience < 100
    for patience in (load._note.patience, 0.0):
        load._note.patience = patience
        count_again(0)
        assert (load._note.patience, notes) == (patience, [])


@pytest.mark.usefixtures("home")
def test_a_note_that_cannot_be_shown_ends_nothing(renew, count_again):
    renew(0.0)
    load._note.show = lambda text: 1 / 0
    count_again(1)


SOON = "from xmceval.kernels import load; load._note.patience = 0.0"


@on_posix
def test_in_python_the_note_appears_on_a_terminal_alone(project, tmp_path):
    ours, theirs = pty.openpty()
    try:
        assert run(project, before=SOON, stderr=theirs) == "11 True\n"
        assert os.read(ours, 1000).decode() == f"xmceval: {load.COMPILING}\r\n"
    finally:
        os.close(ours)
        os.close(theirs)
    shutil.rmtree(tmp_path / "cache")
    assert run(project, before=f"{SOON}; import sys; sys.stderr = None") == "11 True\n"


COMMAND = f"from xmceval.__main__ import main\n{SOON}\nmain()"


def test_the_command_warm_compiles_what_is_missing_and_says_where(tmp_path):
    cache = tmp_path / "cache" / find_folder().name
    shutil.copytree(find_folder(), cache)
    for name in ("rows.tally.count_labels", "text.pairs.write_as_pairs"):
        (cache / f"{name}.o").unlink()
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache.parent)}
    command = [sys.executable, "-m", "xmceval", "warm"]
    ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    n_kernels = len(list(find_folder().glob("*.o")))
    assert ended.stdout == f"{n_kernels} kernels in {cache}\n"
    assert sum(name.endswith(".o") for name in saved(cache)) == n_kernels


def test_a_command_writes_the_note_to_stderr_once(tmp_path):
    """The compiled code that there is, less one kernel, spares it compiling all of them."""
    Path("t.txt").write_text("1:1 0:1\n" * 9)
    cache = tmp_path / "cache" / find_folder().name
    shutil.copytree(find_folder(), cache)

    def count_notes(*options, stderr=subprocess.PIPE):
        command = [sys.executable, "-c", COMMAND, "convert", "t.txt", "t.npz", "--force", *options]
        environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache.parent)}
        ended = subprocess.run(command, env=environ, stdout=subprocess.PIPE, stderr=stderr, text=True, check=True)
        return (ended.stderr or "").count(load.COMPILING)

    def remove():
        for path in cache.glob("rows.checks.*"):
            path.unlink()

    remove()
    assert [count_notes(), count_notes()] == [1, 0]
    remove()
    assert count_notes("-q") == 0
    remove()
    ours, theirs = pty.openpty()
    count_notes("-q", stderr=theirs)
    os.close(theirs)
    assert load.COMPILING in os.read(ours, 10_000).decode()
    os.close(ours)
