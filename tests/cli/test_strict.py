"""``--strict`` and ``-q``: doubts are refused and never hidden, facts are neither."""

import numpy as np

N_ROWS, N_LABELS, DEPTH = 40, 30, 5
RANK_NOTHING = "they rank no label above another"


def test_strict_refuses_doubts_alone_and_quiet_does_not_hide_them(run, tmp_path, rng):
    labels = np.argsort(rng.random((N_ROWS, N_LABELS)), axis=1)[:, :DEPTH].tolist()
    true, good, dead = (tmp_path / f"{name}.txt" for name in ("truth", "good", "dead"))
    true.write_text("\n".join([f"{N_ROWS} {N_LABELS}", "", *(f"{row[0]}:1" for row in labels[1:])]) + "\n")
    for path, scores in ((good, range(DEPTH, 0, -1)), (dead, [1] * DEPTH)):
        rows = (" ".join(f"{label}:{score}" for label, score in zip(row, scores, strict=True)) for row in labels)
        path.write_text("".join(f"{row}\n" for row in rows))
    options = "-m", "P", "-k", "9", "-q"
    code, out, err = run("score", true, good, *options, "--strict")
    assert (code, err) == (0, "")
    assert "no true labels" not in out
    assert "1 instance has no true labels (0 for P)\n" in run("score", true, good, *options[:-1], "--strict")[1]
    assert RANK_NOTHING in run("score", true, dead, *options)[2]
    code, out, err = run("score", true, dead, *options, "--strict")
    assert (code, out) == (1, "")
    assert err.endswith("with --strict doubts are errors\n")


def test_facts_are_notes_beside_csv_which_has_no_room_for_them(run, tmp_path):
    true, scores = tmp_path / "truth.txt", tmp_path / "scores.txt"
    true.write_text("3 4\n0:1\n\n1:1\n")
    scores.write_text("3 4\n0:2 1:1\n2:1\n1:3\n")
    arguments = "score", true, scores, "-m", "P", "-k", "1", "-o", "csv"
    assert run(*arguments)[2] == "note: 1 instance has no true labels (0 for P)\n"
    assert run(*arguments, "-q")[2] == ""
