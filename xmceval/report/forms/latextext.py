"""Texts in LaTeX: every character as pdflatex prints it without further packages, in ASCII, and about how wide."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from types import MappingProxyType

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": r"$|$\allowbreak{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after \\ it would begin an argument, as * would
    "*": "{*}",
    "\u00a0": "~",
    "\N{MINUS SIGN}": "$-$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{MIDDLE DOT}": "$\\cdot$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MICRO SIGN}": r"$\mu$",
    "\N{DEGREE SIGN}": r"$^{\circ}$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{BLACK SPADE SUIT}": r"$\spadesuit$",
    "\N{BLACK CLUB SUIT}": r"$\clubsuit$",
    "\N{BLACK HEART SUIT}": r"$\heartsuit$",
    "\N{BLACK DIAMOND SUIT}": r"$\diamondsuit$",
    "\N{DAGGER}": r"\dag{}",
    "\N{DOUBLE DAGGER}": r"\ddag{}",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
    "\N{LATIN SMALL LETTER SHARP S}": r"\ss{}",
    "\N{LATIN SMALL LETTER AE}": r"\ae{}",
    "\N{LATIN CAPITAL LETTER AE}": r"\AE{}",
    "\N{LATIN SMALL LIGATURE OE}": r"\oe{}",
    "\N{LATIN CAPITAL LIGATURE OE}": r"\OE{}",
    "\N{LATIN SMALL LETTER O WITH STROKE}": r"\o{}",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": r"\O{}",
    "\N{LATIN SMALL LETTER L WITH STROKE}": r"\l{}",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}

ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING BREVE}": "u",
    "\N{COMBINING CARON}": "v",
    "\N{COMBINING RING ABOVE}": "r",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H",
    "\N{COMBINING CEDILLA}": "c",
    "\N{COMBINING DOT BELOW}": "d",
}

GREEK_PREFIX = "GREEK SMALL LETTER "
GREEK = {"LAMDA": "lambda", **{name: name.lower() for name in (
    *("ALPHA", "BETA", "GAMMA", "DELTA", "EPSILON", "ZETA", "ETA", "THETA", "IOTA", "KAPPA", "MU", "NU", "XI", "PI"),
    *("RHO", "SIGMA", "TAU", "UPSILON", "PHI", "CHI", "PSI", "OMEGA"),
)}}  # fmt: skip

# The widths of characters of Computer Modern at 10 points; of others that of most letters.
WIDTHS = MappingProxyType({
    letter: width
    for letters, width in {
        "ijl.,:;'|! ": 2.8,
        "fI-rts()[]": 3.7,
        "cez": 4.4,
        "0123456789ago*/?": 5.0,
        "kvxyJSLEFZ": 5.8,
        "wABCKPRTUVXY": 7.3,
        "DGHNOQ@+=<>±\N{MINUS SIGN}": 7.85,
        "mMW%": 9.0,
    }.items()
    for letter in letters
})  # fmt: skip
LONGEST_WORD = 24
PUNCTUATION = re.compile(r"(?:/|\\_|[-.])(?=[^\W_])")
OTHER, NUMBERED = 5.6, 32.0
SMALL = 0.925  # of these widths, where an article of 10 points is \small, as tables are
BOLD = 1.15


def escape(text: str) -> str:
    """Write a text so that LaTeX prints it as it is; a character that it has no sign for as its number, ``U+1F600``."""
    pieces = unicodedata.normalize("NFC", text).split("--")
    return "-{}-".join("".join(map(_escape, piece)) for piece in pieces)


def list_replaced(texts: Iterable[str]) -> Iterator[str]:
    """Yield a line for the characters of texts that are printed as their numbers."""
    characters = dict.fromkeys("".join(unicodedata.normalize("NFC", text) for text in texts))
    numbered = [each for each in characters if _sign(each) is None]
    shown = [f"{_number(each)} {each}" if each.isprintable() else _number(each) for each in numbered]
    if shown:
        yield f"printed as numbers, because pdflatex has no sign for them: {', '.join(shown)}"


def break_words(text: str) -> str:
    """Write a text in which long words, such as paths, may break after their punctuation."""
    return " ".join(
        PUNCTUATION.sub(r"\g<0>\\allowbreak{}", escape(word)) if len(word) > LONGEST_WORD else escape(word)
        for word in text.split(" ")
    )


def measure_text(text: str) -> float:
    r"""Return about how many points wide a text is in ``\small``."""
    return SMALL * sum(map(_width, unicodedata.normalize("NFC", text)))


def _width(character: str) -> float:
    if _sign(character) is None:
        return NUMBERED
    return WIDTHS.get(unicodedata.normalize("NFD", character)[0], OTHER)


def _escape(character: str) -> str:
    sign = _sign(character)
    return rf"\texttt{{{_number(character)}}}" if sign is None else sign


def _number(character: str) -> str:
    return f"U+{ord(character):04X}"


def _sign(character: str) -> str | None:
    """Return what prints a character, None where nothing does."""
    if character in SPECIAL:
        return SPECIAL[character]
    if character.isascii():
        return character if character.isprintable() else None
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in ACCENTS:
        letter = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0])
        return rf"\{ACCENTS[parts[1]]}{{{letter}}}"
    greek = GREEK.get(unicodedata.name(character, "").removeprefix(GREEK_PREFIX))
    return rf"$\{greek}$" if greek else None
