"""The house: who may import whom, and what nobody does, read from the sources."""

import ast
import graphlib
import sys
from pathlib import Path

import pytest

import xmceval
from xmceval.kernels import cache

HOME = Path(xmceval.__file__).parent

# From the ground up: a package imports only from itself and from the lines above it, under TYPE_CHECKING too.
LAYERS = [
    "version",
    "errors",
    "kernels",
    "statistics",
    "metrics",
    "rows",
    "files",
    "labels",
    "scoring",
    "inspection",
    "report",
    "api",
    "distributed",
    "cli",
    "__main__",
]
RANK = {name: rank for rank, name in enumerate(LAYERS)}
OPENERS = {"files", "labels"}  # labels.catalogue reads the package's own data
LONGEST = 400


def module_of(path):
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_of(path): path for path in sorted(HOME.rglob("*.py"))}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in SOURCES.items()}
MODULES = [module for module in SOURCES if module != "xmceval"]


def layer(module):
    return module.split(".")[1]


def imports(module):
    """Yield the full names of what a module imports, wherever in the file."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports by dots"
            for each in node.names:
                full = f"{node.module}.{each.name}"
                yield full if full in SOURCES else node.module


def ours(module):
    return {name for name in imports(module) if name.partition(".")[0] == "xmceval"}


def words(module):
    """Yield (line, dotted name) of every name that a module uses."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, (ast.Name, ast.Attribute)):
            yield node.lineno, ast.unparse(node)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_downward(module):
    assert "xmceval" not in ours(module), "no `import xmceval` inside xmceval"
    unplaced = {layer(name) for name in (module, *ours(module))} - set(RANK)
    assert not unplaced, "every file needs a place in LAYERS"
    upward = {name for name in ours(module) if RANK[layer(name)] > RANK[layer(module)]}
    assert not upward


def test_layers_have_no_forgotten_name():
    assert set(RANK) == {layer(module) for module in MODULES}


def test_imports_have_no_circle():
    graphlib.TopologicalSorter({module: ours(module) - {module} for module in MODULES}).prepare()


@pytest.mark.parametrize("module", MODULES)
def test_only_kernels_import_numba(module):
    compiled = {name for name in imports(module) if name.partition(".")[0] in {"numba", "llvmlite"}}
    assert not compiled or layer(module) == "kernels"


KERNELS = [module for module in MODULES if layer(module) == "kernels"]
CACHE, LOCKS = "xmceval.kernels.cache", "xmceval.kernels.locks"  # of compiled code: they open files of their own
MACHINERY = {
    "xmceval.kernels",
    *(CACHE, LOCKS),
    *(
        f"xmceval.kernels.{name}"
        for name in ("compiler", "decorators", "eightrows", "eights", "entries", "forms", "instructions", "pipeline")
    ),
}


@pytest.mark.parametrize("module", KERNELS)
def test_kernels_import_numpy_and_numba_only(module):
    outside = {name.partition(".")[0] for name in imports(module)} - {"xmceval"}
    assert outside <= {"numpy", "numba", "llvmlite"} | sys.stdlib_module_names
    if module not in MACHINERY:
        assert not {"numba", "llvmlite"} & outside, "a start would take twice as long"
        assert "xmceval.kernels.decorators" in ours(module)
        assert ours(module) - {"xmceval.kernels.decorators"} <= set(KERNELS) - MACHINERY


@pytest.mark.parametrize("module", sorted(set(KERNELS) - MACHINERY))
def test_a_digest_covers_all_kernels_that_a_kernel_imports_from(module):
    imported = {node.module for node in ast.walk(TREES[module]) if isinstance(node, ast.ImportFrom)} & set(KERNELS)
    found = cache.IMPORT.findall(SOURCES[module].read_bytes())
    assert {f"xmceval.kernels.{name.decode()}" for name in found} == imported


@pytest.mark.parametrize("module", KERNELS)
def test_no_kernel_has_numbas_own_cache(module):
    words = (node for node in ast.walk(TREES[module]) if isinstance(node, ast.keyword))
    assert "cache" not in {word.arg for word in words}, "the decorator of a kernel is in xmceval.kernels.decorators"


def test_nobody_imports_the_command_line():
    assert {module for module in MODULES for name in ours(module) if layer(name) == "cli"} <= {
        module for module in MODULES if layer(module) in {"cli", "__main__"}
    }


OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "memmap", "fromfile", "loadtxt", "load_npz"}


@pytest.mark.parametrize(
    "module", [module for module in MODULES if layer(module) not in OPENERS and module not in {CACHE, LOCKS}]
)
def test_only_readers_and_writers_open_files(module):
    calls = (node.func for node in ast.walk(TREES[module]) if isinstance(node, ast.Call))
    assert not [(call.lineno, ast.unparse(call)) for call in calls if ast.unparse(call).rpartition(".")[2] in OPENING]


LOCAL = {
    "xmceval.files.paths",
    "xmceval.rows.parts",
    "xmceval.files.pipes",
    "xmceval.cli.ahead",
    "xmceval.cli.shared",
    CACHE,
    LOCKS,
}


@pytest.mark.parametrize("module", [module for module in MODULES if module not in LOCAL])
def test_names_of_files_become_paths_in_one_place(module):
    """`Path(name)` would lose a slash of s3://bucket/name; `to_path(name)` knows addresses."""
    calls = (node for node in ast.walk(TREES[module]) if isinstance(node, ast.Call) and node.args)
    paths = [ast.unparse(call) for call in calls if ast.unparse(call.func) == "Path"]
    fine = {"Path(path.stem)", "Path(html)", "Path(tempfile.gettempdir())"}  # of names that are local for certain
    assert not set(paths) - fine


def test_only_remote_files_import_fsspec():
    importing = {module for module in MODULES for name in imports(module) if name.partition(".")[0] == "fsspec"}
    assert importing
    assert {module.rpartition(".")[0] for module in importing} == {"xmceval.files.remote"}


@pytest.mark.parametrize("module", [module for module in MODULES if layer(module) != "cli"])
def test_only_the_command_line_writes_to_streams(module):
    writing = {"print", "click.echo", "sys.stdout", "sys.stderr", "sys.exit"}
    assert not [place for place in words(module) if place[1] in writing]


@pytest.mark.parametrize("module", MODULES)
def test_no_assertion_stands_for_a_users_mistake(module):
    assert not [node.lineno for node in ast.walk(TREES[module]) if isinstance(node, ast.Assert)]


@pytest.mark.parametrize("module", SOURCES)
def test_a_file_opens_with_a_sentence_and_ends_in_time(module):
    assert (ast.get_docstring(TREES[module]) or "").partition("\n")[0].endswith((".", "):", ":"))
    path = SOURCES[module]
    n_lines = len(path.read_text(encoding="utf-8").splitlines())
    assert n_lines <= LONGEST


def test_type_checkers_see_what_is_loaded_when_used():
    [block] = [node for node in TREES["xmceval"].body if isinstance(node, ast.If)]
    seen = {each.asname: node.module for node in block.body for each in node.names}
    assert seen == {name: f"xmceval.{home}" for name, home in xmceval._HOME.items()}
