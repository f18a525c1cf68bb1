"""Every store keeps the promises of the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.contracts import KeptBlobs
from adjudge.settings import Settings
from adjudge.store.blobs import BlobDirectory
from adjudge.store.objects import ObjectBlobs
from adjudge.store.opening import store_for
from adjudge.testing.stores import BLOB_CHECKS, CHECKS, BlobCheck, StoreCheck


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_store(store_settings: Settings, check: StoreCheck) -> None:
    with store_for(store_settings) as store:
        check.run(store)


@pytest.fixture(params=["directory", "file:", "memory:", "s3:"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptBlobs:
    if request.param == "directory":
        return BlobDirectory(tmp_path / "blobs", durable=True)
    if request.param == "file:":
        return ObjectBlobs(f"file://{tmp_path}")
    if request.param == "memory:":
        return ObjectBlobs("memory:///")
    endpoint = request.getfixturevalue("s3_endpoint")
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "something",
    }.items():
        monkeypatch.setenv(name, value)
    return ObjectBlobs("s3://bucket/some/prefix")


@pytest.mark.parametrize("check", BLOB_CHECKS, ids=lambda check: check.name)
def test_blobs(blobs: KeptBlobs, check: BlobCheck) -> None:
    check.run(blobs)
