"""Find the values that a pattern names: by label, op, scope or source line.

    pattern = { "*" | "?" | character }      at least one, with balanced ( ) and [ ]

`*` matches any characters, `?` one. All others are literal, also the brackets of `state[0]['w']`.

A pattern names the values with this label or instruction, with this op name or scope, and of this
source line (`train.py:12`). Part of a scope is enough, and transformations are ignored: `layer_0`
is in `jit(f)/jvp(layer_0)/dot`. With `*` or `?` it names all values that match it.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from xlagraph.hlo.op_names import scope_parts
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.queries.errors import BadParameter, NoSuchName, similar_names

_WILDCARDS: Final = frozenset("*?")
_OPENING: Final = {")": "(", "]": "["}
_MOST_LISTED: Final = 5


def reject_malformed(pattern: str) -> None:
    """Raise BadParameter if a pattern is empty or its brackets are not balanced."""
    if not pattern:
        raise BadParameter("the pattern is empty; `*` names every value")
    opened: list[str] = []
    for character in pattern:
        if character in _OPENING.values():
            opened.append(character)
        elif character in _OPENING and (not opened or opened.pop() != _OPENING[character]):
            raise BadParameter(f"'{pattern}' is not a pattern: '{character}' closes nothing")
    if opened:
        raise BadParameter(
            f"'{pattern}' is not a pattern: '{opened[-1]}' is not closed; brackets are literal,"
            " and `*` matches any characters"
        )


def matching(
    pattern: str, compilation: PlannableCompilation, among: Iterable[StoredValue] | None = None
) -> list[int]:
    """Return the ids of the values that a pattern names, among some of a compilation or all.

    Raises BadParameter if it is malformed, and NoSuchName with existing names if there are none.
    """
    reject_malformed(pattern)
    values = tuple(compilation.values.values() if among is None else among)
    op_names = {value.op_name for value in values} | {value.attributed_op_name for value in values}
    in_pattern = {name for name in op_names if name and _fits_op_name(pattern, name)}
    found = [
        value.value_id
        for value in values
        if value.attributed_op_name in in_pattern
        or value.op_name in in_pattern
        or _fits(pattern, value)
    ]
    if found:
        return found
    text = f"no value, op, scope or source line of {compilation.key} is called '{pattern}'"
    if leaves := [name for name in map(_op_or_label, values) if _is_leaf(name, pattern)]:
        text += f"; '{pattern}*' names {len(leaves)} leaves of it, such as {leaves[0]}"
        raise NoSuchName(text)
    if similar := similar_names(pattern, sorted(_names(values))):
        raise NoSuchName(text, similar)
    largest = sorted(values, key=lambda value: (-value.size_bytes, value.value_id))
    names = dict.fromkeys(map(_op_or_label, largest))
    raise NoSuchName(f"{text}; the largest are {', '.join(list(names)[:_MOST_LISTED])}")


def similar_scopes(scope: str, op_names: Iterable[str]) -> list[str]:
    """Return up to five parts of scopes that are similar to a name, the most similar first."""
    scopes = {part for name in op_names for part in scope_parts(name)[:-1]}
    return similar_names(scope, sorted(scopes))


def _op_or_label(value: StoredValue) -> str:
    return value.known_op_name or value.label


def _is_leaf(name: str, pytree: str) -> bool:
    """Return True for `params['w']` of the pytree `params`."""
    return name.startswith((f"{pytree}[", f"{pytree}."))


def _names(values: Iterable[StoredValue]) -> set[str]:
    """Return names by which these values can be found."""
    found: set[str] = set()
    for each in values:
        found.add(each.label)
        found |= {line.rpartition("/")[2] for line in each.source_lines}
        for op_name in (each.attributed_op_name, each.op_name):
            found |= {op_name, *scope_parts(op_name)} if op_name else set()
    return found


def _fits_op_name(pattern: str, op_name: str) -> bool:
    return in_scope(pattern, op_name) or _matches(pattern, op_name)


def _fits(pattern: str, value: StoredValue) -> bool:
    """Return True if a pattern names a value by its label, instruction or source lines."""
    if value.label.startswith(pattern) and pattern in (value.label, _name(value)):
        return True
    has_wildcards = not _WILDCARDS.isdisjoint(pattern)
    if not has_wildcards and ":" not in pattern:
        return False
    lines = value.source_lines
    if any(line == pattern or line.endswith("/" + pattern) for line in lines):
        return True
    return has_wildcards and any(
        _matches(pattern, each) for each in (value.label, _name(value), *lines)
    )


def _name(value: StoredValue) -> str:
    return value.label.partition("{")[0]


def in_scope(scope: str, op_name: str) -> bool:
    """Return True if an op is in a scope, given by all or some of its parts in order."""
    if op_name == scope or op_name.startswith(scope + "/"):
        return True
    wanted = scope_parts(scope)
    if _WILDCARDS.isdisjoint(scope) and not all(part in op_name for part in wanted):
        return False  # most names, which need not be split
    parts = scope_parts(op_name)
    width = len(wanted)
    return any(
        all(map(_matches, wanted, parts[at : at + width])) for at in range(len(parts) - width + 1)
    )


def _matches(pattern: str, name: str) -> bool:
    if _WILDCARDS.isdisjoint(pattern):
        return pattern == name
    return _compiled(pattern).fullmatch(name) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = re.split(r"([*?])", pattern)
    return re.compile(
        "".join({"*": ".*", "?": "."}.get(piece, re.escape(piece)) for piece in pieces), re.DOTALL
    )
