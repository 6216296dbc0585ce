"""Paths: names of local and remote files, and that no credentials are in the latter."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
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


@pytest.mark.parametrize("address", SHOWN)
def test_names_of_addresses_have_no_credentials(address):
    path = to_path(address)
    shown = SHOWN[address]
    assert str(path) == f"{path}" == shown
    assert repr(path) == f"RemotePath({shown!r})"
    assert path.name == shown.rpartition("/")[2]
    assert redacted(f"cannot get '{address}', sorry", address).lower() == f"cannot get '{shown}', sorry".lower()


@pytest.mark.parametrize("address", SHOWN)
def test_addresses_remain_whole(address):
    path = to_path(address)
    assert path.address.lower() == address.lower()
    assert pickle.loads(pickle.dumps(path)) == copy.deepcopy(path) == path == to_path(path)
    assert hash(path) == hash(to_path(address))
    assert isinstance(path, RemotePath)
    assert isinstance(path, Path)
    assert path != Path(str(path))
    with pytest.raises(TypeError, match="is a remote file"):
        os.stat(path)


def test_other_files_of_a_folder_have_the_same_query():
    path = to_path("https://u:p@h/d/x-labels.npy?sig=1").with_name("x-scores.npy")
    assert path.address == "https://u:p@h/d/x-scores.npy?sig=1"


@pytest.mark.parametrize("name", ["a/b.txt", "a::b", "-", "C://x", ":memory:", "/x:/y"])
def test_local_names_remain_local(name):
    assert to_path(name) == Path(name)
    assert as_input(name) is name


def test_addresses_of_local_files_are_local():
    assert to_path("file:///tmp/x") == Path("/tmp/x")
    assert as_input(["s3://b/x", "y"]) == [to_path("s3://b/x"), "y"]


def test_an_address_that_pathlib_has_cut_is_hinted_at():
    refused(
        r"s3://b/x: no such file \(hint: pass an address such as .* as a string", Path("s3://b/x"), Path("s3://b/y")
    )


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
