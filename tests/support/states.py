"""States made by hand: the form of the files, written and read without the package."""

import io
import json

import numpy as np


def unpack(content):
    """Return the header of a state, and its arrays."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("header").tobytes()), arrays


def pack(header, arrays):
    """Return the bytes of a state."""
    file = io.BytesIO()
    np.savez(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)
    return file.getvalue()


def forge(content, **changes):
    """Return a state with other fields in its header."""
    header, arrays = unpack(content)
    return pack(header | changes, arrays)
