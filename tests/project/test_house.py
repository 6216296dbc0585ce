"""The house, read from the sources: which package may import which, and what no module may do."""

import ast
import graphlib
import sys
from pathlib import Path

import xmceval

HOME = Path(xmceval.__file__).parent

# The core, from the ground up: a package imports only from itself and from those before it, under TYPE_CHECKING too.
CORE = ["version", "errors", "kernels", "metrics", "rows", "files", "labels", "scoring", "report", "api"]
# Slices import the core, and of each other only comparison; their commands import the command line too.
SLICES = ["comparison", "loops", "inspection", "conversion", "dropins", "page", "benchmarks"]
TOP = ["torch", "ir_measures", "cli", "__main__"]
OPENERS = {"files", "labels"}  # labels.catalogue reads the package's own data


def module_of(path):
    parts = path.relative_to(HOME.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_of(path): path for path in sorted(HOME.rglob("*.py"))}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in SOURCES.items()}
MODULES = [module for module in SOURCES if module not in {"xmceval", "xmceval.datasets"}]  # the latter is data


def layer(module):
    return module.split(".")[1]


def imports(module):
    """Yield the full names of the imports of a module, wherever they are in the file."""
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


def over(modules):
    """Make one test of a rule for each module, which shows all that break it."""

    def decorate(rule):
        def test():
            broken = {}
            for module in modules:
                try:
                    rule(module)
                except AssertionError as error:
                    broken[module] = str(error)
            assert not broken

        test.__name__, test.__doc__ = rule.__name__, rule.__doc__
        return test

    return decorate


def may_import(module):
    """Return the packages that a module may import from."""
    own = layer(module)
    if own in CORE:
        return CORE[: CORE.index(own) + 1]
    if own in SLICES:
        return [*CORE, own, "comparison", *(["cli"] if module.endswith(".command") else [])]
    return [*CORE, *SLICES, *TOP]


@over(MODULES)
def test_the_core_imports_no_slice_and_slices_import_the_core(module):
    assert "xmceval" not in ours(module), "no `import xmceval` inside xmceval"
    assert {layer(name) for name in ours(module)} <= set(may_import(module))


def test_every_package_has_its_place():
    assert {*CORE, *SLICES, *TOP} == {layer(module) for module in MODULES}


def test_imports_have_no_circle():
    graphlib.TopologicalSorter({module: ours(module) - {module} for module in MODULES}).prepare()


@over(MODULES)
def test_one_file_imports_numba_and_another_one_loads_code(module):
    compiled = {name for name in imports(module) if name.partition(".")[0] in {"numba", "llvmlite", "ctypes"}}
    assert compiled == COMPILERS.get(module, set())


KERNELS = [module for module in MODULES if layer(module) == "kernels"]
LOAD = "xmceval.kernels.load"  # keeps a folder of its own, and notes on a terminal that kernels are compiled
COMPILERS = {LOAD: {"ctypes", "llvmlite"}, "xmceval.kernels.compile": {"numba", "llvmlite"}}


@over([module for module in KERNELS if module not in COMPILERS])
def test_kernels_import_numpy_and_other_kernels_only(module):
    assert set(imports(module)) <= {"numpy", *KERNELS, *sys.stdlib_module_names}


STREAMS = "xmceval.cli.main"  # opens standard streams that are closed, on the null device
GUIDES = "xmceval.cli.listings"  # prints the guides of the package

OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "memmap", "fromfile", "loadtxt", "load_npz"}


@over([module for module in MODULES if layer(module) not in OPENERS and module not in {*COMPILERS, STREAMS, GUIDES}])
def test_only_readers_and_writers_open_files(module):
    calls = (node.func for node in ast.walk(TREES[module]) if isinstance(node, ast.Call))
    assert not [(call.lineno, ast.unparse(call)) for call in calls if ast.unparse(call).rpartition(".")[2] in OPENING]


def test_only_remote_files_import_fsspec():
    importing = {module for module in MODULES for name in imports(module) if name.partition(".")[0] == "fsspec"}
    assert importing
    assert importing == {"xmceval.files.io.remote"}


@over([module for module in MODULES if layer(module) != "cli" and not module.endswith((".command", LOAD))])
def test_only_the_command_line_writes_to_streams(module):
    writing = {"print", "click.echo", "sys.stdout", "sys.stderr", "sys.exit"}
    assert not [place for place in words(module) if place[1] in writing]


def test_type_checkers_see_what_is_loaded_when_used():
    stub = ast.parse((HOME / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {each.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for each in node.names}
    assert seen == {name: f"xmceval.{home}" for name, home in xmceval._HOME.items()}
