"""This tree beside another revision: both installed apart from all else, and scored in turns.

Uncommitted changes belong to this tree. An installation is a folder for PYTHONPATH, so that both run in the same
interpreter with the same numpy, scipy and numba; nothing of the environment is changed. It is kept under the made data,
by revision, and for this tree by its contents.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_processes import Command
from bench_record import git

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "xmceval", "datasets")  # what an installation is made from
LEAST = 0.01  # a smaller difference than this is not reported, however consistent


def command_of(installed: Path, arguments: tuple[str, ...]) -> Command:
    """Return the command that runs an installation; its compiled kernels are its own."""
    env = {"PYTHONPATH": str(installed), "NUMBA_CACHE_DIR": str(installed / "kernels")}
    return Command(((str(installed / "bin" / "xmceval"), *arguments),), env)


def install_revision(name: str, folder: Path) -> Path:
    """Install a revision of this repository, unless that was done before, and return where."""
    commit = git(ROOT, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if commit is None:
        sys.exit(f"{name} is not a revision of {ROOT}")
    home = folder / f"{commit[:16]}-{interpreter()}"
    if not home.exists():
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], check=True, stdout=subprocess.PIPE).stdout
        with tempfile.TemporaryDirectory() as source:
            with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
                tar.extractall(source, filter="data")
            install(Path(source), home)
    return home


def install_tree(folder: Path) -> Path:
    """Install this tree as it is now, unless that was done before, and return where."""
    digest = hashlib.sha256()
    for path in sources():
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    home = folder / f"tree-{digest.hexdigest()[:16]}-{interpreter()}"
    if not home.exists():
        with tempfile.TemporaryDirectory() as source:
            for path in sources():
                copy = Path(source) / path.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
            install(Path(source), home)
    return home


def sources() -> Iterator[Path]:
    """Yield the files of this tree that an installation is made from."""
    for name in SOURCES:
        path = ROOT / name
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (each for each in found if each.is_file() and "__pycache__" not in each.parts)


def interpreter() -> str:
    """Return a word for this interpreter: an installation names it in its first line."""
    return hashlib.sha256(sys.executable.encode()).hexdigest()[:6]


def install(source: Path, home: Path) -> None:
    """Install a source tree, without what it depends on, into a folder that appears when it is whole."""
    print(f"installing into {home}", file=sys.stderr)
    part = home.with_name(f"{home.name}.{os.getpid()}")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, "--target", str(part), str(source)], check=True, stdout=sys.stderr)
    part.rename(home)


def verdict(ratio: dict[str, Any]) -> str:
    """Say in words what the ratios of one figure show."""
    if ratio["interval"] is None:
        return f"too few runs to tell ({ratio['min']:.2f} to {ratio['max']:.2f})"
    (low, high), middle = ratio["interval"], ratio["median"]
    if low <= 1 <= high or abs(middle - 1) < LEAST:
        return f"no difference beyond noise ({middle:.3f} times, {low:.3f} to {high:.3f})"
    if middle > 1:
        return f"{middle:.2f} times slower ({low:.2f} to {high:.2f})"
    return f"{1 / middle:.2f} times faster ({1 / high:.2f} to {1 / low:.2f})"
