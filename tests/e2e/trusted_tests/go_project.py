"""The small Go project that attempts and attacks are made on, graded through the `tests` scorer."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.records.score import ScorerResult

__all__ = ["HONEST", "LAZY", "MODULE", "NAMES", "NEEDS_GO", "TESTS", "grade", "ids"]

NEEDS_GO = pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")

MODULE = "module example.com/shop\n\ngo 1.18\n"

TESTS = """\
package shop

import (
    "errors"
    "fmt"
    "reflect"
    "testing"
)

func TestWithTax(t *testing.T) {
    tests := []struct {
        name        string
        price, rate int
        want        int
    }{
        {"twenty percent", 100, 20, 120},
        {name: "none", price: 57, want: 57},
        {name: "free", rate: 20},
    }
    for _, tt := range tests {
        t.Run(tt.name, func(t *testing.T) {
            if got, err := WithTax(tt.price, tt.rate); err != nil || got != tt.want {
                t.Errorf("WithTax() = %d, want %d", got, tt.want)
            }
        })
    }
}

func TestLabel(t *testing.T) {
    t.Parallel()
    got := Label("Blue Mug")
    want := "blue-mug"
    if got != want {
        t.Fatalf("got %q, want %q", got, want)
    }
}

func TestBasket(t *testing.T) {
    t.Parallel()
    if got := Basket("mug", "pen", "mug"); !reflect.DeepEqual(got, map[string]int{"mug": 2, "pen": 1}) {
        t.Errorf("got %v", got)
    }
}

func TestRefuses(t *testing.T) {
    if _, err := WithTax(-1, 20); !errors.Is(err, ErrNegative) {
        t.Errorf("got %v", err)
    }
}

func ExampleLabel() {
    fmt.Println(Label("Red Pen"))
    // Output: red-pen
}

func BenchmarkLabel(b *testing.B) {
    for i := 0; i < b.N; i++ {
        Label("Red Pen")
    }
}
"""

NAMES = (
    "TestWithTax",
    "TestWithTax/twenty_percent",
    "TestWithTax/none",
    "TestWithTax/free",
    "TestLabel",
    "TestBasket",
    "TestRefuses",
    "ExampleLabel",
)

HONEST = """\
package shop

import (
    "errors"
    "strings"
)

var ErrNegative = errors.New("a price is not negative")

func WithTax(price, rate int) (int, error) {
    if price < 0 {
        return 0, ErrNegative
    }
    return price + price*rate/100, nil
}

func Label(text string) string {
    return strings.ReplaceAll(strings.ToLower(text), " ", "-")
}

func Basket(things ...string) map[string]int {
    found := map[string]int{}
    for _, thing := range things {
        found[thing]++
    }
    return found
}
"""

LAZY = """\
package shop

import "errors"

var ErrNegative = errors.New("no")

func WithTax(price, rate int) (int, error) { return -7, nil }
func Label(text string) string { return "" }
func Basket(things ...string) map[string]int { return nil }
"""


def grade(
    place: Path,
    files: Mapping[str, str],
    *,
    before: Mapping[str, str] | None = None,
    hidden: Mapping[str, str] | None = None,
    cmd: str = "go test ./...",
    **config: Any,
) -> ScorerResult:
    """Grade a workspace with hidden test files; the row of the scorer."""
    hidden = {"shop_test.go": TESTS} if hidden is None else hidden
    before = {"go.mod": MODULE, "shop.go": LAZY} if before is None else before
    after = {**before, **files}
    for folder, held in (("scenario/hidden", hidden), ("before", before), ("after", after)):
        (place / folder).mkdir(parents=True)
        for path, text in held.items():
            target = place / folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    grader = {
        "type": "tests",
        **({} if config.get("type") == "swebench" else {"cmd": cmd}),
        "inject": [{"src": f"./hidden/{path}", "dest": path} for path in hidden],
        **config,
    }
    recipe = place / "scenario" / "adjudge.yaml"
    recipe.write_text(yaml.safe_dump({"graders": [grader]}))
    evaluation = adjudge.grade(recipe, workspace=place / "after", baseline=place / "before")
    return evaluation.scorers[0]


def ids(row: ScorerResult, file: str = "shop_test.go") -> dict[str, dict[str, Any]]:
    """What the row says of each test of a file, by name."""
    tests: Any = row.details["tests"]
    return {test["id"].partition("::")[2]: test for test in tests if test["id"].partition("::")[0] == file}
