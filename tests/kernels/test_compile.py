"""How kernels are compiled, and the folder of their code: who may write it, and what damaged or lacks a file in it."""

import os
import pickle
import pty
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numba
import pytest
from support.processes import room

from xmceval.kernels import compile as compiling
from xmceval.kernels.compile import Kernel, find_folder
from xmceval.kernels.rows.tally import count_labels

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
on_posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners and modes")


def count_up(x):
    """Return the next number."""
    return x + 1


def count_down(x):
    """Return the number before."""
    return x - 1


def add_up(x, y):
    """Return a sum."""
    return x + y


def return_it(x):
    """Return a number, unless it is below zero."""
    if x < 0:
        raise ValueError("below zero")
    return x


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folder of caches."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "home"))
    return tmp_path / "home"


def count_again(n_compiled):
    """Call a new kernel, which gives what it must, and was compiled this often, or loaded."""
    fresh = Kernel(count_up)
    assert fresh(3) == 4
    assert len(fresh.signatures) == 1
    assert sum(fresh._run.stats.cache_misses.values()) == n_compiled
    assert sum(fresh._run.stats.cache_hits.values()) == 1 - n_compiled
    assert not list(Path(__file__).parent.rglob("*.nbi")), "saved next to the source"


def saved(home):
    return sorted(path.suffix for path in home.rglob("*") if path.is_file())


# A call.


@on_posix
@pytest.mark.parametrize("umask", [0, 0o002, 0o077])
def test_compiled_code_is_saved_once_in_a_private_folder_whatever_the_umask(home, umask):
    before = os.umask(umask)
    try:
        count_again(1)
    finally:
        os.umask(before)
    [folder] = home.iterdir()
    assert re.fullmatch("xmceval-[0-9a-f]{16}", folder.name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert saved(home) == [".nbc", ".nbi"]
    names = {path.name.partition("-")[0] for path in folder.rglob("*.nb?")}
    assert names == {f"test_compile.count_up_{compiling.digest()}"}
    count_again(0)
    assert str(home) == numba.config.CACHE_DIR


def test_threads_share_one_compiled_kernel(home):
    fresh, results = Kernel(count_up), []
    threads = [threading.Thread(target=lambda: results.append(fresh(3))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [4] * 8
    assert sum(fresh._run.stats.cache_misses.values()) == 1


def test_kernels_pass_between_processes_by_name():
    assert pickle.loads(pickle.dumps(count_labels)) is count_labels


@pytest.mark.usefixtures("home")
def test_errors_keep_their_kind_and_arguments_that_cannot_be_compiled_leave_the_folder():
    fresh = Kernel(return_it)
    assert fresh(3) == 3
    with pytest.raises(ValueError, match=r"\Abelow zero\Z"):
        fresh(-1)
    count_again(1)
    with pytest.raises(ValueError, match="Cannot determine Numba type"):
        Kernel(count_up)(object())
    count_again(0)


# Who may write the folder.


def check_unused(home):
    """Code is neither saved nor loaded, and the folder stays."""
    before = saved(home) if home.exists() else None
    assert find_folder() is None
    for _ in range(2):
        count_again(1)
    assert (saved(home) if home.exists() else None) == before


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
    "the sources are in an archive": lambda _, patch: patch.setattr(compiling, "SOURCES", ""),
}


@on_posix
@pytest.mark.parametrize("wrong", UNUSED)
def test_a_folder_that_is_not_writable_or_that_others_can_write_is_not_used(home, monkeypatch, wrong):
    count_again(1)
    [folder] = home.iterdir()
    with monkeypatch.context() as patch:
        UNUSED[wrong](folder, patch)
        check_unused(home)
    if wrong.startswith("others"):
        folder.chmod(0o755)
        count_again(0)


def test_numba_chooses_no_folder_itself(monkeypatch, tmp_path):
    """Where it cannot write, it falls back to a folder next to the source."""
    (tmp_path / "file").touch()
    monkeypatch.setattr(compiling, "find_folder", lambda: tmp_path / "file" / "gone")
    count_again(1)


@pytest.mark.skipif(not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this numba has no such setting")
@pytest.mark.parametrize("name", ["InTreeCacheLocator", "UserWideCacheLocator", "ZipCacheLocator"])
def test_no_setting_of_numba_chooses_another_folder(home, monkeypatch, name):
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", name)
    count_again(1)
    assert saved(home) == []


def test_the_folder_is_in_the_cache_of_the_user(monkeypatch, tmp_path):
    def refuse():
        raise RuntimeError("Could not determine home directory.")

    name = f"xmceval-{compiling.digest()}"
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "user")
    for value, folder in {str(tmp_path / "caches"): "caches", "relative": "user/.cache", "": "user/.cache"}.items():
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert find_folder() == tmp_path / folder / name
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert find_folder() == tmp_path / "user" / ".cache" / name
    monkeypatch.setattr(Path, "home", refuse)
    assert find_folder() is None


# Damaged files.

DAMAGE = {
    "empty": lambda content: b"",
    "short": lambda content: content[: len(content) // 2],
    "garbage": lambda content: bytes(range(256)),
    "list": lambda content: pickle.dumps([1, 2]),
    "class": lambda content: b"cno_module\nno_class\n.",
    "version": lambda content: pickle.dumps(numba.__version__) + b"garbage",
    "missing": None,
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_damaged_and_missing_files_are_replaced(home, ending, damage):
    count_again(1)
    (home / "other").mkdir()
    [path] = home.rglob(f"*.{ending}")
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    fresh = Kernel(count_up)
    assert fresh(3) == 4
    if not path.exists():  # numba itself replaces an index of another version
        assert saved(home) == []
        count_again(1)
    count_again(0)
    assert len(list(home.iterdir())) == 2


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("other", [count_down, add_up])
def test_a_file_that_is_that_of_another_kernel_is_replaced(home, other, ending):
    arguments = range(other.__code__.co_argcount)
    count_again(1)
    Kernel(other)(*arguments)
    ours, theirs = (next(home.rglob(f"*.{name}_*.{ending}")) for name in ("count_up", other.__name__))
    content = ours.read_bytes()
    ours.write_bytes(theirs.read_bytes())
    theirs.write_bytes(content)
    assert Kernel(count_up)(3) == 4
    assert Kernel(other)(*arguments) == other(*arguments)
    for _ in range(2):
        assert Kernel(count_up)(3) == 4
    count_again(0)


@on_posix
@pytest.mark.parametrize("number", [13, 28, 30])
def test_a_failed_save_costs_nothing(home, monkeypatch, number):
    def fail(source, target):
        raise OSError(number, os.strerror(number))

    assert Kernel(return_it)(3) == 3
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        count_again(1)
    assert saved(home) == [".nbc", ".nbi"], "what was saved before stays"
    for size in (0, 3000):  # of a full disk
        with room(size):
            count_again(1)
    count_again(1)
    count_again(0)


# Old folders.


def test_folders_without_use_for_a_month_are_removed(home, tmp_path):
    def make(name, days):
        folder = home / name
        folder.mkdir(parents=True, mode=0o700)
        (folder / "a.nbi").touch()
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
    assert all((path / "a.nbi").exists() for path in remaining - {find_folder()})


# The digest.


def test_the_digest_changes_with_every_source(tmp_path):
    folder = tmp_path / "kernels"
    shutil.copytree(Path(compiling.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    digests = [compiling.digest_files(folder)]
    assert digests == [compiling.SOURCES]
    paths = sorted(folder.rglob("*.py"))
    assert len(paths) > 20
    edits = [partial(path.write_text, path.read_text() + "# edited\n") for path in paths]
    another = folder / "another.py"
    for edit in (*edits, another.touch, lambda: another.rename(folder / "other.py")):
        edit()
        digests.append(compiling.digest_files(folder))
    assert len(set(digests)) == len(paths) + 3
    (folder / "notes.txt").touch()
    assert compiling.digest_files(folder) == digests[-1]
    assert compiling.digest_files(tmp_path / "a.zip" / "kernels") == "", "of an archive"


SETTINGS = {"OPT": 1, "BOUNDSCHECK": 1, "CPU_NAME": "generic", "ENABLE_AVX": 0, "DEBUGINFO_DEFAULT": 1}


@pytest.mark.parametrize("name", [*SETTINGS, "NUMBA_NUM_THREADS"])
def test_the_digest_changes_with_settings_of_numba_but_the_number_of_threads(monkeypatch, name):
    monkeypatch.setattr(numba.config, name, SETTINGS.get(name, 1))
    assert (compiling.digest.__wrapped__() == compiling.digest()) == (name not in SETTINGS)


# Processes.

FAR = """
from kernels.compile import helper
STEP = 10

@helper
def far(x):
    return x + STEP
"""
NEAR = """
from kernels.compile import helper
from kernels.far import far
STEP = 1

@helper
def near(x):
    return far(x) + STEP
"""
USED = """
from kernels.compile import kernel
from kernels.near import near

@kernel
def use(x):
    return near(x)
"""
USE = """
from kernels.used import use
print(use(0), *(sum(use._run.stats.cache_misses.values()) for _ in range(hasattr(use._run, "stats"))))
"""


@pytest.fixture
def project(tmp_path):
    """A folder of kernels: one with a helper in another file, which calls one in a third."""
    folder = tmp_path / "project" / "kernels"
    folder.mkdir(parents=True)
    shutil.copy(compiling.__file__, folder)
    for name, source in (("__init__", ""), ("far", FAR), ("near", NEAR), ("used", USED)):
        (folder / f"{name}.py").write_text(source)
    return folder


def start(project, code=USE, /, *, before="", stderr=subprocess.PIPE, **options):
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(project.parents[1] / "cache"), **options}
    command = [sys.executable, "-W", "error", "-c", f"{before}\n{code}"]
    return subprocess.Popen(command, cwd=project.parent, env=environ, stdout=subprocess.PIPE, stderr=stderr, text=True)


def run(project, *args, **options):
    process = start(project, *args, **options)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err or "") == (0, "")
    return out


def test_an_edit_in_another_file_is_never_missed(project, tmp_path):
    # Of another length: Python takes bytecode for current that has the size of the source and its second.
    edit = f"import kernels.used, pathlib\npathlib.Path('kernels/far.py').write_text({FAR.replace('10', '200')!r})"
    assert run(project, before=edit) == "11 1\n", "what was imported before an edit is saved as what it is"
    assert [run(project), run(project)] == ["201 1\n", "201 0\n"]
    (project / "used.py").write_text(USED.replace("near(x)", "near(x) + 1000"))
    assert run(project) == "1201 1\n"
    assert len(list((tmp_path / "cache").iterdir())) == 3
    assert not list(project.rglob("*.nbi"))


def test_processes_at_once_need_no_lock(project, tmp_path):
    processes = [start(project) for _ in range(3)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert {out.split()[0] for out, _ in outputs} == {"11"}
    assert [err for _, err in outputs] == [""] * 3
    assert run(project) == "11 0\n"
    assert saved(tmp_path / "cache") == [".nbc", ".nbi"]


NOBODY = """
import os, numba
from kernels.compile import find_folder
os.setgid(65534), os.setuid(65534), os.environ.pop("HOME", None)
for numba.config.CACHE_DIR in ("", "/", "/proc/caches"):
    print(find_folder())
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become nobody")
def test_the_user_nobody_has_no_folder(project):
    assert run(project, NOBODY) == "None\n" * 3


def test_without_the_compiler_there_is_no_folder(project, tmp_path):
    assert run(project, NUMBA_DISABLE_JIT="1") == "11\n"
    assert not (tmp_path / "cache").exists()


# Forks while another thread compiles.
FORK = """
import os, signal, threading
from kernels import compile as compiling
from kernels.used import use

find, is_inside = compiling.find_folder, threading.Event()
def find_slowly():
    is_inside.set()
    import time; time.sleep(0.3)
    return find()
compiling.find_folder = find_slowly
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
    assert run(project, before="import warnings; warnings.simplefilter('ignore')" + FORK) == "11\n0\n11 1\n"


# The note.


@pytest.fixture
def renew(monkeypatch):
    """A function that makes a note which has not been shown yet, and waits so long before it is."""

    def renew(patience=compiling.PATIENCE):
        monkeypatch.setattr(compiling, "_note", compiling._Note())
        compiling._note.patience = patience
        compiling.show_notes(shown.append)
        return shown

    shown = []
    return renew


def test_the_note_says_what_becomes_of_compiled_code(home, renew):
    notes = renew(0.0)
    count_again(1)
    count_again(0)
    assert notes == [compiling.COMPILING], "once in a process"
    renew(0.0)
    home.joinpath(f"xmceval-{compiling.digest()}").chmod(0o777)
    count_again(1)
    assert notes[1:] == [compiling.UNSAVED]


@pytest.mark.usefixtures("home")
def test_the_note_appears_after_a_second_of_compiling_alone(renew):
    notes = renew()
    count_again(1)
    assert 0 < compiling._note.patience < compiling.PATIENCE == 1.0
    for patience in (compiling._note.patience, 0.0):
        compiling._note.patience = patience
        count_again(0)
        assert (compiling._note.patience, notes) == (patience, [])


@pytest.mark.usefixtures("home")
def test_a_note_that_cannot_be_shown_ends_nothing(renew):
    renew(0.0)
    compiling.show_notes(lambda text: 1 / 0)
    count_again(1)


SOON = "from kernels import compile as compiling; compiling._note.patience = 0.0"


@on_posix
def test_in_python_the_note_appears_on_a_terminal_alone(project, tmp_path):
    ours, theirs = pty.openpty()
    try:
        assert run(project, before=SOON, stderr=theirs) == "11 1\n"
        assert os.read(ours, 1000).decode() == f"xmceval: {compiling.COMPILING}\r\n"
    finally:
        os.close(ours)
        os.close(theirs)
    shutil.rmtree(tmp_path / "cache")
    again = f"{USE}\n{SOON.replace('.patience', ' = compiling._Note(); compiling._note.patience')}"
    again += "; import sys; sys.stderr = None; print(use(0.5))"  # of another type, and compiled again
    assert run(project, again, before=SOON) == "11 1\n11.5\n"


COMMAND = f"from xmceval.__main__ import main\n{SOON.replace('from kernels', 'from xmceval.kernels')}\nmain()"


def test_a_command_writes_the_note_to_stderr_once(tmp_path):
    """The compiled code that there is, less one kernel, spares it compiling all of them."""
    Path("t.txt").write_text("1:1 0:1\n" * 9)
    cache = tmp_path / "cache" / find_folder().name
    shutil.copytree(find_folder(), cache)

    def count_notes(*options):
        command = [sys.executable, "-c", COMMAND, "convert", "t.txt", "t.npz", "--force", *options]
        environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache.parent)}
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stderr.count(
            compiling.COMPILING
        )

    def remove():
        for path in cache.rglob("checks.*"):
            path.unlink()

    remove()
    assert [count_notes(), count_notes()] == [1, 0]
    remove()
    assert count_notes("-q") == 0
