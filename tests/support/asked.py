"""What most tests ask of two inputs: the precision of their best labels, or the message with which they are refused."""

import pytest

import xmceval


def p_at_1(*inputs, **options):
    """Return P@1."""
    return xmceval.score(*inputs, metrics="P", k=1, **options)["P@1"]


def refused(message, *inputs, error=xmceval.DataError, **options):
    """Check that inputs are refused with a message; they are scored by P@1 unless metrics are passed."""
    asked = options if "metrics" in options else {"metrics": "P", "k": 1, **options}
    with pytest.raises(error, match=message):
        xmceval.score(*inputs, **asked)
