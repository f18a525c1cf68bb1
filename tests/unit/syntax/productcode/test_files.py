"""Which files are product code."""

from __future__ import annotations

import pytest

from adjudge.syntax.productcode.files import may_be_product

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    "path",
    [
        "a.py",
        "src/tools/a.py",
        "pkg/scripts/run.go",
        "pkg/setup.go",
        "src/latest.py",
        "lib/contest.js",
        "packages/ui/src/a.ts",
        "src/ci/a.rs",
    ],
)
def test_product(path: str) -> None:
    assert may_be_product(path)


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py",
        "src/pkg/testing/a.py",
        "tools/a.py",
        "docs/conf.py",
        "packages/ui/scripts/a.js",
        "packages/bench/a.ts",
        "conftest.py",
        "jest.config.js",
        "src/test_utils.py",
        "pkg/testutil.go",
        "src/setupTests.ts",
        "a_test.go",
        "examples/a.go",
        "src/__mocks__/a.js",
        "setup.py",
        "node_modules/a/index.js",
    ],
)
def test_not_product(path: str) -> None:
    assert not may_be_product(path)
