from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge import catalog
from adjudge.errors import StoreError, UsageError
from adjudge.tasks.freeze import FrozenTask, freeze, load_task, task_without_source
from adjudge.tasks.load import load_scenario
from adjudge.tasks.lookup import find_task
from adjudge.tasks.trees import read_entries


def frozen(scenario: Path, state: Path) -> FrozenTask:
    return freeze(load_scenario(scenario), state)


def digest(scenario: Path, state: Path) -> str:
    return frozen(scenario, state).task.digest


def test_a_frozen_task_needs_nothing_of_the_scenario_any_more(scenario: Path, state: Path) -> None:
    (scenario / "task.md").write_text("Do it.")
    before = frozen(scenario, state)
    shutil.rmtree(scenario)
    after = load_task(before.directory)
    assert after.task == before.task
    assert [entry.path for entry in read_entries(after.source)] == ["a.txt"]


def test_later_edits_do_not_change_it(scenario: Path, state: Path) -> None:
    before = frozen(scenario, state)
    (scenario / "project" / "a.txt").write_text("changed\n")
    (scenario / "adjudge.yaml").write_text("scorers: [{type: no_new_skips}]\n")
    assert load_task(before.directory).task == before.task
    assert (before.source / "a.txt").read_text() == "alpha\n"


def test_the_digest_is_the_same_wherever_and_however_it_is_written(
    scenario: Path, state: Path, tmp_path: Path
) -> None:
    first = digest(scenario, state)
    elsewhere = tmp_path / "another" / "place"
    shutil.copytree(scenario, elsewhere)
    os.utime(elsewhere / "project" / "a.txt", (0, 0))
    (elsewhere / "project" / "a.txt").chmod(0o600)
    (elsewhere / "adjudge.yaml").write_text(
        "name: another name\n"
        "scorers:\n- type: 'forbid_secrets'\n  required: true\n"
        'instruction: "Do it."\n'
        "workspace:\n    path: ./project/\n    source: directory\n"
        "sandbox: {backend: bubblewrap}\n"
    )
    assert digest(elsewhere, tmp_path / "other-state") == first


@pytest.mark.parametrize(
    "change",
    [
        {"project/a.txt": "alpha"},
        {"project/b.txt": ""},
        {"adjudge.yaml": ("Do it.", "Do it!")},
        {"adjudge.yaml": ("forbid_secrets}", "forbid_secrets, name: x}")},
        {"adjudge.yaml": ("forbid_secrets}", "forbid_secrets, weight: 2}")},
        {"adjudge.yaml": ("forbid_secrets}", "forbid_secrets, gate: true}")},
        {"adjudge.yaml": ("forbid_secrets}]", "forbid_secrets}]\nsetup: make")},
        {"adjudge.yaml": ("forbid_secrets}]", "forbid_secrets}]\nrollup: min")},
        {"adjudge.yaml": ("forbid_secrets}]", "forbid_secrets}]\npass_threshold: 1")},
        {"adjudge.yaml": ("forbid_secrets}]", "forbid_secrets}]\nexpected_outcome: refusal")},
        {"adjudge.yaml": ("forbid_secrets}]", "forbid_secrets}]\nlimits: {tokens: 1}")},
        {"adjudge.yaml": ("forbid_secrets}]", 'forbid_secrets}]\nsandbox: {env: {A: "1"}}')},
    ],
)
def test_anything_that_matters_changes_the_digest(
    scenario: Path, state: Path, change: dict[str, str | tuple[str, str]]
) -> None:
    before = digest(scenario, state)
    for name, edit in change.items():
        file = scenario / name
        if isinstance(edit, tuple):
            text = file.read_text()
            assert edit[0] in text
            file.write_text(text.replace(*edit))
        else:
            file.write_text(edit)
    assert digest(scenario, state) != before


def test_modes_names_links_and_empty_folders_change_the_digest(scenario: Path, state: Path) -> None:
    project = scenario / "project"
    seen = {digest(scenario, state)}
    (project / "a.txt").chmod(0o755)
    seen.add(digest(scenario, state))
    (project / "a.txt").rename(project / "b.txt")
    seen.add(digest(scenario, state))
    (project / "link").symlink_to("b.txt")
    seen.add(digest(scenario, state))
    (project / "link").unlink()
    (project / "link").symlink_to("c.txt")
    seen.add(digest(scenario, state))
    (project / "empty").mkdir()
    seen.add(digest(scenario, state))
    (project / os.fsdecode(b"caf\xe9")).write_text("")
    seen.add(digest(scenario, state))
    assert len(seen) == 7


def test_where_the_source_came_from_does_not_count(scenario: Path, state: Path, repository: object) -> None:
    before = digest(scenario, state)
    assert hasattr(repository, "commit")
    repository.commit(**{"a.txt": "alpha\n"})
    text = (scenario / "adjudge.yaml").read_text()
    (scenario / "adjudge.yaml").write_text(text.replace("directory, path: project", "git, path: repo"))
    task = frozen(scenario, state).task
    assert task.digest == before
    assert task.scenario.workspace is not None


def test_the_instruction_counts_by_its_text(scenario: Path, state: Path) -> None:
    before = digest(scenario, state)
    (scenario / "task.md").write_text("Do it.")
    text = (scenario / "adjudge.yaml").read_text()
    (scenario / "adjudge.yaml").write_text(text.replace("Do it.", "{file: task.md}"))
    assert digest(scenario, state) == before


def test_a_ref_is_a_commit_in_the_task(tmp_path: Path, state: Path, repository: object) -> None:
    assert hasattr(repository, "commit")
    commit = repository.commit(a="1\n")
    (tmp_path / "scenario" / "adjudge.yaml").write_text(
        "workspace: {source: git, path: repo, ref: main}\nscorers: [{type: forbid_secrets}]\n"
    )
    workspace = frozen(tmp_path / "scenario", state).task.scenario.workspace
    assert workspace is not None
    assert workspace.ref == commit


def test_a_recipe_alone_can_be_frozen(tmp_path: Path, state: Path) -> None:
    (tmp_path / "adjudge.yaml").write_text("scorers: [{type: forbid_secrets}]\n")
    task = frozen(tmp_path, state).task
    assert task.source_digest is None
    assert task == task_without_source(load_scenario(tmp_path))


def test_without_its_source_a_task_has_another_digest(scenario: Path, state: Path) -> None:
    task = task_without_source(load_scenario(scenario))
    assert task.source_digest is None
    assert task.digest != digest(scenario, state)


def test_a_scenario_inside_its_own_workspace_is_said(tmp_path: Path, state: Path) -> None:
    (tmp_path / "adjudge.yaml").write_text(
        "workspace: {source: directory, path: .}\nscorers: [{type: forbid_secrets}]\n"
    )
    made = freeze(load_scenario(tmp_path), tmp_path.parent / f"{tmp_path.name}-state")
    assert made.notes == ("adjudge.yaml is also in the workspace: an agent can read how it is graded",)


def test_a_folder_that_holds_the_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adjudge.yaml").write_text(
        "workspace: {source: directory, path: .}\nscorers: [{type: forbid_secrets}]\n"
    )
    for state in (tmp_path / ".state", tmp_path):
        with pytest.raises(UsageError, match="where tasks are kept") as caught:
            freeze(load_scenario(tmp_path), state)
        assert caught.value.hint == "set ADJUDGE_HOME to a place outside it"
    freeze(load_scenario(tmp_path), tmp_path.with_name(f"{tmp_path.name}-beside"))


def test_a_failure_leaves_nothing(scenario: Path, state: Path) -> None:
    os.mkfifo(scenario / "project" / "fifo")
    with pytest.raises(UsageError, match="fifo"):
        frozen(scenario, state)
    assert list((state / "tasks").iterdir()) == []


def test_freezing_twice_keeps_one_copy(scenario: Path, state: Path) -> None:
    assert frozen(scenario, state).directory == frozen(scenario, state).directory
    assert len(list((state / "tasks").iterdir())) == 1


def test_a_damaged_task_is_refused(scenario: Path, state: Path) -> None:
    file = frozen(scenario, state).directory / "task.json"
    document = json.loads(file.read_text())
    document["scenario"]["instruction"] = "Do something else."
    file.write_text(json.dumps(document))
    with pytest.raises(StoreError, match="does not have the digest it names"):
        load_task(file.parent)
    file.write_text("{}")
    with pytest.raises(StoreError, match="is damaged"):
        load_task(file.parent)


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A scorer whose recipe lines refer to files."""
    packages = tmp_path / "packages"
    info = packages / "stranger-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[adjudge.scorers]\nfiling = filing_scorer:Files\n")
    (packages / "filing_scorer.py").write_text(
        "from adjudge.records.paths import ScenarioFile\n"
        "from adjudge.records.score import ScorerConfig\n"
        "class Files:\n"
        "    version = '1'\n"
        "    required_by_default = True\n"
        "    advisory_only = False\n"
        "    class Config(ScorerConfig):\n"
        "        expect: tuple[ScenarioFile, ...] = ()\n"
    )
    monkeypatch.syspath_prepend(str(packages))
    catalog._strangers.cache_clear()
    yield
    catalog._strangers.cache_clear()
    sys.modules.pop("filing_scorer", None)


@pytest.mark.usefixtures("stranger")
class TestFiles:
    def recipe(self, scenario: Path, *paths: str) -> None:
        listed = ", ".join(paths)
        (scenario / "adjudge.yaml").write_text(f"scorers: [{{type: filing, expect: [{listed}]}}]\n")

    def test_they_are_kept_and_part_of_the_digest(self, scenario: Path, state: Path) -> None:
        (scenario / "hidden" / "deep").mkdir(parents=True)
        (scenario / "hidden" / "deep" / "t.py").write_text("1")
        (scenario / "run.sh").write_text("x")
        (scenario / "run.sh").chmod(0o755)
        self.recipe(scenario, "hidden", "run.sh", "hidden/deep/t.py")
        made = frozen(scenario, state)
        assert [file.path for file in made.task.files] == ["hidden/deep/t.py", "run.sh"]
        assert (made.files / "hidden" / "deep" / "t.py").read_text() == "1"
        assert os.access(made.files / "run.sh", os.X_OK)
        for change in (
            lambda: (scenario / "hidden" / "deep" / "t.py").write_text("2"),
            lambda: (scenario / "hidden" / "new").write_text(""),
            lambda: (scenario / "run.sh").chmod(0o644),
        ):
            before = digest(scenario, state)
            change()
            assert digest(scenario, state) != before

    def test_a_link_inside_a_folder_is_refused(self, scenario: Path, state: Path) -> None:
        (scenario / "hidden").mkdir()
        (scenario / "hidden" / "link").symlink_to("/etc/passwd")
        self.recipe(scenario, "hidden")
        with pytest.raises(UsageError, match="hidden/link is a link inside a folder the recipe refers to"):
            frozen(scenario, state)

    def test_one_that_the_agent_can_read_is_said(self, scenario: Path, state: Path) -> None:
        self.recipe(scenario, "project/a.txt")
        text = (scenario / "adjudge.yaml").read_text()
        (scenario / "adjudge.yaml").write_text(f"{text}workspace: {{source: directory, path: project}}\n")
        assert frozen(scenario, state).notes == (
            "project/a.txt, which the recipe uses, is also in the workspace: an agent can read it",
        )


class TestLookup:
    def test_a_task_is_found_by_path_folder_and_digest(self, scenario: Path, state: Path) -> None:
        made = frozen(scenario, state)
        whole = made.task.digest.removeprefix("sha256:")
        for text in (str(made.directory), whole, whole[:6], made.task.digest, f"sha256:{whole[:4]}"):
            found = find_task(text, state)
            assert isinstance(found, FrozenTask)
            assert found.task == made.task
        assert not isinstance(find_task(str(scenario), state), FrozenTask)

    def test_a_digest_of_two_tasks_is_refused(self, state: Path) -> None:
        for name in ("abcd1", "abcd2"):
            (state / "tasks" / name.ljust(64, "0")).mkdir(parents=True)
        with pytest.raises(UsageError, match="abcd means 2 tasks: abcd10000000, abcd20000000"):
            find_task("abcd", state)

    @pytest.mark.parametrize("text", ["abcdef", "sha256:abcdef"])
    def test_a_digest_of_no_task_gets_a_hint(self, state: Path, text: str) -> None:
        with pytest.raises(UsageError, match="no file, folder or frozen task is called") as caught:
            find_task(text, state)
        assert "adjudge seed" in str(caught.value.hint)

    def test_anything_else_is_a_path(self, state: Path) -> None:
        with pytest.raises(UsageError, match="nothing-here does not exist"):
            find_task("nothing-here", state)

    def test_a_path_that_exists_comes_before_a_digest(
        self, scenario: Path, state: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(scenario.parent)
        scenario.rename(scenario.parent / "abcd")
        assert not isinstance(find_task("abcd", state), FrozenTask)
