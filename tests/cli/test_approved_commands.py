"""The beginning of a long output, as it was approved; other outputs are in sessions."""

from support.approved import check


def test_a_data_set_in_json_begins_as_it_was_approved(run):
    """Up to the first result that is published."""
    code, out, err = run("datasets", "Eurlex-4K", "-o", "json")
    assert (code, err) == (0, "")
    check(__file__, "datasets-json.txt", "".join(out.splitlines(keepends=True)[:56]))
