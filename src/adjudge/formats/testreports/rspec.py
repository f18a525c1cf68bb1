"""RSpec's JSON formatter (`rspec --format json`)."""

from __future__ import annotations

from typing import Any, ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import ReportBuilder, clip, decode, load_json, text_of
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["RSpec"]

_OUTCOMES = {
    "passed": TestOutcome.PASSED,
    "failed": TestOutcome.FAILED,
    "pending": TestOutcome.SKIPPED,
}
"""`pending` covers examples that were skipped and ones that failed as expected; the document has one word."""


class RSpec:
    """The document of RSpec's JSON formatter."""

    name: ClassVar[str] = "rspec"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether it has the names only this document has."""
        return b'"examples"' in data and b'"example_count"' in data

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        document = load_json(decode(data, self.name), self.name)
        examples = document.get("examples") if isinstance(document, dict) else None
        if not isinstance(examples, list):
            raise ReportUnreadable("rspec report: examples: expected a list of examples")
        builder = ReportBuilder(self.name)
        for index, example in enumerate(examples):
            if not isinstance(example, dict):
                raise ReportUnreadable(f"rspec report: examples[{index}]: expected an object")
            _read_example(builder, example)
        summary = document.get("summary")
        if not isinstance(summary, dict):
            builder.problem("summary is missing")
            return builder.build(complete=False)
        stated = TestCounts(
            total=builder.count(summary.get("example_count"), "example_count"),
            failed=builder.count(summary.get("failure_count"), "failure_count"),
            errors=builder.count(
                summary.get("errors_outside_of_examples_count"), "errors_outside_of_examples_count"
            ),
            skipped=builder.count(summary.get("pending_count"), "pending_count"),
        )
        builder.compare("examples", stated.total, len(builder.cases))
        builder.compare(
            "failed examples", stated.failed, builder.count_of(TestOutcome.FAILED, TestOutcome.ERROR)
        )
        if stated.errors:
            messages = document.get("messages")
            said = [text_of(part) for part in messages] if isinstance(messages, list) else []
            builder.add("errors outside of examples", TestOutcome.ERROR, message="\n".join(said))
        return builder.build(stated=stated)


def _read_example(builder: ReportBuilder, example: dict[str, Any]) -> None:
    file = text_of(example.get("file_path")).removeprefix("./")
    name = text_of(example.get("full_description")) or text_of(example.get("description"))
    id = f"{file}::{name}" if file and name else name or text_of(example.get("id"))
    status = example.get("status")
    outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
    if outcome is None:
        builder.problem(f"{clip(id, 200)}: unknown status {clip(repr(status), 60)}")
        outcome = TestOutcome.ERROR
    error = example.get("exception")
    message = text_of(example.get("pending_message"))
    if isinstance(error, dict):
        message = f"{text_of(error.get('class'))}: {text_of(error.get('message')).strip()}"
    builder.add(
        id,
        outcome,
        duration_s=builder.duration(example.get("run_time"), id),
        message=message,
        file=file,
        line=builder.line_number(example.get("line_number")),
    )
