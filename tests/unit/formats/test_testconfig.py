"""Configuration that is merged by section."""

from __future__ import annotations

import configparser
import json
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.formats.testconfig import ConfigUnreadable, has_pytest_section, merge_config, write_toml

pytestmark = pytest.mark.anyone


def test_equal_test_sections_leave_the_file_alone() -> None:
    old = b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-ra'\n"
    new = b"# mine\n[tool.pytest]\nini_options = {addopts = '-ra'}\n[project]\nname = 'b'\n"
    assert merge_config("pyproject.toml", old, new) == (new, False)


@pytest.mark.parametrize(
    "new",
    [
        "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '-k no'\n",
        "tool.pytest.ini_options.addopts = '-k no'\nproject.name = 'b'\n",
        "project = {name = 'b'}\ntool = {pytest = {ini_options = {addopts = '-k no'}}}\n",
        "[project]\nname = 'b'\n",
    ],
)
def test_toml_however_it_is_spelled(new: str) -> None:
    old = b"[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-ra'\n"
    merged, differed = merge_config("pyproject.toml", old, new.encode())
    assert differed
    assert merged is not None
    assert tomllib.loads(merged.decode()) == {
        "project": {"name": "b"},
        "tool": {"pytest": {"ini_options": {"addopts": "-ra"}}},
    }


def test_a_plugin_of_the_product_does_not_load_itself() -> None:
    new = b"[project.entry-points.pytest11]\nmine = 'evil'\n[project.entry-points.console]\na = 'b'\n"
    merged, _ = merge_config("pyproject.toml", None, new)
    assert merged is not None
    assert tomllib.loads(merged.decode()) == {"project": {"entry-points": {"console": {"a": "b"}}}}


def test_ini_sections() -> None:
    old = "[tox]\nenvlist = py\n[testenv]\ncommands = pytest\n[flake8]\nselect = E\n"
    new = "[tox]\nenvlist =\n[testenv:x]\ncommands = true\n[flake8]\nselect = W\nmany =\n  [pytest]\n  -x\n"
    merged, differed = merge_config("tox.ini", old.encode(), new.encode())
    assert differed
    assert merged is not None
    parser = configparser.RawConfigParser()
    parser.read_string(merged.decode())
    assert {name: dict(parser.items(name)) for name in parser.sections()} == {
        "flake8": {"select": "W", "many": "\n[pytest]\n-x"},
        "tox": {"envlist": "py"},
        "testenv": {"commands": "pytest"},
    }


def test_package_json() -> None:
    old = b'{"name": "a", "scripts": {"test": "jest"}}'
    new = b'{"name": "b", "scripts": {"test": "true"}, "jest": {"bail": 1}}'
    merged, _ = merge_config("web/package.json", old, new)
    assert merged is not None
    assert json.loads(merged) == {"name": "b", "scripts": {"test": "jest"}}


def test_a_deleted_file_keeps_its_test_sections_and_an_added_one_gets_none() -> None:
    old = b"[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n"
    assert merge_config("setup.cfg", old, None) == (b"[tool:pytest]\naddopts = -q\n\n", True)
    assert merge_config("setup.cfg", None, b"[tool:pytest]\naddopts = -q\n") == (None, True)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("pyproject.toml", b"[project"), ("pyproject.toml", b"\xff"), ("package.json", b"[]"),
        ("package.json", b'{"a": ' * 100_000), ("setup.cfg", b"no section"),
        ("tox.ini", b"[DEFAULT]\na = 1\n"),
        ("setup.cfg", b"[a]\n[a]\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(path: str, data: bytes) -> None:
    with pytest.raises(ConfigUnreadable):
        merge_config(path, None, data)


@pytest.mark.parametrize(
    ("path", "data", "found"),
    [
        ("pytest.ini", b"", True),
        ("pyproject.toml", b"[tool.pytest.ini_options]\n", True),
        ("pyproject.toml", b"[tool.black]\n", False),
        ("pyproject.toml", b"[broken", False),
        ("setup.cfg", b"[tool:pytest]\n", True),
        ("tox.ini", b"[pytest]\n", True),
        ("tox.ini", b"[tox]\n", False),
    ],
)
def test_where_pytest_would_look(path: str, data: bytes, found: bool) -> None:
    assert has_pytest_section(path, data) is found


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


def _without_none(value: object) -> object:
    """TOML has no null."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value if item is not None]
    return value


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(product=st.dictionaries(st.text(st.characters(codec="utf-8")), _values, max_size=4))
def test_what_is_merged_reads_back_as_it_was(product: dict[str, object]) -> None:
    for name in (
        "tool",
        "scripts",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "nyc",
        "c8",
        "tap",
        "karma",
        "config",
        "project",
    ):
        product.pop(name, None)
    new = json.dumps({**product, "scripts": {"test": "true"}}).encode()
    merged, _ = merge_config("package.json", b'{"scripts": {}}', new)
    assert merged is not None
    assert json.loads(merged) == {**product, "scripts": {}}
    plain = _without_none(product)
    assert isinstance(plain, dict)
    assert tomllib.loads(write_toml(plain).decode()) == plain


def test_go_modules_keep_what_the_baseline_swapped() -> None:
    old = b"module example.com/shop\n\ngo 1.18\n\nreplace example.com/a => ./a // ours\n"
    new = b"""\
module example.com/shop // a comment

go 1.20

require (
\texample.com/b v1.2.3 // indirect
\tgithub.com/stretchr/testify v1.8.1
)

replace (
\tgithub.com/stretchr/testify => ./evil
\texample.com/a => ./b
)
"""
    merged, differed = merge_config("go.mod", old, new)
    assert differed
    assert merged is not None
    assert merged.decode().splitlines() == [
        "module example.com/shop // a comment",
        "go 1.20",
        "require example.com/b v1.2.3 // indirect",
        "require github.com/stretchr/testify v1.8.1",
        "replace example.com/a => ./a // ours",
    ]
    product = old + b"require example.com/b v1.0.0\n"
    assert merge_config("sub/go.mod", old, product) == (product, False)
    assert merge_config("go.mod", None, b"module a\n") == (b"module a\n", False)


@pytest.mark.parametrize("text", ["evil x\n", "require (\n a v1\n", "module\n", "/* x */ module a\n"])
def test_go_modules_that_are_not_understood(text: str) -> None:
    with pytest.raises(ConfigUnreadable):
        merge_config("go.mod", b"module a\n", text.encode())


def test_cargo_sections() -> None:
    old = """
        [package]
        name = "shop"
        [dependencies]
        serde = "1"
        [dev-dependencies]
        proptest = "1"
        [target.'cfg(unix)'.dev-dependencies]
        nix = "0.1"
    """
    new = """
        [package]
        name = "shop"
        autotests = false
        [lib]
        name = "shop"
        test = false
        [dependencies]
        serde = "2"
        [dev-dependencies]
        proptest = { path = "evil" }
        [[test]]
        name = "all"
        harness = false
        [profile.test]
        debug-assertions = false
        [patch.crates-io]
        proptest = { path = "evil" }
        [target.'cfg(all())'.dev-dependencies]
        x = "1"
    """
    merged, differed = merge_config("Cargo.toml", old.encode(), new.encode())
    assert differed
    assert merged is not None
    found = tomllib.loads(merged.decode())
    assert found["dependencies"] == {"serde": "2"}
    assert found["dev-dependencies"] == {"proptest": "1"}
    assert found["lib"] == {"name": "shop"}
    assert found["package"] == {"name": "shop"}
    assert found["target"] == {"cfg(unix)": {"dev-dependencies": {"nix": "0.1"}}, "cfg(all())": {}}
    assert {"test", "patch"}.isdisjoint(found)
    assert not found.get("profile")


_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <artifactId>shop</artifactId>
  <properties><java>17</java>{properties}</properties>
  <dependencies>
    <dependency><groupId>org.junit.jupiter</groupId><artifactId>j</artifactId><version>{junit}</version></dependency>
    {dependencies}
  </dependencies>
  <build><plugins>
    {plugins}
    <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.0</version>{surefire}</plugin>
  </plugins></build>
  {more}
</project>
"""


def _pom(**parts: str) -> bytes:
    names = ("properties", "dependencies", "plugins", "surefire", "more")
    return _POM.format(**{"junit": "5", **dict.fromkeys(names, ""), **parts}).encode()


def test_maven_sections() -> None:
    product = "<dependency><groupId>g</groupId><artifactId>a</artifactId></dependency>"
    plugin = "<plugin><artifactId>maven-jar-plugin</artifactId></plugin>"
    old = _pom(surefire="<configuration><forkCount>2</forkCount></configuration>")
    new = _pom(
        junit="4",
        properties="<skipTests>true</skipTests><maven.test.failure.ignore>true</maven.test.failure.ignore>",
        dependencies=product + "<dependency><artifactId>e</artifactId><scope>test</scope></dependency>",
        plugins=plugin,
        surefire="<configuration><skip>true</skip></configuration>",
        more="<profiles><profile><id>x</id></profile></profiles>",
    )
    merged, differed = merge_config("pom.xml", old, new)
    assert differed
    assert merged is not None
    text = merged.decode()
    for kept in ("<artifactId>a<", "maven-jar-plugin", "<forkCount>2<", "<version>5<", "<java>17<"):
        assert kept in text
    for gone in ("skip", "<artifactId>e<", "profile", "<version>4<", "failure.ignore"):
        assert gone not in text
    again, differs = merge_config("pom.xml", old, merged)
    assert (again, differs) == (merged, False)
    honest = _pom(dependencies=product, surefire="<configuration><forkCount> 2 </forkCount></configuration>")
    assert merge_config("pom.xml", old, honest) == (honest, False)


@pytest.mark.parametrize(
    "text",
    [
        b'<!DOCTYPE x [<!ENTITY e "e">]><project>&e;</project>',
        '<!DOCTYPE x [<!ENTITY e "e">]><project>&e;</project>'.encode("utf-16"),
        b"<project>",
        b"<other/>",
        b"<project><dependencies>" + b"<dependency>" * 100_000,
        b"<project><profiles>" + b"<a>" * 20_000 + b"</a>" * 20_000 + b"</profiles></project>",
    ],
)
def test_maven_files_that_are_not_read(text: bytes) -> None:
    with pytest.raises(ConfigUnreadable):
        merge_config("pom.xml", _pom(), text)
