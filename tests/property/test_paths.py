from hypothesis import given
from hypothesis import strategies as st

from adjudge.records.paths import parse_path, path_bytes, path_from_bytes, render_path


@given(st.binary(min_size=1))
def test_every_byte_string_survives_being_written_and_read(raw: bytes) -> None:
    written = render_path(path_from_bytes(raw))
    assert path_bytes(parse_path(written)) == raw
    written.encode("utf-8")  # no lone surrogate is left


@given(st.binary(min_size=1), st.binary(min_size=1))
def test_different_paths_are_written_differently(one: bytes, other: bytes) -> None:
    same = render_path(path_from_bytes(one)) == render_path(path_from_bytes(other))
    assert same == (one == other)
