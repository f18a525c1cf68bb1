import pytest

from adjudge import catalog
from adjudge.errors import PluginNotFound, SandboxUnavailable
from adjudge.records.sandbox import SandboxSupport
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.bwrap import parse_start_failure
from adjudge.sandbox.choose import choose_backend
from adjudge.sandbox.seccomp import filter_program


def test_a_named_backend_is_taken_without_asking() -> None:
    choice = choose_backend("process")
    assert (choice.backend.name, choice.explanation) == ("process", "process, as asked for")


def test_an_unknown_one_names_its_neighbour() -> None:
    with pytest.raises(PluginNotFound) as caught:
        choose_backend("bublewrap")
    assert caught.value.hint == "did you mean bubblewrap?"


def test_auto_never_falls_back_to_no_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = SandboxSupport(backend="bubblewrap", available=False, reason="refused", hint="allow it")
    monkeypatch.setattr(BubblewrapBackend, "probe", lambda self: refusal)
    with pytest.raises(SandboxUnavailable) as caught:
        choose_backend("auto")
    assert caught.value.message == "no sandbox that isolates works here (bubblewrap: refused)"
    assert caught.value.hint == "allow it"


@pytest.mark.bwrap
def test_auto_takes_bubblewrap_and_says_why() -> None:
    choice = choose_backend("auto")
    assert choice.backend.name == "bubblewrap"
    assert choice.explanation.startswith("bubblewrap, chosen automatically: bwrap ")


def test_every_sandbox_can_be_loaded() -> None:
    for name in catalog.names("sandboxes"):
        assert catalog.load("sandboxes", name).name == name


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("bwrap: execvp nowhere: No such file or directory\n", 127),
        ("bwrap: execvp ./data: Permission denied\n", 126),
        ("bwrap: execvp a: b: Exec format error\n", 126),
        ("bwrap: Can't chdir to /gone: No such file or directory\n", 126),
    ],
)
def test_a_command_that_cannot_start_exits_as_from_a_shell(said: str, code: int) -> None:
    found = parse_start_failure(said)
    assert found is not None
    assert found[0] == code


def test_any_other_word_of_bwrap_is_a_failure_of_ours() -> None:
    assert parse_start_failure("bwrap: Can't mount proc on /newroot/proc: Operation not permitted\n") is None


def test_the_filter_fits_the_kernel_and_knows_where_it_does_not_apply() -> None:
    program = filter_program("x86_64")
    assert program is not None
    assert len(program) % 8 == 0
    assert len(program) // 8 < 4096
    assert filter_program("aarch64") != program
    assert filter_program("riscv64") is None
