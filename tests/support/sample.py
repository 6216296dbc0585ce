"""The sample that is shipped: where it is, and what its files are called."""

from pathlib import Path

SAMPLE = Path(__file__).parents[2] / "datasets" / "sample"
TRUTH, MODEL_A, MODEL_B, TRAIN = (f"{name}.txt" for name in ("tst_X_Y", "model_a", "model_b", "trn_X_Y"))
PATHS = [str(SAMPLE / name) for name in (TRUTH, MODEL_A, MODEL_B, TRAIN)]
