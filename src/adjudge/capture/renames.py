"""Pairing deletions with additions: renames, as git finds them.

Owns exact pairs (equal content) and similar ones (at least half of the larger file is in both). Similarity
is counted in bytes of common lines, as git does, with long lines cut to pieces. Litter is never paired.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Candidate", "Pair", "RenameLimits", "pair_renames"]

_MINIMUM = 50
_PIECE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Candidate:
    """A deleted or an added file or symlink."""

    path: bytes
    kind: str
    """Only equal kinds are paired: file with file, symlink with symlink."""
    digest: str
    size: int
    read: Callable[[], bytes] | None
    """Reads the content; None when it is not to be compared for similarity."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A rename, by position in the two lists, with its similarity in percent."""

    old: int
    new: int
    similarity: int


@dataclass(frozen=True, slots=True)
class RenameLimits:
    """Beyond these, only exact renames are found."""

    comparisons: int = 250_000
    """Deletions times additions left after exact pairing (git's own default is 1,000 of each)."""
    total_bytes: int = 16 << 20
    """Content read."""
    steps: int = 5_000_000
    """Common pieces counted, about a second's worth."""


def pair_renames(
    deleted: Sequence[Candidate], added: Sequence[Candidate], limits: RenameLimits
) -> tuple[list[Pair], bool]:
    """Pair deletions with additions.

    Returns:
        The pairs, and whether similar (not only exact) renames were looked for.
    """
    pairs = _pair_exact(deleted, added)
    taken_old = {pair.old for pair in pairs}
    taken_new = {pair.new for pair in pairs}
    olds = [at for at, one in enumerate(deleted) if at not in taken_old and one.read and one.size]
    news = [at for at, one in enumerate(added) if at not in taken_new and one.read and one.size]
    if not olds or not news:
        return pairs, True
    total = sum(deleted[at].size for at in olds) + sum(added[at].size for at in news)
    if len(olds) * len(news) > limits.comparisons or total > limits.total_bytes:
        return pairs, False
    similar = _pair_similar(deleted, added, olds, news, limits.steps)
    return (pairs, False) if similar is None else (pairs + similar, True)


def _pair_exact(deleted: Sequence[Candidate], added: Sequence[Candidate]) -> list[Pair]:
    pairs: list[Pair] = []
    free_old = set(range(len(deleted)))
    free_new = list(range(len(added)))
    # Files that kept their name first, so that equal files (empty ones, say) are paired with their likes.
    for key in (_content_and_name, _content):
        sources: defaultdict[tuple[str, str, bytes], deque[int]] = defaultdict(deque)
        for at in sorted(free_old):
            sources[key(deleted[at])].append(at)
        unpaired: list[int] = []
        for at in free_new:
            waiting = sources.get(key(added[at]))
            if waiting:
                chosen = waiting.popleft()
                free_old.discard(chosen)
                pairs.append(Pair(chosen, at, 100))
            else:
                unpaired.append(at)
        free_new = unpaired
    return pairs


def _pair_similar(
    deleted: Sequence[Candidate], added: Sequence[Candidate], olds: list[int], news: list[int], steps: int
) -> list[Pair] | None:
    """Greedily, the most similar first; None when it would take more than `steps`."""
    where: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for old in olds:
        for piece, count in _pieces(deleted[old]).items():
            where[piece].append((old, count))
    scored: list[tuple[int, bool, int, int]] = []
    for new in news:
        common: Counter[int] = Counter()
        for piece, count in _pieces(added[new]).items():
            sources = where.get(piece, ())
            steps -= len(sources)
            if steps < 0:
                return None
            for old, old_count in sources:
                common[old] += len(piece) * min(count, old_count)
        for old, shared in common.items():
            if deleted[old].kind != added[new].kind or deleted[old].kind != "file":
                continue
            similarity = shared * 100 // max(deleted[old].size, added[new].size)
            if similarity >= _MINIMUM:
                same_name = _name(deleted[old].path) == _name(added[new].path)
                scored.append((-similarity, not same_name, old, new))
    pairs: list[Pair] = []
    used_old: set[int] = set()
    used_new: set[int] = set()
    for negative, _, old, new in sorted(scored):
        if old not in used_old and new not in used_new:
            used_old.add(old)
            used_new.add(new)
            # 100 % is for equal content only.
            pairs.append(Pair(old, new, min(-negative, 99)))
    return pairs


def _pieces(candidate: Candidate) -> Counter[bytes]:
    assert candidate.read is not None
    counts: Counter[bytes] = Counter()
    for line in candidate.read().removesuffix(b"\n").split(b"\n"):
        whole = line + b"\n"
        if len(whole) <= _PIECE_BYTES:
            counts[whole] += 1
        else:
            counts.update(whole[at : at + _PIECE_BYTES] for at in range(0, len(whole), _PIECE_BYTES))
    return counts


def _content(candidate: Candidate) -> tuple[str, str, bytes]:
    return candidate.kind, candidate.digest, b""


def _content_and_name(candidate: Candidate) -> tuple[str, str, bytes]:
    return candidate.kind, candidate.digest, _name(candidate.path)


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]
