"""The command guide: lists the guides that are shipped, and prints one as it is, or rendered for a terminal."""

import re

import pytest

from xmceval.cli import main
from xmceval.cli.commands.guide import find_topics, read_guide
from xmceval.cli.rendering import render
from xmceval.errors import UsageError
from xmceval.metrics.table import METRICS


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["guide", *arguments])
    return ended.value.code, *capsys.readouterr()


def test_all_guides_are_listed_by_their_titles_and_each_is_printed(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    assert out.startswith("start ")
    for topic in find_topics():
        text = run(capsys, topic)[1]
        assert text.startswith("# ")
        assert f"{text.partition(chr(10))[0].removeprefix('# ')}\n" in out


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("bench", "did you mean benchmark?"),
        ("Comparing", "did you mean compare?"),
        ("x", "hint: xmceval guide lists them"),
    ],
)
def test_another_topic_is_refused_with_the_topics_and_a_suggestion(capsys, word, hint):
    message = f"Error: there is no guide {word!r} ({hint}); expected one of {', '.join(find_topics())}"
    assert run(capsys, word)[::2] == (2, f"{message}\n")


def test_the_guide_to_metrics_has_every_metric():
    text = read_guide("metrics").replace("\\", "")
    assert [name for name in METRICS if not re.search(rf"^\| {re.escape(name)}[@ ]", text, re.MULTILINE)] == []


def test_a_terminal_shows_heads_in_bold_and_code_without_fences():
    text = "# Title\n\ntext\n\n```toml\na = 1\n\nb = 2\n```\n## Part\n"
    assert render(text, 80, is_styled=True) == (
        "\x1b[1mTitle\x1b[0m\n\ntext\n\n    a = 1\n\n    b = 2\n\x1b[1mPart\x1b[0m\n"
    )
    assert render("# Title\n", 80, is_styled=False) == "Title\n"


def test_paragraphs_and_lists_are_wrapped_and_links_to_guides_name_the_command():
    text = "One **two** `a b`\nthree [four](compare.md).\n\n- five six seven\n  eight\n- nine\n"
    assert render(text, 32, is_styled=False) == (
        "One two `a b` three four\n(`xmceval guide compare`).\n\n- five six seven eight\n- nine\n"
    )
    assert "\x1b[1mtwo\x1b[0m \x1b[36ma b\x1b[0m three" in render(text, 80, is_styled=True)


def test_tables_are_aligned_and_cells_wrapped_at_the_width():
    text = "| name | of it | n |\n| --- | --- | ---: |\n| `P@k` | a \\| b | 5 |\n| R | one two three four | 10 |\n"
    assert render(text, 80, is_styled=True).splitlines() == [
        "name  of it                n",
        "----  ------------------  --",
        "P@k   a | b                5",
        "R     one two three four  10",
    ]
    assert render(text, 24, is_styled=False).splitlines()[3:] == ["R     one two three   10", "      four"]


@pytest.mark.parametrize("topic", find_topics())
@pytest.mark.parametrize("width", [60, 100])
def test_tables_and_paragraphs_fit_the_terminal(topic, width):
    lines = render(re.sub(r"```.*?```", "", read_guide(topic), flags=re.DOTALL), width, is_styled=False).splitlines()
    assert not [line for line in lines if len(line) > width and " " in line.strip()]


def test_a_terminal_gets_a_page_at_its_width(monkeypatch):
    pages = []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.echo_via_pager", pages.append)
    monkeypatch.setenv("COLUMNS", "50")
    with pytest.raises(SystemExit):
        main(["guide", "propensities"])
    assert pages == [render(read_guide("propensities"), 50, is_styled=True)]


def test_no_guide_is_read_by_part_of_a_path():
    with pytest.raises(UsageError):
        read_guide("../__init__")
