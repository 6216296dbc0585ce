"""A short way through numba, in a third of its time, for kernels that allocate nothing.

Numba optimizes each function and makes machine code of it before another calls it, counts references to arrays, asks
again and again what types an operation takes, and goes over its code some thirty times. Here LLVM gets a kernel once,
with all that it calls, and numba does only what is necessary.
"""
# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import cgutils, lowering, rewrites, typed_passes
from numba.core.analysis import dead_branch_prune, rewrite_semantic_constants
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.interpreter import Interpreter
from numba.core.ir_utils import build_definitions
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction


class Library(JITCodeLibrary):
    """The code of a function and of what it calls, as it is; only that of a kernel is optimized."""

    codegen = property(lambda self: self, doc="What an environment is set with, for code that runs: none here.")

    def set_env(self, _name, _environment):
        """Set nothing: only what raises, or handles objects, has to know its environment."""

    def _optimize_functions(self, ll_module):
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self):
        passes = self._codegen._module_pass_manager()
        manager, *builder = passes if isinstance(passes, tuple) else (passes,)  # which older ones do without
        manager.run(self._final_module, *builder)

    def finalize(self):
        """Link what the function calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, _name):
        """Return 0: this function is not called from Python."""
        self._ensure_finalized()
        return 0

    def compile(self, entry: Any) -> tuple[set[str], set[str], bytes]:
        """Return what the code defines, what it uses of others, and its object code, with a module that calls it."""
        self._ensure_finalized()
        module = self._final_module
        module.link_in(entry)
        super()._optimize_functions(module)  # before they are parts of others: otherwise they become slower code
        self._optimize_final_module()
        module.verify()
        self._finalize_dynamic_globals()
        if self.has_dynamic_globals:
            raise ValueError("the code has addresses of this process")
        names: tuple[set[str], set[str]] = set(), set()
        for each in (*module.functions, *module.global_variables):
            names[each.is_declaration].add(each.name)
        return *names, self._codegen._tm.emit_object(module)


class Lower(lowering.Lower):
    """Make LLVM's code of numba's: without names for errors, and without clearing variables, which nobody counts."""

    def lower_block(self, block):
        """Lower a run of instructions."""
        self.pre_block(block)
        for instruction in block.body:
            self.loc = instruction.loc
            self.lower_inst(instruction)
        self.post_block(block)

    def alloca_lltype(self, name, lltype, datamodel=None):  # noqa: ARG002
        """Make room for a variable."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value, name, argidx=None):  # noqa: ARG002
        """Set a variable."""
        self._alloca_var(name, self.typeof(name))
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))


class Lowering(typed_passes.NativeLowering):
    """The pass of numba that makes LLVM's code."""

    _name = "short_lowering"
    lowering_class = Lower


class Passes:
    """What becomes of a function."""

    pipeline_name = "short"

    def __init__(self):
        self.exec_times: dict[str, Any] = {}

    def run(self, state):
        """Compile a function, from bytecode to what calls it."""
        code = state.func_ir = Interpreter(state.func_id).interpret(state.bc)
        code.generator_info = None
        code.blocks = canonicalize_cfg(code.blocks)
        rewrite_semantic_constants(code, state.args)
        dead_branch_prune(code, state.args)
        rewrites.rewrite_registry.apply("before-inference", state)
        reconstruct_ssa(code)
        code._definitions = build_definitions(code.blocks)
        typed_passes.NopythonTypeInference().run_pass(state)
        code = state.func_ir = typed_passes.PreLowerStripPhis()._strip_phi_nodes(code)
        code._definitions = build_definitions(code.blocks)
        Lowering().run_pass(state)
        typed_passes.NoPythonBackend().run_pass(state)


class Pipeline(Compiler):
    """Compiles a function into a Library: with all of numba's passes where it may allocate memory."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        state = self.state
        state.library = Library(state.targetctx.codegen(), state.flags.get_mangle_string())

    def define_pipelines(self):
        """Return what to try, which is one thing."""
        return super().define_pipelines() if self.state.flags.nrt else [Passes()]


_signatures: dict[Any, Any] = {}


@contextmanager
def resolving_once() -> Iterator[None]:
    """Let numba look up once what an operation does for arguments of the same types, not wherever it occurs."""
    resolve = BaseFunction.get_call_type

    def get_call_type(self, context, args, kws):
        if kws:
            return resolve(self, context, args, kws)
        key = self, context, tuple(args)
        if key not in _signatures:
            _signatures[key] = resolve(self, context, args, kws)
        return _signatures[key]

    BaseFunction.get_call_type = get_call_type
    try:
        yield
    finally:
        BaseFunction.get_call_type = resolve
