"""A real object store on loopback, with credentials: skipped unless s3fs and moto[server] are installed."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse

import xmceval
from xmceval import DataError, UsageError

s3fs = pytest.importorskip("s3fs")
server = pytest.importorskip("moto.server")

KEY, SECRET = "AKIAEXAMPLE", "s3cr3t/with+slash"


@pytest.fixture(scope="module")
def store():
    """The address of a store; its bucket is named bucket."""
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        s3fs.S3FileSystem().mkdir("bucket")
        yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture(scope="module")
def files(store, tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    rng = np.random.default_rng(3)
    truth = sparse.random(3_000, 1000, 0.005, "csr", random_state=rng)
    truth.data[:] = 1
    sparse.save_npz(folder / "truth.npz", truth)
    sparse.save_npz(folder / "p.npz", sparse.random(3_000, 1000, 0.05, "csr", random_state=rng), compressed=False)
    for name in ("truth.npz", "p.npz"):
        s3fs.S3FileSystem().put_file(str(folder / name), f"bucket/d/{name}")
    return folder


def score(truth, scores):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(xmceval.score(truth, scores, k=3))


def test_a_store_gives_the_same_bits(files):
    expected = score(files / "truth.npz", files / "p.npz")
    assert score("s3://bucket/d/truth.npz", "s3://bucket/d/p.npz") == expected
    for name in ("p.txt", "p.txt.gz", "q.npz"):
        xmceval.convert("s3://bucket/d/p.npz", f"s3://bucket/made/{name}")
        assert score("s3://bucket/d/truth.npz", f"s3://bucket/made/{name}") == expected
        with pytest.raises(UsageError, match="already exist"):
            xmceval.convert("s3://bucket/d/p.npz", f"s3://bucket/made/{name}")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s3://bucket/d/none.npz", "no such file"),
        ("s3://bucket/d", "is a directory"),
        ("s3://nobucket/p.npz", "no such file"),
    ],
)
def test_wrong_objects_are_refused(address, message, files):
    since = time.monotonic()
    with pytest.raises(DataError, match=message):
        score(files / "truth.npz", address)
    assert time.monotonic() - since < 20


def test_missing_credentials_are_named_and_never_shown(files, monkeypatch):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(DataError, match=r"access is denied \(.*credentials.*\) \(hint: set the") as error:
        score(files / "truth.npz", "s3://bucket/d/p.npz")
    assert KEY not in str(error.value)
    s3fs.S3FileSystem.clear_instance_cache()
