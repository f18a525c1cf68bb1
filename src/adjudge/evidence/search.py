"""The collector of `PatternSearch`: where regular expressions first match in the final workspace."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.formats.regex import find_regex
from adjudge.records.change import EntryType
from adjudge.records.evidence import PatternMatch, PatternMatches, PatternSearch
from adjudge.syntax.languages import is_third_party

__all__ = ["PatternSearchCollector"]

_MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_TOTAL_BYTES = 128 * 1024 * 1024
"""At RE2's forty megabytes a second, three seconds for a pattern that matches nowhere."""
_MAX_NAMED = 100
_BINARY_HEAD = 8192


class PatternSearchCollector:
    """Reads text files until every pattern has been found."""

    kind: ClassVar[str] = "pattern_search"
    cost: ClassVar[int] = 1

    async def collect(self, request: PatternSearch, subject: Subject) -> PatternMatches:
        """Search. A file is read once for all patterns."""
        missing = dict.fromkeys(request.patterns)
        found: dict[str, PatternMatch] = {}
        litter = {change.path for change in subject.change_set.litter}
        unsearched: list[str] = []
        files = total = 0
        for path, entry in subject.contents.walk():
            if not missing:
                break
            if entry.type is not EntryType.FILE or path in litter or is_third_party(path):
                continue
            data = b""
            if total < _MAX_TOTAL_BYTES:
                data = subject.contents.read(path, max_bytes=_MAX_FILE_BYTES) or b""
            if len(data) < (entry.size_bytes or 0) and len(unsearched) < _MAX_NAMED:
                unsearched.append(path)
            if not data or b"\0" in data[:_BINARY_HEAD]:
                continue
            files += 1
            total += len(data)
            text = data.decode("utf-8", "replace")
            for pattern in tuple(missing):
                start = find_regex(pattern, text)
                if start is not None:
                    line = text.count("\n", 0, start) + 1
                    found[pattern] = PatternMatch(pattern=pattern, path=path, line=line)
                    del missing[pattern]
        return PatternMatches(
            matches=tuple(found.get(pattern, PatternMatch(pattern=pattern)) for pattern in request.patterns),
            searched_files=files,
            searched_bytes=total,
            unsearched=tuple(unsearched) if missing else (),
        )
