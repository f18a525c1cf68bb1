"""Steps and findings as they are shown, and where links lead."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.web.agenttrace.test_diffs import diff

from adjudge.records.score import Finding
from adjudge.records.trace import Message, ToolCall, ToolKind, ToolResult
from adjudge.testing.results import evaluation, scorer_result
from adjudge.web.agenttrace.fileviews import file_view, file_views, row_of_finding
from adjudge.web.agenttrace.links import DocumentLinks, PageLinks
from adjudge.web.agenttrace.placing import notes_of
from adjudge.web.agenttrace.steps import Step, StepKind
from adjudge.web.agenttrace.stepviews import excerpt, step_view
from adjudge.web.agenttrace.timeline import ShownStep


def shown(*items: Any, **more: Any) -> ShownStep:
    return ShownStep(1, Step(StepKind.TOOL, list(range(len(items))), **more), items)


class TestExcerpt:
    def test_whole_when_there_is_room(self) -> None:
        assert excerpt("text", room=10) == ((("text", False),), 0, 0)
        assert excerpt("").pieces == ()

    def test_cut_where_there_is_not(self) -> None:
        found = excerpt("x" * 100, room=30)
        assert (found.before, found.after, found.whole) == (0, 70, False)

    def test_starts_before_what_was_searched_for(self) -> None:
        text = "a" * 5000 + "Needle" + "b" * 5000
        found = excerpt(text, "nEEDLE", 1000)
        assert ("Needle", True) in found.pieces
        assert found.before + sum(len(piece) for piece, _ in found.pieces) + found.after == len(text)

    def test_marks_every_place_within_bounds(self) -> None:
        found = excerpt("ab" * 5000, "ab")
        assert sum(hit for _, hit in found.pieces) == 200
        assert "".join(piece for piece, _ in found.pieces) == "ab" * 5000

    def test_characters_that_grow_in_lower_case(self) -> None:
        text = "\u0130" * 50 + "needle"
        assert "".join(piece for piece, _ in excerpt(text, "needle", 20).pieces) == text[:20]


class TestStepView:
    def test_arguments_read_as_lines(self) -> None:
        def inputs(text: str) -> str:
            call = ToolCall(raw_name="Edit", name="edit", kind=ToolKind.EDIT, input=text)
            return "".join(
                piece for part in step_view(shown(call), None).parts for piece, _ in part.text.pieces
            )

        assert inputs('{"command": "ls -l\\nwc"}') == "ls -l\nwc"
        assert inputs('{"path": "a.py", "text": "x\\ny", "n": 3}') == "path: a.py\ntext: \nx\ny\nn: 3"
        assert inputs("{}") == ""
        for odd in ("{broken", "[1]", "ls", "{" * 5000):
            assert inputs(odd).startswith(odd[:500])

    def test_results_are_folded_and_errors_said(self) -> None:
        view = step_view(shown(ToolResult(text="a\nb\n", is_error=True), failed=True, time_s=12.0), 10.0)
        assert (view.failed, view.since_s, view.parts[0].kind, view.parts[0].lines) == (
            True,
            2.0,
            "result",
            2,
        )
        assert view.label == "Tool"

    def test_long_texts_are_cut_unless_asked_for(self) -> None:
        said = shown(Message(role="assistant", text="x" * 9000))
        assert not step_view(said, None).whole
        assert step_view(said, None, full=True).whole


class TestFindings:
    def test_are_at_their_lines_or_said_of_the_file(self, tmp_path: Path) -> None:
        found = diff(tmp_path, {"a.py": "1\n2\n3\n"}, {"a.py": "1\n3\nfour\n", "b.py": "x\n"})
        places = [("a.py", 3), ("a.py", 2), ("a.py", 99), ("a.py", None), ("elsewhere.py", 1), (None, None)]
        findings = tuple(Finding(rule="r", message="m", path=path, line=line) for path, line in places)
        notes = notes_of(evaluation([scorer_result(), scorer_result("FAIL", findings=findings)]))
        view = file_view(found, found.files[0], notes)
        assert [(row.row.new, row.notes[0].number) for row in view.rows if row.notes] == [(2, 1), (3, 0)]
        assert [note.number for note in view.elsewhere] == [2, 3]
        first = notes["a.py"][0]
        assert (first.position, row_of_finding(found, found.files[0], first)[1]) == (1, "f0n3")
        assert row_of_finding(found, found.files[0], notes["a.py"][2]) == (0, "f0")
        split = file_view(found, found.files[0], notes, split=True)
        assert split.pairs is not None
        assert [note.number for pair in split.pairs for note in pair.notes] == [1, 0]
        found.close()

    def test_a_page_has_room_for_so_many_lines(self, tmp_path: Path) -> None:
        after = {f"{n}.txt": "x\n" * (500 if n == 1 else 40) for n in range(6)}
        found = diff(tmp_path, {}, after)
        views = file_views(found, found.files, {})
        assert [bool(view.rows) for view in views] == [True, False, True, True, False, False]
        assert views[1].folded == "500 changed lines"
        found.close()


class TestLinks:
    def test_name_another_evaluation_and_leave_out_what_is_not_said(self) -> None:
        links = PageLinks("abc", "e1", split=True)
        assert (
            links.to("timeline", q="a b&c", kind="", start=None)
            == "/runs/abc/timeline?evaluation=e1&q=a+b%26c"
        )
        assert links.file(3, 200) == "/runs/abc/diff?evaluation=e1&file=3&start=200&view=split"
        assert PageLinks("../x").to() == "/runs/..%2Fx"

    @pytest.mark.parametrize("position", [0, 5])
    def test_lead_within_a_document_only_to_what_is_in_it(self, position: int) -> None:
        links = DocumentLinks("r1-", {(0, 2): "r1-f0n3"})
        assert links.finding(position, 2) == ("#r1-f0n3" if position == 0 else "")
        assert links.scorer_row(position) == f"#r1-scorer-{position}"
        assert links.step(1) == links.file(0) == links.scorer(0) == ""
