"""Instructions: code of LLVM for what numba compiles badly, each with its plain twin.

A kernel calls an instruction by the name of a function with the decorator ``instruction`` in its own file. The body of
that function is the plain twin, in Python, which tests and processes without the compiler run; where it has none, the
kernel tells by a constant (`COMPRESSES`, `FAST`) whether to call the instruction, and otherwise goes on without it:

- `instructions`: bits and bytes of words; twins in ``text/lines``, ``text/words``, ``metrics/ranking``,
  ``metrics/topk``, ``rows/cells``. `compress` and what follows from it: ``text/anyline`` parses
  the same lines one by one; the twin of `compress_eights` stands in ``text/pairs``. `copy_sixteens`: the loop of
  ``rows/copies``. `prefetch` does nothing to values.
- `eight_pairs`: eight pairs of text at once, for ``text/pairs``; ``text/anyline`` is the twin.
- `eight_rows`: exact sums of eight rows at once, for ``metrics/totals``; `add_product` has its twin there, and so have
  the others, in the loop over rows.
"""
