"""Reasons for the growth between values, with what only a module's text would tell."""

from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.reason_texts import reason_text

LOOP = "jit(f)/while/body/closed_call"
VALUE = HeldValue(
    ReservedPart.LIVE,
    64,
    is_donated=False,
    name="a",
    shape_index=None,
    opcode="fusion",
    op_name="jit(f)/exp",
    user_line=("f.py", 1),
    source_line=("f.py", 1),
    shape="f32[16]",
    dtype="f32",
    size_bytes=64,
    live_from=1,
)
OTHER = VALUE._replace(name="b", op_name="jit(f)/neg", live_from=2)
STACK = VALUE._replace(
    held_bytes=640,
    shape="f32[10,16]",
    op_name=f"{LOOP}/jit(_where)/select_n",
    shape_index="{1}",
    opcode="while",
    stack_turns=10,
)


def lines(before, after, partitions=None):
    sides = (Reserved(tuple(side), partitions=partitions) for side in (before, after))
    reasons = [each for each in explain_pair(*sides) if each.growth_bytes or each.scopes]
    return [(reason_text(each, ("a", "b")), each.growth_bytes) for each in reasons]


def test_a_value_that_only_one_program_returns_is_an_output_though_as_many_bytes_hold_it():
    returned = VALUE._replace(part=ReservedPart.OUTPUTS, is_result=True)
    found = lines([VALUE, OTHER._replace(held_bytes=0)], [returned, OTHER])
    assert found == [("1 new output, such as f32[16] (mostly f.py:1)", 64)]


def test_stacks_of_a_loop_that_kept_none_are_stacks_and_no_new_scopes():
    state = VALUE._replace(op_name=f"{LOOP}/mul", held_bytes=0)
    found = lines([state], [state, STACK])
    assert found[0] == (
        "loops now stack 1 more value of each iteration: select_n f32[10,16] (mostly f.py:1)",
        640,
    )


def test_a_librarys_new_values_are_named_with_the_values_that_it_makes():
    line = ("/env/lib/python3.11/site-packages/jraph/utils.py", 7)
    made = OTHER._replace(source_line=line)
    text = (
        "1 value made by jraph/utils.py, none before; 1 new value at the peak: neg f32[16]"
        " (mostly f.py:1 → jraph/utils.py:7)"
    )
    assert lines([VALUE], [VALUE, made]) == [(text, 64)]


def test_collectives_are_counted_between_programs_on_as_many_devices():
    gathered = OTHER._replace(opcode="all-gather", held_bytes=0)
    found = lines([VALUE], [VALUE, gathered], partitions=8)
    assert ("collectives: 1 all-gather (none before)", 0) in found
