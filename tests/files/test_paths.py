"""Paths: names of local and remote files, and that no credentials are in the latter."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_lines
from support.asked import refused

import xmceval
from xmceval import DataError
from xmceval.files.io.addresses import redacted
from xmceval.files.io.paths import RemotePath, as_input, to_path

SHOWN = {
    "s3://bucket/d/p.txt": "s3://bucket/d/p.txt",
    "https://h.org:80/a/b.npz?sig=abc&x=1#f": "https://h.org:80/a/b.npz",
    "https://u:pw@h.org/a#token": "https://h.org/a",
    "HTTPS://h.org/A": "https://h.org/A",
    "s3://KEY:SEC/RET@bucket/name": "s3://bucket/name",
    "sftp://u:p@ss@host/x": "sftp://host/x",
    "s3://bucket/preds-?.npz": "s3://bucket/preds-?.npz",
    "s3://bucket/k?versionId=3": "s3://bucket/k",
    "s3://bucket/a:b@c": "s3://bucket/a:b@c",
    "http://host:8080/a@b": "http://host:8080/a@b",
    "hf://datasets/a/b@main/f.txt": "hf://datasets/a/b@main/f.txt",
    "simplecache::https://u:p@h/x?y=1": "simplecache::https://h/x",
    "zip://a.txt::https://h/x.zip?t=1": "zip://a.txt::https://h/x.zip",
}


def shown(address):
    """Return what is shown of an address, which stays whole."""
    path = to_path(address)
    assert path.address.lower() == address.lower()
    assert pickle.loads(pickle.dumps(path)) == copy.deepcopy(path) == path == to_path(path)
    assert hash(path) == hash(to_path(address))
    assert isinstance(path, RemotePath)
    assert isinstance(path, Path)
    assert path != Path(str(path))
    with pytest.raises(TypeError, match="is a remote file"):
        os.stat(path)
    assert repr(path) == f"RemotePath({str(path)!r})"
    assert f"{path}" == str(path)
    return f"{path} {path.name} {redacted(f'cannot get {address!r}, sorry', address)}"


def local(name):
    """Return the path of a name, which is no input but itself."""
    assert as_input(name) is name
    return type(to_path(name)).__name__, str(to_path(name))


def test_addresses_and_local_names_are_shown_in_these_words():
    check_lines(__file__, "paths.txt", globals())


@pytest.mark.parametrize("address", SHOWN)
def test_no_use_of_an_address_that_pathlib_has_cut_prints_its_credentials(address):
    cut = Path(address)
    eye = np.eye(3)
    for use in (
        lambda: xmceval.score(eye, cut, metrics="P", k=1),
        lambda: xmceval.score([cut, cut], eye, metrics="P", k=1),
        lambda: xmceval.score(eye, eye, metrics="P", k=1, sample_weight=cut),
        lambda: xmceval.score(eye, eye, metrics="P", k=1, save_rows=cut.with_suffix(".npz")),
        lambda: xmceval.benchmark({"datasets": {"a": {"truth": cut}}, "systems": {"b": cut}}),
        lambda: xmceval.inspect([cut]),
        lambda: xmceval.convert(cut, "out.txt"),
        lambda: xmceval.score(eye, str(cut), metrics="P", k=1),  # as others make it
    ):
        with pytest.raises(DataError, match=r": no such file \(hint: ") as caught:
            use()
        assert SHOWN[address].partition("://")[0].lower() in str(caught.value).lower()
        assert not any(secret in str(caught.value) for secret in ("sig", "pw@", "#", "SEC", "RET", "u:p", "y=1", "t=1"))
    Path(*cut.parts[:2]).parent.mkdir()  # a folder is one, whatever its name
    refused(rf"^{cut.parts[0]}/none: no such file$", eye, Path(cut.parts[0], "none"))
