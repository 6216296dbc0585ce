"""Names of files: what their words say of what is in them, of the data set, of the system and of the seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from pathlib import PurePosixPath

from xmceval.api.benchmark.planning.namedfiles import PLACEHOLDER
from xmceval.files.io.signatures import LABELS_ENDING, SCORES_ENDING, split_ending

TRAIN = frozenset({"trn", "train", "training"})
TEST = frozenset({"tst", "test", "testing"})
VALID = frozenset({"val", "valid", "validation", "dev"})
TRUTH = frozenset({"y", "gt", "gold", "ground", "truth", "true", "labels", "label", "target", "targets", "qrels"})
SCORES = frozenset(
    {"pred", "preds", "predict", "prediction", "predictions", "predicted", "score", "scores", "scored", "mat"}
    | {"logits", "prob", "probs", "proba", "output", "outputs", "result", "results", "run", "runs", "topk", "out"}
)
FEATURES = frozenset({"xf", "bow", "tfidf", "feat", "feats", "feature", "features", "emb", "embs", "embeddings"})

# Words that tell neither a data set nor a system, and folders that are called so.
_PLAIN = (
    TRAIN
    | TEST
    | VALID
    | TRUTH
    | SCORES
    | {"x", "data", "filter", "set", "clf", "knn", "combined", "all", "final", "best", "eval"}
)
_PLAIN_FOLDERS = _PLAIN | {"dataset", "datasets", "raw", "xmc", "base", "benchmark", "experiments", "models", "model"}

ARCHIVES = frozenset({".zip", ".tar", ".tgz", ".7z", ".rar", ".tbz2", ".txz"})

_SEPARATOR = re.compile(r"([-_. =+]+)")
_WORD = re.compile(r"[^-_. =+/]+")

_SEED_WORDS = "seed|s|run|rep|repeat|trial|rs"

# A number that tells runs of one system apart: after such a word, or on its own, unless what is before it counts
# something else. Larger numbers on their own are rather sizes or cutoffs.
_SEED = re.compile(rf"(?:(?<![A-Za-z])(?:{_SEED_WORDS})[-_=]?|(?<=[-_./]))([0-9]+)(?=[-_./]|\Z)", re.I)
_NAMED_SEED = re.compile(rf"(?:{_SEED_WORDS})[-_=]?\Z", re.I)
_COUNTED = re.compile(
    r"(?:epoch|epochs|ep|step|steps|iter|iters|tree|trees|top|k|layer|layers|fold|dim|beam|part|shard|version|v|ckpt|checkpoint)[-_./]\Z",
    re.I,
)
_LARGEST_BARE = 99

_SHORT = 2  # letters of a name that other words may be by chance

SEED = "\0"  # where a number was


def stem_of_pair(name: str) -> str:
    """Return the common part of the names of two npy files of labels and scores; empty for any other name."""
    return next((name.removesuffix(each) for each in (LABELS_ENDING, SCORES_ENDING) if name.endswith(each)), "")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a name, in lower case."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def describe_part(name: str) -> str:
    """Return ``train``, ``test``, ``valid`` or an empty string: the part of the data that a path names.

    The name of the file decides before those of its folders.
    """
    for component in reversed(PurePosixPath(split_ending(name)[0]).parts):
        words = words_of(component)
        for part, known in (("test", TEST), ("train", TRAIN), ("valid", VALID)):
            if words & known:
                return part
    return ""


def find_dataset_names(name: str) -> tuple[str, str]:
    """Return the name of a data set in the folders of a path, and that in the name of the file; empty without one."""
    *folders, file = PurePosixPath(split_ending(name)[0]).parts
    folder = next((each for each in reversed(folders) if not words_of(each) <= _PLAIN_FOLDERS), "")
    runs = [run for run in _runs_of_words(file) if not run.isdigit()]
    return folder, max(runs, key=len, default="")


def _runs_of_words(text: str) -> Iterator[str]:
    """Yield the parts of a text between words that tell nothing: ``EUR-Lex`` of ``EUR-Lex_test_labels``."""
    run = ""
    pieces = _SEPARATOR.split(text)
    for word, separator in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        if word.lower() in _PLAIN:
            yield run.rstrip("-_. =+")
            run = ""
        else:
            run += word + separator
    yield run.rstrip("-_. =+")


def name_system(template: str, *, depth: int = 1) -> str:
    """Return a name for the system of a template, from as many of its path components as `depth`, from the end on."""
    names = [name for each in reversed(PurePosixPath(template).parts) if (name := _plain_system(each))]
    if not names:
        return split_ending(PurePosixPath(template).name.replace(PLACEHOLDER, "").strip("-_. ") or "system")[0]
    return "-".join(reversed(names[:depth]))


def _plain_system(component: str) -> str:
    """Return a component without the data set, the number of a seed and words that tell nothing; or nothing."""
    text = re.sub(rf"(?:(?<![A-Za-z])(?:{_SEED_WORDS})[-_=]?)?{SEED}", SEED, component, flags=re.I)
    pieces = _SEPARATOR.split(text.replace(PLACEHOLDER, f"-{PLACEHOLDER}-"))
    kept = ""
    for separator, word in zip(["", *pieces[1::2]], pieces[::2], strict=True):
        if word and word.lower() not in _PLAIN and word not in {PLACEHOLDER, SEED}:
            kept += (separator[:1] if kept else "") + word.replace(SEED, "")
    return kept if any(letter.isalpha() for letter in kept) else ""


def find_seeds(template: str) -> Iterator[tuple[str, str]]:
    """Yield a template with SEED for a number that may be that of a run, and the number, for each such number."""
    for match in _SEED.finditer(template):
        before = template[: match.start(1)]
        is_named = _NAMED_SEED.search(match[0][: match.start(1) - match.start()]) is not None
        if is_named or (int(match[1]) <= _LARGEST_BARE and not _COUNTED.search(before)):
            yield before + SEED + template[match.end(1) :], match[1]


def alias_pattern(aliases: Set[str]) -> re.Pattern[str]:
    """Return what finds any of some names of a data set as whole words, in any case and with any dashes.

    Names of one or two letters are found only where a folder's or a file's name begins with them.
    """
    patterns = list[str]()
    for alias in sorted(aliases, key=lambda alias: (-len(alias), alias)):
        letters = [re.escape(letter) for letter in alias if letter.isalnum()]
        before = "(?<![A-Za-z0-9])" if len(letters) > _SHORT else "(?<![^/])"
        patterns += [before + "[-_. ]?".join(letters)] if letters else []
    return re.compile(rf"(?:{'|'.join(patterns) or '(?!)'})(?![A-Za-z0-9])", re.I)
