"""A stack of both programs is not new where another value holds its bytes at the peak."""

from tests.comparison.test_explaining import STACK, VALUE, lines

PARAMETER = STACK._replace(name="arg", opcode="parameter", live_from=5)
ZEROS = STACK._replace(name="zeros", opcode="fusion", shape_index=None)


def with_bytes(before, after):
    return [each for each in lines(before, after) if each[1]]


def test_a_stack_that_waits_for_its_loop_at_the_peak_is_not_new():
    waiting = [ZEROS, PARAMETER._replace(held_bytes=0)]
    assert with_bytes([PARAMETER], waiting) == with_bytes(waiting, [PARAMETER]) == []


def test_a_stack_is_new_if_that_of_both_programs_holds_its_bytes():
    second = ZEROS._replace(name="second", held_bytes=640)
    ((text, _),) = with_bytes([PARAMETER], [PARAMETER, second])
    assert text.startswith("loops now stack 1 more value of each iteration")


def test_a_stack_of_another_shape_is_new():
    waiting = PARAMETER._replace(held_bytes=0)
    found = with_bytes([PARAMETER], [ZEROS._replace(shape="f32[10,4,4]"), waiting])
    assert {bytes_ for _, bytes_ in found} == {640, -640}


def test_zeros_of_a_sum_that_waits_at_the_peak_are_not_new():
    scatter = VALUE._replace(name="sum", op_name="jit(f)/transpose(jvp(embed))/scatter-add")
    zeros = scatter._replace(name="zeros", op_name="jit(f)/transpose(jvp(embed))/broadcast_in_dim")
    waiting = [zeros, scatter._replace(held_bytes=0)]
    assert with_bytes([scatter], waiting) == with_bytes(waiting, [scatter]) == []
    elsewhere = [zeros._replace(user_line=("f.py", 99)), waiting[1]]
    assert len(with_bytes([scatter], elsewhere)) == 2
