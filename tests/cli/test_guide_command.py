"""The command guide: lists the guides that are shipped, and prints one as it is, or rendered for a terminal."""

import pytest

from xmceval.cli import main
from xmceval.cli.commands.guide import find_topics, render


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["guide", *arguments])
    return ended.value.code, *capsys.readouterr()


def test_all_guides_are_listed_by_their_titles_and_each_is_printed(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    for topic in find_topics():
        text = run(capsys, topic)[1]
        assert text.startswith("# ")
        assert f"{text.partition(chr(10))[0].removeprefix('# ')}\n" in out


def test_another_topic_is_refused_with_the_topics(capsys):
    message = "Error: there is no guide 'bench'; expected one of " + ", ".join(find_topics())
    assert run(capsys, "bench")[::2] == (2, f"{message}\n")


def test_a_terminal_shows_heads_in_bold_and_code_without_fences():
    text = "# Title\n\ntext\n\n```toml\na = 1\n\nb = 2\n```\n## Part\n"
    assert render(text, is_styled=True) == (
        "\x1b[1mTitle\x1b[0m\n\ntext\n\n    a = 1\n\n    b = 2\n\x1b[1mPart\x1b[0m\n"
    )
    assert render("# Title\n", is_styled=False) == "Title\n"
