"""Loops with the scopes of another loop, and loops that only lie in another loop."""

from tests.comparison.test_explaining import LOOP, VALUE
from tests.comparison.test_loop_turns import STATE, program
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.loop_turns import loop_turns

RANDOM = "_normal/_uniform/while"
OTHER_OPS = ("add", "dot", "max", "neg", "sub", "tanh")


def with_other_loop(side):
    """Return a program with a second loop of the same scopes, at another line."""
    other = STATE._replace(name="other", user_line=("f.py", 7))
    body = [
        VALUE._replace(
            name=op, op_name=f"{LOOP}/{op}", user_line=("f.py", 8), live_from=7, loop="other"
        )
        for op in OTHER_OPS
    ]
    return Reserved((*side.values, other, *body), turns={**side.turns, "other": 9})


def test_a_loop_is_mapped_beside_another_one_with_the_same_scopes():
    loop = program(4)
    mapped = Reserved(
        tuple(
            each._replace(op_name=f"jit(f)/vmap()/{each.op_name[-3:]}", shape="f32[4,16]", loop="")
            for each in loop.values
            if each.opcode != "while"
        )
    )
    found = loop_turns(*map(with_other_loop, (loop, mapped)))
    assert [(each.turns, each.is_mapped) for each in found.unrolled] == [((4, 0), True)]


def of_random_numbers(scopes, ops, loop=None):
    """Return a loop that runs five times, with ops of its body."""
    state = STATE._replace(name="random", op_name=f"jit(f)/{scopes}{RANDOM}", loop=loop)
    body = [
        VALUE._replace(
            name=f"{op}.{number}",
            op_name=f"{state.op_name}/body/{op}",
            loop="random",
            live_from=number,
        )
        for op, count in ops.items()
        for number in range(count)
    ]
    return Reserved((state, *body), turns={"random": 5})


def test_a_loop_that_lies_in_a_new_loop_is_not_unrolled_in_the_other_program():
    inside = of_random_numbers("while/body/", {"xor": 1, "add": 1, "shift": 1, "or": 1, "and": 1})
    # ops that the other program has outside of loops whose iterations are known
    ops = {"xor": 4, "add": 4, "shift": 4}
    outside = of_random_numbers("", {"mul": 3})
    free = of_random_numbers("", ops).values[1:]
    free = [each._replace(loop=None) for each in free]
    outside = Reserved((*outside.values, *free), turns=outside.turns)
    assert not loop_turns(inside, outside).unrolled
    assert not loop_turns(outside, inside).unrolled
    alone = Reserved(tuple(free))
    assert [each.turns for each in loop_turns(inside, alone).unrolled] == [(5, 0)]
