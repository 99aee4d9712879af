"""The user's line of a stack that XLA put below that of a call."""

import pytest

from xlagraph.hlo.metadata import StackFrame, frame_of_call


@pytest.mark.parametrize(
    ("stack", "line"),
    [
        # a scan keeps its outputs by a function that JAX traced for another scan
        ("main:3 step:31 step:31 step:20", "step:31"),
        ("step:49 loss:37 forward:30 step:49 loss:37 forward:28", "forward:30"),
        ("step:49 forward:30 step:49 forward:28 step:49 forward:28", "forward:30"),
        # in a loop, the stack of what contains it comes again
        ("step:49 loss:37 step:49 loss:37 body:20", "body:20"),
        # a function of one's own, traced for its first call
        ("step:49 forward:30 step:49 forward:28 norm:12", "norm:12"),
        # a function that calls itself
        ("main:3 step:49 net:31 net:31 net:20", "net:20"),
        ("main:3 other:7", "other:7"),
        ("", None),
    ],
)
def test_the_stack_of_a_first_call_does_not_say_the_line_of_another_call(stack, line):
    own = [
        StackFrame(name, "/me/train.py", int(number), 1, None)
        for name, number in (each.split(":") for each in stack.split())
    ]
    found = frame_of_call(own, "step")
    assert (f"{found.function}:{found.line}" if found else None) == line


def test_the_name_of_a_compiled_lambda_has_no_brackets():
    own = [StackFrame("make.<locals>.<lambda>", "/me/train.py", line, 1, None) for line in (9, 5)]
    found = frame_of_call(own, "_lambda_")
    assert found == own[0]
