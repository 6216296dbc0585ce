"""What tests of commands share."""

import pytest
from support.sample import SAMPLE

from xmceval.cli.main import main
from xmceval.kernels.compile import COMPILING


@pytest.fixture
def run(capsys):
    """Return a function that runs a command, and returns its exit code and what it wrote to each stream."""

    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        written = capsys.readouterr()
        return ended.value.code, written.out, written.err.replace(f"{COMPILING}\n", "")

    return run


@pytest.fixture
def in_sample(monkeypatch):
    """Run where the sample is."""
    monkeypatch.chdir(SAMPLE)
