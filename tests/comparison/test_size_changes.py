"""Which values of other sizes are the same value in a larger or smaller program."""

from tests.comparison.test_explaining import INPUT, STACK, VALUE, lines
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved, ReservedPart
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject
from xlagraph.comparison.value_matching import match_values


def test_values_of_two_lines_are_not_the_same_in_two_sizes_if_no_input_changed():
    factor = VALUE._replace(op_name="jit(f)/svd", shape="f32[4,4]")
    other = factor._replace(shape="f32[400,400]", held_bytes=640_000, user_line=("f.py", 9))
    assert "replaced by 1 other" in lines([factor], [other])[0][0]
    same_line = other._replace(user_line=factor.user_line)
    assert "f32[4,4] → f32[400,400]" in lines([factor], [same_line])[0][0]
    of_one = VALUE._replace(shape="f32[16,1]"), VALUE._replace(shape="f32[16,8]", held_bytes=512)
    assert "replaced by" in lines(*([each] for each in of_one))[0][0]


def test_a_number_is_no_value_that_an_array_replaces():
    number = VALUE._replace(op_name="jit(f)/gather", dtype="s32", shape="s32[1]", held_bytes=4)
    array = VALUE._replace(op_name="jit(f)/exp", shape="f32[400,400]", held_bytes=640_000)
    for before, after, growth, text in (
        ([number], [array], 639_996, "1 new value at the peak: exp f32[400,400]"),
        ([array], [number], -639_996, "1 value is gone at the peak: exp f32[400,400]"),
    ):
        assert lines(before, after) == [(f"{text} (mostly f.py:1)", growth)]


def test_tokens_of_another_length_precede_a_larger_parameter_that_follows_from_them():
    def inputs(length, dtype):
        weights = INPUT._replace(op_name="w", shape=f"f32[{length},8]", held_bytes=32 * length)
        tokens = INPUT._replace(
            name="t",
            op_name="t",
            dtype=dtype,
            shape=f"{dtype}[{length}]",
            held_bytes=4 * length,
        )
        return [weights, tokens]

    assert lines(inputs(8, "s32"), inputs(16, "s32"))[0][0].startswith("t s32[8] → s32[16]: ")
    # the keys of layers follow from their number
    assert lines(inputs(8, "u32"), inputs(16, "u32"))[0][0].startswith("w f32[8,8] → f32[16,8]: ")


def test_series_of_another_length_precede_a_larger_parameter_of_which_a_step_returns_a_new_one():
    def inputs(length):
        weights = INPUT._replace(op_name="w", shape=f"f32[{length},8]", held_bytes=32 * length)
        series = INPUT._replace(
            name="x", op_name="x", shape=f"f32[{length}]", held_bytes=4 * length
        )
        return [weights, series]

    before, after = inputs(8), inputs(16)
    assert lines(before, after)[0][0].startswith("w f32[8,8] → f32[16,8]: ")
    before, after = ([each[0]._replace(is_result=True), each[1]] for each in (before, after))
    assert lines(before, after)[0][0].startswith("x f32[8] → f32[16]: ")
    # the counts of an ensemble's optimizers are returned, too
    for each in (before, after):
        each[1] = each[1]._replace(
            is_result=True, dtype="s32", shape=each[1].shape.replace("f32", "s32")
        )
    assert lines(before, after)[0][0].startswith("w f32[8,8] → f32[16,8]: ")


def test_values_of_most_lines_are_the_same_in_two_sizes_though_an_edit_moved_the_lines():
    def program(size, moved):
        return [
            VALUE._replace(
                name=op,
                op_name=f"jit(f)/{op}",
                shape=f"f32[{size},4]",
                held_bytes=size * 16,
                user_line=("f.py", at + moved),
            )
            for at, op in enumerate(("exp", "neg", "tanh"))
        ]

    text = "3 values have 2 times as many elements, such as f32[8,4] → f32[16,4]"
    text = f"a dimension of 8 is 16 now: {text}"
    assert lines(program(8, 1), program(16, 3))[0][0].startswith(text)
    assert "replaced by 2 others" in lines(program(8, 1)[:2], program(16, 3)[:2])[0][0]
    both_sizes = [
        VALUE._replace(name=shape, op_name=f"jit(f)/{shape}", shape=shape)
        for shape in ("f32[8,4]", "f32[16,4]")
    ]
    found = lines([*both_sizes, *program(8, 1)], [*both_sizes, *program(16, 3)])
    assert "replaced by 3 others" in found[0][0]


def test_partial_sums_that_a_library_makes_no_longer_are_no_other_dimension():
    def program(size, name):
        return [
            VALUE._replace(
                name=f"{name}.{op}",
                opcode="fusion",
                op_name=f"jit(f)/{op}",
                shape=f"f32[4,{size}]",
                held_bytes=size * 16,
            )
            for op in ("reduce_sum", "reduce_max", "reduce_min")
        ]

    whole, parts = program(128, "ynn_fusion"), program(4, "wrapped_reduce-window")
    ((text, _),) = lines(whole, parts)
    assert text.startswith("YNN no longer makes 3 values")
    own = [VALUE._replace(shape=f"f32[{n}]", held_bytes=4 * n) for n in (128, 4)]
    found = lines([*whole, own[0]], [*parts, own[1]])
    assert any("a dimension of 128 is 4 now" in text for text, _ in found)


def test_more_heads_are_a_dimension_that_grows_as_another_one_shrinks():
    def program(heads):
        shapes = [f"f32[8,{heads},{size}]" for size in (128, 256, 512)]
        shapes += [f"f32[{n},{heads},{64 // heads}]" for n in (2, 4, 16)]
        return [
            VALUE._replace(
                name=str(at),
                op_name=f"jit(f)/op{at}",
                shape=shape,
                held_bytes=heads * 512 if at < 3 else 256,
            )
            for at, shape in enumerate(shapes)
        ]

    text = "a dimension of 4 is 8 now, and one of 16 is 8: 3 values have 2 times as many elements"
    assert lines(program(4), program(8))[0][0].startswith(text)


def test_scores_of_more_heads_grow_with_a_parameter_of_the_features_of_each():
    def program(heads):
        weights = INPUT._replace(shape=f"f32[4,{64 // heads}]", held_bytes=1024 // heads)
        scores = VALUE._replace(
            op_name="jit(f)/scores", shape=f"f32[2,{heads},8]", held_bytes=64 * heads
        )
        return [weights, scores]

    ((text, growth),) = lines(program(4), program(8))
    assert "such as f32[2,4,8] → f32[2,8,8]" in text
    assert growth == 128
    moved = program(8)[1]._replace(user_line=("f.py", 9))
    assert len(lines(program(4), [program(8)[0], moved])) > 1


def test_a_dimension_is_named_if_loops_run_as_often_or_do_a_part_of_it_at_once():
    def program(size):
        shapes = [f"f32[{size},{n}]" for n in (4, 8, 16)] + [f"f32[{size // 16},4]"]
        return [
            VALUE._replace(
                name=str(at), op_name=f"jit(f)/op{at}", shape=shape, held_bytes=4 * size + at
            )
            for at, shape in enumerate(shapes)
        ]

    text = "a dimension of 128 is 64 now: 4 values have 1/2 of the elements"
    assert lines(program(128), program(64))[0][0].startswith(text)


def test_sizes_that_follow_from_a_dimension_are_one_less_or_its_square():
    def program(size):
        shapes = f"f32[8,{size}]", f"f32[{size},4]", f"f32[2,{size},{size}]", f"f32[{size - 1},2]"
        return [
            VALUE._replace(op_name=f"jit(f)/op{at}", shape=shape, held_bytes=64 * size)
            for at, shape in enumerate((*shapes, f"f32[{4 * size**2}]"))
        ]

    text = "a dimension of 16 is 32 now: 5 values have more elements"
    assert lines(program(16), program(32))[0][0].startswith(text)
    other = VALUE._replace(op_name="jit(f)/other", shape="f32[15]", held_bytes=1024)
    wider = other._replace(shape="f32[20]", held_bytes=2048)
    found = lines([*program(16), other], [*program(32), wider])
    assert not any("a dimension" in text for text, _ in found)


def test_a_dimension_is_named_with_the_limit_of_the_loop_that_it_follows_from():
    def program(size, limit):
        mentions = Mentions()
        mentions.loop_limits = {"jit(f)/while/cond/lt": limit, "jit(f)/scan/while/cond/lt": size}
        values = [
            VALUE._replace(op_name=op, shape=f"f32[{size},4]", held_bytes=size * 16)
            for op in ("exp", "neg", "tanh")
        ]
        return Reserved(tuple(values), mentions=mentions)

    (reason,) = explain_pair(program(10, 64), program(22, 256))
    text = "a loop ends after 256 iterations at most, was 64; a dimension of 10 is 22 now: 3 values"
    assert reason_text(reason, ("a", "b")).startswith(text)


def test_the_limit_of_a_loop_is_the_constant_that_its_condition_reads():
    less = "pred[] compare(%i, %n), direction=LT"
    module = b"""HloModule jit_f
%condition (p: s32[]) -> pred[] {
  %i = s32[] parameter(0)
  %n = s32[] constant(64), metadata={op_name="jit(f)/while"}
  %less = LESS, metadata={op_name="jit(f)/while/cond/lt" stack_frame_id=3}
}""".replace(b"LESS", less.encode())
    mentions = Mentions()
    mentions._contents = module
    assert mentions.loop_limits == {"jit(f)/while/cond/lt": 64}
    mentions = Mentions()
    mentions._contents = module + module.replace(b"64", b"32").replace(b"%n", b"%m")
    assert mentions.loop_limits == {}


def test_a_fusion_that_ends_with_another_op_of_its_scope_grows_as_inputs_do():
    def program(size, op):
        data = INPUT._replace(op_name="x", shape=f"f32[{size}]", held_bytes=size * 4)
        shape = f"f32[{size},4]"
        return [data, VALUE._replace(op_name=f"jit(f)/{op}", shape=shape, held_bytes=size * 16)]

    text = "x f32[8] → f32[16]: 2 values have 2 times as many elements"
    assert lines(program(8, "loss/add"), program(16, "loss/sum"))[0][0].startswith(text)
    other_scope = lines(program(8, "loss/add"), program(16, "other/sum"))
    assert "1 value of loss gone, none left (mostly f.py:1)" in dict(other_scope)


def test_windows_of_another_size_are_the_same_values_in_another_size():
    scores = VALUE._replace(shape="f32[8,3,4,4]", held_bytes=1536)
    larger = VALUE._replace(shape="f32[2,3,16,16]", held_bytes=6144)
    text = "1 value has 4 times as many elements, such as f32[8,3,4,4] → f32[2,3,16,16]"
    assert lines([scores], [larger]) == [(f"{text} (mostly f.py:1)", 4608)]
    other = larger._replace(shape="f32[2,6,16,8]")
    assert lines([scores], [other])[0][0].startswith("1 value replaced by 1 other")


def test_values_are_in_no_other_size_if_other_inputs_replace_those_of_a_program():
    """The optimizer's state for adapters is not its state for the weights that replace them."""
    small = VALUE._replace(shape="f32[8,4]", held_bytes=128)
    larger = VALUE._replace(shape="f32[8,64]", held_bytes=2048)
    given = [INPUT._replace(op_name=name) for name in ("a", "b", "c")]
    found = lines([*given[:2], small], [*given[2:], larger])
    assert found[0][0].startswith("1 value replaced by 1 other"), found


def test_a_stack_that_leaves_another_memory_space_is_not_new():
    elsewhere = STACK._replace(part=ReservedPart.ELSEWHERE, held_bytes=0)
    text = "1 value no longer in another memory space (mostly f.py:1)"
    assert lines([elsewhere], [STACK]) == [(text, 640)]
    larger = STACK._replace(shape="f32[10,32]", held_bytes=1280)
    found = lines([INPUT, elsewhere], [INPUT._replace(shape="f32[16]", held_bytes=64), larger])
    assert found[0][0].startswith("p f32[8] → f32[16]: 2 values have 2 times as many elements")


def test_a_new_result_in_the_bytes_of_an_input_does_not_donate_it():
    returned = VALUE._replace(
        part=ReservedPart.INPUTS, held_bytes=0, is_result=True, shape="f32[8]", size_bytes=32
    )
    given, used = (INPUT._replace(is_donated=is_used, size_bytes=32) for is_used in (False, True))
    assert ("1 new output in the bytes of a donated input (p)", 0) in told(
        [given], [used, returned]
    )
    text = "1 output is gone, in the bytes of a donated input (p)"
    assert (text, 0) in told([used, returned], [given])
    other = returned._replace(part=ReservedPart.OUTPUTS, held_bytes=32)
    assert ("1 input is now donated (p)", -32) in told([given, other], [used, returned])


def test_temporary_values_that_share_a_new_result_are_said_with_it():
    reason = Reason(Subject(ReasonKind.DONATED), growth_bytes=-32, placed_bytes=-32, of=(0, 1))
    reason.count_a = 1
    text = "1 new output in the bytes of a donated input, which temporary values share"
    assert reason_text(reason, ("a", "b")) == text


def told(before, after):
    """Return the texts of all reasons, also of those without bytes."""
    found = explain_pair(*(Reserved(tuple(side)) for side in (before, after)))
    return [(reason_text(each, ("a", "b")), each.growth_bytes) for each in found]


def test_arguments_in_another_order_are_the_same_if_only_their_places_name_them():
    first, second = (
        INPUT._replace(op_name=f"args[{at}]", shape=f"f32[{size}]", held_bytes=4 * size)
        for at, size in enumerate((4, 8))
    )
    swapped = second._replace(op_name="args[0]"), first._replace(op_name="args[1]")
    pairs = match_values([first, second], swapped).pairs
    assert set(pairs) == {(second, swapped[0]), (first, swapped[1])}


def test_a_dimension_in_which_an_input_is_joined_with_others_is_as_much_longer():
    def program(columns, ops=("exp", "neg", "tanh"), others=9):
        size = columns + others
        table = INPUT._replace(shape=f"f32[4,{columns}]", held_bytes=columns * 16)
        values = [
            VALUE._replace(
                name=op, op_name=f"jit(f)/{op}", shape=f"f32[{size},8]", held_bytes=size * 32
            )
            for op in ops
        ]
        return [table, *values]

    ((text, _),) = lines(program(24), program(48))
    assert text.startswith("p f32[4,24] → f32[4,48]: 4 values have more elements"), text
    assert "f32[33,8] → f32[57,8]" in text
    few = lines(program(24, ("exp", "neg")), program(48, ("exp", "neg")))
    assert any("2 values replaced by 2 others" in text for text, _ in few), few
    # nothing is joined in what is smaller
    other = lines(program(24, others=-8), program(48, others=-8))
    assert any("3 values replaced by 3 others" in text for text, _ in other), other
