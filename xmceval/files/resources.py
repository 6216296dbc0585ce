"""Resources: files of the package itself that are no modules."""

from __future__ import annotations

from importlib.resources import files


def read_resource(package: str, name: str) -> str:
    """Return the text of a file of a package, such as a style sheet."""
    return files(package).joinpath(name).read_text(encoding="utf-8")
