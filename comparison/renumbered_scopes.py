"""Find scopes that only count differently in two programs, as one more layer gives later ones.

Block_0, Block_1, Block_2             of one program
Block_0, Block_1, Block_2, Block_3    of the other one, whose Block_3 is the former Block_2
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.held_values import HeldValue, SourceLine
from xlagraph.hlo.op_names import is_backward, stem


def key_of_renumbered(
    a: Iterable[HeldValue], b: Iterable[HeldValue]
) -> Callable[[HeldValue], tuple[Hashable, ...] | None]:
    """Return a key by which values of renumbered scopes are the same op; None for other values.

    Their shapes are equal. A program in which all scopes have their numbers is not renumbered.
    """
    scopes_a, scopes_b = map(_scopes, (a, b))
    renumbered = {
        known for known in scopes_a.keys() & scopes_b.keys() if scopes_a[known] != scopes_b[known]
    }

    def key(value: HeldValue) -> tuple[Hashable, ...] | None:
        if pattern(_scope(value)) not in renumbered:
            return None
        op = tuple(map(pattern, stem(value.op_name)))
        return *op, value.opcode, value.shape_index, is_backward(value.op_name), value.shape

    return key


def key_of_lines(
    a: Iterable[HeldValue], b: Iterable[HeldValue]
) -> Callable[[HeldValue], tuple[Hashable, ...] | None]:
    """Return a key of scopes that have the numbers of others, as those of former ones are gone.

    If Norm_0 of two lines becomes another layer, Norm_1 of a later line is Norm_0. Of these scopes,
    one program must have all lines of the other one, or else an edit moved the lines.
    """
    lines_a, lines_b = map(_lines, (a, b))
    of_pattern_a, of_pattern_b = map(_by_pattern, (lines_a, lines_b))
    moved = {
        _pattern_of_last(scope)
        for scope in lines_a.keys() & lines_b.keys()
        if lines_a[scope].isdisjoint(lines_b[scope])
    }
    known = {
        each
        for each in moved
        if of_pattern_a[each] < of_pattern_b[each] or of_pattern_b[each] < of_pattern_a[each]
    }

    def key(value: HeldValue) -> tuple[Hashable, ...] | None:
        scope = _pattern_of_last(_scope(value))
        if scope not in known:
            return None
        op = stem(value.op_name)[-1]
        is_of_gradient = is_backward(value.op_name)
        of_line = value.user_line, value.shape
        return scope, op, value.opcode, value.shape_index, is_of_gradient, *of_line

    return key


def _lines(values: Iterable[HeldValue]) -> dict[str, set[SourceLine]]:
    """Return the lines of the program that call each scope."""
    found: defaultdict[str, set[SourceLine]] = defaultdict(set)
    for value in values:
        if value.user_line and (scope := _scope(value)):
            found[scope].add(value.user_line)
    return found


def _by_pattern(lines: Mapping[str, set[SourceLine]]) -> dict[str, set[SourceLine]]:
    found: defaultdict[str, set[SourceLine]] = defaultdict(set)
    for scope, of_scope in lines.items():
        found[_pattern_of_last(scope)] |= of_scope
    return found


def _pattern_of_last(scope: str) -> str:
    """Return a scope without the numbers of its last part."""
    outer, slash, last = scope.rpartition("/")
    return f"{outer}{slash}{pattern(last)}"


def _scopes(values: Iterable[HeldValue]) -> dict[str, set[str]]:
    """Return the scopes of ops by their names without numbers."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for value in values:
        if scope := _scope(value):
            found[pattern(scope)].add(scope)
    return found


def _scope(value: HeldValue) -> str:
    """Return the scope of an op, or the name of the input of which a value is a copy."""
    if not value.is_computed or not value.op_name:
        return ""
    names = stem(value.op_name)
    return "/".join(names[:-1] if "/" in value.op_name else names)
