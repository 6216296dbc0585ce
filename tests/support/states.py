"""States made by hand: the form of the files, written and read without the package."""

import hashlib
import json
import math

import numpy as np

START = b'{"schema": "xmceval/state/2", "digest": "'
DIGITS = 32


def seal(head, payload):
    """Return the bytes of a state with the right digest."""
    body = b'", ' + json.dumps(head)[1:].encode() + b"\n" + payload
    return START + hashlib.blake2b(START + body, digest_size=16).hexdigest().encode() + body


def unseal(content):
    """Return the head of a state without schema and digest, and its payload."""
    line, _, payload = content.partition(b"\n")
    head = json.loads(line)
    assert content.startswith(START)
    del head["schema"], head["digest"]
    return head, payload


def unpack(content):
    """Return the document of a state, and its arrays."""
    head, payload = unseal(content)
    arrays, first = {}, 0
    for name, kind, shape in head.pop("arrays"):
        size = np.dtype(kind).itemsize * math.prod(shape)
        arrays[name] = np.frombuffer(payload[first : first + size], dtype=kind).astype(np.int64).reshape(shape)
        first += size
    assert first == len(payload)
    return head, arrays


def pack(document, arrays):
    """Return the bytes of a state, its arrays in 64 bits."""
    entries = [[name, "<i8", list(array.shape)] for name, array in arrays.items()]
    return seal({**document, "arrays": entries}, b"".join(array.astype("<i8").tobytes() for array in arrays.values()))


def forge(content, **changes):
    """Return a state with other fields, and the right digest."""
    head, payload = unseal(content)
    return seal(head | changes, payload)
