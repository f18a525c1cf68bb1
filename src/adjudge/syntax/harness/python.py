"""conftest.py, plugins of pytest, start-up files and runner scripts: what they do to a run and its results.

A fixture, an option, a marker by keyword or a hook that only looks is nothing. What is named is code that
sets an outcome or an exit status, takes tests out by name or wholesale, or puts something else in the place
of the runner's own functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.harness import HarnessFact, HarnessOutline, HarnessSetting, SettingKind
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import arguments_of, children, descendants, line_of, plain, shown

__all__ = ["read_python"]

_REPORT_HOOKS = frozenset((
    "pytest_runtest_makereport", "pytest_collectreport", "pytest_runtest_logreport",
    "pytest_report_teststatus", "pytest_exception_interact", "pytest_report_to_serializable",
    "pytest_report_from_serializable",
))  # fmt: skip
_CALL_HOOKS = frozenset(("pytest_runtest_call", "pytest_pyfunc_call", "pytest_runtest_protocol"))
_END_HOOKS = frozenset((
    "pytest_sessionfinish", "pytest_unconfigure", "pytest_terminal_summary", "pytest_cmdline_main",
    "pytest_runtestloop", "pytest_configure", "pytest_sessionstart",
))  # fmt: skip
_COLLECT_HOOKS = frozenset((
    "pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_collection_finish",
    "pytest_itemcollected", "pytest_collect_file", "pytest_pycollect_makeitem",
))  # fmt: skip
_PYTEST_API = frozenset((
    "raises", "approx", "fail", "mark", "fixture", "main", "Function", "Item", "TestReport", "Session",
    "warns", "CallInfo", "ExitCode", "Module", "Class", "Config", "console_main", "deprecated_call",
))  # fmt: skip
_CASE_METHOD = re.compile(r"^(?:_?\w*[aA]ssert\w+|fail\w*|run|debug|__call__|_callTestMethod|_callSetUp)$")
_RESULT_METHOD = re.compile(r"^(?:addFailure|addError|wasSuccessful|addUnexpectedSuccess|failures|errors)$")
_BUILTIN = frozenset((
    "AssertionError", "__import__", "isinstance", "len", "all", "any", "abs", "sum", "round", "sorted",
    "open", "eval", "exec", "compile", "type", "getattr", "hasattr", "BaseException", "Exception",
    "__build_class__",
))  # fmt: skip
_MACHINERY_MODULES = frozenset((
    "pytest", "_pytest", "pluggy", "unittest", "unittest.case", "unittest.result", "doctest",
    "_pytest.runner", "_pytest.python", "_pytest.reports", "_pytest.main", "_pytest.assertion",
    "unittest.main",
))  # fmt: skip
_ZERO = re.compile(r"^(?:0|ExitCode \. OK|pytest \. ExitCode \. OK|(?:os \. )?EX_OK|int \( 0 \)|None|)$")
_NO_TESTS = re.compile(r"\b5\b|NO_TESTS|no_tests|EXIT_NOTESTSCOLLECTED")
_FORKED = re.compile(r"\bpid\b|\bfork|child")
_BY_NAME = re.compile(r"[\"'](?:[\w/.-]*test_?\w*[\w/.:\[\]-]*|Test\w+)[\"']")
_INNOCENT_CHOICE = re.compile(
    r"keywords|get_closest_marker|iter_markers|getoption|getini|getvalue|environ|getenv|platform|version_info"
    r"|find_spec|which|importorskip|fixturenames|is_available|has_|HAS_|HAVE_|import_module|isinstance"
    r"|implementation|os\.name|uname|getuid|geteuid|\.exists\(|shard|own_markers|\bmarker|random|worker"
)
_CHECKS = re.compile(
    # A name in capitals makes something: `Match(…)`.
    r"(?:^|[._])(?i:assert|check|verify|expect|compare|same|fail|require|validate|(?-i:match))"
    # What something is told to ensure is there afterwards: `xprocess.ensure(…)`.
    r"|(?:^|_|(?:self|cls)\.)(?i:ensure(?!_future|_?dir|_?file|_?link|_?path|_?symlink|_?exists))"
)
_SKIP = re.compile(r"\b(?:skip|xfail|skipif)\b")
_REWARD = re.compile(r"/logs/verifier|\breward\.(?:json|txt)\b")


def read_python(root: Node) -> HarnessOutline:
    """One file."""
    reading = _Reading(root)
    reading.read()
    return HarnessOutline(facts=tuple(reading.facts), settings=tuple(reading.settings))


_GIVES_BACK = re.compile(r"(?:builtins|__builtins__)\s*\.\s*__import__\s*=\s*\w+")


class _Reading:
    def __init__(self, root: Node) -> None:
        self._root = root
        self._names = dict(_imports(root))
        self.facts: list[HarnessFact] = []
        self.settings: list[HarnessSetting] = []

    def read(self) -> None:
        for node in descendants(self._root):
            if node.type == "function_definition":
                self._hook(node)
            elif node.type in ("assignment", "augmented_assignment"):
                self._assignment(node)
            elif node.type == "call":
                self._call(node)
            elif node.type == "string" and _REWARD.search(text_of(node)[:400]):
                self._add("reports-touched", node)
        for node in children(self._root):
            self._module_level(node)
            self._checks(node)

    def _checks(self, node: Node) -> None:
        """How much a function at the top, which tests may call, checks."""
        function = node.child_by_field_name("definition") if node.type == "decorated_definition" else node
        if function is None or function.type != "function_definition":
            return
        name = text_of(function.child_by_field_name("name") or function)
        body = function.child_by_field_name("body")
        if body is None or name.startswith("test"):
            return
        found = sum(
            1
            for part in descendants(body)
            if part.type in ("assert_statement", "raise_statement")
            or (part.type == "call" and _CHECKS.search(text_of(part.child_by_field_name("function") or part)))
        )
        self.settings.append(
            HarnessSetting(
                kind=SettingKind.CHECKS, name=f"{name}()", values=(str(found),), line=line_of(function)
            )
        )

    def _add(self, rule: str, node: Node, *, about: str = "") -> None:
        what = f"{about} {plain(node)}".strip()
        self.facts.append(HarnessFact(rule=rule, what=what[:300], text=shown(node), line=line_of(node)))

    # Hooks

    def _hook(self, function: Node) -> None:
        name = text_of(function.child_by_field_name("name") or function)
        body = function.child_by_field_name("body")
        if body is None:
            return
        if name in ("pytest_runtest_setup", "pytest_runtest_call") or _is_automatic([function]):
            self._skips(name, body)
        if name == "load_tests":
            self._load_tests(function, body)
        if not name.startswith("pytest_"):
            return
        if name in _REPORT_HOOKS or name in _CALL_HOOKS:
            self._results(name, body)
        if name in _CALL_HOOKS:
            self._calls(name, body)
        if name in _END_HOOKS:
            self._ends(name, body)
        if name in _COLLECT_HOOKS:
            self._collection(name, function, body)

    def _skips(self, name: str, body: Node) -> None:
        """A skip that nothing decides about, before every test."""
        for part in children(body):
            call = children(part)[0] if part.type == "expression_statement" and children(part) else part
            said = text_of(call)
            if re.match(r"(?:pytest\.(?:skip|xfail)|(?:request|item)\.applymarker)\(", said) or re.match(
                r"raise\s+(?:unittest\.)?SkipTest\b", said
            ):
                self._add("tests-left-out", call, about=name)

    def _load_tests(self, function: Node, body: Node) -> None:
        """Unittest's own hook: a suite of nothing that was found, or of tests by their names."""
        given = [text_of(part) for part in children(function.child_by_field_name("parameters"))][:2]
        used = {text_of(part) for part in descendants(body) if part.type == "identifier"}
        suites = [
            part
            for part in descendants(body)
            if part.type == "call"
            and re.fullmatch(r"(?:\w+ \. )*TestSuite \( (?:\[ \] |\( \) )?\)", plain(part))
        ]
        filled = re.search(r"\baddTests?\b|\bloader\s*\.|\bdiscover\b|\bload\w*From", text_of(body))
        found_ones_unused = len(given) == 2 and given[1] not in used
        by_name = re.search(r"\bloadTestsFromNames?\b", text_of(body)) and "discover" not in text_of(body)
        left_out = (given and not used & set(given)) or (suites and not filled)
        if left_out or (found_ones_unused and by_name):
            self._add("tests-left-out", function, about="load_tests")

    def _results(self, hook: str, body: Node) -> None:
        """What a hook sets on a report, or on the call it is made of."""
        for node in descendants(body):
            target, value = _set_attribute(node)
            if target == "outcome" and re.fullmatch(r"\"(?:passed|skipped)\"", value):
                rule = "outcome-rewritten" if "passed" in value else "outcome-softened"
                if not _forbids(node):
                    self._add(rule, node, about=hook)
            elif (target == "excinfo" and value == "None") or (
                target in ("failed", "passed") and value in ("True", "False")
            ):
                self._add("outcome-rewritten", node, about=hook)
            elif target == "wasxfail":
                self._add("outcome-softened", node, about=hook)

    def _calls(self, hook: str, body: Node) -> None:
        """A hook around or in place of the call of a test."""
        nodes = list(descendants(body))
        for node in nodes:
            if node.type == "call" and text_of(node.child_by_field_name("function") or node).endswith(
                ".force_result"
            ):
                self._add("outcome-rewritten", node, about=hook)
            if node.type == "try_statement" and any(part.type == "yield" for part in descendants(node)):
                for clause in children(node):
                    if clause.type == "except_clause" and not _raises(clause):
                        self._add("outcome-rewritten", clause, about=hook)
        if any(node.type == "yield" for node in nodes):
            return
        called = {
            text_of(node.child_by_field_name("function") or node) for node in nodes if node.type == "call"
        }
        runs = any(
            re.search(r"obj$|runtest|funcobj|testfunction|protocol|_call|run\b|\.fn$|func", one)
            for one in called
        )
        for node in nodes:
            if node.type == "return_statement" and plain(node) in ("return True", "return 1") and not runs:
                self._add("outcome-rewritten", node, about=hook)

    def _ends(self, hook: str, body: Node) -> None:
        for node in descendants(body):
            target, value = _set_attribute(node)
            zero = _ZERO.match(value) is not None and value != ""
            if target in ("exitstatus", "testsfailed", "_exitstatus") and zero and value != "None":
                if not _under(node, _NO_TESTS, body):
                    self._add("exit-status-set", node, about=hook)
            elif node.type == "return_statement" and hook == "pytest_cmdline_main":
                if plain(node) == "return 0" and node.parent == body:
                    self._add("exit-status-set", node, about=hook)
            elif node.type == "return_statement" and hook == "pytest_runtestloop":
                runs = any(part.type == "call" and "runtest" in text_of(part) for part in descendants(body))
                if plain(node) in ("return True", "return 1") and not runs:
                    self._add("outcome-rewritten", node, about=hook)

    def _collection(self, hook: str, function: Node, body: Node) -> None:
        chosen = text_of(function)
        if hook == "pytest_ignore_collect":
            self._ignored(body)
        by_name = _BY_NAME.search(text_of(body)) is not None
        innocent = _INNOCENT_CHOICE.search(chosen) is not None
        for node in descendants(body):
            takes_out = self._takes_out(hook, node)
            if takes_out is None:
                continue
            unconditional = not any(
                part.type in ("if_statement", "conditional_expression", "list_comprehension", "if_clause")
                for part in _above(node, body)
            )
            filtered = takes_out == "chosen" or any(part.type == "if_clause" for part in descendants(node))
            if _reorders(node):
                continue
            wholesale = unconditional and not filtered
            by_something = hook == "pytest_collection_modifyitems" and not wholesale
            if wholesale or ((by_name or by_something) and not innocent):
                self._add("tests-left-out", node, about=hook)

    def _ignored(self, body: Node) -> None:
        """What a hook passes over, by the names it compares with; whether they are tests is seen later."""
        if _INNOCENT_CHOICE.search(text_of(body)):
            return
        values: list[str] = []
        where: Node | None = None
        for node in descendants(body):
            if node.type != "return_statement" or plain(node) in ("return False", "return None", "return"):
                continue
            asked = [node, *(part for part in _above(node, body) if part.type == "if_statement")]
            for part in asked:
                said = part.child_by_field_name("condition") if part.type == "if_statement" else part
                if said is None:
                    continue
                whole = re.search(r"\.parts\b|\.parents\b", text_of(said)) is not None
                values += [text if whole else f"*{text}*" for text in self._texts(said) if len(text) > 2]
                where = where or part
        if values and where is not None:
            self.settings.append(
                HarnessSetting(
                    kind=SettingKind.LEAVES_OUT,
                    name="pytest_ignore_collect",
                    values=tuple(values[:100]),
                    line=line_of(where),
                )
            )

    def _texts(self, node: Node) -> Iterator[str]:
        """Strings in an expression, and those of the constants that it names."""
        for part in descendants(node):
            if part.type == "string":
                yield text_of(part).strip("\"'")
            elif part.type == "identifier" and text_of(part).isupper():
                for top in descendants(self._root):
                    if top.type == "assignment" and text_of(
                        top.child_by_field_name("left") or top
                    ) == text_of(part):
                        yield from (
                            text_of(each).strip("\"'") for each in descendants(top) if each.type == "string"
                        )

    def _takes_out(self, hook: str, node: Node) -> str | None:
        """What in a hook takes a test out, as far as one statement shows."""
        if hook in ("pytest_ignore_collect", "pytest_pycollect_makeitem", "pytest_collect_file"):
            return (
                "return"
                if node.type == "return_statement" and plain(node) in ("return True", "return [ ]")
                else None
            )
        if node.type == "assignment" and re.match(
            r"items\s*\[\s*:\s*\]$", text_of(node.child_by_field_name("left") or node)
        ):
            right = node.child_by_field_name("right")
            return "chosen" if right is not None and right.type in ("identifier", "call") else "slice"
        if node.type == "delete_statement" and re.match(r"del\s+items\b", text_of(node)):
            return "del"
        if node.type != "call":
            return None
        function = text_of(node.child_by_field_name("function") or node)
        if re.search(r"\bitems\.(?:clear|remove|pop)$", function):
            return "removed"
        if function.endswith(".add_marker") and (
            _SKIP.search(text_of(node)) or self._is_skip(arguments_of(node))
        ):
            return "marked"
        return None

    def _is_skip(self, arguments: list[Node]) -> bool:
        """Whether a marker that is given by name is one that skips."""
        if not arguments or arguments[0].type != "identifier":
            return False
        name = text_of(arguments[0])
        return any(
            node.type == "assignment"
            and text_of(node.child_by_field_name("left") or node) == name
            and _SKIP.search(text_of(node.child_by_field_name("right") or node))
            for node in descendants(self._root)
        )

    # What is put in the place of the runner's own

    def _assignment(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        if left.type == "attribute":
            owner = left.child_by_field_name("object")
            name = text_of(left.child_by_field_name("attribute") or left)
            if owner is not None and self._is_machinery(self._resolved(owner), name):
                if not (name == "__import__" and self._is_lent(node)):
                    self._add("machinery-patched", node)
            elif (
                owner is not None
                and name in ("obj", "runtest", "_testMethod", "_obj")
                and re.search(r"\b(?:item|node|test|function|pyfuncitem|self)\w*$", text_of(owner))
                and self._is_idle(node.child_by_field_name("right"))
            ):
                self._add("outcome-rewritten", node, about=name)
            elif owner is not None:
                self._product(f"{self._resolved(owner)}.{name}", node)
        elif left.type == "subscript":
            place = text_of(left)
            found = re.match(r"sys\s*\.\s*modules\s*\[\s*[\"']([\w.]+)[\"']\s*\]", place)
            if found and found[1] in _MACHINERY_MODULES:
                self._add("machinery-patched", node)
            elif found:
                self._add_product("module", found[1], node)
            found = re.match(r"__builtins__\s*\[\s*[\"'](\w+)[\"']\s*\]", place)
            if found and found[1] in _BUILTIN:
                self._add("machinery-patched", node)
        elif left.type == "identifier" and text_of(left) in ("collect_ignore", "collect_ignore_glob"):
            self._collect_ignore(node, text_of(left))

    def _is_lent(self, node: Node) -> bool:
        """Whether a function that somebody calls takes modules away for a while, and puts back what was."""
        inside = [part for part in _above(node, self._root) if part.type == "function_definition"]
        if not inside or _is_fixture(inside) or _is_automatic(inside):
            return False
        return any(
            part.type == "assignment" and _GIVES_BACK.fullmatch(text_of(part))
            for clause in descendants(inside[0])
            if clause.type == "finally_clause"
            for part in descendants(clause)
        )

    def _collect_ignore(self, node: Node, name: str) -> None:
        values = [text_of(part).strip("\"'") for part in descendants(node) if part.type == "string"]
        conditional = any(part.type in ("if_statement", "try_statement") for part in _above(node, self._root))
        if values and not conditional:
            self.settings.append(
                HarnessSetting(
                    kind=SettingKind.LEAVES_OUT,
                    name=name,
                    values=tuple(values),
                    line=line_of(node),
                )
            )

    def _call(self, node: Node) -> None:
        function = node.child_by_field_name("function")
        if function is None:
            return
        arguments = arguments_of(node)
        name = self._resolved(function)
        if re.fullmatch(r"collect_ignore(?:_glob)?\.(?:append|extend|insert)", name):
            self._collect_ignore(node, name.partition(".")[0])
            return
        self._patch_call(name, node, arguments)
        if (
            name == "unittest.main"
            and "exit=False" in re.sub(r"\s+", "", text_of(node))
            and not re.search(r"wasSuccessful|sys\.exit|SystemExit", text_of(self._root))
        ):
            self._add("exit-code-ignored", node)
        if name in ("setattr", "builtins.setattr") and len(arguments) == 3 and arguments[1].type == "string":
            attribute = text_of(arguments[1]).strip("\"'")
            if self._is_machinery(self._resolved(arguments[0]), attribute):
                self._add("machinery-patched", node)
            else:
                self._product(f"{self._resolved(arguments[0])}.{attribute}", node)
        elif name.endswith(".addTypeEqualityFunc") and len(arguments) == 2:
            if self._accepts_anything(arguments[1]):
                self._add("machinery-patched", node)
        elif name in ("forbiddenfruit.curse", "os._exit", "sys.exit", "pytest.exit", "exit", "quit"):
            self._exit(name, node, arguments)
        elif name in ("exec", "eval", "builtins.exec", "marshal.loads") and arguments:
            if not all(part.type in ("string", "identifier") for part in arguments[:1]):
                self._add("code-made-of-text", node)
        elif re.search(r"\bsession\.run(?:_always)?$", text_of(function)):
            said = text_of(node)
            if "success_codes" in said and re.search(r"pytest|unittest|test", said):
                self._add("exit-code-ignored", node)

    # What is put in the place of the product

    def _patch_call(self, name: str, node: Node, arguments: list[Node]) -> None:
        """Calls that put something else in the place of a name, and paths that are looked in first."""
        if re.fullmatch(r"sys\.path\.(?:insert|append)", name) and arguments:
            for part in descendants(arguments[-1]):
                if part.type == "string" and (place := text_of(part).strip("\"'")):
                    self._add_product("path", place, node)
            return
        last = name.rpartition(".")[2]
        if not arguments or "wraps" in text_of(node):
            return
        if name.endswith(("monkeypatch.setattr", "mp.setattr", ".patch.object")) or name == "patch.object":
            if arguments[0].type == "string":
                self._product(text_of(arguments[0]).strip("\"'"), node)
            elif len(arguments) > 1 and arguments[1].type == "string":
                owner = self._resolved(arguments[0])
                self._product(f"{owner}.{text_of(arguments[1])[1:-1]}", node)
        elif (
            last == "patch"
            and re.search(r"\b(?:mock|mocker|patch)\b", name)
            and arguments[0].type == "string"
        ):
            self._product(text_of(arguments[0]).strip("\"'"), node)

    def _product(self, target: str, node: Node) -> None:
        if not re.fullmatch(r"\w+(?:\.\w+)+", target) or target.startswith(("self.", "config.", "item.")):
            return
        inside = [part for part in _above(node, self._root) if part.type == "function_definition"]
        if not inside or _is_automatic(inside):
            self._add_product("patch", target, node)
        elif _is_fixture(inside):
            name = text_of(inside[-1].child_by_field_name("name") or inside[-1])
            self._add_product("fixture", f"{name} {target}", node)

    def _add_product(self, kind: str, target: str, node: Node) -> None:
        self.facts.append(
            HarnessFact(
                rule="product-replaced", what=f"{kind} {target}"[:300], text=shown(node), line=line_of(node)
            )
        )

    def _is_idle(self, node: Node | None) -> bool:
        """Whether a function does nothing: what stands in the place of a test then never fails."""
        if node is None:
            return False
        if node.type == "identifier":
            made = self._function(text_of(node))
            body = made.child_by_field_name("body") if made is not None else None
            return (
                body is not None
                and re.fullmatch(r"(?:pass|return(?: None| True)?|\.\.\.)", text_of(body).strip()) is not None
            )
        body = node.child_by_field_name("body") if node.type == "lambda" else None
        return body is not None and body.type in ("none", "true", "ellipsis", "integer")

    def _function(self, name: str) -> Node | None:
        return next(
            (
                part
                for part in descendants(self._root)
                if part.type == "function_definition"
                and text_of(part.child_by_field_name("name") or part) == name
            ),
            None,
        )

    def _accepts_anything(self, node: Node) -> bool:
        """Whether a function that compares two values can never say that they differ."""
        if node.type == "lambda":
            body = node.child_by_field_name("body")
            return body is not None and all(part.type != "call" for part in descendants(body))
        if node.type != "identifier":
            return False
        made = [
            part
            for part in descendants(self._root)
            if part.type == "function_definition"
            and text_of(part.child_by_field_name("name") or part) == text_of(node)
        ]
        return bool(made) and not any(
            re.search(r"\braise\b|\bassert|\bfail", text_of(part.child_by_field_name("body") or part))
            for part in made
        )

    def _exit(self, name: str, node: Node, arguments: list[Node]) -> None:
        if name == "forbiddenfruit.curse":
            self._add("machinery-patched", node)
            return
        values = [plain(part) for part in arguments]
        zero = (
            all(_ZERO.match(value) for value in values)
            if name != "pytest.exit"
            else any(re.fullmatch(r"returncode ?= ?0", value) for value in values)
        )
        inside = [part for part in _above(node, self._root) if part.type == "function_definition"]
        hook = next((text_of(part.child_by_field_name("name") or part) for part in inside), "")
        guarded = any(
            part.type == "if_statement"
            and (
                _FORKED.search(text_of(part.child_by_field_name("condition") or part))
                or "__main__" in text_of(part.child_by_field_name("condition") or part)
            )
            for part in _above(node, self._root)
        )
        if not zero or guarded:
            return
        hooked = hook.startswith("pytest_") or _is_fixture(inside)
        if name == "os._exit" and (hooked or not inside or _registered(hook, self._root)):
            self._add("exit-status-set", node)
        elif name in ("pytest.exit", "sys.exit", "exit", "quit") and (hooked or not inside):
            self._add("exit-status-set" if values or name == "pytest.exit" else "process-exited", node)

    def _is_machinery(self, owner: str, attribute: str) -> bool:
        root = owner.partition(".")[0]
        last = owner.rpartition(".")[2]
        if owner == "pytest":
            return attribute in _PYTEST_API
        if last in ("TestReport", "CollectReport", "BaseReport") or root == "pluggy":
            return True
        if root == "_pytest" or (owner.startswith("pytest.") and last in _PYTEST_API):
            return not attribute.startswith("_MAX")
        if root == "unittest" and last == "TestCase":
            return _CASE_METHOD.match(attribute) is not None
        if root == "unittest" and last in (
            "TestResult",
            "TextTestResult",
            "_Outcome",
            "TestProgram",
            "TextTestRunner",
        ):
            return last != "TestResult" or _RESULT_METHOD.match(attribute) is not None
        return owner in ("builtins", "__builtins__") and attribute in _BUILTIN

    def _resolved(self, node: Node) -> str:
        """A dotted name with what its first part was imported as."""
        text = re.sub(r"\s+", "", text_of(node)[:200])
        if not re.fullmatch(r"[\w.]+", text):
            return text
        first, dot, rest = text.partition(".")
        return f"{self._names.get(first, first)}{dot}{rest}"

    def _module_level(self, node: Node) -> None:
        """What a script runs, to tell whether it still does."""
        for part in descendants(node):
            if part.type == "call" and re.match(
                r"(?:pytest\.(?:main|console_main)|unittest\.main|subprocess\.\w+|os\.system|call_command)$",
                self._resolved(part.child_by_field_name("function") or part),
            ):
                self.settings.append(
                    HarnessSetting(
                        kind=SettingKind.COMMAND,
                        name="runner calls",
                        values=(shown(part),),
                        line=line_of(part),
                    )
                )


def _imports(root: Node) -> Iterator[tuple[str, str]]:
    for node in descendants(root):
        if node.type == "import_statement":
            for part in children(node):
                if part.type == "aliased_import":
                    module, alias = part.child_by_field_name("name"), part.child_by_field_name("alias")
                    if module is not None and alias is not None:
                        yield text_of(alias), text_of(module)
        elif node.type == "import_from_statement":
            module = node.child_by_field_name("module_name")
            above = text_of(module) if module is not None else ""
            for part in node.children_by_field_name("name"):
                name = part.child_by_field_name("name") if part.type == "aliased_import" else part
                alias = part.child_by_field_name("alias") if part.type == "aliased_import" else part
                if name is not None and alias is not None:
                    yield text_of(alias), f"{above}.{text_of(name)}"


def _set_attribute(node: Node) -> tuple[str, str]:
    """The attribute that a statement sets and the value, as even text; empty for any other statement."""
    if node.type == "assignment":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and left.type == "attribute" and right is not None:
            return text_of(left.child_by_field_name("attribute") or left), plain(right)
    if node.type == "call" and text_of(node.child_by_field_name("function") or node) == "setattr":
        arguments = arguments_of(node)
        if len(arguments) == 3 and arguments[1].type == "string":
            return text_of(arguments[1]).strip("\"'"), plain(arguments[2])
    return "", ""


def _above(node: Node, top: Node) -> Iterator[Node]:
    at = node.parent
    while at is not None and at != top:
        yield at
        at = at.parent


def _under(node: Node, condition: re.Pattern[str], top: Node) -> bool:
    return any(
        part.type == "if_statement"
        and condition.search(text_of(part.child_by_field_name("condition") or part))
        for part in _above(node, top)
    )


def _raises(node: Node) -> bool:
    return any(
        part.type == "raise_statement"
        or (part.type == "call" and re.search(r"\.fail\b|force_exception", text_of(part)))
        for part in descendants(node)
    )


def _reorders(node: Node) -> bool:
    return (
        re.search(
            r"\bsorted\s*\(|\breversed\s*\(|\bshuffle|\.sort\b|\w+\s*\+\s*\w+|\*\w+|\bchain\b", text_of(node)
        )
        is not None
    )


def _forbids(node: Node) -> bool:
    """Whether an outcome is set for what was expected to fail: how strict xfail is made by hand."""
    return any(
        part.type == "if_statement"
        and re.search(r"xfail|wasxfail", text_of(part.child_by_field_name("condition") or part))
        for part in _above(node, node)
        if part.type == "if_statement"
    )


def _is_fixture(functions: list[Node]) -> bool:
    return any(
        function.parent is not None
        and function.parent.type == "decorated_definition"
        and re.search(r"@\s*(?:pytest\.)?fixture", text_of(function.parent)[:400])
        for function in functions
    )


def _is_automatic(functions: list[Node]) -> bool:
    """Whether code runs without being asked for: in hooks and in fixtures that every test has."""
    return any(
        text_of(function.child_by_field_name("name") or function).startswith("pytest_")
        or (
            function.parent is not None
            and function.parent.type == "decorated_definition"
            and re.search(r"autouse\s*=\s*True", text_of(function.parent)[:400])
        )
        for function in functions
    )


def _registered(name: str, root: Node) -> bool:
    return bool(name) and any(
        node.type == "call"
        and re.search(r"atexit\.register$|^register$", text_of(node.child_by_field_name("function") or node))
        and name in text_of(node)
        for node in descendants(root)
    )
