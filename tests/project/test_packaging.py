"""The facts about the package that an index shows, and what its archive of sources has."""

import importlib.util
import re
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

import xmceval

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_license_is_an_expression_that_setuptools_understands(settings):
    assert settings["build-system"]["requires"] == ["setuptools>=77"]
    assert (settings["project"]["license"], settings["project"]["license-files"]) == ("MIT", ["LICENSE"])
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert not [each for each in settings["project"]["classifiers"] if each.startswith("License")]


def test_the_first_python_of_the_classifiers_is_the_oldest_that_is_declared(settings):
    found = re.findall(r"Python :: 3\.(\d+)", "\n".join(settings["project"]["classifiers"]))
    assert settings["project"]["requires-python"] == f">=3.{found[0]}"


def test_the_archive_of_sources_has_the_tests_and_all_that_they_read():
    lines = (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines()
    folders = {line.split()[1] for line in lines if line.startswith("recursive-include ")}
    assert {"tests", "scripts", "datasets"} <= folders
    files = {path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()}
    compiled = {path for path in files if "__pycache__" in path.parts}
    assert [path for path in files - compiled if path.name.endswith("c")] == []
    assert [path for path in compiled if not path.name.endswith("c")] == []


def test_the_citation_is_of_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [xmceval.__version__]


RELEASE = SourceFileLoader("release_script", str(ROOT / "scripts" / "release"))


@pytest.fixture
def release():
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(RELEASE.name, RELEASE))
    RELEASE.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("![Time](a/b.svg)", "![Time](https://host/x/raw/v1/a/b.svg)"),
        ("see [a](b/c.md), [d](e.md)", "see [a](https://host/x/blob/v1/b/c.md), [d](https://host/x/blob/v1/e.md)"),
        ("[a](https://b/c) [d](#e) [f] (g)", "[a](https://b/c) [d](#e) [f] (g)"),
    ],
)
def test_links_to_files_are_made_full_for_an_index(release, text, expected):
    assert release.with_full_links(text, "https://host/x", "v1") == expected


def test_without_a_repository_links_to_files_are_their_words(release):
    text = "![Time](a/b.svg) [a](b/c.md), [a](https://b/c) [d](#e)"
    assert release.with_full_links(text, None, "v1") == "Time a, [a](https://b/c) [d](#e)"


@pytest.mark.parametrize("repository", ["https://host/x", None])
def test_no_link_of_the_readme_stays_relative_on_an_index(release, repository):
    text = release.with_full_links((ROOT / "README.md").read_text(encoding="utf-8"), repository, "v1")
    assert [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("https://")] == []
