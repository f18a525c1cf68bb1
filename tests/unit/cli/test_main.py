import subprocess
import sys

import pytest

from adjudge.cli.main import main
from adjudge.cli.table import COMMANDS
from adjudge.version import __version__


def test_help_lists_every_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, entry in COMMANDS.items():
        assert name in shown
        assert entry.summary.split()[0] in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_a_misspelt_command_gets_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docto"]) == 2
    assert "Did you mean doctor?" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--help", "--version"])
def test_help_and_version_import_no_more_of_ours_than_the_table(flag: str) -> None:
    script = (
        "import sys\nfrom adjudge.cli.main import main\n"
        f"main([{flag!r}])\n"
        "heavy = ('pydantic', 'asyncio', 'pygit2', 'yaml')\n"
        "print(sorted(m for m in sys.modules if m.startswith('adjudge') or m in heavy))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(
        ["adjudge", "adjudge.cli", "adjudge.cli.main", "adjudge.cli.table", "adjudge.version"]
    )


def test_every_command_of_the_table_can_be_imported(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        assert main([name, "--help"]) == 0, name
        assert "Usage: adjudge" in capsys.readouterr().out


def test_a_bug_never_reads_as_a_failed_grading(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("adjudge.cli.main.cli.main", broken)
    assert main([]) == 3
    shown = capsys.readouterr().err
    assert "ZeroDivisionError: a bug" in shown
    assert "this is a bug in adjudge" in shown


@pytest.mark.parametrize("much", ["schema", "scorers"])
def test_a_full_disk_behind_stdout_is_said_and_is_no_bug(much: str) -> None:
    script = f"import sys\nfrom adjudge.cli.main import main\nsys.exit(main([{much!r}]))"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", script], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr == "error: the result could not be written: No space left on device\n"


def test_an_interruption_that_python_drops_still_interrupts() -> None:
    script = """
import signal, sys, time
import adjudge.cli.main as cli

class Dying:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):
            pass

def work(**_):
    Dying()
    time.sleep(60)
    return 0

cli.cli.main = work
sys.exit(cli.main([]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=30
    )
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_termination_works_in_the_background_where_interrupts_are_ignored() -> None:
    script = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import adjudge.cli.main as m\n"
        "m.cli.main = lambda **_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.exit(m.main([]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
