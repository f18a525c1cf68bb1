"""The table of protected paths, asked about paths that people really have."""

from __future__ import annotations

import pytest

from adjudge.evidence.protected import GROUPS, Protection

pytestmark = pytest.mark.anyone

PROTECTED = {
    "tests": [
        "tests/test_a.py", "test_a.py", "pkg/a_test.go", "src/a.test.ts", "web/__tests__/a.jsx",
        "spec/models/user_spec.rb", "src/test/java/AppTest.java", "pkg/testdata/golden.txt",
        "a/__snapshots__/b.snap", "tests/data/x.json",
    ],
    "test configuration": [
        "conftest.py", "pkg/conftest.py", "pytest.ini", "pytest.toml", ".pytest.toml", "jest.config.js",
        "web/vitest.config.mts", ".mocharc.json", "karma.conf.js", ".cargo/config.toml", ".mvn/maven.config",
        ".config/nextest.toml", "noxfile.py",
    ],
    "installed packages": [
        ".venv/lib/python3/site.py", "node_modules/.bin/jest", "web/node_modules/x/index.js",
        "x.egg-info/entry_points.txt", "x-1.0.dist-info/RECORD",
    ],
    "runner shims": ["sitecustomize.py", "src/usercustomize.py", "a/b.pth", "sitecustomize/__init__.py"],
    "version control": [".git/hooks/pre-commit", "vendor/x/.git/config"],
    "shadowing modules": [
        "json.py", "pytest.py", "pytest/__init__.py", "src/random.py", "_pytest/__init__.py", "lib/typing.py",
        "re.cpython-311-x86_64-linux-gnu.so",
    ],
}  # fmt: skip

OPEN = [
    "src/app.py", "app/types.py", "pkg/json.py", "pkg/random/__init__.py", "code/main.py", "site/index.html",
    "email/template.html", "latest.py", "contest.py", "src/testing/mod.py", "main.go", "src/lib.rs",
    "pom.xml", "pyproject.toml", "setup.cfg", "package.json", "docs/tests.md", "attestation.ts", "Makefile",
]  # fmt: skip


@pytest.mark.parametrize(
    ("group", "path"), [(group, path) for group, paths in PROTECTED.items() for path in paths]
)
def test_protected(group: str, path: str) -> None:
    found = Protection().of(path, in_baseline=False)
    assert found is not None
    assert found.name == group
    assert found.reason


@pytest.mark.parametrize("path", OPEN)
def test_open(path: str) -> None:
    assert Protection().of(path, in_baseline=False) is None


def test_a_module_that_the_baseline_has_shadows_nothing_new() -> None:
    assert Protection().of("queue.py", in_baseline=True) is None
    assert Protection().of("queue.py", in_baseline=False) is not None


def test_a_recipe_opens_and_widens_the_table() -> None:
    protection = Protection(allow=["tests/data/**", "conftest.py"], protect=["src/limits.py", "scripts"])
    assert protection.of("tests/data/x.json", in_baseline=True) is None
    assert protection.of("conftest.py", in_baseline=True) is None
    assert protection.of("tests/test_a.py", in_baseline=True) is not None
    assert protection.of("src/limits.py", in_baseline=True) is not None
    assert protection.of("scripts/deep/run", in_baseline=True) is not None


def test_every_group_says_why() -> None:
    assert all(group.reason and group.patterns for group in GROUPS)
