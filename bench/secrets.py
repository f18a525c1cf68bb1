"""Secret scanning, in MB/s: lines nobody looks twice at, ordinary code, and text full of candidates.

Each text is scanned as added files through the collector's own scanner, in this process; the first line is
what a small change pays for loading the rules. Detection is counted over made-up credentials of every kind,
false alarms over lines that only look random.
"""

from __future__ import annotations

import base64
import hashlib
import sysconfig
import time
from collections.abc import Iterable
from pathlib import Path

from adjudge.evidence.secretscan.candidates import candidate_lines
from adjudge.evidence.secretscan.scanner import Scanner, scanner_name
from adjudge.testing.credentials import credentials, ordinary_lines

CODE_BYTES = 8_000_000
DENSE_BYTES = 400_000
SEEDS = range(10)


def scan(texts: Iterable[tuple[str, bytes]]) -> set[str]:
    scanner: Scanner[str] = Scanner()
    found = {hit.place for name, text in texts for hit in scanner.scan(name, text)}
    return found | {hit.place for hit in scanner.finish()}


def timed(name: str, text: bytes) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    scan([(name, text)])
    wall, cpu = time.perf_counter() - began, time.process_time() - cpu
    kept = sum(len(line) + 1 for _, line in candidate_lines(text)) / len(text)
    size = len(text) / 1e6
    print(f"{name:24} {size:5.1f} MB  {size / wall:6.1f} MB/s, {size / cpu:6.1f} MB/s of processor time, "
          f"{kept:6.2%} looked at closely")  # fmt: skip


def some_code() -> bytes:
    folder = Path(sysconfig.get_paths()["stdlib"])
    text = bytearray()
    for path in sorted(folder.glob("*.py")) + sorted(folder.glob("[a-s]*/*.py")):
        if len(text) < CODE_BYTES:
            text += path.read_bytes()
    return bytes(text)


def _lock_entry(number: int) -> bytes:
    name = f"package-{number % 97}"
    return (
        f'    "node_modules/{name}": {{\n      "version": "1.{number}.0",\n'
        f'      "resolved": "https://registry.internal/{name}/-/{name}-1.{number}.0.tgz",\n'
        f'      "integrity": "sha512-{base64.b64encode(hashlib.sha512(name.encode()).digest()).decode()}",\n'
        f'      "license": "MIT"\n    }},\n'
    ).encode()


def run() -> None:
    began = time.perf_counter()
    scan([("first", credentials(0)["Stripe key"].encode())])
    first_ms = 1000 * (time.perf_counter() - began)
    print(f"{scanner_name()}: loaded, and the first line scanned, in {first_ms:.0f} ms")
    timed("prose", b"just some plain words in a row here, and then a few more\n" * 100_000)
    timed("code (Python's library)", some_code())
    dense = "\n".join(line for seed in range(2000) for line in ordinary_lines(seed)).encode()[:DENSE_BYTES]
    timed("hashes, ids, base64", dense)
    timed("a lock file", b"".join(_lock_entry(number) for number in range(4000)))
    kinds = len(credentials(0))
    found = sum(len(scan((n, t.encode()) for n, t in credentials(seed).items())) for seed in SEEDS)
    alarms = sum(len(scan((t[:60], t.encode()) for t in ordinary_lines(seed))) for seed in SEEDS)
    print(f"found {found} of {kinds * len(SEEDS)} credentials of {kinds} kinds")
    print(f"{alarms} false alarms in {len(ordinary_lines(0)) * len(SEEDS)} lines that only look random")
