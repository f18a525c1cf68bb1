import asyncio
import os
from pathlib import Path

import pytest

from adjudge.sandbox.output import OutputPump, sealed_stdin
from adjudge.store.blobs import BlobDirectory


def pipes() -> tuple[tuple[int, int], tuple[int, int]]:
    return os.pipe(), os.pipe()


def test_both_streams_are_kept_apart_and_observed() -> None:
    async def scenario() -> None:
        (out_r, out_w), (err_r, err_w) = pipes()
        seen: list[tuple[str, bytes]] = []
        pump = OutputPump(out_r, err_r, limit_bytes=1000, on_output=lambda s, d: seen.append((s, d)))
        os.write(out_w, b"to out")
        os.write(err_w, b"to err")
        os.close(out_w)
        os.close(err_w)
        await asyncio.sleep(0.01)
        assert pump.ended
        stdout, stderr = pump.finish()
        assert (stdout.text, stderr.text) == ("to out", "to err")
        assert sorted(seen) == [("stderr", b"to err"), ("stdout", b"to out")]
        assert not stdout.stored

    asyncio.run(scenario())


def test_the_limit_covers_both_streams_and_drops_the_rest() -> None:
    async def scenario() -> None:
        (out_r, out_w), (err_r, err_w) = pipes()
        told: list[None] = []
        pump = OutputPump(out_r, err_r, limit_bytes=10, on_limit=lambda: told.append(None))
        os.write(out_w, b"12345678")
        await asyncio.sleep(0.01)
        os.write(err_w, b"abcdefgh")
        os.write(out_w, b"more")
        await asyncio.sleep(0.01)
        os.close(out_w)
        os.close(err_w)
        stdout, stderr = pump.finish()
        assert stdout.size_bytes + stderr.size_bytes == 20
        assert len(stdout.text) + len(stderr.text) == 10
        assert stdout.truncated
        assert stderr.truncated
        assert len(told) == 1

    asyncio.run(scenario())


def test_finish_does_not_wait_for_a_writer_that_stays() -> None:
    async def scenario() -> None:
        (out_r, out_w), (err_r, err_w) = pipes()
        pump = OutputPump(out_r, err_r, limit_bytes=1000)
        os.write(out_w, b"last words")
        stdout, _ = pump.finish()
        assert stdout.text == "last words"
        os.close(out_w)
        os.close(err_w)

    asyncio.run(scenario())


def test_output_goes_to_the_store_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        (out_r, out_w), (err_r, err_w) = pipes()
        blobs = BlobDirectory(tmp_path)
        pump = OutputPump(out_r, err_r, limit_bytes=10**6, blobs=blobs)
        data = os.urandom(50_000)
        for start in range(0, len(data), 1000):
            os.write(out_w, data[start : start + 1000])
            await asyncio.sleep(0)
        os.close(out_w)
        os.close(err_w)
        stdout, _ = pump.finish()
        assert stdout.stored
        with blobs.open(stdout) as file:
            assert file.read() == data

    asyncio.run(scenario())


def test_an_observer_that_raises_is_reported_at_the_end() -> None:
    async def scenario() -> None:
        (out_r, out_w), (err_r, err_w) = pipes()
        ended: list[None] = []

        def observe(stream: str, data: bytes) -> None:
            raise ValueError("observer broke")

        pump = OutputPump(
            out_r, err_r, limit_bytes=100, on_output=observe, on_failure=lambda: ended.append(None)
        )
        os.write(out_w, b"x")
        await asyncio.sleep(0.01)
        os.close(out_w)
        os.close(err_w)
        with pytest.raises(ValueError, match="observer broke"):
            pump.finish()
        assert len(ended) == 1

    asyncio.run(scenario())


def test_stdin_is_read_once_and_cannot_be_written() -> None:
    descriptor = sealed_stdin(b"input")
    try:
        assert os.read(descriptor, 100) == b"input"
        assert os.read(descriptor, 100) == b""
        with pytest.raises(OSError, match="Bad file"):
            os.write(descriptor, b"x")
        again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
        try:
            with pytest.raises(PermissionError):
                os.pwrite(again, b"x", 0)
        finally:
            os.close(again)
    finally:
        os.close(descriptor)
