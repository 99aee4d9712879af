"""Which values a pattern names: by label, op, scope or source line.

A pattern stands for the values that have it as their label or instruction, for those of an
op name or of a scope that it names wholly or in part (`layer_0` is a part of
`jit(f)/jvp(layer_0)/dot`: transformations of a part do not count), and for those of a source
line, `train.py:12`. With `*`, `?` or `[…]` it stands for what it fits.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from xlagraph.queries.advice.op_marks import scope_parts
from xlagraph.queries.advice.plannable_compilation import ValueFacts
from xlagraph.queries.errors import NoSuchName, similar_names

__all__ = ["in_scope", "matching"]

_WILDCARDS = frozenset("*?[")


def matching(pattern: str, facts: Mapping[int, ValueFacts]) -> list[int]:
    """Return the ids of the values that a pattern names.

    Raises NoSuchName with what is near if there are none.
    """
    found = [value_id for value_id, each in facts.items() if _fits(pattern, each)]
    if not found:
        names = {name for each in facts.values() for name in (each.label, each.op_name) if name}
        raise NoSuchName(
            f"no value, op, scope or source line is called '{pattern}'",
            similar_names(pattern, sorted(names)),
        )
    return found


def _fits(pattern: str, facts: ValueFacts) -> bool:
    name, _, _ = facts.label.partition("{")
    if pattern in (facts.label, name):
        return True
    ops = {op for op in (facts.op_name, facts.own_op_name) if op is not None}
    if any(in_scope(pattern, op) for op in ops):
        return True
    if any(line == pattern or line.endswith("/" + pattern) for line in facts.source_lines):
        return True
    if _WILDCARDS.isdisjoint(pattern):
        return False
    return any(
        fnmatchcase(each, pattern) for each in (facts.label, name, *ops, *facts.source_lines)
    )


def in_scope(scope: str, op_name: str) -> bool:
    """Whether an op lies in a scope, given by all or some of its parts in their order."""
    if op_name == scope or op_name.startswith(scope + "/"):
        return True
    wanted = scope_parts(scope)
    parts = scope_parts(op_name)
    width = len(wanted)
    return any(
        all(map(_is_part, parts[at : at + width], wanted)) for at in range(len(parts) - width + 1)
    )


def _is_part(part: str, wanted: str) -> bool:
    return part == wanted or fnmatchcase(part, wanted)
