from __future__ import annotations

import pytest

from adjudge.formats.traces.tools import name_of_tool, tool_call
from adjudge.records.trace import ToolKind

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("raw", "name", "kind"),
    [
        ("Bash", "bash", ToolKind.EXECUTE),
        ("WebFetch", "web_fetch", ToolKind.FETCH),
        ("webfetch", "webfetch", ToolKind.FETCH),
        ("MultiEdit", "multi_edit", ToolKind.EDIT),
        ("Write", "write", ToolKind.EDIT),
        ("NotebookRead", "notebook_read", ToolKind.READ),
        ("TodoWrite", "todo_write", ToolKind.THINK),
        ("Grep", "grep", ToolKind.SEARCH),
        ("LS", "ls", ToolKind.READ),
        ("mcp__github__delete_file", "delete_file", ToolKind.DELETE),
        ("functions.exec_command", "exec_command", ToolKind.EXECUTE),
        ("run_shell_command", "run_shell_command", ToolKind.EXECUTE),
        ("frobnicate", "frobnicate", ToolKind.OTHER),
        ("!!!", "unknown", ToolKind.OTHER),
    ],
)
def test_names_and_kinds(raw: str, name: str, kind: ToolKind) -> None:
    call = tool_call(raw, {})
    assert (call.raw_name, call.name, call.kind) == (raw, name, kind)


def test_an_editor_that_shows_reads() -> None:
    assert tool_call("str_replace_editor", {"command": "view"}).kind is ToolKind.READ
    assert tool_call("str_replace_editor", {"command": "create"}).kind is ToolKind.EDIT


def test_a_kind_that_is_stated_wins() -> None:
    assert tool_call("Bash", {}, kind=ToolKind.READ).kind is ToolKind.READ


@pytest.mark.parametrize("raw", [None, 3, "", []])
def test_a_name_that_is_none(raw: object) -> None:
    assert tool_call(raw, None).raw_name == "unknown"


def test_a_long_name_takes_no_time() -> None:
    assert len(name_of_tool("mcp__" + "a" * 10_000_000)) <= 512
