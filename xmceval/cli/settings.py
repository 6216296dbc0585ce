"""Settings: options that change no result, from the environment or from [tool.xmceval] of pyproject.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from xmceval.errors import DataError, UsageError

if TYPE_CHECKING:
    import click

    from xmceval.files.text.configfile import ConfigFile

PREFIX = "XMCEVAL_"
OFF = "XMCEVAL_NO_CONFIG"
FILE = "pyproject.toml"
TABLE = ("tool", "xmceval")


class Preset(NamedTuple):
    """The text of an option that was not passed, and where it is set: a variable, or a line of a file."""

    text: str
    place: str

    @property
    def source(self) -> str:
        """The variable, or the file without the line."""
        return self.place.rpartition(":")[0] or self.place


def are_read() -> bool:
    """Return whether settings are read: they are not where XMCEVAL_NO_CONFIG is set."""
    return os.environ.get(OFF, "").strip() in {"", "0"}


def read_presets(own: Collection[str], find_all: Callable[[], Mapping[str, click.Option]]) -> dict[str, Preset]:
    """Return what the nearest pyproject.toml sets.

    Parameters
    ----------
    own : collection of str
        The names of the settings of a command.
    find_all : callable
        Returns the options of all commands by their names; called for a name that is none of `own`.

    Raises
    ------
    UsageError
        All mistakes of the file, with their lines.
    """
    path = _find_file()
    if path is None:
        return {}
    from xmceval.files.io.streams import is_empty, read_all_bytes
    from xmceval.files.text.configfile import parse_config

    content = b"" if is_empty(path) else read_all_bytes(path)
    if TABLE[-1].encode() not in content:  # the file is then for other tools, which check it
        return {}
    try:
        config = parse_config(content, path)
        presets = dict(_read_table(config, own, find_all))
        config.check()
    except DataError as error:
        raise UsageError(*error.args) from None
    return presets


def _find_file() -> Path | None:
    """Return the nearest pyproject.toml, from the working directory upwards."""
    with suppress(OSError):  # the working directory was removed
        here = Path.cwd()
        return next((each / FILE for each in (here, *here.parents) if os.path.isfile(each / FILE)), None)
    return None


def _read_table(
    config: ConfigFile, own: Collection[str], find_all: Callable[[], Mapping[str, click.Option]]
) -> Iterator[tuple[str, Preset]]:
    """Yield the settings of a command; note values that none can have, and keys that are no settings."""
    from xmceval.files.text.configfile import show_value

    table: Any = config.tables
    for key in TABLE:
        table = table.get(key, {}) if isinstance(table, Mapping) else {}
    for name, value in config.table(TABLE, table, "a table").items():
        keys = (*TABLE, name)
        if name not in own:
            _check_key(config, name, find_all())
        elif not isinstance(value, (str, int, float)):
            config.refuse(keys, f"{name} must be a number, text, true or false, got {show_value(value)}")
        else:
            yield name, Preset(str(value).lower() if isinstance(value, bool) else str(value), config.place(keys))


def _check_key(config: ConfigFile, name: str, options: Mapping[str, click.Option]) -> None:
    """Note a key that is not a setting of any command."""
    found = options.get(name)
    if found is None:
        config.check_keys(TABLE, [name], [each for each, one in options.items() if one.envvar])
    elif not found.envvar:
        from xmceval.scoring.comparing.testoptions import Testing
        from xmceval.scoring.options import Options, specs

        is_result = any(found.name in specs(each) for each in (Options, Testing))
        why = "may change results" if is_result else "belongs to a single run"
        flag = max(found.opts, key=len)
        config.refuse(
            (*TABLE, name), f"{name} {why}, so it cannot be a setting (hint: pass {flag} on the command line)"
        )
