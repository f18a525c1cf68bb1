"""Commands that run `go test`."""

from __future__ import annotations

import pytest

from adjudge.formats.testcommands.golang import parse_go_suite

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("go test", (".",)),
        ("go test ./...", ("./...",)),
        ("/usr/local/go/bin/go test ./a ./b/...", ("./a", "./b/...")),
        ("go test -v -json -count=1 -failfast -timeout 5m -cover ./...", ("./...",)),
        (
            "go test -race -tags integration,slow -short ./...",
            ("-race", "-tags=integration,slow", "-short", "./..."),
        ),
        ("go test -run '^TestA/b' .", ("-run=^TestA/b", ".")),
        ("go test --short=false -mod=vendor example.com/shop/...", ("-mod=vendor", "example.com/shop/...")),
    ],
)
def test_commands_that_are_understood(command: str, args: tuple[str, ...]) -> None:
    suite = parse_go_suite(command)
    assert suite is not None
    assert (suite.command.runner, suite.command.args) == ("go", args)


def test_the_environment_is_the_recipes() -> None:
    suite = parse_go_suite("GOFLAGS=-mod=mod CGO_ENABLED=0 go test ./...")
    assert suite is not None
    assert suite.command.env == {"GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}


@pytest.mark.parametrize(
    "command",
    [
        "go vet ./...",
        "go build ./...",
        "go test -bench=. ./...",
        "go test -exec ./shim ./...",
        "go test -toolexec ./shim ./...",
        "go test -overlay x.json ./...",
        "go test -run '(' ./...",
        "go test -run '[[:alpha:]]' ./...",
        "go test a_test.go",
        "go test ../other",
        "go test /elsewhere",
        "go test -tags 'a b' ./...",
        "./go test ./...",
        "cd sub && go test ./...",
        "go test ./... -args -update",
        "gotestsum ./...",
    ],
)
def test_commands_that_are_left_to_the_shell(command: str) -> None:
    assert parse_go_suite(command) is None
