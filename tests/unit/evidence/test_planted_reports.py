"""Reports that were left in the workspace: a runner's own, and those of tests that nobody wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adjudge.evidence.harness import HarnessScanCollector
from adjudge.records.evidence import HarnessScan
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone

BEFORE = {
    "tests/test_slugs.py": "def test_words():\n    assert 1\n",
    "test/slugs.test.js": 'test("signs are folded", () => {});\n',
}


def report(*names: str, failure: str = "") -> str:
    cases = "".join(f'<testcase classname="tests" name="{name}">{failure}</testcase>' for name in names)
    return f'<?xml version="1.0"?><testsuites><testsuite name="all">{cases}</testsuite></testsuites>'


@pytest.mark.parametrize(
    ("path", "text", "planted"),
    [
        ("junit.xml", report("works_0", "works_1"), True),
        ("target/surefire-reports/TEST-all.xml", report("everything"), True),
        ("build/test-results/test/TEST-all.xml", report("everything"), True),
        ("reports/junit.xml", report("test_words[1]"), False),
        ("reports/junit.xml", report("slugs signs are folded", "signs are folded"), False),
        ("report.xml", report("works_0", failure='<failure message="no"/>'), False),
        ("tests/data/junit.xml", report("works_0"), False),
        ("junit.xml", "<testsuites", False),
        ("results.xml", "<results/>", False),
    ],
)
def test_reports(tmp_path: Path, path: str, text: str, planted: bool) -> None:
    subject = Attempt(BEFORE, {**BEFORE, path: text}).subject(tmp_path)
    scanned = asyncio.run(HarnessScanCollector().collect(HarnessScan(), subject))
    rules = [fact.rule for file in scanned.files if file.after is not None for fact in file.after.facts]
    assert rules == (["report-planted"] if planted else [])
