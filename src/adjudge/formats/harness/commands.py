"""Shell text that runs tests: which lines do, what in them hides a failure or leaves tests out.

Read by pattern, line by line, for nothing of it is ever run here: Makefiles, scripts, CI files and the
scripts of package.json all hold such lines. A line that runs no tests is nobody's business.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from adjudge.records.harness import HarnessFact

__all__ = ["RUNS_TESTS", "facts_of_line", "facts_of_script", "one_line", "option_facts", "runs_tests"]

RUNS_TESTS = "runs-tests"
"""The rule of a fact that tests are run and nothing is hidden."""
_MAX_SHOWN = 160
_RUNNER = re.compile(
    r"""(?<![\w./@-])(?:
        (?:\S*/)?(?:pytest|py\.test|jest|vitest|mocha|ava|tap|karma|rspec|phpunit|ctest|gotestsum|ginkgo|nose2
            |nosetests|minitest|trial|behave|stestr|cucumber)(?![\w.=:/-])
      | python[\d.]*\s+(?:-[A-Za-z]\s+)*-m\s+(?:pytest|unittest|nose2?|doctest|coverage\s+run)
      | python[\d.]*\s+(?:\S+/)?(?:manage\.py\s+test|setup\.py\s+test|run_?tests?\.py|test\S*\.py)
      | (?:coverage|tox|nox|hatch|pdm|poetry|uv|rye)\s+(?:run\s+)?
            (?:\S+\s+){0,3}?-?-?(?:pytest|unittest|tests?|-e)\b
      | (?:npm|yarn|pnpm|bun|deno)\s+(?:run\s+|--\S+\s+)*(?:test|t|vitest|jest|mocha)(?![\w-])
      | (?:npm|yarn|pnpm|bun)\s+run\s+test[\w:-]*
      | npx\s+(?:--?\S+\s+)*(?:jest|vitest|mocha|ava|playwright|cypress|tap)
      | node\s+(?:[^\s;&|]+\s+){0,8}?--test\b | playwright\s+test | cypress\s+run
      | (?:react-scripts|ng|nx|turbo|lerna)\s+(?:run\s+)?test
      | go\s+test | cargo\s+(?:\+\S+\s+)?(?:nextest|test)
      | (?:\./)?(?:mvnw?|mvn\.cmd)\b[^|;&]*\b(?:test|verify|install)\b
      | (?:\./)?gradlew?\b[^|;&]*\b(?:test|check|build)\w*
      | (?:bundle\s+exec\s+)?(?:rake|rails)\s+(?:test|spec) | bundle\s+exec\s+(?:rspec|rake)
      | (?:\$\(MAKE\)|make|just|task)\s+(?:-\S+\s+)*(?:test|check)\w*
      | (?:\S*/)?run[_-]?(?:all[_-]?)?tests?(?:\.\w+)?(?![\w-])
      | \$[({]?(?:PYTEST|JEST|GOTEST|TEST_?(?:CMD|RUNNER|COMMAND))[)}]?
    )""",
    re.VERBOSE,
)
_IGNORED = re.compile(
    r"""(?:
        \|\|\s*(?:true|:|/bin/true|exit\s+0|return\s+0|echo\b[^&|;]*|printf\b[^&|;]*)\s*(?=$|[;&)\n"'}\#])
      | (?:;|&&\s*true\s*;)\s*(?:true|:|exit\s+0)\s*;?\s*(?=$|[)\n"'}])
      | \|\|\s*\(\s*(?:true|exit\s+0|echo\b[^)]*)\)
    )""",
    re.VERBOSE,
)
_PIPED = re.compile(
    r"(?<!\|)\|(?!\|)&?\s*(?:tee|cat|[ef]?grep|sed|g?awk|head|tail|tr|cut|sort|less|more|ts)\b[^|;&]*$"
)
"""A pipe that ends in a program which never fails for what it reads, so that its success is the line's."""
_SAYS = re.compile(r"\$\([^()\s]+\s[^()]*\)|`[^`\s]+\s[^`]*`")
"""A command whose words are put into a line: a pipe in it is not the line's."""
_SAID_AFTER = re.compile(r"(?<!;);\s*(?:echo|printf)\b[^;&|]*$|(?<![&>|])&\s*$")
"""A line that goes on to say something, or does not wait: nothing minds what came before."""
_MINDS_PIPES = re.compile(r"\bpipefail\b|PIPESTATUS|pipestatus")
_STRICT = re.compile(r"^\s*set\s+(?:-\w*e\w*|-o\s+errexit)\b|^#!.*\s-\w*e\w*\s*$|\berrexit\b", re.MULTILINE)
_IF_ELSE = re.compile(r"(?:^|[;&|]\s*)if\s+(?:!\s*)?")
_FAILS = re.compile(
    r"\bexit\s+\"?\$|\bexit\s+[1-9]|\breturn\s+\"?\$|\breturn\s+[1-9]|PIPESTATUS|\bfalse\b"
    r"|\b(?:die|fail|abort|kill|throw|raise|bail)\b|&&"
)
"""How a script ends in failure after all."""
_TRAP = re.compile(r"\btrap\s+(?P<q>[\"'])[^\"']*\bexit\s+0\b[^\"']*(?P=q)\s+(?:EXIT|ERR|0)\b")
_PRELOAD = re.compile(
    r"\bNODE_OPTIONS\s*=\s*(?:\\?[\"'][^\"']*|\S*?)"
    r"(?:--require|-r|--import|--loader|--experimental-loader)[\s=]+(?:\.{0,2}/\S+|\S+\.[cm]?[jt]s\b)"
)
_NODE_LOADS = re.compile(
    r"\bnode\s+(?:--?\S+\s+)*?(?:--require|-r|--import|--loader|--experimental-loader)[\s=]+"
    r"(?P<file>\.{0,2}/\S+|\S+\.[cm]?[jt]s\b)"
)
_USUAL_LOAD = re.compile(
    r"(?:^|/|[._-])(?:setup|register|preload|bootstrap|env|dotenv|init|globals?|polyfills?|loader|hooks"
    r"|instrument\w*|tsnode|ts-node|tsx|babel|swc|dom|jsdom)(?:[._-]|$)"
)
"""What people call files that are loaded before tests; what those do is read where they are."""
_OUTSIDE = re.compile(r"^[\\\"']*(?:/|~|\$(?!\{?(?:PWD|INIT_CWD)\b))")
"""Files that lie elsewhere are read by nobody."""
_PREFIX = re.compile(r"^[@+]*-[@+]*\s*(?=\S)")
"""What make puts before a line of a recipe whose failure is ignored."""
_NO_FAILURE = re.compile(
    r"(?<!\S)(?:--suppress-no-test-exit-code|--exit-zero|--suppress-tests-failed-exit-code"
    r"|-Dmaven\.test\.failure\.ignore(?:=true)?(?=\s|$)|-DtestFailureIgnore(?:=true)?(?=\s|$)"
    r"|--failure-exit-code[= ]0|-fn\b|--fail-never|--testFailureExitCode[= ]0)"
)
_NOT_RUN = re.compile(
    r"(?<!\S)(?:--collect-only|--co(?=\s|$)|--setup-only|--setup-plan|--listTests|--no-run|--dry-run"
    r"|-DskipTests(?:=true)?(?=\s|$)|-Dmaven\.test\.skip(?:=true)?(?=\s|$)|-DskipITs(?=\s|$)"
    r"|-list(?:=|\s+)\S+|--skip-tests|-(?:exec|overlay|toolexec)(?:=|\s+)\S+)"
)
_ASSERTS_OFF = re.compile(r"(?<!\S)(?:PYTHONOPTIMIZE=[12]\b|python[\d.]*\s+-OO?\s)")
_OF_RUNNER: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (
        re.compile(r"pytest|py\.test"),
        frozenset(("--deselect", "--ignore", "--ignore-glob", "-k", "-m", "-p")),
    ),
    (re.compile(r"\bgo\s+test|gotestsum|ginkgo"), frozenset(("-run", "--run", "-skip", "--skip"))),
    (re.compile(r"\bcargo\b"), frozenset(("--skip", "-E"))),
    (
        re.compile(r"\bjest\b"),
        frozenset(
            (
                "-t",
                "--testNamePattern",
                "--testPathIgnorePatterns",
                "--findRelatedTests",
                "--testPathPattern",
                "--testPathPatterns",
            )
        ),
    ),
    (re.compile(r"\bvitest\b"), frozenset(("-t", "--testNamePattern", "--exclude"))),
    (re.compile(r"\bmocha\b"), frozenset(("-g", "--grep", "-f", "--fgrep", "--exclude"))),
    (re.compile(r"\bnode\b"), frozenset(("--test-name-pattern", "--test-skip-pattern"))),
    (re.compile(r"\brspec\b"), frozenset(("--exclude-pattern", "--tag"))),
    (re.compile(r"\bmvnw?\b"), frozenset(("-Dtest",))),
    (re.compile(r"\bgradlew?\b"), frozenset(("-x",))),
)
"""Options that leave tests out, by the runner they are of."""
_ALONE = re.compile(
    r"--(?:lf|last-failed|sw|stepwise|sw-skip|stepwise-skip|noconftest|onlyChanged|lastCommit|test-only|changed)"
    r"|--(?:lfnf|last-failed-no-failures)=none|-short|(?:-o)?python_(?:files|functions|classes)=\S+"
)
"""The same by themselves."""
_NEEDED_PLUGINS = ("no:python", "no:unittest", "no:runner", "no:main")
"""Plugins of pytest without which tests are not found or not run."""
_UNDO = re.compile(r"\bexit\s+\"?\$|\bexit\s+[1-9]|\breturn\s+\"?\$|\bset\s+-e|PIPESTATUS|\$\?")
_SPEAKS_OF = re.compile(
    r"\b(?:install|add|uninstall|remove|upgrade|download|echo|printf|rm|which|command|type|mkdir|cat|grep|pkill"
    r"|killall|cp|mv|cd|export|alias|pull|ls|touch|chmod|name)\b|(?<!-)\b(?:import|require)\b"
    r"|\b(?:el)?if\s+(?:!\s*)?(?:\[|\(\(|test\b|\w+\s+(?!-))"
)
_OPENS = re.compile(r"(?:^|[;&|]\s*)(?:if|for|while|until|case|select)\b|\{\s*$|\(\s*$")
_CLOSES = re.compile(r"(?:^|[;&|]\s*)(?:fi|done|esac)\b|^\}|^\)")
_CHAIN = re.compile(r"&&|\|\||;|\|")


def one_line(text: str) -> str:
    """A text on one line, capped."""
    shown = " ".join(text.split())
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"


def runs_tests(text: str) -> bool:
    """Whether shell text calls a test runner, as far as can be told from its words."""
    return any(_call(_without_comment(line)) for line in text.splitlines()[:2000])


def facts_of_line(
    line: str, number: int | None, *, make: bool = False, strict: bool = True, pipefail: bool = True
) -> Iterator[HarnessFact]:
    """What one line of shell text does to the tests that it runs.

    Args:
        line: The line; nothing is said of one that runs no tests.
        number: Where it stands.
        make: Whether it is a line of a Makefile's recipe.
        strict: Whether the shell stops at a part of the line that failed.
        pipefail: Whether the shell minds what fails before a pipe.
    """
    text = _without_comment(line)
    dashed = make and _PREFIX.match(text.strip()) is not None
    if make:
        text = re.sub(r"^\s*[@+-]+\s*", "", text)
    called = _call(text)
    if called is None:
        return
    what = one_line(_IGNORED.sub("", text))
    hides: list[tuple[str, str]] = []
    end = called.end()
    own = _SAYS.sub(lambda said: said[0] if runs_tests(said[0]) else "_" * len(said[0]), text)
    goes_on = not strict and _SAID_AFTER.search(own, end) and not _FAILS.search(own, end)
    if dashed or goes_on or _IGNORED.search(own, end) or (not pipefail and _PIPED.search(own, end)):
        hides.append(("exit-code-ignored", what))
    loads = _NODE_LOADS.search(text)
    if _PRELOAD.search(text) or (
        loads is not None and (_OUTSIDE.search(loads["file"]) or not _USUAL_LOAD.search(loads["file"]))
    ):
        hides.append(("startup-code", what))
    for rule, pattern in (
        ("exit-code-ignored", _NO_FAILURE),
        ("tests-not-run", _NOT_RUN),
        ("assertions-switched-off", _ASSERTS_OFF),
    ):
        if found := pattern.search(text):
            hides.append((rule, found[0]))
    facts = [
        HarnessFact(rule=rule, what=said, text=one_line(line), line=number, command=True)
        for rule, said in hides
    ]
    facts += [
        fact.model_copy(update={"command": True}) for fact in option_facts(text[called.start() :], number)
    ]
    yield from facts or [plain_run(what, number)]


def plain_run(what: str, number: int | None) -> HarnessFact:
    """The fact that a command runs tests and hides nothing."""
    return HarnessFact(rule=RUNS_TESTS, what=what, text=what, line=number, command=True)


def option_facts(command: str, number: int | None) -> Iterator[HarnessFact]:
    """Options of a test command that leave tests out."""
    for pattern, options in _OF_RUNNER:
        found = pattern.search(command)
        if found is None:
            continue
        end = _CHAIN.search(command, found.end())
        words = _words(command[found.start() : end.start() if end else None])
        for word in words:
            if _ALONE.fullmatch(word):
                yield HarnessFact(rule="tests-left-out", what=word, text=one_line(word), line=number)
        for option, value in _given(words, options):
            if option in ("-m", "-x") and not re.search(r"\bnot\b|test|check", value, re.IGNORECASE):
                continue
            if option == "-p" and value not in _NEEDED_PLUGINS:
                continue
            if option == "--tag" and not value.startswith("~"):
                continue
            yield HarnessFact(
                rule="tests-left-out",
                what=f"{option} {value}",
                text=one_line(f"{option} {value}"),
                line=number,
            )
        return


def facts_of_script(
    text: str, *, make: bool = False, strict: bool = False, pipefail: bool = False
) -> tuple[HarnessFact, ...]:
    """What a shell script, or a recipe of a Makefile, does to the tests that it runs.

    Args:
        text: All of it.
        make: Whether it is a Makefile.
        strict: Whether its shell stops at what fails, as that of a CI step does.
        pipefail: Whether its shell minds what fails before a pipe.
    """
    lines = list(_joined(text.splitlines()))
    strict = strict or _STRICT.search(text) is not None
    pipefail = pipefail or _MINDS_PIPES.search(text) is not None
    alone = make or len(lines) == 1
    found = [
        fact
        for number, line in lines
        for fact in facts_of_line(line, number, make=make, strict=strict or not alone, pipefail=pipefail)
    ]
    if make:
        held = [(number, line, _without_comment(line).strip()) for number, line in lines]
        hides = [fact for one in held if _IF_ELSE.search(one[2]) for fact in _asked_only([one])]
    else:
        hides = []
    if make or not found:
        return (*(fact for fact in found if not hides or fact.rule != RUNS_TESTS), *hides)
    bare = [(number, line, _without_comment(line).strip()) for number, line in lines]
    hides = list(_hidden_by_script(bare, strict=strict))
    if hides:
        found = [fact for fact in found if fact.rule != RUNS_TESTS]
    return (*found, *hides)


def _asked_only(lines: Sequence[tuple[int, str, str]]) -> Iterator[HarnessFact]:
    """Tests that are only asked about: `if pytest; then …` in a script that fails nowhere."""
    if any(_FAILS.search(bare) for _, _, bare in lines):
        return
    for number, _, bare in lines:
        called = _call(bare)
        if called is not None and _IF_ELSE.search(bare[: called.start()]):
            yield HarnessFact(
                rule="exit-code-ignored",
                what=one_line(bare),
                text=one_line(bare),
                line=number,
                command=True,
            )
            return


def _hidden_by_script(lines: Sequence[tuple[int, str, str]], *, strict: bool) -> Iterator[HarnessFact]:
    """What a script does before and after it runs tests so that their failure is lost."""
    runs = [index for index, (_, _, bare) in enumerate(lines) if _call(bare) is not None]
    undone = max((index for index, (_, _, bare) in enumerate(lines) if _UNDO.search(bare)), default=-1)
    if not runs:
        return
    yield from _asked_only(lines)
    fails = any(_FAILS.search(bare) for _, _, bare in lines)
    open_blocks = 0
    careless = False
    for index, (number, line, bare) in enumerate(lines):
        open_blocks += len(_OPENS.findall(bare)) - len(_CLOSES.findall(bare))
        said: tuple[str, str] | None = None
        ends = re.fullmatch(r"exit(?:\s+0)?\s*;?", bare) is not None and open_blocks <= 0
        if ends and line[:1] == bare[:1] and index < runs[0]:
            said = ("tests-not-run", f"{bare} before")
        elif re.fullmatch(r"(?:exit\s+0|true|:)\s*;?", bare) and (
            (_runs_right_before(lines, index) and (not strict or careless))
            or (ends and index > runs[-1] and not fails and not strict)
        ):
            said = ("exit-code-ignored", bare)
        elif _TRAP.search(bare):
            said = ("exit-code-ignored", "trap")
        elif re.match(r"set\s+\+e\b", bare) and not careless and index < runs[-1] and undone < runs[-1]:
            careless = True
            said = ("exit-code-ignored", "set +e")
        if said is not None:
            yield HarnessFact(rule=said[0], what=said[1], text=one_line(bare), line=number, command=True)


def _runs_right_before(lines: Sequence[tuple[int, str, str]], index: int) -> bool:
    for _, _, bare in reversed(lines[max(0, index - 5) : index]):
        if bare:
            return _call(bare) is not None
    return False


def _call(text: str) -> re.Match[str] | None:
    """Where a line first calls a runner, rather than speaks of one: `pip install pytest` does not."""
    for found in _RUNNER.finditer(text):
        before = re.split(r"[;&|(\n]", text[: found.start()])[-1]
        if not _SPEAKS_OF.search(before):
            return found
    return None


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines with those they are continued on, and where they start."""
    start, held = 0, ""
    for number, line in enumerate(lines[:20_000], 1):
        start = start or number
        if line.endswith("\\") and len(held) < 20_000:
            held += line[:-1] + " "
            continue
        yield start, held + line
        start, held = 0, ""
    if held:
        yield start, held


def _without_comment(line: str) -> str:
    return "" if line.lstrip().startswith("#") else re.sub(r"\s#\s.*$", "", line[:4_000])


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text, posix=True)
    except ValueError:
        return text.split()


def _given(words: list[str], options: frozenset[str]) -> Iterator[tuple[str, str]]:
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if equals and name in options:
            yield name, value
        elif word in options and index + 1 < len(words):
            yield word, words[index + 1]
        elif "--deselect" in options and re.match(r"-[km][^\s=-]", word):
            yield word[:2], word[2:]
