"""The text of a reason, from the values behind it."""

from fractions import Fraction

import pytest

from tests.comparison.test_explaining import INPUT, VALUE, lines
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.proved_causes import join_moved
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.replaced_values import join_scopes

STACK = HeldValue(
    ReservedPart.OUTPUTS, 64, False, "s", "{}", "while", None, None, None, "f32[16]", "f32", 64, 0
)

GRADIENT = STACK._replace(op_name="jit(f)/transpose(jvp())/dot_general")


@pytest.mark.parametrize(
    ("counts", "example", "text"),
    [
        ((3, 2), (None, STACK), "2 outputs, 3 before, some of other values, such as f32[16]"),
        ((3, 2), (STACK, None), "1 output is gone, such as f32[16]"),
        ((2, 3), (None, STACK), "1 new output, such as f32[16]"),
        ((2, 3), (None, GRADIENT), "1 new output, such as f32[16] of the backward pass"),
        ((2, 3), (STACK, None), "3 outputs, 2 before, some of other values, such as f32[16]"),
    ],
)
def test_a_new_output_is_not_called_gone_because_there_are_fewer(counts, example, text):
    before, after = counts
    reason = Reason(Subject(ReasonKind.OUTPUTS), count_a=before, count_b=after, example=example)
    assert reason_text(reason, ("a", "b")).startswith(text)


def test_a_new_output_is_not_called_gone_because_there_are_fewer_if_more_bytes_remain():
    subject = Subject(ReasonKind.OUTPUTS)
    reason = Reason(subject, 64, 8, 2, example=(STACK, None))
    assert reason_text(reason, ("a", "b")).startswith("2 outputs, 8 before, some of other values")


def test_of_equal_outputs_the_new_one_is_named_if_there_are_more():
    """Which one counts as the example is a matter of their order."""
    for before, after, text in ((2, 5, "3 new outputs"), (5, 2, "3 outputs are gone")):
        reason = Reason(Subject(ReasonKind.OUTPUTS), 64 * (after - before), before, after)
        reason.example, reason.largest = (STACK, None), (STACK, STACK)
        assert reason_text(reason, ("a", "b")) == f"{text}, such as f32[16]"
        larger = STACK._replace(shape="f32[32]", held_bytes=128)
        reason.largest = (larger, STACK) if after > before else (STACK, larger)
        reason.example = (larger, None) if after > before else (None, larger)
        assert "some of other values" in reason_text(reason, ("a", "b"))


def test_the_values_of_a_loop_are_counted_where_it_is():
    reason = Reason(Subject(ReasonKind.LOOPED, after="gone"), -64, 17, 2)
    assert reason_text(reason, ("a", "b")) == "17 values no longer computed in a loop"


@pytest.mark.parametrize(
    ("growth", "sizes"),
    [
        (-64, ", with 1/2048 of the elements, such as f32[2048] → f32[1]"),
        (64, ", the largest new is while f32[2048,1]"),
    ],
)
def test_values_of_a_new_loop_that_need_more_do_not_have_fewer_elements(growth, sizes):
    a, b = STACK._replace(shape="f32[2048]"), STACK._replace(shape="f32[1]")
    stack = STACK._replace(shape="f32[2048,1]")
    reason = Reason(Subject(ReasonKind.LOOPED, after="new"), growth, 1, 3, example=(a, b))
    reason.factors, reason.largest = {Fraction(1, 2048)}, (a, stack)
    assert reason_text(reason, ("a", "b")) == f"3 values now computed in a loop{sizes}"


@pytest.mark.parametrize(
    ("factor", "share"), [(Fraction(1, 2048), "1/2048"), (Fraction(3, 2048), "0.00146")]
)
def test_a_share_with_a_large_denominator_is_not_rounded_to_another_one(factor, share):
    a, b = STACK._replace(shape="f32[2048]"), STACK._replace(shape="f32[1]")
    reason = Reason(Subject(ReasonKind.SIZE), -64, 1, 1, example=(a, b))
    reason.factors = {factor}
    text = f"1 value has {share} of the elements, such as f32[2048] → f32[1]"
    assert reason_text(reason, ("a", "b")) == text


def test_a_line_of_a_library_has_its_path_in_the_package_and_an_op_made_of_two_one_name():
    line = ("/env/lib/python3.11/site-packages/mctx/_src/search.py", 298)
    name = "jit(f)/(transpose(jvp())/dot_general:jvp()/dot_general)"
    value = STACK._replace(part=ReservedPart.LIVE, op_name=name, source_line=line)
    reason = Reason(Subject(ReasonKind.REPLACED))
    reason.count(None, value)
    text = "1 new value at the peak: dot_general f32[16] (mostly mctx/_src/search.py:298)"
    assert reason_text(reason, ("a", "b")) == text


@pytest.mark.parametrize("name", ["p['a/linear']['w']", "jit(f)/while/body"])
def test_a_copy_of_an_argument_or_a_value_of_no_primitive_is_named_by_its_opcode(name):
    copy = STACK._replace(part=ReservedPart.LIVE, op_name=name, opcode="copy-done")
    reason = Reason(Subject(ReasonKind.REPLACED))
    reason.count(None, copy)
    assert reason_text(reason, ("a", "b")) == "1 new value at the peak: copy-done f32[16]"


def test_the_table_of_a_tuple_is_not_the_largest_value_that_is_gone():
    table = STACK._replace(part=ReservedPart.LIVE, shape="(s32[], f32[16])", dtype="tuple")
    line = ("f.py", 1)
    new = STACK._replace(
        part=ReservedPart.LIVE, held_bytes=512, op_name="jit(f)/exp", user_line=line
    )
    reason = Reason(Subject(ReasonKind.REPLACED))
    reason.count(table._replace(user_line=("f.py", 2)), None)
    reason.count(None, new)
    text = "1 value replaced by 1 other at the peak, the largest new is exp f32[16]"
    assert reason_text(reason, ("a", "b")).startswith(text)


def test_inputs_that_replace_others_are_named_with_these():
    key = INPUT._replace(op_name="key", shape="u32[2]", dtype="u32", held_bytes=8)
    (reason,) = explain_pair(Reserved((INPUT,)), Reserved((key,)))
    assert reason_text(reason, ("a", "b")) == "1 input replaced by 1 other: key instead of p"


def test_a_routine_that_makes_another_shape_is_named_with_both():
    gone = STACK._replace(part=ReservedPart.LIVE, op_name="jit(f)/svd", target="lapack_sgesdd")
    new = gone._replace(held_bytes=512, shape="f32[128]")
    reason = Reason(Subject(ReasonKind.REPLACED))
    reason.count(gone, None)
    reason.count(None, new)
    assert reason_text(reason, ("a", "b")) == "svd now makes f32[128], f32[16] before"
    reason.largest = gone, new._replace(target="lapack_sgesvd")
    assert reason_text(reason, ("a", "b")).startswith("1 value replaced by 1 other at the peak")


def test_an_output_that_is_temporary_instead_is_one_reason_with_its_cause():
    cause = "a loop stacks values of which only a part is read"
    temporary = STACK._replace(part=ReservedPart.LIVE)
    outputs = Reason(Subject(ReasonKind.OUTPUTS), -62, 2, 2, example=(STACK, None))
    placed = Reason(Subject(ReasonKind.PLACED), 64, 1, 1, cause=cause)
    placed.example = temporary._replace(held_bytes=0), temporary
    (reason,) = join_moved([outputs, placed])
    text = f"{cause}; 2 outputs, some of other values, such as f32[16], which is now temporary"
    assert (reason_text(reason, ("a", "b")), reason.growth_bytes) == (text, 2)
    outputs = Reason(Subject(ReasonKind.OUTPUTS), -62, 2, 1, example=(STACK, None))
    assert len(join_moved([outputs, placed])) == 2
    outputs = Reason(Subject(ReasonKind.OUTPUTS), -64, 2, 1, example=(STACK, None))
    placed.example = temporary._replace(shape="f32[4,4]"), temporary
    placed.cause = ""
    (reason,) = join_moved([outputs, placed])
    text = "1 output is gone, such as f32[16], whose bytes temporary values shared"
    assert (reason_text(reason, ("a", "b")), reason.growth_bytes) == (text, 0)


def test_the_only_output_is_named_with_both_shapes():
    reason = Reason(Subject(ReasonKind.OUTPUTS))
    reason.count(STACK, None)
    reason.count(None, STACK._replace(shape="f32[4]", held_bytes=16))
    reason.count_a = reason.count_b = 1
    text = "the output is f32[4] now, f32[16] before"
    assert reason_text(reason, ("a", "b")).startswith(text)


def test_values_that_a_checkpoint_recomputes_later_are_named_as_these():
    name = "jit(f)/transpose(jvp())/checkpoint/rematted_computation/exp"
    again = STACK._replace(part=ReservedPart.LIVE, op_name=name)
    reason = Reason(Subject(ReasonKind.PEAK))
    reason.count(again, again._replace(held_bytes=0))
    text = "same values, but fewer of them live at the peak"
    recomputed = f"{text}, mostly what a checkpoint recomputes, the largest is exp f32[16]"
    assert reason_text(reason, ("a", "b")) == recomputed
    kept = STACK._replace(part=ReservedPart.LIVE, held_bytes=256)
    reason.count(kept, kept._replace(held_bytes=0))
    assert reason_text(reason, ("a", "b")).startswith(f"{text}, the largest is ")


def test_a_larger_table_of_outputs_is_that_of_new_ones():
    number = VALUE._replace(part=ReservedPart.OUTPUTS, is_result=True, shape="f32[]", held_bytes=4)
    table = number._replace(name="r", op_name=None, shape="(f32[])", dtype="tuple", held_bytes=8)
    larger = table._replace(shape="(f32[], f32[])", held_bytes=16)
    sides = [number, table], [number, number._replace(name="b", held_bytes=0), larger]
    reasons = explain_pair(*(Reserved(tuple(side)) for side in sides))
    assert [reason_text(each, ("a", "b")) for each in reasons] == ["1 new output"]
    outputs = Reason(Subject(ReasonKind.OUTPUTS))
    outputs.count(None, number)
    outputs.count(table, larger)
    assert outputs.example == (None, number)


def test_a_repeated_part_has_most_values_though_a_few_replace_others():
    inputs = [INPUT._replace(name=f"p{n}", op_name=f"p['l'][{n}]['w']") for n in range(2)]
    parts = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(21)]
    texts = [text for text, _ in lines([*inputs[:1], parts[0]], [*inputs, *parts[1:]])]
    assert "p['l'][1] new, with 1 input of a repeated part and 20 values at the peak" in texts[0]
    texts = [text for text, _ in lines([*inputs, *parts[1:]], [*inputs[:1], parts[0]])]
    assert "p['l'][1] gone, with 1 input of a repeated part and 20 values at the peak" in texts[0]


def test_another_order_is_named_though_only_the_gaps_differ():
    first, second = VALUE._replace(live_from=1), VALUE._replace(name="w", live_from=2)
    first, second = first._replace(op_name="jit(f)/exp"), second._replace(op_name="jit(f)/neg")
    before = Reserved((first, second), fragmentation_bytes=64)
    after = Reserved((first._replace(live_from=3), second))
    (reason,) = explain_pair(before, after)
    text = "same values, other order: mostly less fragmentation"
    assert (reason_text(reason, ("a", "b")), reason.growth_bytes) == (text, -64)
    same = Reserved((first, second))
    (reason,) = explain_pair(before, same)
    assert reason_text(reason, ("a", "b")) == "same values, packed better"


def test_an_array_of_a_batch_with_integers_is_no_part_that_is_repeated():
    batch = [INPUT._replace(name=f"p{n}", op_name=f"b[{n}]") for n in range(3)]
    numbers = batch[1]._replace(shape="s32[8]", dtype="s32")
    new = VALUE._replace(name="v", op_name="jit(f)/exp")
    for second, is_layer in ((batch[1], True), (numbers, False)):
        before = [batch[0], second]
        texts = [text for text, _ in lines(before, [*before, batch[2], new])]
        assert any("repeated part" in text for text in texts) is is_layer
        assert any(text.startswith("1 new input: b[2]") for text in texts) is not is_layer


def test_the_last_of_more_layers_is_at_another_place_and_of_no_other_size():
    def program(*features):
        layers = [
            (
                INPUT._replace(name=f"p{n}", op_name=f"p['l_{n}']['w']", shape=f"f32[8,{size}]"),
                VALUE._replace(
                    name=f"v{n}",
                    op_name=f"jit(f)/l_{n}/dot",
                    shape=f"f32[16,{size}]",
                    held_bytes=64 * size,
                ),
            )
            for n, size in enumerate(features)
        ]
        return [each for layer in layers for each in layer]

    texts = [text for text, _ in lines(program(8, 8, 2), program(8, 8, 8, 2))]
    assert texts[0].startswith("p['l_3'] new, with 1 input of a repeated part and 1 value")
    assert not any("now: " in text for text in texts)


def test_a_state_for_each_parameter_of_a_list_is_no_repeated_part():
    def inputs(*lists):
        return [
            INPUT._replace(
                name=f"{name}{at}", op_name=f"{name}[{at}]", shape=shape, is_donated=False
            )
            for name, shapes in lists
            for at, shape in enumerate(shapes)
        ]

    shapes = ["f32[4]", "f32[8]"]
    parameters = ("s[0]", shapes), ("s[1]", ["f32[2]"])
    values = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(11)]
    before = inputs(*parameters, ("s[2]", shapes))
    after = inputs(*parameters, ("s[2]", [*shapes, *shapes]))
    texts = [text for text, _ in lines([*before, values[0]], [*after, *values])]
    assert "2 new inputs: s[2][*]" in texts
    # other layers than all parameters
    after = inputs(*parameters, ("s[2]", [*shapes, "f32[4]", "f32[4]"]))
    texts = [text for text, _ in lines([*before, values[0]], [*after, *values])]
    assert any("2 inputs of a repeated part" in text for text in texts)
    # the seeds of two layers that drop values
    before, after = ([each._replace(dtype="u32") for each in side] for side in (before, after))
    texts = [text for text, _ in lines([*before, values[0]], [*after, *values])]
    assert not any("repeated part" in text for text in texts)


def test_a_few_values_of_an_element_type_have_casts():
    narrow = VALUE._replace(name="n", op_name="jit(f)/dot", dtype="bf16", held_bytes=0)
    cast = VALUE._replace(name="c", op_name="jit(f)/convert_element_type")
    others = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(60)]
    (text, growth), *_ = lines(others, [*others, narrow, cast])
    assert text.startswith("1 of 62 computed values in bf16 now, none before, with casts and what")
    assert growth == cast.held_bytes


def test_values_of_a_scope_that_others_of_its_line_replace_are_told_with_these():
    subjects = Subject(ReasonKind.SCOPE_GONE, after="drop"), Subject(ReasonKind.REPLACED)
    for line, told in (
        (3, ["4 values replaced by 2 others"]),
        (4, ["4 values of drop gone", "2 new values"]),
    ):
        gone, new = Reason(subjects[0], -64, 4, 0, {"drop"}), Reason(subjects[1], 63, 0, 2)
        gone.growth_by_line["f.py", 3], new.growth_by_line["f.py", line] = -64, 63
        found = FoundReasons()
        found.found |= {each.subject: each for each in (gone, new)}
        join_scopes(found)
        texts = [reason_text(each, ("a", "b")) for each in found.found.values()]
        assert all(map(str.startswith, texts, told))
        assert len(texts) == len(told)


@pytest.mark.parametrize(("bytes_", "count"), [(63, 1), (32, 2)])
def test_values_that_others_of_a_checkpoint_replace_are_told_with_it(bytes_, count):
    checkpoint = Reason(Subject(ReasonKind.CHECKPOINTED), -64, scopes={"layer"})
    new = Reason(Subject(ReasonKind.REPLACED), bytes_, 0, 2)
    found = FoundReasons()
    found.found |= {each.subject: each for each in (checkpoint, new)}
    join_scopes(found)
    assert len(found.found) == count
    assert sum(each.growth_bytes for each in found.found.values()) == bytes_ - 64
