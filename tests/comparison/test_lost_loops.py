"""`compare` names a loop that is gone, and counts what it made in parts."""

from tests.comparison.test_explaining import LOOP, VALUE
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of

INNER = f"{LOOP}/checkpoint/rematted_computation/while/body/closed_call"


def reasons(before, after):
    return explain_pair(Reserved(tuple(before)), Reserved(tuple(after)))


def texts(before, after):
    return [reason_text(each, ("a", "b")) for each in reasons(before, after) if each.growth_bytes]


def test_a_checkpoint_in_a_loop_that_is_gone_explains_nothing_of_the_loop_inside_of_it():
    part = VALUE._replace(op_name=f"{INNER}/exp")
    whole = VALUE._replace(op_name=f"{LOOP}/exp", shape="f32[8,16]", held_bytes=512)
    assert texts([part], [whole]) == ["1 value now computed in one loop less (mostly f.py:1)"]
    assert texts([whole], [part]) == ["1 value now computed in one loop more (mostly f.py:1)"]


def test_what_the_compiler_computes_before_a_loop_is_of_the_loop_that_is_gone():
    part = VALUE._replace(op_name=f"{LOOP}/exp", held_bytes=0)
    parts = [part._replace(name=f"p{number}", live_from=number) for number in range(10)]
    hoisted = part._replace(name="h", op_name="jit(f)/exp")
    whole = VALUE._replace(op_name="jit(f)/vmap(jvp())/exp", shape="f32[8,16]", held_bytes=512)
    assert texts([*parts, hoisted], [whole]) == [
        "1 value no longer computed in a loop (mostly f.py:1)"
    ]


def test_few_bytes_of_a_loop_that_is_gone_do_not_precede_most_of_the_growth():
    few, in_loop = (
        [
            VALUE._replace(op_name=f"{scope}/op{number}", name=f"{number}", held_bytes=size)
            for number in range(5)
        ]
        for scope, size in (("jit(f)", 64), (LOOP, 0))
    )
    most = VALUE._replace(op_name="jit(f)/log", user_line=("f.py", 9), held_bytes=6400)
    found = sentences_of(reasons(in_loop, [*few, most]), ("a", "b"), (0, 6720))
    assert [each.growth_bytes for each in found] == [6400, 320]


def test_a_loop_that_is_gone_is_named_with_what_it_computed():
    loop = VALUE._replace(
        name="loop", opcode="while", op_name="jit(f)/while", shape="(s32[])", held_bytes=0
    )
    inside, outside = (
        [VALUE._replace(op_name=f"{scope}/op{number}", name=f"{number}") for number in range(5)]
        for scope in (LOOP, "jit(f)")
    )
    inside = [each._replace(held_bytes=0) for each in inside]
    before = Reserved((loop, *inside), turns={"loop": 4})
    (found,) = explain_pair(before, Reserved(tuple(outside)))
    assert reason_text(found, ("a", "b")) == (
        "a loop of 4 iterations is gone (f.py:1); 5 values no longer computed in a loop"
        " (mostly f.py:1)"
    )
    with_checkpoint = [
        each._replace(op_name=f"{LOOP}/checkpoint/op{number}", loop="loop")
        for number, each in enumerate(inside)
    ]
    before = before._replace(values=(loop, *with_checkpoint))
    texts = [reason_text(each, ("a", "b")) for each in explain_pair(before, Reserved((*outside,)))]
    assert any(each.startswith("a loop of 4 iterations is gone (f.py:1, with a") for each in texts)


def test_a_new_loop_around_another_one_is_named_with_what_it_computes():
    loops = [
        VALUE._replace(name=name, opcode="while", op_name=op, shape="(s32[])", held_bytes=0)
        for name, op in (("outer", "jit(f)/while"), ("inner", f"{LOOP}/while"))
    ]
    loops[0] = loops[0]._replace(user_line=("f.py", 9), source_line=("f.py", 9))
    in_one, in_two = (
        [VALUE._replace(op_name=f"{scope}/op{number}", name=f"{number}") for number in range(5)]
        for scope in (LOOP, f"{LOOP}/while/body")
    )
    in_two = [each._replace(held_bytes=16) for each in in_two]
    before = Reserved(
        (loops[0]._replace(name="inner", user_line=("f.py", 1)), *in_one), turns={"inner": 4}
    )
    after = Reserved((*loops, *in_two), turns={"outer": 3, "inner": 4})
    texts = [reason_text(each, ("a", "b")) for each in explain_pair(before, after)]
    assert texts[0].startswith(
        "a loop of 3 iterations is new (f.py:9); 5 values now computed in one loop more"
    )


def test_values_of_another_loop_and_of_none_in_a_new_loop_are_one_reason():
    outer, inner = (
        VALUE._replace(name=name, opcode="while", op_name=op, shape="(s32[])", held_bytes=0)
        for name, op in (("outer", "jit(f)/while"), ("inner", f"{LOOP}/while"))
    )
    outer = outer._replace(user_line=("f.py", 9), source_line=("f.py", 9))

    def values(scopes, held_bytes):
        return [
            VALUE._replace(op_name=f"{scope}/{op}", name=op, held_bytes=held_bytes)
            for scope, ops in zip(scopes, ("abcdef", "vwxyz"), strict=True)
            for op in ops
        ]

    alone = outer._replace(name="inner", user_line=("f.py", 1))
    before = Reserved((alone, *values((LOOP, "jit(f)"), 64)), turns={"inner": 4})
    in_both = values((f"{LOOP}/while/body", LOOP), 16)
    after = Reserved((outer, inner, *in_both), turns={"outer": 3, "inner": 4})
    found, *others = explain_pair(before, after)
    assert reason_text(found, ("a", "b")).startswith(
        "a loop of 3 iterations is new (f.py:9); 11 values now computed in one loop more"
    )
    assert found.growth_bytes == 11 * (16 - 64)
    assert not any(each.growth_bytes for each in others)


def test_a_loop_that_is_gone_precedes_the_stacks_that_it_no_longer_makes():
    loop = Reason(Subject(ReasonKind.SIZE), 48, 3, 3, turns={(4, 0)})
    stacks = Reason(Subject(ReasonKind.STACKED), -116, 8, 0, largest=(VALUE, None))
    first, second = sentences_of([stacks, loop], ("a", "b"), (1000, 932))
    assert first.text.startswith("a loop of 4 iterations is gone")
    assert second.growth_bytes == -116


def test_a_line_that_says_a_lost_loop_and_what_it_calls_instead_precedes_the_loop_alone():
    turns = Reason(Subject(ReasonKind.TURNS), turns={(4, 0)}, scopes={"train.py:9"})
    edited = Reason(Subject(ReasonKind.EDITED), turns={(4, 0)}, labels={"train.py:9 (model)"})
    edited.scopes, edited.inputs = {"forward"}, {"reversible"}
    peak = Reason(Subject(ReasonKind.PEAK), 400, 1, 1)
    first, _ = sentences_of([peak, turns, edited], ("a", "b"), (1000, 1400))
    assert first.text == (
        "train.py:9 (model): a loop of 4 iterations is gone, with reversible instead of forward"
    )


def test_functions_that_make_few_of_the_new_ops_follow_from_what_makes_the_others():
    inputs = Reason(Subject(ReasonKind.INPUTS), 64, 0, 8, inputs={"state[*]"})
    ops = Reason(Subject(ReasonKind.CALLED, "ops"), 0, 0, 800, inputs={"cond"})
    for count, text in ((19, "800 ops of cond"), (190, "190 ops made by f of keras")):
        functions = Reason(Subject(ReasonKind.CALLED), 0, 0, count, inputs={"f of keras"})
        first, _ = sentences_of([inputs, functions, ops], ("a", "b"), (1000, 1064))
        assert first.text == f"{text}, none before"
