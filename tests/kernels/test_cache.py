"""The cache of compiled kernels: what makes a saved form stale, damaged, or another's."""

import functools
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest
from numba import config
from support.processes import COUNT

from xmceval.kernels.compile import cache, entries
from xmceval.kernels.compile.decorators import Kernel
from xmceval.kernels.compile.forms import HEADER, MARK, Form
from xmceval.kernels.compile.settings import FILE, WITH_NUMBA

KERNELS = Path(cache.__file__).parents[1]
compiling = pytest.mark.skipif(bool(config.DISABLE_JIT) or WITH_NUMBA, reason="nothing is compiled in the short way")


def count_up(x):
    """Return the next number."""
    return x + 1


# The digest of sources.


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of all kernels, with one in a sub-folder, that digests are taken of."""
    folder = tmp_path / "kernels"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "deep" / "deeper").mkdir(parents=True)
    (folder / "deep" / "deeper" / "new.py").write_text("STEP = 1\n")
    monkeypatch.setattr(cache, "__file__", str(folder / "compile" / "cache.py"))
    return folder


def test_a_digest_changes_with_every_source_below_the_folder_of_kernels(copied):
    digest_of_folder = cache._digest_of_folder.__wrapped__
    digests = {digest_of_folder()}
    paths = sorted(copied.rglob("*.py"))
    assert len(paths) > 40
    for path in paths:
        path.write_text(path.read_text() + "# edited\n")
        digests.add(digest_of_folder())
    (copied / "another.py").touch()
    digests.add(digest_of_folder())
    (copied / "another.py").rename(copied / "other.py")
    digests.add(digest_of_folder())
    assert len(digests) == len(paths) + 3
    shutil.copytree(KERNELS, copied / "__pycache__")
    assert digest_of_folder() in digests


def test_kernels_in_an_archive_have_a_digest_of_it(copied, monkeypatch, tmp_path):
    for content in (b"1", b"2"):
        with zipfile.ZipFile(tmp_path / f"{content.decode()}.zip", "w") as archive:
            archive.writestr("kernels/compile/cache.py", content)
    digests = set()
    for name in ("1.zip", "2.zip"):
        monkeypatch.setattr(cache, "__file__", str(tmp_path / name / "kernels" / "compile" / "cache.py"))
        digests.add(cache._digest_of_folder.__wrapped__())
    assert len(digests) == 2


def test_a_digest_covers_the_file_of_a_kernel_outside_the_folder(tmp_path, monkeypatch):
    def digest(source):
        path = tmp_path / "outside.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location("outside", path)
        return cache.digest_of_source(importlib.util.module_from_spec(spec))

    assert digest("A = 1\n") == digest("A = 1\n") != digest("A = 2\n")


@compiling
def test_what_was_compiled_while_sources_were_edited_is_not_saved(copied, tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    monkeypatch.setattr(cache, "_digest_of_folder", functools.cache(cache._digest_of_folder.__wrapped__))
    slot = cache.Slot(count_up, "", "")
    slot.write(b"x")
    [path] = tmp_path.glob("*.nbc")
    path.unlink()
    (copied / "topk.py").write_text("# edited\n")
    slot.write(b"x")
    assert not list(tmp_path.glob("*.nbc"))


# Files.

FORM = Form("entry.f", "Tqd", ("memcpy", "pow"), bytes(range(256)))


@pytest.mark.parametrize(
    "form", [FORM, FORM._replace(results=""), FORM._replace(results="?"), FORM._replace(names=(), code=b"")]
)
def test_a_form_is_the_same_after_a_round_trip(form):
    assert Form.from_bytes(form.to_bytes()) == form


def test_a_form_of_another_length_is_none():
    content = FORM.to_bytes()
    assert not [n for n in range(len(content)) if Form.from_bytes(content[:n])]
    assert Form.from_bytes(content + b"\0") is None
    assert Form.from_bytes(b"x" + content[1:]) is None
    assert Form.from_bytes(HEADER.pack(MARK, 1, 1, 0, 0) + b"ax") is None
    assert Form.from_bytes(HEADER.pack(MARK, 1, 0, 0, 0) + b"\xff") is None
    assert Form.from_bytes(HEADER.pack(MARK, 0, 0, 0, 2**64 - 1)) is None


@pytest.fixture
def slot(tmp_path, monkeypatch):
    folder = tmp_path / "saved"
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    monkeypatch.setattr(cache, "_candidates", lambda: [folder])
    monkeypatch.setattr(cache, "folders", lambda: [folder])
    cache._may_be_used.cache_clear()
    cache._is_writable.cache_clear()
    return cache.Slot(count_up, "machine", "int")


def path_of(slot):
    [folder] = cache._candidates()
    return folder / slot._file


def test_no_damaged_file_is_read(slot):
    slot.write(FORM.to_bytes())
    path = path_of(slot)
    content = path.read_bytes()
    assert [Form.from_bytes(each) for each in slot.read()] == [FORM]
    damaged = [content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :] for at in range(len(content))]
    damaged += [content[:n] for n in range(len(content))] + [content + b"\0", content * 2]
    for each in damaged:
        path.write_bytes(each)
        assert list(slot.read()) == []


def test_a_file_under_another_name_is_not_read(slot):
    slot.write(FORM.to_bytes())
    for machine, signature in (("machine", "float"), ("other", "int")):
        other = cache.Slot(count_up, machine, signature)
        path_of(slot).rename(path_of(other))
        assert list(other.read()) == []
        path_of(other).rename(path_of(slot))
    assert list(slot.read()) == [FORM.to_bytes()]


def test_whatever_the_umask_what_is_saved_is_read_again(slot):
    before = os.umask(0)
    try:
        cache._candidates()[0].rmdir()
        cache._is_writable(cache._candidates()[0])
        slot.write(FORM.to_bytes())
    finally:
        os.umask(before)
    assert list(slot.read()) == [FORM.to_bytes()]


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o646, 0o602])
def test_a_file_that_others_may_write_is_not_read(slot, mode):
    slot.write(FORM.to_bytes())
    path_of(slot).chmod(mode)
    assert list(slot.read()) == []


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o757, 0o1777])
def test_a_folder_that_others_may_write_is_neither_read_nor_written(slot, mode, monkeypatch):
    slot.write(FORM.to_bytes())
    [folder] = cache._candidates()
    folder.chmod(mode)
    cache._may_be_used.cache_clear()
    cache._is_writable.cache_clear()
    monkeypatch.setattr(cache, "folders", lambda: list(cache._folders()))
    assert (list(slot.read()), cache.folder_to_write(), cache._is_writable(folder)) == ([], None, False)
    assert slot.folder_of_numba() is None


@pytest.mark.parametrize(
    ("owner", "me", "mode", "is_ours"),
    [(0, 5, 0o755, True), (5, 5, 0o700, True), (6, 5, 0o755, False), (6, 0, 0o755, False), (0, 0, 0o757, False)],
)
def test_only_this_user_and_the_administrator_are_trusted(monkeypatch, owner, me, mode, is_ours):
    monkeypatch.setattr(os, "geteuid", lambda: me)
    found = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    assert cache._is_ours(found) is is_ours


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can give files away")
def test_what_somebody_else_owns_is_neither_read_nor_written(slot, monkeypatch):
    slot.write(FORM.to_bytes())
    os.chown(path_of(slot), 65534, 65534)
    assert list(slot.read()) == []
    os.chown(path_of(slot), 0, 0)
    [folder] = cache._candidates()
    os.chown(folder, 65534, 65534)
    cache._may_be_used.cache_clear()
    cache._is_writable.cache_clear()
    monkeypatch.setattr(cache, "folders", lambda: list(cache._folders()))
    assert (list(slot.read()), cache.folder_to_write()) == ([], None)


# What names a file: versions and settings.


def test_a_numba_without_a_file_of_its_version_has_one_all_the_same(monkeypatch, tmp_path):
    spec = importlib.util.spec_from_file_location("numba", tmp_path / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert cache.version_of_numba() == version("numba")


CHANGE = "import numba; numba.config.BOUNDSCHECK = 1\n"


def run(tmp_path, code, /, **variables):
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **variables}
    (tmp_path / "work").mkdir(exist_ok=True)
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=tmp_path / "work", env=environ, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def saved(tmp_path):
    return {path.name for path in (tmp_path / "cache").rglob("*.nbc")}


@compiling
def test_each_setting_of_numba_has_files_of_its_own(tmp_path):
    pytest.importorskip("yaml")
    assert [run(tmp_path, COUNT) for _ in range(2)] == ["1 0 2 1\n", "1 0 2 0\n"]
    seen = [saved(tmp_path)]

    def check(code, **variables):
        assert [run(tmp_path, code, **variables) for _ in range(2)] == ["1 0 2 1\n", "1 0 2 0\n"]
        seen.append(saved(tmp_path))
        assert len(seen[-1]) == len(seen[-2]) + 1
        assert seen[-1] > seen[-2]

    check(COUNT, NUMBA_OPT="1")
    check(CHANGE + COUNT)
    (tmp_path / "work" / FILE).write_text("cpu_name: generic\n")
    check(COUNT)
    (tmp_path / "work" / FILE).unlink()
    assert [run(tmp_path, COUNT, NUMBA_NUM_THREADS=n) for n in "12"] == ["1 0 2 0\n"] * 2
    assert saved(tmp_path) == seen[-1]


@compiling
@pytest.mark.parametrize(
    "change",
    [
        "import numba; numba.config.BOUNDSCHECK = 1",
        "import os; os.environ['NUMBA_OPT'] = '1'",
        f"open({FILE!r}, 'w').write('opt: \"1\"')",
    ],
    ids=["program", "variable", "file"],
)
def test_what_is_compiled_with_settings_that_changed_is_not_saved(tmp_path, change):
    pytest.importorskip("yaml")
    warm = "from xmceval.kernels.compile import entries; entries._machine()\n"
    assert run(tmp_path, f"{warm}{change}\n{COUNT}") == "1 0 2 1\n"
    assert not saved(tmp_path)
    (tmp_path / "work" / FILE).unlink(missing_ok=True)
    assert run(tmp_path, COUNT) == "1 0 2 1\n"
    assert len(saved(tmp_path)) == 1


@pytest.mark.parametrize(
    "text", ["a: [", "- 1\n", "5", "\x00", "? [a]\n: 1\n"], ids=["open", "list", "5", "nul", "key"]
)
def test_a_file_of_settings_that_numba_cannot_read_is_reported(tmp_path, text):
    pytest.importorskip("yaml")
    (tmp_path / FILE).write_text(text)
    (tmp_path / "truth.txt").write_text("0\n")
    command = [sys.executable, "-m", "xmceval", "score", "truth.txt", "truth.txt"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (1, "", 1)
    assert ended.stderr.startswith(f"Error: {tmp_path / FILE}: numba cannot read its settings: ")
    assert "hint: correct or remove this file" in ended.stderr


# Numba's own way.


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_numbas_own_way_is_saved_where_nobody_else_can_read(tmp_path):
    environ = {"XMCEVAL_PLAIN_NUMBA": "1"}
    assert [run(tmp_path, COUNT, **environ) for _ in range(2)] == ["1 0 2 1\n", "1 0 2 0\n"]
    [index] = (tmp_path / "cache").rglob("*.nbi")
    assert index.parents[1].name == "numba"
    assert stat.S_IMODE(index.parents[1].stat().st_mode) == 0o700
    assert {path.parent for path in (tmp_path / "cache").rglob("*.nbc")} == {index.parent}
    assert run(tmp_path, COUNT, NUMBA_OPT="1", **environ) == "1 0 2 1\n"
    if not WITH_NUMBA:
        assert run(tmp_path, COUNT) == "1 0 2 1\n", "the way that was chosen once is not the next one's"


PARTS = """
from xmceval.kernels.compile import entries, settings
settings.loaded_values()
from xmceval.kernels.compile import pipeline
calls = []
def compile(*_):
    calls.append(1)
    raise AttributeError("something of another numba")
pipeline.Library.compile = compile
"""
IMPORTS = """
import sys
from xmceval.kernels.compile import entries
sys.modules["xmceval.kernels.compile.pipeline"] = None
calls = ()
"""


@compiling
@pytest.mark.parametrize(("broken", "calls"), [(PARTS, 2), (IMPORTS, 0)], ids=["parts", "imports"])
def test_without_numbas_private_parts_kernels_are_compiled_once(tmp_path, broken, calls):
    code = f"{broken}{COUNT}print(len(calls), entries.fallen_back)\n"
    assert run(tmp_path, code) == f"1 0 2 2\n{calls} ['counts.count_labels']\n"
    assert run(tmp_path, code) == "1 0 2 0\n0 ['counts.count_labels']\n"


@compiling
def test_a_numba_that_cannot_be_asked_for_its_code_still_compiles(monkeypatch, slot):
    def fail(*_):
        raise AttributeError("serialize_using_object_code")

    monkeypatch.setattr("xmceval.kernels.compile.compiler.compile_form", fail)
    n_before = len(entries.fallen_back)
    assert Kernel(count_up)(3) == 4
    assert entries.fallen_back[n_before:] == ["test_cache.count_up"]
    assert not list(cache._candidates()[0].glob("*.nbc"))
