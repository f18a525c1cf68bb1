from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.tasks.detect import find_protected, find_test_command


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pytest.ini": ""}, "python -m pytest -q"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python -m pytest -q"),
        ({"requirements-dev.txt": "pytest\n"}, "python -m pytest -q"),
        ({"tests/test_a.py": "import pytest\n"}, "python -m pytest -q"),
        ({"tests/test_a.py": "import unittest\n"}, "python -m unittest discover -s tests"),
        ({"tests/test_a.py": "def test_f():\n    assert f() == 1\n"}, "python -m pytest -q"),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "yarn.lock": ""}, "yarn test"),
        ({"package.json": '{"scripts": {"test": "jest"}}', "bun.lock": ""}, "bun run test"),
        ({"go.mod": "module x\n"}, "go test ./..."),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"pom.xml": ""}, "mvn -q test"),
        ({"mvnw": "", "pom.xml": ""}, "./mvnw -q test"),
        ({"build.gradle.kts": ""}, "gradle test"),
        ({"gradlew": "", "build.gradle": ""}, "./gradlew test"),
        ({"Gemfile": "", "spec/a_spec.rb": ""}, "bundle exec rspec"),
        ({"mix.exs": ""}, "mix test"),
        ({"Makefile": "build:\n\ttrue\ntest: build\n\ttrue\n"}, "make test"),
    ],
)
def test_how_a_project_runs_its_tests(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = find_test_command(tmp_path)
    assert found is not None
    assert found.command == command
    assert found.because


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pyproject.toml": "[project]\nname = 'x'\n"},
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "not json"},
        {"package.json": "[" * 100_000},
        {"package.json": '{"scripts": []}'},
        {"Makefile": "tests:\n\ttrue\ntest := 3\n"},
    ],
)
def test_nothing_is_made_up(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert find_test_command(tmp_path) is None


def test_what_decides_about_grading_is_protected(tmp_path: Path) -> None:
    assert find_protected(tmp_path) == (".github/*",)
    (tmp_path / ".gitlab-ci.yml").write_text("")
    assert find_protected(tmp_path) == (".gitlab-ci.yml",)
