"""Pair the compilations of two runs.

1. Compilations of one module name are aligned as diff aligns lines; the signature (shapes of
   parameters and result) takes the place of the line.
2. The others of that module name are paired in the order of their module numbers.
3. The others of all modules are paired if a signature with two parameters or more occurs once
   on each side: the function was renamed.

The rest has no partner.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from xlagraph.comparison.compared_sides import ComparedCompilation, Signature
from xlagraph.hlo.grouping import grouped

_LEAST_IDENTIFYING: Final = 3
"""Minimum number of shapes in a signature that identifies a program: two parameters, one result."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Keys of pairs, and of compilations without a partner; each sorted."""

    pairs: tuple[tuple[str, str], ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def pair_compilations(
    a: Iterable[ComparedCompilation], b: Iterable[ComparedCompilation]
) -> Pairing:
    """Pair the compilations of two runs."""
    a_by_module, b_by_module = _by_module(a), _by_module(b)
    pairs: list[tuple[str, str]] = []
    only_a: list[ComparedCompilation] = []
    only_b: list[ComparedCompilation] = []
    for module in a_by_module.keys() | b_by_module.keys():
        some_a, some_b = a_by_module[module], b_by_module[module]
        aligned = _align(
            [candidate.signature for candidate in some_a],
            [candidate.signature for candidate in some_b],
        )
        matched_a, matched_b = {index for index, _ in aligned}, {index for _, index in aligned}
        left_a = [index for index in range(len(some_a)) if index not in matched_a]
        left_b = [index for index in range(len(some_b)) if index not in matched_b]
        for index_a, index_b in (*aligned, *zip(left_a, left_b, strict=False)):
            pairs.append((some_a[index_a].key, some_b[index_b].key))
        only_a += [some_a[index] for index in left_a[len(left_b) :]]
        only_b += [some_b[index] for index in left_b[len(left_a) :]]
    renamed = _renamed(only_a, only_b)
    pairs += renamed
    keys = {key for pair in renamed for key in pair}
    return Pairing(
        tuple(sorted(pairs)),
        *(
            tuple(sorted(candidate.key for candidate in only if candidate.key not in keys))
            for only in (only_a, only_b)
        ),
    )


def _renamed(
    a: Sequence[ComparedCompilation], b: Sequence[ComparedCompilation]
) -> list[tuple[str, str]]:
    """Pair candidates of different modules whose signature is unique on both sides."""
    key_by_signature = [
        {
            signature: candidate.key
            for candidate in side
            for signature in [candidate.signature]
            if counts[signature] == 1 and len(signature) >= _LEAST_IDENTIFYING
        }
        for side in (a, b)
        for counts in [Counter(candidate.signature for candidate in side)]
    ]
    known_a, known_b = key_by_signature
    return [(known_a[signature], known_b[signature]) for signature in known_a.keys() & known_b]


def _by_module(
    candidates: Iterable[ComparedCompilation],
) -> defaultdict[str | None, list[ComparedCompilation]]:
    ordered = sorted(candidates, key=_compilation_order)
    return grouped((candidate.module, candidate) for candidate in ordered)


def _compilation_order(candidate: ComparedCompilation) -> tuple[bool, int, str]:
    return candidate.module_number is None, candidate.module_number or 0, candidate.key


def _align(a: Sequence[Signature], b: Sequence[Signature]) -> list[tuple[int, int]]:
    # Equal ends first, as diff does: otherwise a module compiled ten thousand times with
    # one signature takes quadratic time.
    shorter = min(len(a), len(b))
    head = next((index for index in range(shorter) if a[index] != b[index]), shorter)
    tail = next(
        (back for back in range(shorter - head) if a[-1 - back] != b[-1 - back]), shorter - head
    )
    middle = SequenceMatcher(None, a[head : len(a) - tail], b[head : len(b) - tail], autojunk=False)
    return [
        *((index, index) for index in range(head)),
        *(
            (head + block.a + offset, head + block.b + offset)
            for block in middle.get_matching_blocks()
            for offset in range(block.size)
        ),
        *((len(a) - back, len(b) - back) for back in range(tail, 0, -1)),
    ]
