"""Loops of which one program computes several steps at once, and loops that run less often."""

from fractions import Fraction

import pytest

from tests.comparison.test_explaining import LOOP, VALUE
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.joined_loops import join_unrolled, name_turns
from xlagraph.comparison.joined_reasons import Sides
from xlagraph.comparison.loop_turns import ChangedLoop, LoopTurns, loop_turns
from xlagraph.comparison.new_code import name_new_code
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, ReasonKind
from xlagraph.comparison.sentences import sentences_of
from xlagraph.comparison.value_matching import Matching

NONE = Reserved(())
STATE = VALUE._replace(
    name="loop", opcode="while", op_name="jit(f)/while", shape="(s32[])", held_bytes=0
)


def program(turns, steps=1, *, shape="", inside=True):
    """Return a loop over two ops of line 2, each computed in several steps of an iteration."""
    body = [
        VALUE._replace(
            name=f"{op}.{step}",
            op_name=f"{LOOP}/{op}" if inside else f"jit(f)/{op}",
            user_line=("f.py", 2),
            live_from=step,
            loop="loop" if inside else None,
        )
        for op in ("exp", "mul")
        for step in range(steps)
    ]
    stack = STATE._replace(
        shape=shape, held_bytes=640, stack_turns=turns, shape_index="{1}", iterations=turns
    )
    loop = [STATE, *([stack] if shape else [])] if inside else []
    return Reserved((*loop, *body), turns={"loop": turns} if inside else {})


def first(before, after):
    found = max(explain_pair(before, after), key=lambda reason: abs(reason.growth_bytes))
    return reason_text(found, ("a", "b")), found.growth_bytes


def test_a_loop_with_several_steps_in_each_iteration_is_unrolled():
    before, after = program(12), program(3, 4)
    assert first(before, after) == (
        "a loop is unrolled (f.py:1): 3 iterations of 4 steps each, 12 before",
        6 * 64,
    )
    assert first(after, before)[0] == (
        "a loop is no longer unrolled (f.py:1): 12 iterations, 3 of 4 steps each before"
    )


def test_several_loops_of_one_line_have_no_steps_of_one_that_runs_more_often():
    """A TPU adds rows in a loop, of which half a batch in each of two steps has two."""
    whole, half = program(8), program(4)
    names = {"loop": "other"}
    others = [
        each._replace(name=names.get(each.name, f"{each.name}.1"), loop=each.loop and "other")
        for each in half.values
    ]
    parts = Reserved((*half.values, *others), turns={"loop": 4, "other": 4})
    for before, after, turns in ((whole, parts, (8, 4)), (parts, whole, (4, 8))):
        found = loop_turns(before, after)
        assert not found.unrolled
        assert [loop.turns for loop in found.others] == [turns]


def test_a_loop_whose_steps_the_other_program_computes_one_by_one_is_unrolled():
    before, after = program(4), program(0, 4, inside=False)
    assert first(before, after)[0] == "a loop of 4 iterations is unrolled (f.py:1)"
    assert first(after, before)[0] == "a loop of 4 iterations is no longer unrolled (f.py:1)"


def test_a_loop_whose_iterations_the_other_program_computes_at_once_is_mapped():
    before, loop = program(4), program(4)
    mapped = [
        each._replace(op_name=f"jit(f)/vmap()/{each.op_name[-3:]}", shape="f32[4,16]", loop=None)
        for each in loop.values
        if each.is_computed and each.opcode != "while"
    ]
    after = Reserved(tuple(each._replace(held_bytes=256) for each in mapped))
    assert first(before, after) == (
        "jax.vmap over 4 elements replaces a loop of as many iterations (f.py:1)",
        2 * (256 - 64),
    )
    assert first(after, before)[0] == (
        "a loop of 4 iterations replaces jax.vmap over as many elements (f.py:1)"
    )
    batch = Reserved(tuple(each._replace(shape="f32[16]") for each in mapped))
    assert not loop_turns(before, batch).unrolled


def test_stacks_with_a_dimension_for_the_steps_show_what_fusions_hide():
    before = program(12, shape="f32[12,16]")
    assert "is unrolled" in first(before, program(3, shape="f32[3,4,16]"))[0]


def test_a_loop_with_its_steps_in_a_new_inner_loop_is_nested_and_not_unrolled():
    before, after = program(12, shape="f32[12,16]"), program(3, shape="f32[3,4,16]")
    inner = STATE._replace(name="inner", op_name=f"{LOOP}/while", user_line=("f.py", 2))
    split = Reserved((*after.values, inner), turns={"loop": 3, "inner": 4})
    for sides, text in (
        ((before, split), "a loop of 12 iterations is now nested loops of 3 × 4 (f.py:1)"),
        ((split, before), "nested loops of 3 × 4 iterations are now one of 12 (f.py:1)"),
    ):
        unrolled = [
            each for each in explain_pair(*sides) if each.subject.kind is ReasonKind.UNROLLED
        ]
        assert [reason_text(each, ("a", "b")) for each in unrolled] == [text]


def test_a_loop_that_runs_less_often_beside_a_new_one_is_not_nested():
    before, after = program(12), program(3)
    beside = STATE._replace(name="other", user_line=("f.py", 9))
    found = loop_turns(before, Reserved((*after.values, beside), turns={"loop": 3, "other": 4}))
    assert not found.unrolled
    assert {each.turns for each in found.others} == {(12, 3), (0, 4)}


def test_a_loop_that_only_runs_less_often_or_is_computed_at_once_is_not_unrolled():
    before = program(12)
    at_once = program(0, 1, inside=False)
    for after in (program(3), at_once):
        reasons = explain_pair(before, after)
        assert not any("unrolled" in reason_text(each, ("a", "b")) for each in reasons)


def test_a_loop_is_the_same_after_lines_above_it_moved():
    before, after = program(12), program(3, 4)
    moved = [
        value._replace(user_line=(file, line + 7))
        for value in after.values
        for file, line in [value.user_line]
    ]
    assert "is unrolled (f.py:8): 3 iterations" in first(before, after._replace(values=moved))[0]


def test_loops_of_one_file_are_the_same_in_their_order_after_lines_above_them_moved():
    def of(*lines, scopes=("jit(f)/while", "jit(f)/while")):
        values = []
        for turns, (line, op_name) in enumerate(zip(lines, scopes, strict=True), 4):
            loop = STATE._replace(name=f"loop{line}", op_name=op_name, user_line=("f.py", line))
            ops = (f"exp{turns}", f"mul{turns}")
            values += [loop._replace(iterations=turns)]
            values += [
                VALUE._replace(name=op, op_name=f"{op_name}/body/{op}", loop=loop.name)
                for op in ops
            ]
        of_loops = {f"loop{line}": turns for turns, line in enumerate(lines, 4)}
        return Reserved(tuple(values), turns=of_loops)

    assert loop_turns(of(5, 9), of(8, 12)) == LoopTurns([], [])
    # the line of one loop is now that of the loop around it
    nested = ("jit(f)/while/body/while", "jit(f)/while")
    assert loop_turns(of(5, 9, scopes=nested), of(1, 5, scopes=nested)) == LoopTurns([], [])


def test_values_that_grow_as_a_loop_runs_less_often_are_those_of_its_iterations():
    before, after = program(8), program(2)
    larger = [
        value._replace(shape="f32[64]", held_bytes=256) if value.loop else value
        for value in after.values
    ]
    text = "a loop has 2 iterations, was 8: 2 values have 4 times as many elements"
    assert first(before, after._replace(values=tuple(larger)))[0].startswith(text)


def test_a_loop_over_all_elements_of_larger_arrays_follows_from_their_dimension():
    def of(size, steps=4):
        loop = [STATE._replace(iterations=size * steps)]
        parts = [
            VALUE._replace(name=op, op_name=f"jit(f)/{op}", shape=f"f32[{size},3]", held_bytes=size)
            for op in ("sin", "cos", "tan")
        ]
        return Reserved((*loop, *parts), turns={"loop": size * steps})

    (reason,) = explain_pair(of(8), of(16))
    assert reason_text(reason, ("a", "b")).startswith("a dimension of 8 is 16 now: 3 values")
    text = "a loop has 16 iterations, was 8: 3 values have 2 times as many elements"
    assert first(of(8, 1), of(16, 1))[0].startswith(text)


def test_buffers_of_a_loop_with_a_place_for_the_start_grow_with_its_iterations():
    before, after = (
        Reserved(
            (
                *tuple(
                    each._replace(shape=f"f32[{turns + 1},16]", held_bytes=64 * (turns + 1))
                    for each in program(turns).values
                    if each.loop
                ),
                STATE,
            ),
            turns={"loop": turns},
        )
        for turns in (4, 8)
    )
    text = "a loop has 8 iterations, was 4: 2 values have 1.8 times as many elements"
    assert first(before, after)[0].startswith(text)


def test_a_new_loop_is_said_before_values_that_replace_others():
    before, after = program(0, inside=False), program(8)
    other = [
        each._replace(op_name=f"{each.op_name}_part", user_line=("f.py", 9), held_bytes=8)
        if each.loop
        else each
        for each in after.values
    ]
    after = after._replace(values=tuple(other))
    found = sentences_of(
        explain_pair(before, after), ("a", "b"), (before.total_bytes, after.total_bytes)
    )
    assert found[0].line == "a loop of 8 iterations is new (f.py:1): 0 B"
    assert found[1].text.startswith("2 values are gone at the peak")


def test_of_several_new_loops_that_with_the_missing_elements_is_named_with_its_values():
    loops = [ChangedLoop(("f.py", at), (0, n), frozenset()) for at, n in ((1, 8), (2, 32))]
    found = FoundReasons()
    around = found.of(ReasonKind.LOOPED, before="loop", after="new")
    around.growth_bytes, around.count_a, around.count_b = -800, 5, 5
    around.factors = {Fraction(1, 8)}
    stacks = found.of(ReasonKind.STACKED)
    stacks.growth_bytes, stacks.count_b = 900, 2
    name_turns(Sides(NONE, NONE, Matching((), (), ())), LoopTurns([], loops), found)
    told = sentences_of([*found.found.values()], ("a", "b"), (1000, 1100))
    assert [each.text.partition(";")[0] for each in told] == [
        "a loop of 8 iterations is new (f.py:1)",
        "loops now stack 2 more values of each iteration",
    ]


def test_loops_of_random_numbers_are_none_of_the_program():
    before, after = program(5), program(0, 1, inside=False)
    names = [
        each._replace(op_name=f"jit(f)/jit(_shuffle)/{each.op_name}") for each in before.values
    ]
    found = loop_turns(before._replace(values=tuple(names)), after)
    assert not found.others
    assert loop_turns(before, after).others[0].turns == (5, 0)


def test_a_loop_that_is_gone_where_another_one_is_new_is_the_same():
    before, after = program(5), program(5)
    moved = [
        each._replace(op_name=f"{each.op_name}/scan", name=f"{each.name}.1")
        for each in after.values
    ]
    after = Reserved(tuple(moved), turns={"loop.1": 5})
    assert not loop_turns(before, after).others
    third = moved[0]._replace(op_name="jit(f)/other", name="loop.2")
    after = Reserved((*moved, third), turns={"loop.1": 5, "loop.2": 5})
    assert len(loop_turns(before, after).others) == 3


def test_a_loop_within_one_that_is_gone_is_not_unrolled_where_it_still_runs():
    before, after = program(5), program(0, 5, inside=False)
    inner = STATE._replace(op_name="jit(f)/while/body/while", user_line=("f.py", 4), name="inner")
    alone = inner._replace(op_name="jit(f)/while")
    ops = [each._replace(user_line=("f.py", 4), loop=None) for each in after.values]
    found = loop_turns(
        Reserved((*before.values, inner), turns={**before.turns, "inner": 5}),
        Reserved((*after.values, *ops, alone), turns={"inner": 5}),
    )
    assert [each.line for each in found.unrolled] == [("f.py", 1)]


def test_a_loop_and_a_checkpoint_explain_no_gradients_that_only_one_program_computes():
    before, after = program(12), program(3, 4)
    op_names = {
        each.op_name: each.op_name.replace("/while", "/jvp(while)") for each in after.values
    }
    passes = [each._replace(op_name=op_names[each.op_name]) for each in after.values]
    kept = VALUE._replace(op_name="jit(f)/jvp(while)/body/checkpoint/mul", live_from=9)
    after = after._replace(values=(*passes, kept))
    texts = {reason_text(each, ("a", "b")) for each in explain_pair(before, after)}
    assert "a loop has 3 iterations, was 12 (f.py:1)" in texts
    assert not any("unrolled" in text or text.startswith("checkpoint") for text in texts)


def test_a_checkpoint_in_a_loop_that_is_unrolled_without_it_is_said_with_it():
    before, after = program(4), program(0, 4, inside=False)
    names = [each.op_name.replace("call/", "call/checkpoint/") for each in before.values]
    values = [
        each._replace(op_name=name, held_bytes=0)
        for each, name in zip(before.values, names, strict=True)
    ]
    before = before._replace(values=tuple(values))
    text = "a loop of 4 iterations {} unrolled (f.py:1), and its checkpoint {}"
    assert first(before, after)[0] == text.format("is", "gone")
    assert first(after, before)[0] == text.format("is no longer", "added")


@pytest.mark.parametrize(("steps", "word"), [(("jax.vmap", ""), "new"), (("", "jax.vmap"), "gone")])
def test_values_are_in_one_loop_more_if_a_loop_replaces_vmap(steps, word):
    found = FoundReasons()
    mapped = found.of(ReasonKind.UNROLLED, before=steps[0], after=steps[1])
    mapped.growth_bytes = -64
    found.of(ReasonKind.LOOPED, before="loop", after=word).growth_bytes = -8
    scope = ReasonKind.SCOPE_NEW if word == "new" else ReasonKind.SCOPE_GONE
    found.of(scope, after="while").growth_bytes = -4
    batch = VALUE._replace(op_name="jit(f)/vmap()/exp"), VALUE._replace(op_name="jit(f)/exp")
    before, after = (Reserved((each,)) for each in batch[:: 1 if word == "new" else -1])
    sides = Sides(before, after, Matching((), (), ()))
    join_unrolled(sides, LoopTurns([], []), found)
    name_new_code(sides, found)  # none: the loop says it
    assert [(each.kind, reason.growth_bytes) for each, reason in found.found.items()] == [
        (ReasonKind.UNROLLED, -76)
    ]


def test_a_loop_is_the_same_in_a_file_of_another_name():
    before = program(8)
    moved = [
        each._replace(user_line=("g.py", 9), source_line=("g.py", 9)) for each in before.values
    ]
    found = loop_turns(before, before._replace(values=tuple(moved)))
    assert found == ([], [])


def test_a_loop_in_another_one_is_unrolled_where_that_one_has_its_steps():
    outer = STATE._replace(name="outer", user_line=("f.py", 4), op_name="jit(f)/while")
    inner = f"{LOOP[: -len('closed_call')]}while/body"
    before, after = program(4), program(0, 4, inside=False)
    within = [each._replace(op_name=f"{inner}/{each.op_name[7:]}") for each in before.values[1:]]
    state = STATE._replace(op_name="jit(f)/while/body/while")
    steps = [
        each._replace(op_name=f"{LOOP}/{each.op_name[7:]}", loop="outer") for each in after.values
    ]
    found = loop_turns(
        Reserved((outer, state, *within), turns={"loop": 4, "outer": 7}),
        Reserved((outer, *steps), turns={"outer": 7}),
    )
    assert [each.turns for each in found.unrolled] == [(4, 0)]


def test_the_counter_of_a_loop_is_no_op_of_its_body():
    counter = [
        VALUE._replace(name=f"i{n}", op_name=f"{LOOP}/add", shape="s32[]", loop="loop", live_from=n)
        for n in range(8)
    ]
    before, after = program(4), program(0, 4, inside=False)
    before = before._replace(values=(*before.values, *counter))
    assert [each.turns for each in loop_turns(before, after).unrolled] == [(4, 0)]


def test_copies_of_a_loops_stacks_go_with_the_checkpoint_in_the_loop():
    def made(checkpoint, **facts):
        return VALUE._replace(
            op_name=f"jit(f)/transpose(jvp())/while/body/{checkpoint}exp", **facts
        )

    copy = VALUE._replace(name="c", opcode="copy", op_name="jit(f)/jvp()/while", held_bytes=640)
    of_input = copy._replace(name="d", op_name="p", held_bytes=8)
    before = Reserved((made("checkpoint/rematted_computation/"),))
    found = explain_pair(before, Reserved((made("", held_bytes=0), copy, of_input), copies=2))
    growth = {each.subject.kind: each.growth_bytes for each in found}
    assert growth == {ReasonKind.UNCHECKPOINTED: 640 - 64, ReasonKind.COPIES: 8}


def test_a_loop_of_another_name_is_not_gone_if_as_many_run_so_often():
    before, after = program(8), program(8)
    state, *body = after.values
    # as another version of JAX names its scopes and gives its line
    renamed = state._replace(op_name="jit(f)/run/while", user_line=("f.py", 4))
    moved = [each._replace(op_name=f"jit(f)/run/while/body/op{n}") for n, each in enumerate(body)]
    assert loop_turns(before, after._replace(values=(renamed, *moved))).others == []
    of_two = after._replace(values=(renamed, *moved), turns={"loop": 8, "second": 8})
    assert len(loop_turns(before, of_two).others) == 2
