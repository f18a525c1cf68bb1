"""The pages and the API of one run, asked for directly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import make_app
from tests.web.harmless import assert_harmless
from tests.web.stored import HOSTILE, keep_hostile_run, keep_long_run, keep_rich_run

from adjudge.records.base import BlobRef
from adjudge.records.listing import RunFilter
from adjudge.records.run import Attempt, RunStatus
from adjudge.store.blobs import BlobDirectory
from adjudge.store.database import sqlite_database
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, keep_blob, make_run
from adjudge.web.sharing import share_report, share_run

PARTS = (
    "",
    "/timeline",
    "/timeline/3",
    "/diff",
    "/diff?view=split",
    "/diff?file=0",
    "/response",
    "/evaluations",
    "/raw",
)


class Shown(NamedTuple):
    """A store with runs, and what asks for them."""

    store: RunDatabase
    client: TestClient
    rich: str
    hostile: str
    long: str

    def page(self, address: str, status: int = 200) -> str:
        answer = self.client.get(address)
        assert answer.status_code == status, answer.text
        return answer.text


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("runs")
    store = RunDatabase(sqlite_database(folder / "store.db"), BlobDirectory(folder / "blobs"))
    with store, TestClient(make_app(store), base_url="http://127.0.0.1", follow_redirects=False) as client:
        rich, hostile = keep_rich_run(store, folder / "rich"), keep_hostile_run(store, folder / "hostile")
        yield Shown(store, client, rich.id, hostile.id, keep_long_run(store, events=2_000).id)


def rows(page: str) -> list[str]:
    return re.findall(r'<details( open)? id="scorer-\d+">', page)


class TestOverview:
    def test_has_every_card(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}")
        assert re.findall(r'<section class="card[^"]*" aria-labelledby="(\w+)-title">', page) == [
            "scorers", "judge", "reward", "response", "run", "integrity",
        ]  # fmt: skip
        # Only what holds the run back is open: not the advisory failure, not the advisory error.
        assert rows(page) == [" open", "", "", "", ""]
        for said in ("39 of 40 tests passed", "advisory", "gamed_checks", "contradicted", "67 % agree"):
            assert said in page
        for said in (
            "not schema valid",
            "two of five rules",
            "disagrees with the objective gate",
            "agrees with",
        ):
            assert said in page

    def test_scorers_are_hidden_without_a_workspace(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.long}")
        assert "scorers-title" not in page
        assert "/diff" not in page
        assert "judge-title" in page

    def test_another_evaluation_is_shown_as_such(self, shown: Shown) -> None:
        first = shown.store.evaluations(shown.rich)[0]
        page = shown.page(f"/runs/{shown.rich}?evaluation={first.id}")
        assert "An earlier evaluation." in page
        assert "old check" in page
        assert f"timeline?evaluation={first.id}" in page
        shown.page(f"/runs/{shown.rich}?evaluation=nope", 404)
        other = shown.store.evaluations(shown.hostile)[0]
        shown.page(f"/runs/{shown.rich}?evaluation={other.id}", 404)

    def test_a_run_that_is_not_there(self, shown: Shown) -> None:
        for odd in ("zzzz", "%2e%2e%2f%2e%2e%2fetc%2fpasswd", "%00", "ABC", "'"):
            for part in ("", "/timeline", "/diff", "/raw"):
                shown.page(f"/runs/{odd}{part}", 404)

    def test_a_run_under_way(self, shown: Shown) -> None:
        run = make_run(31, status=RunStatus.RUNNING, attempt=None, ended_at=None)
        shown.store.save_run(run)
        page = shown.page(f"/runs/{run.id}")
        assert 'data-live="running"' in page
        assert "nothing to show yet" in page
        for part in ("/response", "/evaluations", "/raw"):
            shown.page(f"/runs/{run.id}{part}")
        for part in ("/timeline", "/diff", "/scorers/0"):
            shown.page(f"/runs/{run.id}{part}", 404)

    def test_a_page_that_did_not_change_is_not_sent_again(self, shown: Shown) -> None:
        address = f"/runs/{shown.rich}"
        tag = shown.client.get(address).headers["etag"]
        assert shown.client.get(address, headers={"if-none-match": tag}).status_code == 304


class TestTimeline:
    def test_shows_steps_with_what_they_used(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}/timeline")
        assert page.count('<li id="step-') == 9
        assert "10.3 k tokens $0.0123" in page
        assert "sub-agent reviewer" in page
        assert "Permission denied" in page
        assert 'href="/runs/' + shown.rich + '/timeline?start=4#step-4">First error' in page

    def test_finds_steps(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}/timeline?q=DISCOUNT&kind=message")
        assert re.findall(r'<li id="step-(\d+)', page) == ["1", "8"]
        assert "<mark>discount</mark>" in page
        nothing = shown.page(f"/runs/{shown.rich}/timeline?q=nowhere")
        assert "No step is like that." in nothing

    def test_a_long_trace_comes_in_pages(self, shown: Shown) -> None:
        first = shown.page(f"/runs/{shown.long}/timeline")
        assert len(first) < 60_000
        assert "1,000 steps" in first
        assert "start=501#step-501" in first
        assert "start=41" in first
        part = shown.page(f"/runs/{shown.long}/timeline?start=961&part=true")
        assert "<html" not in part
        assert re.findall(r'<li id="step-(\d+)', part)[-1] == "1000"
        shown.page(f"/runs/{shown.long}/timeline/1001", 404)
        shown.page(f"/runs/{shown.long}/timeline/0", 404)

    def test_a_trace_that_was_kept_only_as_the_agent_wrote_it(self, shown: Shown) -> None:
        said = b"\n".join(
            json.dumps({"role": role, "content": f"words of {role}"}).encode()
            for role in ("user", "assistant")
        )
        base = make_run(32)
        assert base.attempt is not None
        assert base.attempt.outcome is not None
        outcome = base.attempt.outcome.model_copy(
            update={"raw_trace": keep_blob(shown.store.blobs, said), "trace_format": "openai"}
        )
        run = base.model_copy(update={"attempt": Attempt(outcome=outcome)})
        shown.store.save_run(run)
        assert "words of assistant" in shown.page(f"/runs/{run.id}/timeline")


class TestDiff:
    def test_shows_files_and_findings_at_their_lines(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}/diff")
        assert "5 changed files" in page
        assert "Show 3,000 changed lines" in page
        assert '<span class="kn">import</span>' in page
        line = page.index('id="f3n5"')
        assert line < page.index("skip-added") < page.index('id="f3n6"')
        split = shown.page(f"/runs/{shown.rich}/diff?view=split")
        assert 'class="diff split"' in split
        assert split.index('id="f3n5"') < split.index("skip-added")

    def test_large_files_come_by_themselves_in_parts(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}/diff?file=1")
        assert len(page) < 80_000
        assert "row 0" in page
        assert "start=200" in page
        last = shown.page(f"/runs/{shown.rich}/diff?file=1&start=999999")
        assert "row 2999" in last
        shown.page(f"/runs/{shown.rich}/diff?file=99", 404)

    def test_findings_lead_to_their_lines(self, shown: Shown) -> None:
        answer = shown.client.get(f"/runs/{shown.rich}/scorers/2/findings/0")
        assert (answer.status_code, answer.headers["location"]) == (
            303,
            f"/runs/{shown.rich}/diff?file=3#f3n5",
        )
        for wrong in ("2/findings/9", "9/findings/0", "2/findings/-1"):
            shown.page(f"/runs/{shown.rich}/scorers/{wrong}", 404)

    def test_everything_on_a_scorer(self, shown: Shown) -> None:
        page = shown.page(f"/runs/{shown.rich}/scorers/0")
        assert page.count('<span class="outcome') == 40


def test_evaluations_side_by_side(shown: Shown) -> None:
    page = shown.page(f"/runs/{shown.rich}/evaluations")
    assert "no longer in the recipe" in page
    assert page.count('class="changed"') > 4
    first, second = (item.id for item in shown.store.evaluations(shown.rich))
    same = shown.page(f"/runs/{shown.rich}/evaluations?before={second}&after={second}")
    assert "come to the same conclusions" in same
    shown.page(f"/runs/{shown.rich}/evaluations?before={first}&after=x", 404)


class TestDocuments:
    def test_everything_kept_can_be_taken_away_and_nothing_runs(self, shown: Shown) -> None:
        for run_id in (shown.rich, shown.hostile):
            raw = shown.page(f"/runs/{run_id}/raw")
            addresses = re.findall(r'href="(/api/v1/runs/[^"]+)" download', raw)
            assert len(addresses) == 8
            for address in addresses:
                answer = shown.client.get(address.replace("&amp;", "&"))
                assert answer.status_code == 200
                kind = answer.headers["content-type"]
                assert kind in ("application/json", "application/x-ndjson", "application/octet-stream")
                assert re.fullmatch(
                    r'attachment; filename="[a-z0-9.-]+"', answer.headers["content-disposition"]
                )
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert "default-src 'none'" in answer.headers["content-security-policy"]

    def test_bytes_are_as_they_were(self, shown: Shown) -> None:
        run = shown.store.run(shown.hostile)
        assert run.attempt is not None
        assert run.attempt.change_set is not None
        with shown.store.blobs.open(run.attempt.change_set.diff) as kept:
            diff = kept.read()
        base = f"/api/v1/runs/{run.id}/documents"
        assert shown.client.get(f"{base}/diff").content == diff
        assert shown.client.get(f"{base}/stdout").content == f"stdout {HOSTILE}\n".encode()
        evaluation = shown.client.get(f"{base}/evaluation").json()
        assert evaluation["scorers"][0]["name"].endswith(HOSTILE)

    @pytest.mark.parametrize("name", ["../../store.db", "%2e%2e%2fstore.db", "diff%00", "x", "blobs"])
    def test_no_other_name_is_one(self, shown: Shown, name: str) -> None:
        assert shown.client.get(f"/api/v1/runs/{shown.rich}/documents/{name}").status_code == 404

    def test_what_is_lost_is_said(self, shown: Shown) -> None:
        gone = keep_blob(shown.store.blobs, b"about to be lost")
        base = make_run(33)
        assert base.attempt is not None
        assert base.attempt.outcome is not None
        outcome = base.attempt.outcome.model_copy(update={"stdout": gone, "trace": gone})
        run = base.model_copy(update={"attempt": Attempt(outcome=outcome)})
        shown.store.save_run(run)
        shown.store.save_evaluation(run.id, graded_run(run))
        shown.store.blobs.remove(gone.digest)
        shown.page(f"/runs/{run.id}")
        shown.page(f"/runs/{run.id}/timeline", 503)
        assert shown.client.get(f"/api/v1/runs/{run.id}/documents/stdout").status_code == 503


class TestAPI:
    def test_reads_a_run(self, shown: Shown) -> None:
        base = f"/api/v1/runs/{shown.rich}"
        run = shown.client.get(base).json()
        assert len(run["evaluations"]) == 2
        assert run["current_evaluation"] == run["evaluations"][1]
        first = shown.client.get(f"{base}/evaluation", params={"evaluation": run["evaluations"][0]}).json()
        assert first["schema"] == "adjudge.evaluation/1"
        steps = shown.client.get(f"{base}/timeline?kind=error").json()
        assert [step["number"] for step in steps["steps"]] == [4, 7]
        files = shown.client.get(f"{base}/diff").json()["files"]
        assert [file["path"] for file in files][:2] == ["README.md", "data/large.txt"]
        lines = shown.client.get(f"{base}/diff/3").json()["lines"]
        assert {"op": "+", "old": None, "new": 5, "text": "@pytest.mark.skip", "cut": 0} in lines
        assert shown.client.get(f"{base}/diff/99").status_code == 404

    def test_hostile_paths_and_texts_survive(self, shown: Shown) -> None:
        base = f"/api/v1/runs/{shown.hostile}"
        for part in ("", "/evaluation", "/timeline", "/diff", "/diff/0", "/diff/1"):
            answer = shown.client.get(base + part)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "application/json"
            answer.json()


@pytest.mark.parametrize("part", [*PARTS, "/scorers/0", "/scorers/2"])
def test_hostile_text_is_text_on_every_part(shown: Shown, part: str) -> None:
    page = shown.page(f"/runs/{shown.hostile}{part}")
    assert_harmless(page)
    assert "window.pwned" in page


def test_blobs_are_reached_through_records_only(shown: Shown) -> None:
    unkept = BlobRef(digest="sha256:" + "0" * 64, size_bytes=3, head="abc", stored=False)
    base = make_run(34)
    assert base.attempt is not None
    assert base.attempt.outcome is not None
    outcome = base.attempt.outcome.model_copy(update={"stdout": unkept, "trace": unkept})
    run = base.model_copy(update={"attempt": Attempt(outcome=outcome)})
    shown.store.save_run(run)
    assert shown.client.get(f"/api/v1/runs/{run.id}").json()["documents"] == ["run", "task"]
    assert shown.client.get(f"/api/v1/runs/{run.id}/documents/stdout").status_code == 404
    shown.page(f"/runs/{run.id}/timeline", 404)
    assert "abc" in shown.page(f"/runs/{run.id}/response")


def test_pages_are_small(shown: Shown, tmp_path: Path) -> None:
    for part in PARTS:
        assert len(shown.page(f"/runs/{shown.rich}{part}")) < 60_000, part


class TestDocumentsToShare:
    def test_nothing_in_them_can_run_or_fetch(self, shown: Shown) -> None:
        for document in (
            share_run(shown.store, shown.hostile),
            share_report(shown.store, RunFilter(), k=None, runs=10),
        ):
            assert_harmless(document, document=True)
            assert "default-src 'none'" in document
            assert not re.search(r"@import|url\((?!#)", document[: document.index("</style>")])

    def test_findings_lead_to_lines_in_the_same_document(self, shown: Shown) -> None:
        document = share_run(shown.store, shown.rich)
        assert 'href="#f3n5"' in document
        assert 'id="f3n5"' in document
        assert 'id="step-9"' in document

    def test_a_report_shows_what_is_most_worth_reading(self, shown: Shown) -> None:
        document = share_report(shown.store, RunFilter(task="add-a-discount"), k=None, runs=1)
        assert document.count("whole-run") - document.count(".whole-run") == 1
        assert f"<code>{shown.rich}</code>" in document
        ids = re.findall(r'\sid="([^"]+)"', share_report(shown.store, RunFilter(), k=None, runs=10))
        assert len(ids) == len(set(ids))

    def test_a_report_of_nothing(self, store: RunDatabase) -> None:
        assert "0 runs" in share_report(store, RunFilter(), k=None, runs=5)
