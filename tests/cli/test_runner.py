"""``score``, ``compare`` and both with ``--page`` take the same systems and options, and warn alike."""

from pathlib import Path

import pytest

COMMANDS = {
    "score": ["score"],
    "compare": ["compare"],
    "a page of scores": ["score", "--page", "page.html"],
    "a page of a comparison": ["compare", "--page", "page.html"],
}
FILES = {"truth.txt": "2 3\n0:1\n2:1\n", "a.txt": "2 3\n0:0.9\n2:0.5\n", "b.txt": "2 3\n1:0.9\n2:0.5\n"}

WRONG = {
    "options that exclude each other": ["--inverse-propensities", "p.txt", "-A", "0.5"],
    "a metric that does not exist": ["-m", "Q"],
    "a file that does not exist": ["--train", "none.txt"],
    "shards that do not exist": ["--train", "none-*.txt"],
}


@pytest.fixture
def run(run):
    for name, text in FILES.items():
        Path(name).write_text(text)

    def run_command(command, *arguments):
        code, _, err = run(*COMMANDS[command], "truth.txt", "a.txt", "b.txt", *arguments, "-q")
        return code, err

    return run_command


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_what_one_command_refuses_all_refuse_in_the_same_words(arguments, run):
    pytest.importorskip("matplotlib")
    [(code, message)] = {run(command, *arguments) for command in COMMANDS}
    assert code in {1, 2}
    assert message.startswith("Error: ")


def test_with_strict_the_same_doubts_are_errors(run):
    pytest.importorskip("matplotlib")
    ended = {run(command, "-m", "P@1", "--dataset", "Bibtex", "--strict") for command in COMMANDS}
    [(code, message)] = ended
    assert code == 1
    assert "with --strict doubts are errors" in message
