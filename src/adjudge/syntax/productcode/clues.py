"""Ways of knowing answers without working them out: digests, packed data, files of tests, counted calls."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Act, Answer, AnswerForm
from adjudge.syntax.productcode.bindings import UNKNOWN
from adjudge.syntax.productcode.facts import FileFacts, act_of
from adjudge.syntax.productcode.literals import literal_of, literals_in
from adjudge.syntax.productcode.reading import CALLS, FUNCTIONS, Place, Source, children
from adjudge.syntax.productcode.turns import answers_by_turn

__all__ = ["clues_at", "digest_clues"]

_DIGESTS: Final = re.compile(
    r"\bhashlib\b|\bcrc32\b|\badler32\b|createHash\(|\bmd5\b|\bsha1\b|\bsha256\b|\bsha512\b|blake2|"
    r"MessageDigest|Digest::|\bfnv\b|hash/fnv|DefaultHasher|(?<![\w.])hash\(|b64encode|\bbtoa\(|rot_?13|subtle\.digest|\bmurmur|\bxxhash"
    r"|codecs\.encode\(|\.hashCode\(\)|\bmaphash\b"
)
_STRINGS: Final = re.compile(r"""(["'`])(?:\\.|(?!\1)[^\\\n])*\1""")
_NUMBER_DIGEST = re.compile(r"crc32|adler32|(?<![\w.])hash\(|fnv")
_SUMMED = re.compile(
    r"\bsum\(\s*(?:map\(\s*ord|\[?\s*ord\()|(?:\*\s*\d+\)?\s*[+^]|[+^]=\s*|<<\s*\d+\)?\s*[-+^])[^\n;]{0,40}?"
    r"(?:\bord\(|charCodeAt|codePointAt|\bint\(\w+\)|\buint\d*\(\w+\)|\.ord\b)|\breduce\([^\n]{0,80}(?:charCodeAt|codePointAt)"
)
_ENCODED = re.compile(
    r"(?:rot_?13|b64encode|\bbtoa\(|hexlify|\[::-1\]|toString\([\"'](?:base64|hex)|EncodeToString)[^\n]*={2,3}\s*b?[\"'`]"
)
_HEX = re.compile(r"^s[0-9a-f]{8,128}$|^s[A-Za-z0-9+/]{22,}={1,2}$")
_DECODERS = re.compile(
    r"b64decode|b85decode|a85decode|b32decode|urlsafe_b64decode|zlib\.decompress|lzma\.decompress|bz2\.decompress|"
    r"gzip\.decompress|fromhex|unhexlify|codecs\.decode|\batob\(|['\"]base64['\"]|gunzipSync|inflateSync|"
    r"StdEncoding\.DecodeString|getDecoder\(\)|Base64\.decode|decode64|unpack1?\(|rot13"
)
_OF_DIGEST: Final = re.compile(r"n-?\d{5,}|s(?=[0-9a-f]*\d)[0-9a-f]{6,128}")
_LOOKUPS: Final = frozenset(
    {"get", "fetch", "has", "pop", "getOrDefault", "containsKey", "get_or_default", "dig"}
)
_HOLDS: Final = frozenset({"has", "includes", "contains", "Contains", "include?", "member?"})
_KEYED: Final = re.compile(r"(?:0x[0-9a-fA-F]{6,16}|\d{6,}|[\"'`](?=[a-f]*\d)[0-9a-f]{8,128}[\"'`])\s*:")
"""Rows that have a digest for a key, whatever they hold."""
_MIN_DIGESTS: Final = 3
_WRITTEN: Final = re.compile(r"""(?<![\w"'`])["'`]?([^\s"'`,(){}\[\]]+)["'`]?(?=\s*[,)\]}])""")
"""What a collection holds, as far as it is plain."""
_MAX_WRITTEN: Final = 4_000
_PLAIN: Final = frozenset({"slice", "slice_expression", "range_expression"})
_MEMBERS: Final = frozenset({"attribute", "member_expression", "selector_expression", "field_expression"})
_ROWS: Final = frozenset({"tuple", "list", "array", "tuple_expression"})
_SWITCHES: Final = frozenset(
    {"switch_statement", "expression_switch_statement", "match_statement", "match_expression",
     "switch_expression", "case"}
)  # fmt: skip
_SPLITTERS: Final = frozenset({"split", "splitlines", "Split", "lines", "Fields"})
_BLOB: Final = re.compile(r"s(?![a-z]+:/|[/.])[^\s…]{40,}(?:…[0-9a-f]+)?")
"""Text that is not for reading: neither words nor an address or a path."""
_OPENERS = re.compile(
    r"^(?:exec|eval|compile|json\.loads|pickle\.loads|marshal\.loads|ast\.literal_eval|JSON\.parse|Function|"
    r"yaml\.safe_load|Marshal\.load|JSON\.load|vm\.runInThisContext|json\.Unmarshal|instance_eval)$"
)
_READERS = re.compile(
    r"(?:^|\.)(?:open|read_text|read_bytes|readFile|readFileSync|ReadFile|Open|readString|readAllLines|readAllBytes|"
    r"newBufferedReader|read_to_string|readlines|load|glob|rglob|iglob|listdir|readdirSync|ReadDir|read|File|Glob|DirFS|"
    r"createReadStream|FileReader)$"
)
_TEST_FILES = re.compile(
    r"(?:^|[/\\])(?:tests?|__tests__|specs?|testdata|__snapshots__|goldens?|golden_files|fixtures|hidden_tests)[/\\]"
    r"|(?:^|[/\\])(?:tests?|__tests__|testdata|__snapshots__|goldens?|fixtures)$|\.golden$|\.approved\.\w+$"
    r"|(?:^|[/\\])test_[\w*]+\.py$|_test\.(?:go|py|rb)$|\.(?:test|spec)\.[cm]?[jt]sx?$|\.snap$|_spec\.rb$"
    r"|(?:^|[/\\])(?:conftest\.py|\*test\*\.\w+|expected_output\w*|golden\w*\.\w+)$"
)
_FOLDERS: Final = ("tests", "test", "__tests__", "spec", "specs", "testdata", "fixtures")
_FILES_OF_TESTS: Final = (
    "a.golden",
    "a.snap",
    "test_a.py",
    "a_test.py",
    "a_test.go",
    "a.test.js",
    "a.spec.ts",
)
_FILES_OF_ANY: Final = ("a.py", "a.go", "a.js", "a.ts", "a.json", "a.txt", "a.md", "a.yaml", "a.csv")
_AMONG_FOLDERS: Final = re.compile(
    r"^(?![^\n]*(?i:ignor|exclu|skip|omit|without|except|\bnot\b|!))[^\n]*"
    r"""[\[({][^\])}\n]{0,200}["'`](?:tests?|__tests__|specs?)["'`][^\])}\n]{0,200}[\])}]""",
    re.MULTILINE,
)
"""A list of folders with one of tests among them, and no word that would leave it out."""
_WILD: Final = re.compile(r"[A-Za-z].*[*?\[]|[*?\[].*[A-Za-z]")
"""A name that is partly left open. Nobody who means something else leaves it so that it fits tests."""
_TEST_IMPORTS = re.compile(r"^(?:tests?\.[\w.]+|test_\w+|tests|conftest)$")
_LOADERS = re.compile(
    r"(?:^|\.)(?:require|import|import_module|files|get_data|open_text|__import__|resource_string|run_path)$"
)
_LISTERS = re.compile(
    r"\bglob\b|\bGlob\(|os\.walk|listdir|scandir|readdir|ReadDir|WalkDir|iterdir|Dir\.|sys\.modules|filepath\.Walk"
)
_TEST_NAMES = re.compile(
    r"""["'`/](?:\*\*/)?[\w*.]*(?:(?<![a-z])test_|_test\.(?:go|py|rb)|\.(?:test|spec)\.|_spec\.rb|\*test\*|test\*|\.golden|\.snap)[\w.*]*["'`/]"""
)
_GOES_UP = re.compile(
    r"__file__\b[^\n]*(?:\.parents\[[1-9]|\.parent\.parent|\.\.[/\"'])|\w\.parent\.(?:r?glob|iterdir)\("
    r"|__dirname\b[^\n]*\.\.|import\.meta\.[^\n]*\.\."
    r"|\bruntime\.Caller\(0\)"
)
_LISTS_SOURCES = re.compile(
    r"""(?:glob|rglob|iglob|Glob)\([^\n]*\.(?:py|[cm]?[jt]sx?|go|rb)["'`]|endswith\(["']\.py|endsWith\(["']\.[cm]?[jt]s"""
)
_LISTS_ITS_FOLDER: Final = re.compile(r"""\bGlob\(["`](?:\./)?[\w-]*\*[\w*-]*\.go["`]\)""")
_TAKES_APART = re.compile(
    r"\bast\.(?:parse|walk|literal_eval)|\bre\.\w+\(|\.match(?:All)?\(|\.Find(?:All)?(?:String)?(?:Submatch)?\(|\bparser\.ParseFile\("
)
_GO_TEST: Final = re.compile(r"\btesting\.(?:[TBF]|TB|M)\b")
_NO_PATH = re.compile(r"s[rwab+t]{1,3}|sutf-?8")


def clues_at(place: Place, facts: FileFacts) -> Iterator[Act]:
    """The clues that a node itself is."""
    kind = place.node.type
    if kind in FUNCTIONS:
        yield from answers_by_turn(place, facts)
    if kind in CALLS:
        yield from _packed(place, facts)
        yield from _test_file(place, facts)
        yield from _by_digest(place, facts)
        yield from _among_digests(place, facts)
    elif kind == "comparison_operator":
        yield from _among_digests(place, facts)
    elif kind == "source_file" and facts.source.language == "go":
        yield from _embedded_tests(place, facts)
    elif kind in ("import_statement", "import_from_statement"):
        yield from _test_import(place, facts)
    elif kind in ("subscript", "subscript_expression", "index_expression", "element_reference"):
        yield from _by_digest(place, facts)
    elif kind in ("if_statement", "elif_clause"):
        yield from _at_encoding(place, facts)
    elif kind in ("binary_expression", "binary_operator"):
        yield from _bit_by_digest(place, facts)
    elif kind in _SWITCHES:
        yield from _switch_on_digest(place, facts)


def digest_clues(source: Source, answers: list[Answer]) -> Iterator[Act]:
    """Answers that are looked up by a digest of the input."""
    if not answers or not (_DIGESTS.search(source.text) or _SUMMED.search(source.text)):
        return
    sizes = Counter(answer.group for answer in answers if answer.form is AnswerForm.TABLE)
    keyed = Counter(
        answer.group
        for answer in answers
        if answer.form is AnswerForm.TABLE and any(_OF_DIGEST.fullmatch(value) for value in answer.inputs)
    )
    for answer in answers:
        rows = keyed[answer.group] if answer.form is AnswerForm.TABLE else 0
        digest = rows >= 3 and rows >= 0.8 * sizes[answer.group]
        digest = digest or any(_HEX.match(value) and not value[1:].isalpha() for value in answer.inputs)
        number = (
            answer.form is AnswerForm.BRANCH
            and _NUMBER_DIGEST.search(answer.text) is not None
            and any(re.fullmatch(r"n-?\d{4,}", value) for value in answer.inputs)
        )
        if digest or number or _is_summed(source, answer):
            yield Act(
                rule="hashed-lookup",
                line=answer.line,
                text=answer.text,
                key=" ".join(answer.key),
                why="gives an answer for a digest of what it is asked",
            )


def _is_summed(source: Source, answer: Answer) -> bool:
    """Whether an answer is for a number that the function makes of all of its input."""
    if answer.form is not AnswerForm.BRANCH or answer.group < 0 or answer.output in ("true", "false", "none"):
        return False
    if not any(re.fullmatch(r"n-?\d{3,}", value) for value in answer.inputs):
        return False
    body = source.data[answer.group : answer.group + 4_000].decode("utf-8", "replace")
    large = any(re.fullmatch(r"n-?\d{5,}", value) for value in answer.inputs)
    return _SUMMED.search(body) is not None or (large and _DIGESTS.search(body) is not None)


def _by_digest(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`ANSWERS.get(digest)`, `ANSWERS[key(text)]`, where the table is written down and no cache."""
    source, node = facts.source, place.node
    if node.type in CALLS:
        method = source.called(node).rpartition(".")[2]
        index = next(iter(source.arguments(node)), None) if method in _LOOKUPS else None
        target = node.child_by_field_name("function") or node.child_by_field_name("object")
        held = target.named_children[0] if target is not None and target.type in _MEMBERS else target
        held = node.child_by_field_name("receiver") or held
    else:
        held = next(iter(children(node)), None)
        index = node.child_by_field_name("subscript") or node.child_by_field_name("index")
        index = index or (children(node)[-1] if len(children(node)) == 2 else None)
    if index is None or held is None or place.function is None:
        return
    if index.type in _PLAIN or literal_of(source, index) is not None or "%" in source.of(index, 200):
        return
    if not any(_is_table(source, one) for one in facts.bindings.resolve(held)):
        return
    if _is_digest(index, facts):
        yield act_of(place, facts, "hashed-lookup", "looks an answer up by a digest of what it is asked")


def _among_digests(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`key(text) in KNOWN`, `KNOWN.has(key(text))`, where digests are written down."""
    source, node = facts.source, place.node
    if place.function is None:
        return
    if node.type == "comparison_operator":
        asked, held = (*children(node), None, None)[:2]
        if not any(child.type in ("in", "not in") for child in node.children):
            return
    elif source.called(node).rpartition(".")[2] in _HOLDS:
        target = node.child_by_field_name("function") or node.child_by_field_name("object")
        of = target.named_children[0] if target is not None and target.type in _MEMBERS else None
        given = source.arguments(node)
        held, asked = given[:2] if len(given) == 2 else (of, next(iter(given), None))
    else:
        return
    if asked is None or held is None or not _is_digest(asked, facts):
        return
    for one in facts.bindings.resolve(held):
        values = _WRITTEN.findall(source.of(one, _MAX_WRITTEN))
        digests = [
            value for value in values if _OF_DIGEST.fullmatch(f"{'n' if value.isdigit() else 's'}{value}")
        ]
        if len(digests) >= _MIN_DIGESTS and len(digests) >= 0.8 * len(values):
            yield act_of(place, facts, "hashed-lookup", "knows what it is asked by digests")
            return


def _is_digest(node: Node, facts: FileFacts) -> bool:
    """Whether an expression is made by a digest, there or where its names and helpers are made."""
    texts = (_STRINGS.sub('""', facts.source.of(one, 400)) for one in facts.bindings.reached(node))
    return any(_DIGESTS.search(text) or _SUMMED.search(text) for text in texts)


def _is_table(source: Source, node: Node) -> bool:
    """Whether rows are written down: a mapping of literals, there or wrapped once, as in `new Map([…])`."""
    pending, left = [node], 40
    while pending and left > 0:
        current = pending.pop()
        left -= 1
        if current.type in ("pair", "keyed_element"):
            value = current.child_by_field_name("value")
            if literal_of(source, value) is not None or _KEYED.match(source.of(current, 40)):
                return True
        elif current.type == "dictionary_comprehension":
            return True
        elif current.type in _ROWS and len(current.named_children) > 1:
            cells = [literal_of(source, part) for part in children(current)[:4]]
            if len(cells) == 2 and None not in cells:
                return True
        if current.type not in FUNCTIONS:
            pending.extend(reversed(current.named_children[:4]))
    return False


def _switch_on_digest(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`switch (key(text)) { case 48213: …`, with two or more labels that only a digest has."""
    source, node = facts.source, place.node
    subject = next(
        (found for field in ("value", "subject", "condition") if (found := node.child_by_field_name(field))),
        None,
    )
    if subject is None or place.function is None or "%" in source.of(subject, 200):
        return
    labels = [text for _, text in literals_in(source, node, 200) if _OF_DIGEST.fullmatch(text)]
    if len(labels) >= 2 and _is_digest(subject, facts):
        yield act_of(place, facts, "hashed-lookup", "gives an answer for a digest of what it is asked")


def _bit_by_digest(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`(VERDICTS >> key(text)) & 1`: answers as the bits of a number."""
    source, parts = facts.source, children(place.node)
    if (
        len(parts) != 2
        or place.function is None
        or not any(child.type == ">>" for child in place.node.children)
    ):
        return
    large = any(len(source.of(one, 80)) >= 12 and source.of(one, 1).isdigit()
                for one in facts.bindings.resolve(parts[0], 2))  # fmt: skip
    if large and _is_digest(parts[1], facts):
        yield act_of(place, facts, "hashed-lookup", "looks an answer up by a digest of what it is asked")


def _packed(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`json.loads(b64decode(BLOB))`, in one statement or several."""
    source, node = facts.source, place.node
    called = source.called(node)
    if not _OPENERS.match(called) and called.rpartition(".")[2] not in _SPLITTERS:
        return
    reached = list(facts.bindings.reached(node))
    if not any(_DECODERS.search(source.of(one, 400)) for one in reached):
        return
    if any(_BLOB.fullmatch(value) for one in reached for _, value in literals_in(source, one, 60)):
        yield act_of(place, facts, "packed-answers", "unpacks data or code that nobody can read")


def _test_file(place: Place, facts: FileFacts) -> Iterator[Act]:
    source, node = facts.source, place.node
    called = source.called(node)
    if facts.tooling or facts.script or _is_handed_a_test(place, source):
        return
    loads = _LOADERS.search(called) is not None
    if not loads and not _READERS.search(called):
        return
    function = node.child_by_field_name("function") or node.child_by_field_name("object")
    texts = [source.of(part, 300) for part in (function, *source.arguments(node)[:3]) if part is not None]
    if loads:
        texts = [text.replace(".", "/") if not re.match(r"[\"'`]\.", text) else text for text in texts]
    spelled = [
        made.removeprefix(UNKNOWN).replace(UNKNOWN, "x")
        for part in (function, *source.arguments(node)[:3])
        if part is not None
        for made in facts.bindings.texts(part)
    ]
    parts = [part for text in texts for part in facts.strings_of(text)]
    parts = [part for part in (*parts, *spelled) if not _NO_PATH.fullmatch(f"s{part}")]
    if any(_is_of_tests(part) for part in parts):
        if source.language != "javascript" or not loads or any(part.startswith((".", "/")) for part in parts):
            yield act_of(place, facts, "reads-tests", "reads a file of the tests while it runs")
    elif place.function is not None and _looks_for_tests(source.of(place.function, 6_000)):
        yield act_of(place, facts, "reads-tests", "looks for the tests and reads them while it runs")
    elif place.function is not None and _reads_sources(source.of(place.function, 6_000), source.text):
        yield act_of(place, facts, "reads-tests", "reads sources beyond its own package while it runs")
    elif place.function is not None and _reads_folders(source.of(place.function, 6_000), source.text):
        yield act_of(place, facts, "reads-tests", "reads folders while it runs, one of tests among them")


def _is_of_tests(path: str) -> bool:
    """Whether a path, or a pattern, is one of tests: `tests/…`, `test_a.py`, `t*/…`."""
    if _TEST_FILES.search(path.rstrip("/\\") if "/" not in path else path):
        return True
    *folders, last = path.split("/")
    if _WILD.search(last) and not any(fnmatchcase(name, last) for name in _FILES_OF_ANY):
        return any(fnmatchcase(name, last) for name in _FILES_OF_TESTS)
    return any(
        _WILD.search(folder) and any(fnmatchcase(name, folder) for name in _FOLDERS) for folder in folders
    )


def _is_handed_a_test(place: Place, source: Source) -> bool:
    """Whether a Go function is given the test it runs in: a helper of tests, which no product can call."""
    taken = place.function.child_by_field_name("parameters") if place.function is not None else None
    return source.language == "go" and taken is not None and bool(_GO_TEST.search(source.of(taken, 300)))


def _looks_for_tests(body: str) -> bool:
    """Whether a function lists files and takes those that are tests; leaving them out is honest."""
    if not _LISTERS.search(body):
        return False
    for match in _TEST_NAMES.finditer(body):
        before, after = (
            body[max(0, match.start() - 60) : match.start()],
            body[match.end() : match.end() + 120],
        )
        line = before.rpartition("\n")[2]
        if not re.search(r"\bnot\b|!", line) and not re.match(
            r"[^\n]{0,300}\n?\s*+\{?\s*+(?:continue|return\b|next\b)", after
        ):
            return True
    return False


def _reads_sources(body: str, file: str) -> bool:
    """Whether a function lists sources further up than its file, or in its folder, and takes them apart.

    In Go tests lie beside what they test, and run in its folder.
    """
    return (
        _LISTS_SOURCES.search(body) is not None
        and _TAKES_APART.search(body) is not None
        and (_LISTS_ITS_FOLDER.search(body) is not None or _GOES_UP.search(file) is not None)
    )


def _reads_folders(body: str, file: str) -> bool:
    """Whether a function lists folders further up than its file, of which one is named as tests are."""
    if _LISTERS.search(body) is None or _TAKES_APART.search(file) is None:
        return False
    return _AMONG_FOLDERS.search(file) is not None and _GOES_UP.search(file) is not None


def _embedded_tests(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`//go:embed testdata/…`."""
    for match in re.finditer(r"^//go:embed[ \t]+([^\n]+)", facts.source.text, re.M):
        if not any(_TEST_FILES.search(part) for part in match[1].split()):
            continue
        line = facts.source.text.count("\n", 0, match.start()) + 1
        yield Act(
            rule="reads-tests", line=line, text=match[0][:160], key=f"embed {match[1][:100]}",
            why="has files of the tests built in",
        )  # fmt: skip


def _test_import(place: Place, facts: FileFacts) -> Iterator[Act]:
    source, node = facts.source, place.node
    if facts.tooling:
        return
    if source.language == "python":
        named = node.child_by_field_name("module_name") or node.child_by_field_name("name")
        modules = [source.of(named, 120).split(" as ")[0].strip()]
        found = any(_TEST_IMPORTS.match(module) for module in modules)
    else:
        path = literal_of(source, node.child_by_field_name("source")) or "s"
        found = (
            path.startswith("s.")
            and _TEST_FILES.search(f"{path[1:]}.ts" if ".test" in path else path[1:]) is not None
        )
        if re.match(r"^\s*import\s+type\b", source.of(node, 40)):
            return
    if found:
        yield act_of(place, facts, "reads-tests", "imports from the tests")


def _at_encoding(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`if codecs.encode(text, "rot13") == "…": return …`, with an answer that is written down."""
    source, node = facts.source, place.node
    condition, given = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
    if (
        place.function is None
        or condition is None
        or given is None
        or not _ENCODED.search(source.of(condition, 200))
    ):
        return
    if re.match(r"\s*\{?\s*return\b[^\n]*(?:[\"'`][^\"'`\n]+[\"'`]|\d)", source.of(given, 200)):
        yield act_of(place, facts, "hashed-lookup", "gives an answer for an encoding of what it is asked")
