"""Which readers of a value belong to the forward pass of a program, and which to the backward."""

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.planner.edits.passes import Passes

FORWARD, BACKWARD, UPDATE = "jit(f)/jvp()/exp", "jit(f)/transpose(jvp())/mul", "jit(f)/add"
STEPS = {
    # id: op name, the values that it reads
    1: (BACKWARD, []),  # zeros, merged with those of the forward pass
    2: (FORWARD, [1]),
    3: (BACKWARD, [2]),  # a mask, which the forward pass computes on its way
    4: (FORWARD, [2]),
    5: (FORWARD, [4]),  # the loss
    6: (BACKWARD, [4]),
    7: (FORWARD, [2]),  # computed when the backward pass needs it
    8: (BACKWARD, [3, 6, 7]),
    9: (UPDATE, [2, 8]),
}


@pytest.fixture
def passes():
    read_until = {
        each: max((s for s in STEPS if each in STEPS[s][1]), default=10) for each in STEPS
    }
    planned = [
        value(each, each, read_until[each], reads=tuple(reads), lives_out=each in (5, 9))
        for each, (_, reads) in STEPS.items()
    ]
    known = [facts(each, "f32[4]", op_name=name) for each, (name, _) in STEPS.items()]
    made = compilation(planned, known)
    return made.program, Passes(made, made.program)


@pytest.mark.parametrize(
    ("read", "backward", "forward"),
    [
        (1, [], [2]),
        (2, [7, 9], [3, 4]),  # what only the backward pass needs, and what depends on it
        (3, [8], []),
        (4, [6], [5]),
        (7, [8], []),
    ],
)
def test_readers_belong_to_the_pass_that_they_depend_on_or_are_computed_for(
    passes, read, backward, forward
):
    program, found = passes
    readers_of_both = found.readers(program.by_id[read])
    assert [[each.value_id for each in readers] for readers in readers_of_both] == [
        backward,
        forward,
    ]


def test_indices_chosen_for_the_backward_pass_do_not_begin_it():
    steps = {
        1: (FORWARD, [20]),
        2: (BACKWARD, [1]),  # padding
        3: (None, []),  # numbers of the elements
        4: (None, [2, 3]),  # indices of the largest
        5: (BACKWARD, [4]),  # made of them at once
        6: (FORWARD, [1]),
        7: (FORWARD, [6]),
        8: (BACKWARD, [7]),
        9: (BACKWARD, [5, 6, 8]),
    }
    planned = [value(each, each, 9, 64, reads=tuple(reads)) for each, (_, reads) in steps.items()]
    known = [facts(each, "f32[16]", op_name=name) for each, (name, _) in steps.items()]
    made = compilation(planned, known)
    _, forward = Passes(made, made.program).readers(made.program.by_id[6])
    assert [each.value_id for each in forward] == [7]


@pytest.mark.parametrize(("size", "is_forward"), [(4, True), (64, False)])
def test_a_number_does_not_begin_the_backward_pass(size, is_forward):
    steps = {
        1: (FORWARD, [9]),  # the sum of the weights, which are an input
        2: (BACKWARD, [1]),  # its inverse
        3: (FORWARD, []),
        4: (FORWARD, [3]),
        5: (BACKWARD, [2, 4]),
        6: (BACKWARD, [3, 5]),
    }
    planned = [
        value(each, each, each + 3, size if each == 2 else 64, reads=tuple(reads))
        for each, (_, reads) in steps.items()
    ]
    known = [facts(each, "f32[16]", op_name=name) for each, (name, _) in steps.items()]
    made = compilation(planned, known)
    _, forward = Passes(made, made.program).readers(made.program.by_id[3])
    assert [each.value_id for each in forward] == ([4] if is_forward else [])


@pytest.mark.parametrize(("tokens", "is_forward"), [("s32[16]", True), ("f32[16]", False)])
def test_what_is_made_of_integers_alone_does_not_begin_the_backward_pass(tokens, is_forward):
    steps = {
        0: (tokens, None, []),
        1: ("f32[16]", None, []),  # a parameter
        2: ("f32[16]", FORWARD, [0]),  # weights of the tokens
        3: ("f32[16]", BACKWARD, [2]),
        4: ("f32[16]", FORWARD, [1]),
        5: ("f32[16]", FORWARD, [4]),
        6: ("f32[16]", BACKWARD, [3, 5]),
        7: ("f32[16]", BACKWARD, [4, 6]),
    }
    planned = [
        value(each, each, 8, 64, reads=tuple(reads), is_stored=each < 2)
        for each, (_, _, reads) in steps.items()
    ]
    known = [
        facts(each, shape, "parameter" if each < 2 else "add", op_name)
        for each, (shape, op_name, _) in steps.items()
    ]
    made = compilation(planned, known)
    _, forward = Passes(made, made.program).readers(made.program.by_id[4])
    assert [each.value_id for each in forward] == ([5] if is_forward else [])


@pytest.mark.parametrize(
    ("op_name", "platform", "is_ordered"),
    [
        ("jit(f)/transpose(jvp())/mul", "cpu", False),
        ("gradient_tape/mul", "cpu", True),
        ("jit(f)/transpose(jvp())/mul", "gpu", True),
    ],
)
def test_tensorflow_orders_what_a_checkpoint_recomputes_on_a_cpu_too(op_name, platform, is_ordered):
    known = [facts(1, "f32[4]", op_name=op_name)]
    made = compilation([value(1, 0, 1)], known, platform=platform)
    assert made.orders_recomputation is is_ordered
