"""The scorer keeps every promise of the contract, and finds what it is for."""

from adjudge_no_todos import NoTodos

from adjudge.records.score import Verdict
from adjudge.testing.attempts import Attempt
from adjudge.testing.scorers import ScorerConformance


class TestPromises(ScorerConformance):
    """Every check of the suite."""

    scorer = NoTodos
    configs = ({}, {"patterns": ["tests/*"]})


def test_a_new_note_fails() -> None:
    """The finding says where."""
    outcome = Attempt({"a.py": "x = 1\n"}, {"a.py": "x = 1\n# TODO: more\n"}).score(NoTodos)
    assert outcome.verdict is Verdict.FAIL
    assert [(finding.path, finding.line) for finding in outcome.findings] == [("a.py", 2)]


def test_a_note_that_moved_passes() -> None:
    """As many went as came."""
    outcome = Attempt({"a.py": "# TODO\nx = 1\n"}, {"a.py": "x = 1\n# TODO\n"}).score(NoTodos)
    assert outcome.verdict is Verdict.PASS


def test_other_files_do_not_matter() -> None:
    """`patterns` says where to look."""
    attempt = Attempt({}, {"notes.md": "TODO\n"})
    assert attempt.score(NoTodos, {"patterns": ["src/**"]}).verdict is Verdict.NA


def test_a_note_in_other_words_fools_it() -> None:
    """As its documentation admits."""
    outcome = Attempt({}, {"a.py": "# finish this later\n"}).score(NoTodos)
    assert outcome.verdict is Verdict.PASS
