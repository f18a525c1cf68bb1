"""What a tool does, by its name. Agents call the same things by different names; this is the one table."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adjudge.formats.traces.values import json_text, mapping_of, text_of
from adjudge.records.trace import MAX_NAME, ToolCall, ToolKind

__all__ = ["kind_of", "name_of_tool", "tool_call"]

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_NAMESPACE = re.compile(r"^(?:mcp__.+?__|functions\.|default_api[.:]|multi_tool_use\.)")

_NAMES: Mapping[ToolKind, str] = {
    ToolKind.READ: (
        "read cat view open read_file read_files read_many_files view_file open_file read_text_file "
        "read_multiple_files notebook_read get_file_contents view_image ls list list_dir list_directory "
        "list_files directory_tree get_file_info read_mcp_resource list_mcp_resources"
    ),
    ToolKind.EDIT: (
        "edit write edit_file write_file create create_file multi_edit multiedit multi_edit_file "
        "notebook_edit str_replace str_replace_editor str_replace_based_edit_tool text_editor insert "
        "replace replace_in_file search_replace apply_patch apply_diff patch write_to_file file_change "
        "insert_content create_directory mkdir undo_edit edit_notebook_file save_file"
    ),
    ToolKind.DELETE: ("delete remove rm delete_file remove_file delete_directory"),
    ToolKind.MOVE: ("move rename mv move_file rename_file"),
    ToolKind.SEARCH: (
        "grep glob search find search_files file_search grep_search search_file_content codebase_search "
        "find_by_name find_files search_code ripgrep rg tool_search search_directory semantic_search lsp "
        "find_path code_search glob_search"
    ),
    ToolKind.EXECUTE: (
        "bash shell exec execute run run_command run_shell_command execute_command command_execution "
        "local_shell local_shell_call exec_command unified_exec shell_command terminal run_in_terminal "
        "run_terminal_cmd execute_bash bash_output kill_bash kill_shell task_output task_stop write_stdin "
        "python ipython execute_python code_interpreter code_execution execute_code run_python powershell "
        "create_terminal run_tests bash_session computer"
    ),
    ToolKind.THINK: (
        "think plan update_plan todo todo_write todo_read todowrite todoread todo_list write_todos "
        "exit_plan_mode enter_plan_mode sequential_thinking sequentialthinking save_memory update_topic"
    ),
    ToolKind.FETCH: (
        "fetch web_fetch webfetch web_search websearch google_web_search http_request fetch_url url_fetch "
        "browse browser browser_navigate web_search_call google_search download curl read_url"
    ),
}
_KINDS: Mapping[str, ToolKind] = {name: kind for kind, names in _NAMES.items() for name in names.split()}

_VIEWS = frozenset({"str_replace_editor", "str_replace_based_edit_tool", "text_editor"})
"""One tool that both shows and edits; its `command` tells."""


def name_of_tool(raw_name: str) -> str:
    """A tool's name in snake case, without the server or the namespace it comes from."""
    short = _NAMESPACE.sub("", raw_name[:MAX_NAME])
    name = "_".join(word for word in _WORDS.split(short) if word).lower()
    return name or "unknown"


def kind_of(name: str, input: object = None) -> ToolKind:
    """What a tool does, by its name in snake case and, where that is not enough, its arguments."""
    if name in _VIEWS and text_of(mapping_of(input).get("command")) == "view":
        return ToolKind.READ
    return _KINDS.get(name, ToolKind.OTHER)


def tool_call(
    raw_name: object,
    input: object,
    *,
    id: object = "",
    kind: ToolKind | None = None,
    time_s: float | None = None,
    agent: str | None = None,
) -> ToolCall:
    """The event of a call.

    Args:
        raw_name: What the agent calls the tool; anything but a text is `unknown`.
        input: Its arguments, in whatever form.
        id: The call's id; anything but a text is none.
        kind: What it does, where the trace itself says so in a word of ours.
        time_s: When.
        agent: The sub-agent that called it.
    """
    raw = text_of(raw_name) or "unknown"
    name = name_of_tool(raw)
    return ToolCall(
        id=text_of(id),
        raw_name=raw,
        name=name,
        kind=kind if kind is not None else kind_of(name, input),
        input=json_text(input),
        time_s=time_s,
        agent=agent,
    )
