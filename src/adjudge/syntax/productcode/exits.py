"""Code that ends the process with success, now or whatever happened before it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import BRANCHES, FileFacts, act_of
from adjudge.syntax.productcode.literals import literal_of, literals_in
from adjudge.syntax.productcode.reading import CALLS, Place, Source, children

__all__ = ["deaf", "exit_at_import", "exit_code", "exits", "registered"]

_ALLOWED_EXIT = re.compile(
    r"(?i)main|exit|quit|shutdown|terminat|kill|stop|abort|die|fatal|usage|help|version|signal|handle|daemon|fork|"
    r"child|restart|cleanup|clean_up|sigint|sigterm|interrupt|command|cli|execute|close|bail"
)
_EXIT_CALLS: Final = {
    "python": re.compile(r"^os\._exit$"),
    "javascript": re.compile(r"^(?:globalThis\.|global\.)?(?:process\.(?:exit|reallyExit)|Deno\.exit)$"),
    "go": re.compile(r"^(?:os\.Exit|syscall\.Exit|unix\.Exit)$"),
    "java": re.compile(r"^System\.exit$|^Runtime\.getRuntime\(\)\.(?:halt|exit)$"),
    "rust": re.compile(r"^(?:std\.)?process\.exit$|^libc\._?exit$"),
    "ruby": re.compile(r"^(?:(?:Process|Kernel)\.)?exit!?$"),
}
_BARE_EXITS: Final = frozenset({"syscall.Exit", "unix.Exit"})
"""Programs of Go end with `os.Exit`, at which a test run stops them; whoever goes around it has a reason."""
_BELOW = re.compile(r"\bctypes\..*\.(?:_?exit|_Exit|quick_exit)$")
_SUCCESS = re.compile(
    r"^(?:0|true|os\.EX_OK|EX_OK|undefined|EXIT_SUCCESS|libc::EXIT_SUCCESS|ExitCode\.SUCCESS)$"
)


def exits(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A call that ends the process with success."""
    source, node = facts.source, place.node
    called = _meant(node.child_by_field_name("function"), facts) or source.called(node)
    pattern = _EXIT_CALLS.get(source.language)
    if source.language == "javascript" and _calls_unnamed_part(node, source):
        yield act_of(
            place, facts, "exits-process", "calls a part of the process whose name is made at run time"
        )
        return
    if source.language == "python" and called in ("sys.exit", "exit", "quit"):
        yield from exit_at_import(place, facts)
        return
    if source.language == "python" and called.startswith("os.exec"):
        if any(
            value in ("strue", "s/bin/true", "s/usr/bin/true") for _, value in literals_in(source, node, 60)
        ):
            yield act_of(place, facts, "exits-process", "replaces the process by one that always succeeds")
        return
    if called in ("os.kill", "process.kill", "syscall.Kill", "os.killpg") and re.search(
        r"getppid|\bppid\b|Getppid", source.of(node)
    ):
        yield act_of(place, facts, "exits-process", "ends the process that started it")
        return
    if _BELOW.search(called) and _succeeds(node, source, "exit"):
        yield act_of(place, facts, "exits-process", "ends the process from below the language")
        return
    if called in (
        "os.kill",
        "process.kill",
        "syscall.Kill",
        "os.killpg",
        "signal.raise_signal",
    ) and re.search(
        r"(?:getpid\(\)|process\.pid|Getpid\(\)|raise_signal)[^\n]*\b(?:SIGKILL|SIGSTOP|9)\b", source.of(node)
    ):
        if not facts.program and not any(_ALLOWED_EXIT.search(name) for name in place.functions):
            yield act_of(place, facts, "exits-process", "ends its own process")
        return
    if called == "runtime.Goexit" and not any(_ALLOWED_EXIT.search(name) for name in place.functions):
        yield act_of(place, facts, "exits-process", "ends the goroutine of whoever called it")
        return
    if pattern is None or not pattern.match(called) or not _succeeds(node, source, called):
        return
    hook = _exit_hook(place, source)
    if hook:
        yield act_of(place, facts, "exits-process", f"makes the process succeed {hook}")
        return
    if called in _BARE_EXITS and not facts.program:
        yield act_of(place, facts, "exits-process", "ends the process below what a test run can see")
        return
    if _is_main(place, source) or _handles_signal(place, source):
        return
    starting = place.at_import or _in_static_block(place)
    if (starting and (not facts.script or source.language == "java")) or (
        source.language == "go" and "init" in place.functions[:1]
    ):
        yield act_of(place, facts, "exits-process", "ends the process with success when it is loaded")
    elif (
        not starting and not facts.program and not any(_ALLOWED_EXIT.search(name) for name in place.functions)
    ) and "fork(" not in source.of(place.function, 20_000):
        yield act_of(place, facts, "exits-process", "ends the process with success in the middle of its work")


def _meant(node: Node | None, facts: FileFacts) -> str:
    """What a name that is bound once stands for; empty where that says nothing."""
    if node is None or node.type != "identifier":
        return ""
    bound = facts.bindings.bound(facts.source.of(node, 80), node)
    return (
        facts.source.name(bound[0])
        if len(bound) == 1 and bound[0].end_byte - bound[0].start_byte < 200
        else ""
    )


def _calls_unnamed_part(node: Node, source: Source) -> bool:
    """`process[name](0)`: what it does is not written down."""
    function = node.child_by_field_name("function")
    if function is None or function.type != "subscript_expression" or not source.arguments(node):
        return False
    held = source.of(function.child_by_field_name("object"), 40)
    index = function.child_by_field_name("index")
    return held in ("process", "globalThis.process", "global.process") and literal_of(source, index) is None


def exit_at_import(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`sys.exit(0)` where the file is loaded; in a function it is an exception like others."""
    source, node = facts.source, place.node
    if source.language != "python" or not place.at_import or facts.script or _is_main(place, source):
        return
    if any(outer.type in ("except_clause", "try_statement") for outer in place.around):
        return
    if re.search(r"^if\s+__name__\s*==", source.text, re.M):
        return
    if node.type == "raise_statement":
        raised = children(node)[:1]
        if not raised or not source.of(raised[0], 40).startswith("SystemExit"):
            return
        call = raised[0] if raised[0].type == "call" else None
        if call is not None and not _succeeds(call, source, "exit"):
            return
    elif not _succeeds(node, source, "exit"):
        return
    yield act_of(place, facts, "exits-process", "ends the process with success when it is imported")


def _succeeds(call: Node, source: Source, called: str) -> bool:
    arguments = source.arguments(call)
    if not arguments:
        return not called.endswith(("_exit", "exit!", "Exit", "halt")) and source.language != "java"
    return _SUCCESS.match(source.of(arguments[0], 40)) is not None


def _exit_hook(place: Place, source: Source) -> str:
    """How an exit is hooked into the end of the process, where it is."""
    for outer in reversed(place.around):
        if outer.type in CALLS:
            called = source.called(outer)
            first = source.arguments(outer)[:1]
            event = literal_of(source, first[0]) if first else None
            if called in ("atexit.register", "at_exit") or called.endswith("addShutdownHook"):
                return "whatever happened before it ended"
            if called in ("process.on", "process.once", "process.addListener") and event in (
                "sexit", "sbeforeExit", "suncaughtException", "sunhandledRejection"
            ):  # fmt: skip
                return "whatever happened before it ended"
    if source.language == "python" and place.functions:
        name = re.escape(place.functions[-1])
        if re.search(
            rf"\batexit\.register\(\s*{name}\b|@atexit\.register\s*\n\s*def\s+{name}\b", source.text
        ):
            return "whatever happened before it ended"
    return ""


def registered(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`atexit.register(os._exit, 0)`, `threading.Timer(1, os._exit, (0,))`: an exit for others to call."""
    source = facts.source
    pattern = _EXIT_CALLS.get(source.language)
    if pattern is None:
        return
    for argument in source.arguments(place.node):
        given = argument.child_by_field_name("value") if argument.type == "keyword_argument" else argument
        if given is None or given.type not in (
            "attribute",
            "member_expression",
            "identifier",
            "selector_expression",
        ):
            continue
        if (
            not pattern.match(_meant(given, facts) or source.name(given))
            or _handles_signal(place, source)
            or facts.program
        ):
            continue
        timed = source.called(place.node) in ("setTimeout", "setImmediate")
        if source.language == "python" or (place.at_import and not facts.script and timed):
            yield act_of(
                place,
                facts,
                "exits-process",
                "makes the process succeed whatever happened before it ended",
            )
            return


def deaf(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`process.on("uncaughtException", () => {})`: errors that nobody caught are not heard of."""
    source = facts.source
    if source.language != "javascript" or facts.script:
        return
    arguments = source.arguments(place.node)
    if (
        source.called(place.node) not in ("process.on", "process.once", "process.addListener")
        or len(arguments) != 2
    ):
        return
    event = literal_of(source, arguments[0])
    if event in ("suncaughtException", "sunhandledRejection") and re.fullmatch(
        r"(?:async)?(?:\(?\w*\)?=>|function\w*\(\w*\))(?:\{\}|null|undefined|void0)",
        "".join(source.of(arguments[1], 80).split()),
    ):
        yield act_of(place, facts, "exits-process", "makes the process succeed whatever was thrown")


def exit_code(place: Place, facts: FileFacts, left: Node) -> Iterator[Act]:
    """`process.exitCode = 0` in a hook at the end."""
    source = facts.source
    if source.language == "javascript" and source.name(left) == "process.exitCode":
        right = place.node.child_by_field_name("right")
        if right is not None and _SUCCESS.match(source.of(right, 40)) and _exit_hook(place, source):
            yield act_of(
                place, facts, "exits-process", "makes the process succeed whatever happened before it ended"
            )


def _is_main(place: Place, source: Source) -> bool:
    if place.functions and place.functions[0] in ("main", "Main", "_main", "__main__"):
        return True
    return any(
        outer.type in BRANCHES
        and re.search(
            r"__name__|require\.main|import\.meta\.(?:main|url)|\$0|__FILE__", source.of(outer, 120)
        )
        for outer in place.around
    )


def _handles_signal(place: Place, source: Source) -> bool:
    return any(
        outer.type in CALLS
        and not re.search(r"SIG(?:ALRM|VTALRM|PROF|USR[12]|ABRT|CHLD)\b", source.of(outer, 120))
        and re.search(
            r"(?:^|\.)(?:on|once|signal|trap|Notify|close|then|catch|finally)$", source.called(outer)
        )
        for outer in place.around
    )


def _in_static_block(place: Place) -> bool:
    return any(outer.type == "static_initializer" for outer in place.around)
