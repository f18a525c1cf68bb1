import pytest
from pydantic import ValidationError

from adjudge.records.change import ChangeKind, FileChange
from adjudge.records.paths import parse_path, path_bytes, path_from_bytes, render_path


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (b"src/main.py", "src/main.py"),
        (b"with space", "with space"),
        ("naïve/日本.txt".encode(), "naïve/日本.txt"),
        (b"new\nline", '"new\\nline"'),
        (b'quo"te', '"quo\\"te"'),
        (b"back\\slash", '"back\\\\slash"'),
        (b"latin-\xe9", '"latin-\\351"'),
        (b"bell\x07esc\x1b", '"bell\\aesc\\033"'),
        ("rtl\u202eyp.txt".encode(), '"rtl\\342\\200\\256yp.txt"'),
    ],
)
def test_paths_are_written_as_git_writes_them_and_read_back(raw: bytes, written: str) -> None:
    path = path_from_bytes(raw)
    assert render_path(path) == written
    assert path_bytes(parse_path(written)) == raw


@pytest.mark.parametrize("broken", ['"', '"unterminated', '"bad \\q escape"', '"inner " quote"'])
def test_a_malformed_quoted_path_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="quoted path"):
        parse_path(broken)


def test_a_record_keeps_the_true_bytes_through_json() -> None:
    change = FileChange(path=path_from_bytes(b"a\xff\n"), kind=ChangeKind.ADDED)
    text = change.model_dump_json()
    assert '"path":"\\"a\\\\377\\\\n\\""' in text
    assert FileChange.model_validate_json(text) == change


def test_a_path_must_be_text() -> None:
    with pytest.raises(ValidationError, match="a workspace path is a string"):
        FileChange.model_validate({"path": 3, "kind": "added"})
