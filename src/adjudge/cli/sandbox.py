"""`adjudge sandbox exec`: run a command in a sandbox, stream its output, tell how it went."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import click

from adjudge.cli.changes import render_changes
from adjudge.cli.console import note, tint_for
from adjudge.cli.main import ExitCode
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Limits, Mount, Network, SandboxSpec
from adjudge.sandbox.limits import render_bytes
from adjudge.workflows.sandbox_exec import Ran, run_sandboxed

__all__ = ["sandbox"]

_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_MAX_STDIN = 256 * 1024**2


class Size(click.ParamType[int]):
    """A number of bytes, with a unit if wanted: `512M`, `1.5GiB`, `4096`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a size."""
        found = _SIZE.fullmatch(str(value).strip())
        size = 0 if found is None else int(float(found["number"]) * _UNITS[found["unit"].lower()])
        if size <= 0:
            self.fail(f"{value!r} is not a size; write it like 512M or 4G", param, ctx)
        return size


@click.group()
def sandbox() -> None:
    """Run a command in a sandbox and see what it changed."""


@sandbox.command("exec", context_settings={"ignore_unknown_options": False})
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="What /workspace starts as. The command works on a copy; the directory itself is never written. "
    "Left out: empty.",
)
@click.option("--sandbox", "backend", default="auto", show_default=True, help="auto, bubblewrap or process.")
@click.option(
    "--network",
    type=click.Choice([network.value for network in Network]),
    default=Network.NONE.value,
    show_default=True,
    help="none; egress: outward through a helper, never to this machine's loopback; host: everything.",
)
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Seconds it may run."
)
@click.option("--memory", type=Size(), help="Memory of the whole process tree, such as 512M.")
@click.option("--disk", type=Size(), help="What it may add to the workspace, /tmp and HOME.")
@click.option("--output", type=Size(), help="How much it may print.")
@click.option("--processes", type=click.IntRange(min=1), help="Processes and threads at once.")
@click.option(
    "--expose",
    multiple=True,
    metavar="PATH[:INSIDE[:rw]]",
    help="Show a host path inside as well, read-only unless `rw`. May be repeated.",
)
@click.option("--env", multiple=True, metavar="K=V", help="Set a variable inside. May be repeated.")
@click.option("--stdin", "take_stdin", is_flag=True, help="Give our standard input to the command.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON document; the command's output goes to stderr."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def exec_(
    workspace: Path | None,
    backend: str,
    network: str,
    timeout: float | None,
    memory: int | None,
    disk: int | None,
    output: int | None,
    processes: int | None,
    expose: tuple[str, ...],
    env: tuple[str, ...],
    take_stdin: bool,
    as_json: bool,
    command: tuple[str, ...],
) -> int:
    """Run a command in a sandbox: `adjudge sandbox exec --workspace . -- make test`.

    Its output is streamed; then what it used, which limits held and what it changed is told on stderr. The
    exit code is 0 when the command exited with 0, 1 when it failed or was ended, 3 when the sandbox failed.
    """
    given = {
        "wall_s": timeout,
        "memory_bytes": memory,
        "disk_bytes": disk,
        "output_bytes": output,
        "processes": processes,
    }
    spec = SandboxSpec(
        mounts=tuple(_mount(text) for text in expose),
        env=dict(_variable(text) for text in env),
        network=Network(network),
        limits=Limits(**{name: value for name, value in given.items() if value is not None}),
    )
    request = ExecRequest(argv=command, stdin=_read_stdin() if take_stdin else b"")
    streams = {"stdout": sys.stderr.buffer if as_json else sys.stdout.buffer, "stderr": sys.stderr.buffer}

    def stream(name: Literal["stdout", "stderr"], data: bytes) -> None:
        streams[name].write(data)
        streams[name].flush()

    ran = run_sandboxed(backend, workspace, spec, request, on_output=stream)
    if as_json:
        print(_document(ran))
    else:
        _tell(ran)
    return ExitCode.PASSED if ran.result.ok else ExitCode.FAILED


def _mount(text: str) -> Mount:
    source, *rest = text.split(":")
    if not source or len(rest) > 2 or (len(rest) == 2 and rest[1] not in ("ro", "rw")):
        raise click.UsageError(f"--expose {text!r}: expected PATH[:INSIDE[:rw]]")
    path = Path(source).absolute()
    inside = rest[0] if rest and rest[0] else str(path)
    return Mount(source=path, target=PurePosixPath(inside), writable=rest[1:] == ["rw"])


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--env {text!r}: expected NAME=VALUE")
    return name, value


def _read_stdin() -> bytes:
    data = sys.stdin.buffer.read(_MAX_STDIN + 1)
    if len(data) > _MAX_STDIN:
        raise click.UsageError(f"standard input is larger than {render_bytes(_MAX_STDIN)}")
    return data


def _tell(ran: Ran) -> None:
    result, report, usage = ran.result, ran.report, ran.result.usage
    # The command's last line may lack its end.
    note(f"\n{_how_it_ended(result)}")
    used = [f"{usage.wall_s:.2f} s"]
    if usage.cpu_s is not None:
        used.append(f"{usage.cpu_s:.2f} s of processor")
    if usage.peak_memory_bytes is not None:
        used.append(f"{render_bytes(usage.peak_memory_bytes)} of memory at most")
    if usage.peak_processes is not None:
        used.append(f"{usage.peak_processes} processes at most")
    note(f"used: {', '.join(used)}")
    note(f"sandbox: {ran.chosen}")
    note(f"network: {report.network}; workspace: {report.copy_on_write}")
    held = ", ".join(f"{limit} by {holder}" for limit, holder in report.limits_held_by.items())
    note(f"limits: {held}")
    for line in report.notes:
        note(f"note: {line}")
    note(render_changes(ran.changes, tint_for(sys.stderr)).rstrip("\n"))
    for warning in ran.changes.warnings:
        note(f"warning: {warning}")


def _how_it_ended(result: ExecResult) -> str:
    if result.ended is Ended.EXITED:
        return f"exit {result.exit_code}"
    if result.ended is Ended.SIGNALLED:
        return f"ended by signal {result.signal}"
    return f"{result.ended.value.replace('_', ' ')}: {result.reason}"


def _document(ran: Ran) -> str:
    return json.dumps(
        {
            "schema": "adjudge.sandbox-exec/1",
            "sandbox": {"chosen": ran.chosen, **ran.report.model_dump(mode="json")},
            "result": ran.result.model_dump(mode="json"),
            "changes": ran.changes.model_dump(mode="json"),
        },
        indent=2,
        ensure_ascii=False,
    )
