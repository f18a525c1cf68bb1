"""The `adjudge` command: a lazy group over the table of commands, and the one place errors become exits."""

from __future__ import annotations

import errno
import gc
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import click

from adjudge.cli.table import COMMANDS
from adjudge.version import __version__

__all__ = ["ExitCode", "cli", "main"]


class ExitCode:
    """Exit codes of every command."""

    PASSED = 0
    FAILED = 1
    USAGE = 2
    UNGRADED = 3
    INTERRUPTED = 130


class LazyGroup(click.Group):
    """A group that knows its commands' names and summaries without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every command, in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module on first use."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        # What an import makes stays: looking for garbage among it takes 20 of the 300 ms of `grade`.
        gc.disable()
        try:
            command = getattr(importlib.import_module(module), attribute)
        finally:
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command list from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command, offering the nearest name for a misspelt one."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and name not in COMMANDS:
            # Imported here: difflib costs 5 ms that only a typo should pay.
            near = importlib.import_module("difflib").get_close_matches(name, COMMANDS, n=2)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="adjudge")
def cli() -> None:
    """Grade what coding agents did, from evidence the agent could not touch."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; the console script passes it to `sys.exit`."""
    try:
        with _termination_as_interruption(), _interruption_that_lasts():
            result = cli.main(
                args=None if argv is None else list(argv), prog_name="adjudge", standalone_mode=False
            )
            if sys.stdout is not None:
                # Here, where it can still change the exit code; it is None when the caller closed it.
                sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except BrokenPipeError:
        # The reader went away (`adjudge … | head`) and nothing is left to tell it; but a verdict that was
        # not delivered must not read as a pass.
        sys.stderr.close()
        return ExitCode.UNGRADED
    except Exception as error:
        return _report(error)
    return result if isinstance(result, int) else ExitCode.PASSED


@contextmanager
def _termination_as_interruption() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: a CI job that is cancelled must leave nothing running either.

    A shell starts what it puts in the background with Ctrl-C ignored; SIGTERM has to work there all the same.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    interrupt = signal.default_int_handler if ignored else lambda *_: signal.raise_signal(signal.SIGINT)
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _interruption_that_lasts() -> Iterator[None]:
    """Interrupt once more when Python dropped an interruption.

    Raised in a weak reference's callback or a destructor, of which imports have many, it goes to the hook for
    what cannot be raised and the work goes on (measured: one in forty, in the first half second of `grade`).
    """
    before = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            before(dropped)
            return
        # From another thread and a moment later: raised here, it would be dropped again.
        threading = importlib.import_module("threading")
        main_thread = threading.main_thread().ident
        threading.Timer(0.01, signal.pthread_kill, (main_thread, signal.SIGINT)).start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _drop_stdout() -> None:
    """Let go of what stdout could not take, so that the interpreter does not try, and complain, once more."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception) -> int:
    """Turn an error into a message and an exit code.

    What is not an error of ours is a bug and shows its traceback; the exit code is still ours to choose,
    because Python's own for a crash is 1, which would read as "graded and failed".
    """
    errors = importlib.import_module("adjudge.errors")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        _drop_stdout()
        where = f" ({error.filename})" if error.filename else ""
        print(f"error: the result could not be written: {error.strerror}{where}", file=sys.stderr)
        return ExitCode.UNGRADED
    if not isinstance(error, errors.AdjudgeError):
        sys.excepthook(type(error), error, error.__traceback__)
        print("error: this is a bug in adjudge; nothing was graded", file=sys.stderr)
        return ExitCode.UNGRADED
    print(f"error: {error}", file=sys.stderr)
    return ExitCode.USAGE if isinstance(error, errors.UsageError) else ExitCode.UNGRADED
