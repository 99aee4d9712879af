"""Find scopes that only count differently in two programs, as one more layer gives later ones.

Block_0, Block_1, Block_2             of one program
Block_0, Block_1, Block_2, Block_3    of the other one, whose Block_3 is the former Block_2
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

from xlagraph.comparison.argument_names import pattern
from xlagraph.comparison.held_values import HeldValue
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
