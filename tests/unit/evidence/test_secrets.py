"""The secret scan: what is found, what is not new, what is never shown."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import time
from collections import Counter
from pathlib import Path

import pytest

from adjudge.evidence.secrets import SecretScanCollector
from adjudge.evidence.secretscan import scanner
from adjudge.evidence.secretscan.candidates import candidate_lines
from adjudge.evidence.secretscan.scanner import Hit, Scanner, scanner_name
from adjudge.evidence.secretscan.shapes import SHAPES, find_shapes
from adjudge.records.evidence import SecretFindings, SecretScan
from adjudge.testing.attempts import Attempt, Folder, Special, Symlink, Unreadable
from adjudge.testing.credentials import credentials, ordinary_lines

pytestmark = pytest.mark.anyone

needs_betterleaks = pytest.mark.skipif(
    importlib.util.find_spec("pybetterleaks") is None, reason="Betterleaks has no build for this machine"
)
SEEDS = range(5)
KEY = "AK" + "IAZ7Q4W2XK5LM3PN6R"
OTHER_KEY = "AK" + "IAB7Q4W2XK5LM3PN6T"


def scan(attempt: Attempt, workspace: Path = Path("/nonexistent")) -> SecretFindings:
    return asyncio.run(SecretScanCollector().collect(SecretScan(), attempt.subject(workspace)))


def places(found: SecretFindings) -> list[tuple[str | None, int | None]]:
    return [(finding.path, finding.line) for finding in found.findings]


def hits(texts: dict[str, str]) -> list[Hit[str]]:
    made: Scanner[str] = Scanner()
    found = [hit for name, text in texts.items() for hit in made.scan(name, text.encode())]
    found += made.finish()
    assert made.failed == []
    return found


@needs_betterleaks
def test_credentials_of_every_kind_are_found() -> None:
    missed: Counter[str] = Counter()
    for seed in SEEDS:
        made = credentials(seed)
        found = {hit.place for hit in hits({name: f"# settings\n{text}\n" for name, text in made.items()})}
        missed.update(made.keys() - found)
    # A rule that weighs randomness passes over a weak draw now and then; none passes over a kind.
    assert [kind for kind, times in missed.items() if times > 2] == []
    assert missed.total() <= 0.03 * len(credentials()) * len(SEEDS)


def test_forms_alone_find_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_betterleaks", lambda: None)
    made = credentials(3)
    found = {hit.place for hit in hits(made)}
    assert len(found) > 0.7 * len(made)
    assert scanner_name() == "built-in forms only"


@needs_betterleaks
def test_what_only_looks_random_is_left_alone() -> None:
    for seed in SEEDS:
        ordinary = {line[:40]: line for line in ordinary_lines(seed)}
        assert [(hit.rule, hit.place) for hit in hits(ordinary)] == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f'key = "{KEY}"', "aws-access-key-id"),
        ('id = "AK' + 'IAIOSFODNN7EXAMPLE"', "aws-access-key-id"),
        ("AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY", "aws-secret-access-key"),
        ("t = 'gh" + "p_1234567890abcdefghijklmnopqrstuvwxyz'", "github-token"),
        ("gh" + "p_" + "A" * 36, "github-token"),
        ("-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEfake\n", "private-key"),
        ("sk-" + "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL", "openai-key"),
        ("xo" + "xb-123456789012-1234567890123-abcdefghijklmnopqrstuvwx", "slack-token"),
        ("redis://default:" + "Zt7kq0Lw@cache.internal:6379", "password-in-url"),
    ],
)
def test_examples_from_documentation_trip_it_too(text: str, rule: str) -> None:
    assert [match.rule for match in find_shapes(text)] == [rule]
    assert rule in {hit.rule for hit in hits({"a": text})}


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PRIVATE" + ' KEY-----")',
        "postgres://postgres:postgres@localhost/db",
        "postgres://user:password@db.internal/x",
        "https://${USER}:${PASSWORD}@host/x",
        "mailto:someone@example.org http://host:8080/a@b",
        "sk-very-long-class-name-with-many-words-in-it-indeed",
        "xAK" + "IAZ7Q4W2XK5LM3PN6R",
    ],
)
def test_near_misses_have_no_form(text: str) -> None:
    assert list(find_shapes(text)) == []


def test_every_form_has_a_group_name_of_its_own() -> None:
    assert all(name.replace("-", "_").isidentifier() for name in SHAPES)


def test_a_hostile_line_costs_no_time() -> None:
    began = time.process_time()
    for text in ("aws" * 3000, "a://" * 3000, "eyJ" + "a" * 9000, "-----BEGIN " + "A " * 4000, "\\n" * 9000):
        list(find_shapes(text))
    assert time.process_time() - began < 5


def test_ordinary_code_is_no_candidate() -> None:
    source = Path(scanner.__file__).read_bytes()
    kept = list(candidate_lines(source))
    assert len(kept) < 0.05 * source.count(b"\n")


@pytest.mark.parametrize("ending", ["", "\n"])
def test_candidates_keep_their_line_numbers(ending: str) -> None:
    lines = [f"line {number}" if number % 3 else f"x = '{number:032x}z9'" for number in range(50)]
    found = list(candidate_lines(("\n".join(lines) + ending).encode()))
    assert found == [(number, line.encode()) for number, line in enumerate(lines) if not number % 3]


def test_two_tokens_make_one_candidate() -> None:
    line = f"{KEY} and {OTHER_KEY}".encode()
    assert list(candidate_lines(b"\n" + line + b"\n")) == [(1, line)]


def test_the_line_after_the_start_of_a_key_comes_along() -> None:
    text = b"a\n-----BEGIN RSA PRIVATE" + b" KEY-----\nshort\nnext\n"
    assert [number for number, _ in candidate_lines(text)] == [1, 2]


def test_digests_that_say_so_are_passed_over() -> None:
    digest = "ab12" * 16
    assert list(candidate_lines(f"sha256:{digest}\n".encode())) == []
    assert len(list(candidate_lines(f"sha256:{digest} token={KEY}x1\n".encode()))) == 1
    assert len(list(candidate_lines(f"sha256:{digest[:-1]}\n".encode()))) == 1


def test_long_lines_are_cut_with_overlap() -> None:
    words = "".join(f"{number:07x}q" for number in range(6000)).encode()
    cut = [piece for _, piece in candidate_lines(words)]
    assert max(map(len, cut)) < 5000
    for start in range(0, len(words) - 300, 97):
        assert any(words[start : start + 300] in piece for piece in cut)


def test_only_added_lines_count() -> None:
    before, after = f'old = "{KEY}"\n', f'old = "{KEY}"\nnew = "{OTHER_KEY}"\n'
    assert places(scan(Attempt({"a.py": before}, {"a.py": after}))) == [("a.py", 2)]


def test_findings_do_not_hold_the_secret() -> None:
    found = scan(Attempt({}, {"a.py": f'x = "{KEY}"\n', f"b/{KEY}.txt": "x\n", "c": Symlink(KEY)}))
    assert KEY not in found.model_dump_json()
    assert places(found) == [("a.py", 1), ("b/[redacted].txt", None), ("c", 1)]


def test_the_collector_knows_what_to_keep_out_of_other_rows() -> None:
    collector = SecretScanCollector()
    asyncio.run(collector.collect(SecretScan(), Attempt({}, {"a": KEY}).subject()))
    assert collector.secrets == {KEY}


def test_what_only_moved_is_not_new() -> None:
    line = f'key = "{KEY}"\n'
    moved = Attempt({"a.py": f"x\n{line}"}, {"a.py": "x\n", "b.py": f"y\n    {line}"})
    renamed = Attempt({"a.py": line}, {"b.py": line})
    assert scan(moved).findings == ()
    assert scan(renamed).findings == ()


def test_a_copy_is_new() -> None:
    line = f'key = "{KEY}"\n'
    assert places(scan(Attempt({"a.py": line}, {"a.py": line, "b.py": line}))) == [("b.py", 1)]


def test_what_is_deleted_is_not_added() -> None:
    assert scan(Attempt({"a.py": KEY}, {})).findings == ()


def test_a_binary_file_is_read_for_text() -> None:
    old, new = b"\0\1\2" * 50, b"\0\1\2" * 50 + KEY.encode() + b"\0" * 50
    assert places(scan(Attempt({"a.bin": old}, {"a.bin": new}))) == [("a.bin", None)]


def test_text_a_binary_file_had_is_not_new() -> None:
    old = b"\0\1\2" * 50 + KEY.encode() + b"\0" * 50
    assert scan(Attempt({"a.bin": old}, {"a.bin": old + b"\0more"})).findings == ()


def test_wide_strings_in_a_binary_file() -> None:
    data = b"\0\1\2\xff" * 900 + KEY.encode("utf-16-le") + b"\0\1\2\xff" * 900
    assert places(scan(Attempt({}, {"a.exe": data}))) == [("a.exe", None)]


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_text(codec: str) -> None:
    assert places(scan(Attempt({}, {"a.txt": f"one\nkey = {KEY}\n".encode(codec)}))) == [("a.txt", 2)]


def test_litter_is_scanned() -> None:
    found = scan(Attempt({}, {".env": f"KEY={KEY}\n"}, litter=(".env",)))
    assert places(found) == [(".env", 1)]


def test_litter_that_repeats_an_unchanged_file_is_not_new(tmp_path: Path) -> None:
    (tmp_path / "fixtures.py").write_text(f'key = "{KEY}"\n')
    (tmp_path / "build").mkdir()
    (tmp_path / "fifo").symlink_to("fixtures.py")
    built = Attempt({}, {"build/fixtures.py": f'key = "{KEY}"\n'}, litter=("build/*",))
    leaked = Attempt({}, {"build/fixtures.py": f'key = "{OTHER_KEY}"\n'}, litter=("build/*",))
    work = Attempt({}, {"build/fixtures.py": f'key = "{KEY}"\n'})
    assert scan(built, tmp_path).findings == ()
    assert places(scan(leaked, tmp_path)) == [("build/fixtures.py", 1)]
    assert places(scan(work, tmp_path)) == [("build/fixtures.py", 1)]


def test_compiled_litter_is_passed_over() -> None:
    compiled = Attempt({}, {"a.pyc": b"\0" + KEY.encode()}, litter=("*.pyc",))
    found = scan(compiled)
    assert found.findings == ()
    assert found.unscanned == ()


def test_what_cannot_be_read_is_named() -> None:
    found = scan(Attempt({}, {"closed": Unreadable(), "pipe": Special(), "empty": Folder(), "a": "x\n"}))
    assert found.unscanned == ("closed",)


def test_a_secret_in_a_very_long_line() -> None:
    line = ",".join(map(str, range(50_000))) + f',"{KEY}",' + ",".join(map(str, range(50_000)))
    assert places(scan(Attempt({}, {"a.json": line}))) == [("a.json", 1)]


def test_a_key_across_batches_is_found() -> None:
    filler = "\n".join(f"{number:032x}" for number in range(3500))
    block = "-----BEGIN EC PRIVATE" + " KEY-----\n" + "MHcCAQEEIAbc123" * 4 + "\n"
    for shift in range(6):
        text = "\n" * shift + filler[: 96 * 1024 - 60 + 33 * shift] + "\n" + block
        assert "private-key" in {hit.rule for hit in hits({"a": text})}, shift


@needs_betterleaks
@pytest.mark.parametrize("encoded", ["base64", "hex"])
def test_encoded_secrets(encoded: str) -> None:
    secret = credentials(1)["Stripe key"].encode()
    data = secret.hex() if encoded == "hex" else base64.b64encode(secret).decode()
    assert [hit.number for hit in hits({"a": f"x\ndata = '{data}'\n"})] == [2]


@pytest.mark.parametrize("encoded", ["base64", "url-safe base64", "hex"])
@pytest.mark.parametrize(
    ("secret", "rule"),
    [
        ("AKIA" + "Q3EGRTZ7JXK2MWPL", "aws-access-key-id"),
        ("AKIA" + "IOSFODNN7EXAMPLE", "aws-access-key-id"),
        (
            "aws_secret_access_key = " + "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
            "aws-secret-access-key",
        ),
        ("postgres://app:" + "s3cretPass99?~" + "@db.internal/app", "password-in-url"),
    ],
)
def test_forms_are_known_when_encoded(secret: str, rule: str, encoded: str) -> None:
    data = secret.encode()
    text = {
        "base64": base64.b64encode(data).decode(),
        "url-safe base64": base64.urlsafe_b64encode(data).decode().rstrip("="),
        "hex": data.hex(),
    }[encoded]
    assert (2, rule) in {(hit.number, hit.rule) for hit in hits({"a": f"x\ndata = '{text}'\n"})}


@needs_betterleaks
def test_a_flood_of_candidates_is_cut_short_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "_MAX_CLOSE_BYTES", 50_000)
    flood = "\n".join(f"{number:064x}" for number in range(4000))
    found = scan(Attempt({}, {"a": "x = 1\n", "b": flood, "c": f"{flood}\nkey = {KEY}\n"}))
    assert found.unscanned == ("b", "c")
    assert places(found) == [("c", 4001)]


def test_many_files_keep_their_places() -> None:
    files = {f"src/file{number}.py": f"x = 1\n\ny = '{KEY}'\n" for number in range(40)}
    assert places(scan(Attempt({}, dict(files)))) == [(path, 3) for path in sorted(files)]


def test_what_scanned_is_on_record() -> None:
    assert scan(Attempt({}, {"a": f"{KEY}\n"})).scanner == scanner_name()
    assert scan(Attempt({}, {"a": "x\n"})).scanner == "no line needed a closer look"
