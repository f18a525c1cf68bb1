from pathlib import Path

import pytest

from adjudge.errors import StoreError
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.store.blobs import BlobDirectory


def _write(store: BlobDirectory, *chunks: bytes) -> BlobRef:
    writer = store.writer()
    for chunk in chunks:
        writer.write(chunk)
    return writer.commit()


def test_a_blob_comes_back_as_it_went_in(tmp_path: Path) -> None:
    store = BlobDirectory(tmp_path / "blobs")
    ref = _write(store, b"one ", b"two")
    assert ref.digest == digest_bytes(b"one two")
    assert (ref.size_bytes, ref.head, ref.tail, ref.truncated, ref.stored) == (7, "one two", "", False, True)
    with store.open(ref) as file:
        assert file.read() == b"one two"


@pytest.mark.parametrize("chunk", [1, 1000, 4096, 5000, 100_000])
def test_both_ends_of_a_large_blob_are_in_its_reference(tmp_path: Path, chunk: int) -> None:
    data = bytes(range(256)) * 100 + b"\xff end"
    ref = _write(BlobDirectory(tmp_path), *[data[i : i + chunk] for i in range(0, len(data), chunk)])
    assert ref.head == data[:4096].decode("utf-8", "replace")
    assert ref.tail == data[-4096:].decode("utf-8", "replace")
    assert ref.size_bytes == len(data)


def test_equal_bytes_are_kept_once(tmp_path: Path) -> None:
    store = BlobDirectory(tmp_path)
    assert _write(store, b"same") == _write(store, b"same")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_bytes_dropped_on_the_way_are_said(tmp_path: Path) -> None:
    writer = BlobDirectory(tmp_path).writer()
    writer.write(b"kept")
    ref = writer.commit(size_bytes=1000)
    assert ref.truncated
    assert ref.size_bytes == 1000


def test_an_aborted_blob_leaves_nothing(tmp_path: Path) -> None:
    writer = BlobDirectory(tmp_path).writer()
    writer.write(b"never mind")
    writer.abort()
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_blob_is_our_fault_not_the_attempts(tmp_path: Path) -> None:
    store = BlobDirectory(tmp_path)
    with pytest.raises(StoreError, match="cannot be read"):
        store.open(BlobRef(digest=digest_bytes(b"gone"), size_bytes=4))
