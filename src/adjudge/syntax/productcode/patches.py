"""Code that replaces what is not its own: test machinery, built-in functions, the clock, frames of others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import BRANCHES, TEST_MODULES, FileFacts, act_of
from adjudge.syntax.productcode.literals import literal_of
from adjudge.syntax.productcode.reading import Place, Source, children

__all__ = [
    "frames",
    "go_links",
    "hooks",
    "patched",
    "peeked",
    "redefined_macro",
    "reopened",
    "runner_module",
    "set_by_call",
]

_PY_PATCHED = re.compile(
    r"^(?:_pytest\.|pytest\.(?!mark\b|register_assert)|nose\.|hypothesis\.internal)"
    r"|^unittest\.(?:\w+\.)*(?:assert\w+|fail\w*|run|main|addFailure|addError|addSuccess|wasSuccessful|"
    r"_?TestCase|TestResult|TextTestRunner|debug|_callTestMethod|__call__)(?:\.__\w+__)?$"
    r"|^unittest\.(?:\w+\.)*(?:_Outcome|_AssertRaisesContext|_BaseTestCaseContext|TestSuite|TestLoader)\.\w+$"
    r"|^(?:builtins|__builtins__)(?:\.|\[\")AssertionError\b|^(?:\w+\.)*TestReport\.\w+$"
)
_PY_BUILTINS = re.compile(
    r"^(?:builtins|__builtins__|__builtin__)(?:\.|\[\"|\.__dict__\[\")"
    r"(?:__import__|isinstance|issubclass|len|all|any|sorted|sum|min|max|abs|round|range|open|type|str|int|"
    r"float|bool|list|dict|set|tuple|repr|hash|zip|map|filter|getattr|Exception|BaseException|__build_class__|"
    r"compile|exec|eval)\b"
)
_PY_LIBRARIES = (
    "os", "sys", "time", "json", "math", "random", "datetime", "operator", "functools", "itertools", "re",
    "subprocess", "socket", "threading", "collections", "decimal", "inspect", "io", "pathlib", "tempfile",
    "importlib", "hashlib", "uuid", "difflib", "copy", "types", "typing", "traceback", "signal", "site",
)  # fmt: skip
_PY_MODULE_SET = re.compile(r"^sys\.modules\[[\"']([\w.]+)[\"']\]$")
_HONEST_ATTRIBUTES = frozenset(
    {"excepthook", "stdout", "stderr", "stdin", "path", "argv", "dont_write_bytecode", "displayhook",
     "tracebacklimit", "unraisablehook", "environ", "maxint", "maxsize", "breakpointhook", "ps1",
     "ps2", "__doc__"}
)  # fmt: skip
_PY_CLOCK = re.compile(
    r"^(?:time\.(?:time|sleep|monotonic|perf_counter|process_time|time_ns|perf_counter_ns)"
    r"|datetime\.(?:datetime|date)(?:\.\w+)?"
    r"|random\.(?:random|randint|choice|shuffle|uniform|sample|Random|seed|randrange)"
    r"|secrets\.\w+|uuid\.uuid[14]|os\.urandom)$"
)
_JS_CLOCK = re.compile(
    r"^(?:Date(?:\.now)?|Math\.random|performance\.now|process\.(?:hrtime(?:\.bigint)?|uptime)"
    r"|crypto\.(?:randomUUID|randomBytes|getRandomValues))$"
)
_GO_SWITCH = re.compile(r"[\"`]-{1,2}test\.[a-z]")
_GO_PROGRAM = re.compile(r"^package[ \t]+main\b", re.MULTILINE)
_JS_GLOBAL = re.compile(r"^(?:globalThis|global|window|self)\.")
_JS_TIMERS = re.compile(r"^(?:globalThis|global|window)\.(?:Date|setTimeout|setInterval|setImmediate)$")
_JS_PATCHED = re.compile(
    r"^(?:expect|assert|assert/strict|chai|vitest|mocha|jasmine|sinon|should|@jest/[\w-]+|jest)\.(?:\w+\.)*\w+$"
    r"|^test\.(?:test|it|describe|suite|default)(?:\.\w+)*$"
)
_JS_TEST_GLOBALS = re.compile(
    r"^(?:globalThis|global|window)\.(?:expect|it|test|describe|assert|beforeEach|afterEach|jest)$"
)
_JS_LIBRARY = re.compile(
    r"^(?:Object\.(?:is|keys|entries|prototype\.\w+)|JSON\.(?:stringify|parse)|Number\.prototype\.\w+"
    r"|String\.prototype\.(?:valueOf|toString)|Boolean\.prototype\.\w+|process\.(?:exit|reallyExit|emit|abort)"
    r"|Object\.prototype\.(?:equals|isEqual|valueOf|toString|toJSON|asymmetricMatch|constructor|hasOwnProperty)"
    r"|Array\.prototype\.(?:every|some|includes|indexOf|find|filter|map|reduce|sort|join|toString|length|forEach|concat|slice)"
    r"|String\.prototype\.(?:includes|indexOf|startsWith|endsWith|match|replace|split|trim|slice|localeCompare)"
    r"|Promise\.(?:reject|all|prototype\.\w+)|Error\.prototype\.\w+"
    r"|module\._load|Module\._load|(?:module|Module)\.prototype\.(?:require|_compile)|require\.cache)(?:$|\[)"
)
_HOOKS = re.compile(
    r"^pytest_(?:runtest_makereport|runtest_logreport|sessionfinish|report_teststatus|pyfunc_call|"
    r"runtest_call|runtest_protocol|exception_interact|collection_modifyitems|assertrepr_compare)$"
)
_SOURCES = frozenset(
    {"inspect.getsource", "inspect.getsourcelines", "linecache.getline", "linecache.getlines",
     "inspect.findsource",
     "inspect.getsourcefile", "inspect.getblock", "open", "ast.parse"}
)  # fmt: skip
_FRAMES = re.compile(
    r"_getframe|currentframe|\bf_back\b|inspect\.stack|extract_stack|tb_frame|getouterframes"
)
_ENDS_TESTS = re.compile(
    r"pytest\.(?:exit|skip|xfail|fail|importorskip)|(?:unittest\.(?:case\.)?)?SkipTest|"
    r"_pytest\.outcomes\.(?:Skipped|Exit|XFailed|exit|skip|xfail)"
)
_UPDATES = frozenset(
    {"sys.modules.update", "sys.modules.setdefault", "sys.modules.__setitem__", "builtins.__dict__.update",
     "vars(builtins).update", "__builtins__.update", "builtins.__dict__.__setitem__",
     "__builtins__.__dict__.update"}
)  # fmt: skip
_COMMENT_ACTS = re.compile(r"^//go:linkname\s+\S+\s+(testing\.\S+|os\.runtime_\S+)", re.M)


_FOLLOWERS = frozenset(
    {"sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile",
     "sys.monitoring.register_callback", "sys.addaudithook"}
)  # fmt: skip
_LOADERS = frozenset(
    {"sys.meta_path.insert", "sys.meta_path.append", "sys.path_hooks.insert", "module.registerHooks",
     "module.register", "Module.registerHooks", "Module.register"}
)  # fmt: skip
_ABOUT_TESTS = re.compile(
    r"""["'`](?:test_|tests?\.|_?pytest|unittest|conftest|(?:node:)?assert|(?:node:)?test["'`]|vitest|jest|chai)"""
)
_QUOTES = "\"'`"


def set_by_call(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`setattr(unittest.TestCase, "assertEqual", …)`, `Object.defineProperty(expect, "toBe", …)`."""
    source = facts.source
    called = source.called(place.node)
    arguments = source.arguments(place.node)
    if (
        called in ("setattr", "Object.defineProperty", "Reflect.set", "Reflect.defineProperty")
        and len(arguments) >= 2
    ):
        attribute = literal_of(source, arguments[1])
        holder = source.name(arguments[0])
        if attribute is not None and attribute.startswith("s"):
            yield from patched(place, facts, f"{holder}.{attribute[1:]}", defined=called != "setattr")
        elif attribute is None:
            yield from _each_patched(place, facts, holder)
    elif called in _UPDATES and arguments:
        yield from _updated(place, facts, called)
    elif called == "Object.assign" and arguments:
        if _JS_PATCHED.match(f"{source.name(arguments[0])}.x"):
            yield from patched(place, facts, f"{source.name(arguments[0])}.x")
    elif re.fullmatch(r"(?:unittest\.)?mock\.patch(?:\.object)?", called) and arguments:
        target = literal_of(source, arguments[0])
        named = target[1:] if target is not None else source.name(arguments[0])
        if (
            len(arguments) > 1
            and (attribute := literal_of(source, arguments[1])) is not None
            and target is None
        ):
            named = f"{named}.{attribute[1:]}"
        yield from patched(place, facts, named)
    elif called == "Object.defineProperties" and len(arguments) == 2:
        for pair in arguments[1].named_children:
            key = source.of(pair.child_by_field_name("key") or pair.child_by_field_name("name"), 60)
            if key:
                target = f"{source.name(arguments[0])}.{key.strip(_QUOTES)}"
                yield from patched(place, facts, target, defined=True)
    elif called in _LOADERS and _ABOUT_TESTS.search(source.text) and not facts.plugin:
        yield act_of(
            place, facts, "patches-test-machinery", "decides what is loaded in the place of tests or checks"
        )
    elif called in _FOLLOWERS and not re.search(
        r"(?i)trac|debug|cov|prof|monitor", f"{source.path} {' '.join(place.functions)}"
    ):
        if source.of(arguments[0], 10) != "None" if arguments else False:
            yield act_of(place, facts, "frame-tricks", "follows every step of whoever runs it")
    elif called == "expect.extend" and re.search(
        r"\b(?:toBe|toEqual|toStrictEqual|toThrow)\b", source.of(place.node)
    ):
        yield act_of(
            place,
            facts,
            "patches-test-machinery",
            "replaces matchers that tests use",
            proof=not facts.plugin,
        )
    elif called in ("monkey.Patch", "gomonkey.ApplyFunc", "gomonkey.ApplyMethod", "mpatch.PatchMethod") or (
        called.endswith("freeze_time") and source.language == "python"
    ):
        yield act_of(place, facts, "patches-clock-or-library", "replaces code of others while it runs")
    elif source.language == "ruby" and re.match(
        r"(?:Minitest|RSpec|Test\.Unit)\b.*\.(?:class_eval|module_eval|prepend|send|define_method|class_exec|include)$",
        called,
    ):
        if not facts.plugin:
            yield act_of(place, facts, "patches-test-machinery", f"changes {called.rpartition('.')[0]}")
    elif called == "Class.forName" and re.search(
        r"org\.(?:junit|testng|hamcrest|assertj)", source.of(place.node)
    ):
        yield act_of(place, facts, "sniffs-test-run", "looks for a test framework")


def _each_patched(place: Place, facts: FileFacts, target: str) -> Iterator[Act]:
    """`setattr(unittest.TestCase, name, …)`, `assert[name] = …`: one after the other."""
    source = facts.source
    if source.language == "python":
        ours = re.match(r"^(?:unittest|_?pytest|nose|builtins|__builtins__)\b(?!\.mock)", target)
        if ours is None or not (
            _is_imported(source, target) or target.startswith(("builtins", "__builtins__"))
        ):
            return
    elif not (re.match(r"^(?:assert(?:/strict)?|expect|chai|test|vitest|jest)\b", target)
              and _is_imported(source, target)):  # fmt: skip
        return
    yield act_of(
        place, facts, "patches-test-machinery", f"replaces parts of {target}",
        proof=not facts.plugin and not target.startswith(("builtins", "__builtins__")),
    )  # fmt: skip


def _updated(place: Place, facts: FileFacts, called: str) -> Iterator[Act]:
    """`sys.modules.update({"unittest": …})`, `builtins.__dict__.update(AssertionError=…)`."""
    text = facts.source.of(place.node, 600)
    if called.startswith("sys.modules"):
        named = [match[1] or match[2] for match in re.finditer(r"[\"']([\w.]+)[\"']|(\w+)\s*=", text)]
        if any(TEST_MODULES.match(name) or name in _PY_LIBRARIES for name in named if name):
            yield act_of(place, facts, "patches-test-machinery", "puts another module in the place of one")
    elif re.search(r"\bAssertionError\b", text):
        yield act_of(
            place, facts, "patches-test-machinery", "replaces AssertionError", proof=not facts.plugin
        )
    elif re.search(
        r"\b(?:len|isinstance|all|any|sorted|sum|open|type|__import__|repr|abs|round|Exception)\b", text
    ):
        yield act_of(place, facts, "patches-builtins", "replaces functions that everybody uses")


def runner_module(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A runner's modules and switches in the hands of the product."""
    source, node = facts.source, place.node
    called = source.called(node)
    if facts.tooling:
        return
    if source.language == "javascript" and called.endswith("getBuiltinModule"):
        value = next(iter(source.arguments(node)), None)
        if re.match(r"s(?:node:)?(?:assert|test)\b", literal_of(source, value) or ""):
            yield act_of(place, facts, "patches-test-machinery", "gets hold of what tests check with")
    elif source.language == "go" and called == "flag.Set":
        value = next(iter(source.arguments(node)), None)
        if (literal_of(source, value) or "").startswith("stest."):
            yield act_of(place, facts, "patches-test-machinery", "sets a switch of the test runner")
    elif source.language == "go" and called == "append" and '"-test.' in source.of(node, 300):
        yield act_of(place, facts, "patches-test-machinery", "sets a switch of the test runner")
    elif source.language == "go" and called in ("unsafe.Pointer", "reflect.ValueOf", "reflect.NewAt"):
        body = source.of(place.function, 4_000)
        if re.search(r"\*testing\.(?:T|B|M|F|common)\b|\btesting\.TB\b", body) and "unsafe." in body:
            yield act_of(place, facts, "patches-test-machinery", "reaches into the runner's own state")
    elif (
        source.language == "python"
        and not facts.plugin
        and _ENDS_TESTS.fullmatch(called)
        and (called.startswith(("pytest.", "_pytest.")) or "unittest" in source.text)
    ):
        yield act_of(place, facts, "ends-tests", "has the test that calls it skipped or ended")


def error_that_ends_tests(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`class Unsupported(OurError, SkipTest)`: an error of the product's that a runner takes for a skip."""
    source = facts.source
    if facts.tooling or facts.plugin:
        return
    for base in children(place.node.child_by_field_name("superclasses")):
        name = source.name(base).removesuffix(".Exception")
        if _ENDS_TESTS.fullmatch(name) and ("." in name or "unittest" in source.text):
            yield act_of(place, facts, "ends-tests", "has tests that meet this error skipped or ended")


def patched(place: Place, facts: FileFacts, target: str, *, defined: bool = False) -> Iterator[Act]:
    """An assignment to something that is not the product's own."""
    source = facts.source
    if source.language == "python":
        yield from _patched_in_python(place, facts, target)
    elif source.language == "go" and target == "os.Args":
        # A program may change what it was started with; a package has no business to.
        program = _GO_PROGRAM.search(source.text) is not None and "init" not in place.functions
        if not program or _GO_SWITCH.search(source.text):
            yield act_of(place, facts, "patches-test-machinery", "changes what its program was started with")
    elif source.language == "javascript":
        bare = _JS_GLOBAL.sub("", target)
        computed = re.fullmatch(r"([\w./@-]+)\[\w+\]", target)
        if computed is not None:
            yield from _each_patched(place, facts, computed[1])
            return
        if _JS_TEST_GLOBALS.match(target) or (_JS_PATCHED.match(bare) and _is_imported(source, bare)):
            if not _filled_in(place, source, bare):
                # `globalThis.assert = assert` makes known what was loaded; what that is, is not said here.
                proof = not facts.plugin and source.of(place.node.child_by_field_name("right"), 80) != bare
                yield act_of(place, facts, "patches-test-machinery", f"replaces {bare}", proof=proof)
            return
        if _filled_in(place, source, bare):
            return
        if defined and bare == "process.exitCode":
            yield act_of(
                place, facts, "exits-process", "makes the process succeed whatever happened before it ended"
            )
        elif _JS_CLOCK.match(bare) or _JS_TIMERS.match(target) or _JS_LIBRARY.match(bare):
            yield act_of(place, facts, "patches-clock-or-library", f"replaces {bare} for everybody")
    elif source.language == "ruby" and re.match(r"^(?:Minitest|RSpec|Test::Unit)\b", target):
        yield act_of(place, facts, "patches-test-machinery", f"changes {target}")


def _patched_in_python(place: Place, facts: FileFacts, target: str) -> Iterator[Act]:
    source = facts.source
    if _PY_PATCHED.match(target) and (
        _is_imported(source, target) or target.startswith(("builtins", "__builtins__"))
    ):
        yield act_of(place, facts, "patches-test-machinery", f"replaces {target}", proof=not facts.plugin)
        return
    if _PY_BUILTINS.match(target):
        yield act_of(place, facts, "patches-builtins", f"replaces {target} for everybody")
        return
    module = _PY_MODULE_SET.match(target)
    if module is not None:
        if TEST_MODULES.match(module[1]) or module[1] in _PY_LIBRARIES:
            yield act_of(
                place, facts, "patches-test-machinery", f"puts another module in the place of {module[1]}"
            )
        return
    if ".f_locals[" in target or ".f_globals[" in target:
        yield act_of(place, facts, "frame-tricks", "writes into the variables of whoever called it")
        return
    if target.startswith("__main__.") and not facts.script and _is_imported(source, target):
        yield act_of(place, facts, "frame-tricks", "writes into the program that runs it")
        return
    head, _, attribute = target.partition(".")
    if not attribute or "[" in target or "(" in target or not _is_imported(source, target):
        return
    if _PY_CLOCK.match(target) or (
        head in _PY_LIBRARIES
        and place.at_import
        and attribute.split(".")[0] not in _HONEST_ATTRIBUTES
        and not _filled_in(place, source, target)
    ):
        yield act_of(place, facts, "patches-clock-or-library", f"replaces {target} for everybody")


def _is_imported(source: Source, target: str) -> bool:
    """Whether the first part of a name is a module or what a module gives, not a local of that name."""
    head = target.partition(".")[0]
    if head in source.loaded:
        return True
    asked = ("imported", head)
    if asked not in source.remembered:
        source.remembered[asked] = _search_import(source, re.escape(head))
    return source.remembered[asked]


def _search_import(source: Source, head: str) -> bool:
    if source.language == "python":
        pattern = rf"^[ \t]*(?:import[ \t][^\n]*\b{head}\b|from[ \t]+{head}\b)|__import__|import_module"
        return re.search(pattern, source.text, re.M) is not None
    if head in ("expect", "jest", "jasmine"):
        return re.search(rf"\b(?:const|let|var|function)\s+{head}\b", source.text) is None
    return re.search(rf"""["'](?:node:)?{head}(?:/\w+)?["']""", source.text) is not None


def _filled_in(place: Place, source: Source, target: str) -> bool:
    """Whether something is only set where it is missing: `if (!Object.is) …`, `x = x || …`."""
    last = target.rpartition(".")[2]
    right = place.node.child_by_field_name("right")
    if right is not None and re.match(rf"[\w.]*{re.escape(last)}\s*(?:\|\||\?\?)", source.of(right, 200)):
        return True
    if source.of(place.node, 400).find("||=") >= 0 or source.of(place.node, 400).find("??=") >= 0:
        return True
    return any(
        outer.type in (*BRANCHES, "try_statement", "except_clause")
        and (
            outer.type not in BRANCHES
            or _is_missing(source.of(outer.child_by_field_name("condition"), 300), last)
        )
        for outer in place.around
    )


def _is_missing(condition: str, name: str) -> bool:
    """Whether a condition asks whether something is not there, or is too old."""
    return (
        name in condition
        and re.search(r"!|\bnot\b|undefined|null|None|===? *false|<|version", condition) is not None
    )


def frames(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A call that reaches into frames or objects of others."""
    source = facts.source
    called = source.called(place.node)
    about = f"{source.path} {' '.join(place.functions)}"
    if called.endswith("PyFrame_LocalsToFast") or called in ("curse", "forbiddenfruit.curse"):
        yield act_of(place, facts, "frame-tricks", "changes what others hold from below the language")
    elif called in ("gc.get_objects", "gc.get_referrers") and not re.search(
        r"(?i)leak|mem|debug|gc|prof|diag|ref", about
    ):
        yield act_of(place, facts, "frame-tricks", "looks through everything that is in memory")
    elif called in _SOURCES and place.function is not None:
        body = source.of(place.function, 8_000)
        if _FRAMES.search(body) and re.search(r"ast\.(?:Compare|Assert)\b|[aA]ssert\w*|\bexpect\b", body):
            yield act_of(place, facts, "frame-tricks", "reads the check that it is called in")


def peeked(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`frame.f_back.f_locals["expected"]`."""
    source, node = facts.source, place.node
    if source.language != "python" or not source.of(node, 300).endswith((".f_locals", ".f_globals")):
        return
    around = source.of(place.around[-3] if len(place.around) > 2 else node, 300)
    if re.search(
        r"""f_(?:locals|globals)(?:\.get\(|\.pop\(|\[)\s*["'](?i:\w*(?:expect|want|answer|golden|correct|truth)\w*|exp|result)["']""",
        around,
    ):
        yield act_of(place, facts, "frame-tricks", "reads what the test that calls it expects")
        return
    body = source.of(place.function, 4_000) if place.function is not None else ""
    about = f"{source.path} {' '.join(place.functions)}"
    if _THROUGH_FRAMES.search(body) and _HELD_BY_CALLERS.search(around) and not _ABOUT_FRAMES.search(about):
        yield act_of(place, facts, "frame-tricks", "takes what one of its callers holds, whoever that is")


_THROUGH_FRAMES = re.compile(r"\b(?:while|for)\b(?s:.)*\bf_back\b|\bfor\b[^\n]*\b(?:inspect\.)?stack\(")
_HELD_BY_CALLERS = re.compile(
    r"""f_locals(?:\.get\(|\.pop\(|\[)\s*["'][A-Za-z]|f_locals\.(?:values|items)\("""
)
"""Names that begin with `_` are for tools to find: `__tracebackhide__`."""
_ABOUT_FRAMES = re.compile(r"(?i)debug|log|trace|prof|repl\b|shell|diag|excep|error|warn")


def hooks(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A hook of pytest in product code."""
    name = facts.source.of(place.node.child_by_field_name("name"), 60)
    if facts.source.language == "python" and _HOOKS.match(name) and not facts.plugin and not place.functions:
        yield act_of(place, facts, "patches-test-machinery", "is a hook of pytest, in product code")


def reopened(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`class Minitest::Test` in product code."""
    name = facts.source.of(place.node.child_by_field_name("name"), 80)
    if re.match(r"^(?:::)?(?:Minitest|RSpec|Test::Unit)\b", name) and not facts.plugin:
        yield act_of(place, facts, "patches-test-machinery", f"opens {name} again")


def redefined_macro(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`macro_rules! assert_eq`."""
    name = facts.source.of(place.node.child_by_field_name("name"), 60)
    if name in ("assert", "assert_eq", "assert_ne", "debug_assert", "panic"):
        yield act_of(place, facts, "patches-test-machinery", f"defines {name}! anew")


def go_links(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`//go:linkname` into the testing package."""
    for match in _COMMENT_ACTS.finditer(facts.source.text):
        line = facts.source.text.count("\n", 0, match.start()) + 1
        yield Act(
            rule="patches-test-machinery", line=line, text=match[0][:160], key=f"linkname {match[1]}",
            why=f"reaches into {match[1]}",
        )  # fmt: skip
