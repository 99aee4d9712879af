"""Names of arguments in trees of parameters, and the branches that many of them share.

    params['layers'][3]['w'], params['layers'][3]['b']   of one program
    params['layers'][2]['w']                             of the other program
    params['layers'][3]                                  the shortest branch that only one has

Numbers in names are those of repeated parts, such as layers.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

_STEP: Final = re.compile(r"\[[^\]]*\]|\.[^\[.]+|[^\[.]+")
INDEX: Final = re.compile(r"\[\d+\]")
"""Step of a name that is a place in a list or tuple."""
_NUMBER: Final = re.compile(r"\d+")
_PARTS: Final = re.compile(r"(\d+|\*)")
"""Numbers of a name, or those of a pattern."""
_NAMED: Final = 3


def branches(names: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Return the shortest leading parts of names that no other name begins with, in their order.

    A name that is among the others is its own branch.
    """
    taken = {start for name in others for start in _starts(name)}
    found = (next((start for start in _starts(name) if start not in taken), name) for name in names)
    return list(dict.fromkeys(found))


def pattern(name: str) -> str:
    """Return a name with `*` for its numbers."""
    return _NUMBER.sub("*", name)


def are_repeated(names: Iterable[str], others: Iterable[str]) -> bool:
    """Return True if branches of names repeat parts that the others have: ``layers[4]``.

    False if each part has more of its own, such as ``state[0][1]`` and ``state[1][1]`` where the
    others have ``state[0][0]`` and ``state[1][0]``.
    """
    names, others = set(names), set(others)
    known = {pattern(name) for name in others}
    if not names or not all(pattern(name) in known for name in names):
        return False
    parents = {
        branch[: branch.rindex(name_steps(branch)[-1])] for branch in branches(names, others)
    }
    return len({pattern(parent) for parent in parents}) == len(parents)


def stacked(one_by_one: Mapping[str, str], stacks: Mapping[str, str]) -> set[str] | None:
    """Return the branches whose repeated parts are stacks in the other program.

    Both are shapes by name: ``w[0] f32[8]`` and ``w[1] f32[8]`` become ``w f32[2,8]``. None if an
    input is not in a stack, or a stack has other shapes.
    """
    found: set[str] = set()
    left = dict(one_by_one)
    for stack, shape in stacks.items():
        parts = {
            name: name[: index.start()]
            for name in left
            for index in INDEX.finditer(name)
            if name[: index.start()] + name[index.end() :] == stack
        }
        if {left.pop(name).replace("[", f"[{len(parts)},") for name in parts} != {shape}:
            return None
        found.update(f"{branch}[*]" for branch in parts.values())
    return found if found and not left else None


def folded(names: Iterable[str]) -> str:
    """Return names as a list; names that differ only in numbers become one, with `*` for these."""
    patterns: dict[str, list[list[str]]] = {}
    for name in sorted(set(names) - {""}):
        patterns.setdefault(pattern(name), []).append(_PARTS.split(name))
    found = [
        "".join("*" if len({*parts}) > 1 else parts[0] for parts in zip(*same, strict=False))
        for same in patterns.values()
    ]
    more = len(found) - _NAMED
    return ", ".join(found[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def name_steps(name: str) -> list[str]:
    """Return the steps of a name: ``p``, ``['w']`` and ``[0]`` of ``p['w'][0]``."""
    return [step[0] for step in _STEP.finditer(name)]


def _starts(name: str) -> list[str]:
    return [name[: step.end()] for step in _STEP.finditer(name)] or [name]
