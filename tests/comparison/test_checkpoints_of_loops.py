"""Loops of one function have the same scopes; a checkpoint may be gone from one of them."""

from tests.comparison.test_explaining import VALUE
from xlagraph.comparison.changed_loops import ChangedLoops
from xlagraph.comparison.checkpoints import changed_checkpoints
from xlagraph.comparison.held_values import Reserved

BODY = "jit(f)/transpose(jvp())/while/body"


def backward(*recomputing):
    """Return a program with a backward loop for each argument, which recomputes or does not."""
    values = []
    for number, is_recomputing in enumerate(recomputing):
        loop = VALUE._replace(
            name=f"while.{number}", opcode="while", op_name=BODY.removesuffix("/body")
        )
        name = f"{BODY}/checkpoint/rematted_computation/tanh" if is_recomputing else f"{BODY}/tanh"
        values += [loop, VALUE._replace(name=f"tanh.{number}", op_name=name, loop=loop.name)]
    return Reserved(tuple(values))


def changed(before, after):
    loops = ChangedLoops(before.values, after.values)
    found = changed_checkpoints(before, after, loops)
    return found.gone, found.new


def test_a_checkpoint_is_gone_from_one_of_two_loops_with_the_same_scopes():
    scope = frozenset({("while", "body")})
    both, one = backward(True, True), backward(True, False)
    assert changed(both, one) == (scope, frozenset())
    assert changed(one, both) == (frozenset(), scope)


def test_loops_of_other_numbers_tell_nothing_of_their_checkpoints():
    assert changed(backward(True, True), backward(True)) == (frozenset(), frozenset())
