"""The facts about the package that an index shows, and what its archive of sources has."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def settings():
    if sys.version_info < (3, 11):
        pytest.skip("the standard library reads no TOML")
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_license_is_an_expression_that_setuptools_understands(settings):
    assert settings["build-system"]["requires"] == ["setuptools>=77"]
    assert (settings["project"]["license"], settings["project"]["license-files"]) == ("MIT", ["LICENSE"])
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License")
    assert not [each for each in settings["project"]["classifiers"] if each.startswith("License")]


def test_classifiers_name_every_python_from_the_oldest_on(settings):
    found = re.findall(r"Python :: 3\.(\d+)", "\n".join(settings["project"]["classifiers"]))
    oldest = int(settings["project"]["requires-python"].removeprefix(">=3."))
    assert list(map(int, found)) == [*range(oldest, 15)]


def test_the_archive_of_sources_has_the_tests_and_all_that_they_read():
    grafted = re.findall(r"^graft (.+)$", (ROOT / "MANIFEST.in").read_text(encoding="utf-8"), re.MULTILINE)
    assert {"tests", "scripts", "datasets"} <= set(grafted)
    assert all((ROOT / folder).is_dir() for folder in grafted)
