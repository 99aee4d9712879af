"""Find the values that a pattern names: by label, op, scope or source line.

A pattern names the values with this label or instruction, with this op name or scope, and of this
source line (`train.py:12`). Part of a scope is enough, and transformations are ignored: `layer_0`
is in `jit(f)/jvp(layer_0)/dot`. A pattern with `*`, `?` or `[…]` names all values that match it.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from xlagraph.hlo.op_names import scope_parts
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.queries.errors import NoSuchName, similar_names

__all__ = ["in_scope", "matching", "similar_scopes"]

_WILDCARDS = frozenset("*?[")


def matching(
    pattern: str, compilation: PlannableCompilation, among: Iterable[StoredValue] | None = None
) -> list[int]:
    """Return the ids of the values that a pattern names, among some of a compilation or all.

    Raises NoSuchName with the compilation and similar names if there are none.
    """
    values = tuple(compilation.values.values() if among is None else among)
    found = [value.value_id for value in values if _fits(pattern, value)]
    if not found:
        raise NoSuchName(
            f"no value, op, scope or source line of {compilation.key} is called '{pattern}'",
            similar_names(pattern, sorted(_names(values))),
        )
    return found


def similar_scopes(scope: str, op_names: Iterable[str]) -> list[str]:
    """Return up to five parts of scopes that are similar to a name, the most similar first."""
    scopes = {part for name in op_names for part in scope_parts(name)[:-1]}
    return similar_names(scope, sorted(scopes))


def _names(values: Iterable[StoredValue]) -> set[str]:
    """Return names by which these values can be found."""
    found: set[str] = set()
    for each in values:
        found.add(each.label)
        found |= {line.rpartition("/")[2] for line in each.source_lines}
        for op_name in (each.known_op_name, each.op_name):
            if op_name is not None:
                found |= {op_name, *scope_parts(op_name)}
    return found


def _fits(pattern: str, value: StoredValue) -> bool:
    name, _, _ = value.label.partition("{")
    if pattern in (value.label, name):
        return True
    ops = {op for op in (value.known_op_name, value.op_name) if op is not None}
    if any(in_scope(pattern, op) for op in ops):
        return True
    if any(line == pattern or line.endswith("/" + pattern) for line in value.source_lines):
        return True
    if _WILDCARDS.isdisjoint(pattern):
        return False
    return any(
        fnmatchcase(each, pattern) for each in (value.label, name, *ops, *value.source_lines)
    )


def in_scope(scope: str, op_name: str) -> bool:
    """Return True if an op is in a scope, given by all or some of its parts in order."""
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
