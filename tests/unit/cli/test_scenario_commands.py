"""`validate`, `schema`, `scorers` and `init`, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from adjudge import catalog
from adjudge.cli.main import main
from adjudge.formats.tasks.document import parse_document
from adjudge.formats.tasks.starter import TestCommand, render_starter
from adjudge.tasks.load import load_scenario

GOOD = "scorers:\n  - {type: command, command: make}\n  - {type: no_new_skips}\n"
BAD = "scorers:\n  - {type: comand}\n  - {type: forbid_secrets, wieght: 2}\n"


class TestValidate:
    def test_a_valid_file_is_summed_up(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        file = tmp_path / "a.yaml"
        file.write_text(f"pass_threshold: 0.5\n{GOOD}")
        assert main(["validate", str(file)]) == 0
        assert capsys.readouterr().out.splitlines() == [
            f"{file}: valid",
            "  name         a",
            "  passes with  every required scorer, weighted_mean ≥ 0.5",
            "  scorers      command       command, required, weight 1",
            "               no_new_skips  no_new_skips, advisory",
        ]

    def test_all_problems_of_all_files(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        for name, text in (("a", BAD), ("b", GOOD), ("c", "name: x\n")):
            (tmp_path / name).mkdir()
            (tmp_path / name / "adjudge.yaml").write_text(text)
        assert main(["validate", str(tmp_path), str(tmp_path / "gone.yaml")]) == 2
        shown = capsys.readouterr()
        assert shown.out.splitlines()[:2] == [
            f"{tmp_path}/a/adjudge.yaml:2:6: scorers[0].type: no scorer is called 'comand'; "
            "did you mean 'command'?",
            f"{tmp_path}/a/adjudge.yaml:3:28: scorers[1]: unknown key 'wieght'; did you mean 'weight'?",
        ]
        assert f"{tmp_path}/b/adjudge.yaml: valid" in shown.out
        assert (
            f"{tmp_path}/c/adjudge.yaml:1:1: scorers: missing; a recipe needs at least one scorer"
            in shown.out
        )
        assert f"{tmp_path}/gone.yaml:1:1: does not exist" in shown.out
        assert shown.err == "4 problems in 3 of 4 files\n"

    def test_json(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "good.yaml").write_text(f"{GOOD}workspace: {{source: empty}}\n")
        (tmp_path / "bad.yaml").write_text(BAD)
        assert main(["validate", "--json", str(tmp_path / "good.yaml"), str(tmp_path / "bad.yaml")]) == 2
        document = json.loads(capsys.readouterr().out)
        assert document["schema"] == "adjudge.validation/1"
        assert document["valid"] is False
        good, bad = document["files"]
        assert good["valid"] is True
        assert good["scenario"]["recipe"]["scorers"][0]["name"] == "command"
        assert good["warnings"][0]["message"] == "there is no instruction for an agent"
        assert bad["scenario"] is None
        assert bad["problems"][0] == {
            "file": str(tmp_path / "bad.yaml"), "line": 2, "column": 6, "where": "scorers[0].type",
            "message": "no scorer is called 'comand'; did you mean 'command'?",
        }  # fmt: skip

    def test_the_current_folder_is_meant_when_none_is_given(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert main(["validate"]) == 2
        assert "holds no adjudge.yaml" in capsys.readouterr().out
        (tmp_path / "adjudge.yaml").write_text(GOOD)
        assert main(["validate"]) == 0

    def test_warnings_do_not_fail(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "a.yaml").write_text("scorers: [{type: forbid_secrets, gate: true, weight: 1}]\n")
        assert main(["validate", str(tmp_path / "a.yaml")]) == 0
        assert "a.yaml:1:46: scorers[0].weight: warning: has no effect" in capsys.readouterr().out


LONG = "a" * 5000


@pytest.mark.parametrize(
    "arguments",
    [["validate", LONG], ["seed", LONG, "x"], ["seed", "s", LONG], ["init", LONG], ["validate", f"{LONG}/b"]],
    ids=lambda arguments: arguments[0],
)
def test_a_path_that_no_disk_can_hold_is_an_error_and_no_traceback(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "adjudge.yaml").write_text(f"{GOOD}workspace: {{source: empty}}\n")
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "does not exist" in shown.out + shown.err or "File name too long" in shown.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s"]


class TestSchema:
    def test_it_is_json_and_a_schema(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["schema"]) == 0
        jsonschema.Draft202012Validator.check_schema(json.loads(capsys.readouterr().out))


class TestScorers:
    def test_the_list_names_every_type(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["scorers"]) == 0
        shown = capsys.readouterr().out
        for name in catalog.names("scorers"):
            assert f"\n{name} " in f"\n{shown}"

    @pytest.mark.parametrize("name", catalog.BUILTINS["scorers"])
    def test_each_is_explained_with_fields_and_example(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["scorers", name]) == 0
        shown = capsys.readouterr().out
        for part in (
            "fields of every scorer",
            "measures",
            "evidence",
            "how it is fooled",
            "example",
            f"type: {name}",
        ):
            assert part in shown
        assert "```" not in shown

    def test_fields_have_types_and_defaults(self, capsys: pytest.CaptureFixture[str]) -> None:
        main(["scorers", "command"])
        assert "  timeout_s: number, 1 to 3600; default 900.0\n" in capsys.readouterr().out
        main(["scorers", "allowed_paths"])
        assert "  patterns: non-empty list of text; needed\n" in capsys.readouterr().out

    def test_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["scorers", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert [docs["name"] for docs in document["scorers"]] == catalog.names("scorers")
        assert main(["scorers", "max_files_changed", "--json"]) == 0
        (field,) = json.loads(capsys.readouterr().out)["fields"]
        assert (field["name"], field["required"]) == ("limit", True)

    def test_a_misspelt_type_gets_the_nearest(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["scorers", "comand"]) == 2
        assert "did you mean command?" in capsys.readouterr().err


class TestInit:
    @pytest.mark.parametrize("project", [{}, {"go.mod": ""}, {"pytest.ini": ""}, {"package.json": "{}"}])
    def test_what_it_writes_is_valid_for_us_and_for_editors(
        self, tmp_path: Path, project: dict[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        for name, text in project.items():
            (tmp_path / name).write_text(text)
        assert main(["init", str(tmp_path)]) == 0
        scenario, schema = tmp_path / "adjudge.yaml", tmp_path / "adjudge.schema.json"
        assert capsys.readouterr().out.splitlines() == [str(scenario), str(schema)]
        first = scenario.read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=./adjudge.schema.json"
        load_scenario(scenario)
        root = parse_document(scenario.read_bytes(), file="x").root
        assert root is not None
        jsonschema.validate(root.plain(), json.loads(schema.read_text()))
        assert main(["validate", str(tmp_path)]) == 0

    def test_what_is_commented_out_is_valid_too(self) -> None:
        text = render_starter("x", TestCommand("make test", "Makefile"), ("adjudge.yaml",))
        lines = text.splitlines()
        start = next(index for index, line in enumerate(lines) if line.startswith("# instruction"))
        body = [line for line in lines[:start] if not line.startswith("#")]
        opened = [
            line.replace("# ", "", 1) if line.startswith(("  # - ", "  #   ")) else line for line in body
        ] + [line.removeprefix("# ") for line in lines[start:]]
        root = parse_document("\n".join(opened).encode(), file="x").root
        assert root is not None
        value = root.plain()
        assert [line["type"] for line in value["scorers"]][-3:] == [
            "tests_unmodified", "allowed_paths", "max_files_changed",
        ]  # fmt: skip
        assert set(value) == {"name", "scorers", "instruction", "workspace", "setup"}

    def test_it_does_not_write_over_anything_unless_told(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "adjudge.yaml").write_text("mine\n")
        assert main(["init", str(tmp_path)]) == 2
        assert "--force" in capsys.readouterr().err
        assert (tmp_path / "adjudge.yaml").read_text() == "mine\n"
        assert not (tmp_path / "adjudge.schema.json").exists()
        assert main(["init", str(tmp_path), "--force"]) == 0
        load_scenario(tmp_path)

    def test_it_does_not_write_through_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "precious").write_text("mine\n")
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "adjudge.schema.json").symlink_to("../precious")
        assert main(["init", str(tmp_path / "project")]) == 0
        assert (tmp_path / "precious").read_text() == "mine\n"

    @pytest.mark.parametrize(
        "name", ["true", "1", "a: b", "-x", "#x", "naïve 'x'", ".5", "x\\y", 'q"q', "null"]
    )
    def test_odd_folder_names(self, tmp_path: Path, name: str) -> None:
        assert main(["init", str(tmp_path / name)]) == 0
        assert load_scenario(tmp_path / name).scenario.name == name

    def test_a_file_is_no_folder(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "file").write_text("")
        assert main(["init", str(tmp_path / "file")]) == 2
        assert "is not a folder" in capsys.readouterr().err
