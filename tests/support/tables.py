"""Tables in memory and in files, and the lines that refusals of them print."""

import pyarrow as pa
import pytest
from pyarrow import feather

import xmceval

IN_MEMORY = {
    "pandas": lambda frame: frame,
    "arrow": pa.table,
    "reader": lambda frame: pa.table(frame).to_reader(),
}
FILES = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "feather": lambda frame, path: feather.write_feather(pa.Table.from_pandas(frame), path),
}
FORMS = [*IN_MEMORY, *FILES]
LIST_FORMS = [form for form in FORMS if form not in {"csv", "tsv"}]  # text has no lists


def as_form(frame, form, name):
    """Return a data frame as a table in memory, or write it and return the path."""
    if form in IN_MEMORY:
        return IN_MEMORY[form](frame)
    FILES[form](frame, path := f"{name}.{form}")
    return path


def value(y_true, y_score, metrics="P", k=1, **options):
    """Return the value of one metric."""
    (found,) = xmceval.score(y_true, y_score, metrics=metrics, k=k, **options).values()
    return found


def refusal(y_true, y_score, **options):
    """Return the message of a pair that score and compare refuse alike."""
    with pytest.raises(xmceval.DataError) as caught:
        value(y_true, y_score, **options)
    # readers are read once
    if not any(isinstance(table, pa.RecordBatchReader) for table in (y_true, y_score, options.get("train"))):
        with pytest.raises(xmceval.DataError) as other:
            xmceval.compare(y_true, {"a": y_score, "b": y_score}, **{"metrics": "P", "k": 1, **options})
        assert str(other.value) == str(caught.value)
    return str(caught.value)
