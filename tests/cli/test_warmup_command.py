"""``xmceval warmup`` compiles every kernel, says where, and has nothing to do a second time."""

import json
import os
import subprocess
import sys

import pytest

from xmceval.kernels.compile.inventory import find_kernels

# In a process of its own, which no other test has made kernels ready in.
CODE = """
import dataclasses, json
from xmceval.api.precompile import precompile
from xmceval.kernels.compile import entries
load, names = entries._load, set()
entries._load = lambda form, kinds: names.update(form.names) or load(form, kinds)
done = dataclasses.asdict(precompile())
print(json.dumps({**done, "folder": str(done["folder"]), "names": sorted(names)}))
"""


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there are no compiled kernels")
def test_all_kernels_are_compiled_and_the_second_time_none():
    ended = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    first = json.loads(ended.stdout)
    assert first["missing"] == []
    assert first["n_kernels"] == len(find_kernels())
    # What makes arrays of its own needs numba to be loaded: half a second and 60 MB at each start.
    assert [name for name in first["names"] if name.startswith(("NRT_", "numba_"))] == []
    line = "import sys; from xmceval.cli import main; main(sys.argv[1:])"
    ended = subprocess.run([sys.executable, "-c", line, "warmup"], capture_output=True, text=True, check=True)
    assert ended.stdout == f"{first['n_kernels']} kernels in {first['folder']}: all compiled before\n"
    assert ended.stderr == ""
