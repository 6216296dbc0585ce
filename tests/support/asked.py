"""What most tests ask of two inputs: their values, doubts, or why they are refused."""

import pytest

import xmceval


def measured(*inputs, **options):
    """Return the values by name."""
    return dict(xmceval.score(*inputs, **options))


def p_at_1(*inputs, **options):
    """Return P@1."""
    return xmceval.score(*inputs, metrics="P", k=1, **options)["P@1"]


def refused(message, *inputs, error=xmceval.DataError, **options):
    """Check that inputs are refused with a message; they are scored by P@1 unless metrics are passed."""
    with pytest.raises(error, match=message):
        xmceval.score(*inputs, **asked(options))


def doubts_of(*inputs, **options):
    """Return what is doubted, as one text; inputs are scored by P@1 unless metrics are passed."""
    return "\n".join(xmceval.score(*inputs, **asked(options)).doubts)


def asked(options):
    return options if "metrics" in options else {"metrics": "P", "k": 1, **options}
