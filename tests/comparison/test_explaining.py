"""Reasons for the growth between values, with what only a module's text would tell."""

from collections import Counter

from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import ReasonKind
from xlagraph.comparison.sentences import sentences_of
from xlagraph.comparison.value_matching import match_values

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
    iterations=10,
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


def test_a_loop_of_more_iterations_is_named_with_its_stacks():
    longer = STACK._replace(held_bytes=1280, shape="f32[20,16]", stack_turns=20)
    longer = longer._replace(iterations=20)
    text = (
        "a loop has 20 iterations, was 10: 1 value has 2 times as many elements, such as"
        " f32[10,16] → f32[20,16] (mostly f.py:1)"
    )
    assert lines([STACK], [longer]) == [(text, 640)]


def test_the_first_value_of_another_size_is_named_if_no_input_has_one():
    drawn = VALUE._replace(op_name="jit(f)/normal", held_bytes=0, user_line=("f.py", 3))
    used = VALUE._replace(name="b", op_name="jit(f)/dot", user_line=("g.py", 5), live_from=2)
    larger = [each._replace(shape="f32[32]", size_bytes=128) for each in (drawn, used)]
    text = (
        "1 value has 2 times as many elements, such as f32[16] → f32[32], the first at f.py:3"
        " (mostly g.py:5 → f.py:1)"
    )
    assert lines([drawn, used], [larger[0], larger[1]._replace(held_bytes=128)]) == [(text, 64)]


def test_a_buffer_that_a_loop_fills_as_long_as_it_needs_tells_no_iterations():
    buffer = STACK._replace(iterations=None)
    larger = buffer._replace(held_bytes=1280, shape="f32[20,16]", stack_turns=20)
    text = "1 value has 2 times as many elements, such as f32[10,16] → f32[20,16] (mostly f.py:1)"
    assert lines([buffer], [larger]) == [(text, 640)]


INPUT = VALUE._replace(
    part=ReservedPart.INPUTS,
    name="p",
    opcode="parameter",
    op_name="p",
    shape="f32[8]",
    held_bytes=32,
)


def test_an_input_that_vmap_gives_one_more_dimension_is_named_with_what_it_makes_larger():
    given = INPUT._replace(shape="f32[4,8]", held_bytes=128)
    many = VALUE._replace(op_name="jit(f)/vmap()/exp", shape="f32[4,16]", held_bytes=256)
    text = (
        "p f32[8] → f32[4,8]: 2 values have 4 times as many elements, such as f32[16] → f32[4,16]"
        " (mostly f.py:1)"
    )
    assert (text, 288) in lines([INPUT, VALUE], [given, many])


def told(before, after, totals):
    found = explain_pair(Reserved(tuple(before)), Reserved(tuple(after)))
    return [each.line for each in sentences_of(found, ("a", "b"), totals)]


def test_the_only_renamed_input_of_another_size_shows_which_values_are_larger():
    def program(weights, tokens, size):
        data = INPUT._replace(op_name=tokens, shape=f"s32[{size},8]", held_bytes=size * 32)
        made = VALUE._replace(shape=f"f32[{size},16]", held_bytes=size * 64)
        line = (f"{weights}.py", 1)
        return [INPUT._replace(name="w", op_name=weights), data, made._replace(user_line=line)]

    found = lines(program("p", "x", 4), program("params", "tokens", 8))
    text = "tokens s32[4,8] → s32[8,8]: 2 values have 2 times as many elements"
    assert found[0][0].startswith(text)


def test_state_of_which_an_iteration_writes_all_parts_is_no_stack():
    caches = STACK._replace(iterations=20, stack_turns=4)
    assert not any("stack" in text for text, _ in lines([OTHER], [OTHER, caches]))


def test_casts_to_an_element_type_of_few_floats_are_a_change_beside_many_integers():
    floats = [VALUE._replace(name=f"f{n}") for n in range(40)]
    indices = [VALUE._replace(name=f"i{n}", dtype="s32", shape="s32[16]") for n in range(40)]
    narrow = [
        VALUE._replace(name=f"n{n}", dtype="bf16", shape="bf16[16]", op_name=f"jit(f)/neg{n}")
        for n in range(3)
    ]

    class Casts(Mentions):
        def count(self, name):
            return name == "convert_element_type"

    before, after = Reserved((*floats, *indices)), Reserved((*floats, *indices, *narrow))
    texts = [
        [reason_text(each, ("a", "b")) for each in explain_pair(before, each)]
        for each in (after, after._replace(mentions=Casts()))
    ]
    text = "3 of 83 computed values in bf16 now, none before"
    assert [any(each.startswith(text) for each in side) for side in texts] == [False, True]
    # without bytes of its own, it has the line of most of its values
    moved = [each._replace(held_bytes=0, user_line=("f.py", 7)) for each in narrow]
    after = Reserved((*before.values, *moved), mentions=Casts())
    found = [reason_text(each, ("a", "b")) for each in explain_pair(before, after)]
    assert any(text.endswith("what they replace (mostly f.py:7)") for text in found)


def test_the_dtype_of_inputs_precedes_more_bytes_of_other_stacks():
    narrow = INPUT._replace(dtype="bf16", shape="bf16[8]", held_bytes=16)
    state = VALUE._replace(op_name=f"{LOOP}/mul", held_bytes=0)
    first, *_ = told([INPUT, state], [narrow, state, STACK._replace(held_bytes=96)], (32, 112))
    assert first == "dtype of 1 input (p) is now bf16, was f32 (mostly f.py:1): -16 B"


def test_a_value_or_two_in_another_loop_precede_no_larger_reason():
    moved = VALUE._replace(op_name=f"{LOOP}/exp")
    gone = OTHER._replace(held_bytes=4096, shape="f32[1024]")
    first, *_ = told([VALUE, gone], [moved], (4160, 64))
    assert first.startswith("1 value is gone at the peak: neg f32[1024]")


def test_code_inside_of_a_fusion_is_not_new():
    class Fused(Mentions):
        def count(self, name):
            return int(name == "jraph/utils.py")

    line = ("/env/lib/python3.11/site-packages/jraph/utils.py", 7)
    made = OTHER._replace(source_line=line)
    reasons = explain_pair(Reserved((VALUE,), mentions=Fused()), Reserved((VALUE, made)))
    texts = [reason_text(each, ("a", "b")) for each in reasons]
    assert not [text for text in texts if "jraph/utils.py, none before" in text]


def test_a_scope_of_ops_inside_of_a_fusion_is_not_new():
    fused = Mentions()
    fused.op_names = Counter(["jit(f)/jvp(loss)/exp"])
    made = OTHER._replace(op_name="jit(f)/loss/neg")
    reasons = explain_pair(Reserved((VALUE,), mentions=fused), Reserved((VALUE, made)))
    assert ReasonKind.SCOPE_NEW not in {each.subject.kind for each in reasons}


def test_a_computation_under_vmap_is_named():
    mapped = OTHER._replace(op_name="jit(f)/vmap()/neg")
    (text, _), *_ = lines([VALUE], [VALUE, mapped])
    assert text.startswith("1 value made by jax.vmap, none before; 1 new value at the peak: neg")


def test_a_loop_does_not_compute_more_at_once_than_the_program_without_it():
    gate = VALUE._replace(shape="f32[2,2]", held_bytes=16, op_name="jit(f)/mul")
    state = VALUE._replace(shape="f32[256,2]", held_bytes=2048, op_name=f"{LOOP}/mul")
    assert not [text for text, _ in lines([gate], [state]) if "f32[2,2] → f32[256,2]" in text]


def test_live_values_of_one_side_explain_nothing_if_the_peak_of_the_other_is_unknown():
    known = Reserved((VALUE, STACK), idle_bytes=8, fragmentation_bytes=16)
    unknown = Reserved((VALUE._replace(held_bytes=0),), unknown_bytes=512)
    for before, after, growth in ((unknown, known, 216), (known, unknown, -216)):
        (reason,) = [each for each in explain_pair(before, after) if each.growth_bytes]
        assert (reason.subject.kind, reason.growth_bytes) == (ReasonKind.UNKNOWN, growth)


def test_a_line_that_makes_every_op_of_tensorflow_is_no_place():
    line = ("/env/lib/python3.11/site-packages/tensorflow/python/framework/ops.py", 1221)
    made = VALUE._replace(user_line=None, source_line=line, op_name="MatMul/MatMul")
    assert lines([], [made]) == [("1 value of MatMul at the peak, none before", 64)]


def test_a_result_of_another_value_of_a_loop_is_still_that_of_a_donated_input():
    given = INPUT._replace(is_donated=True)
    looped = VALUE._replace(op_name=f"{LOOP}/exp", part=ReservedPart.INPUTS, held_bytes=0)
    returned = looped._replace(part=ReservedPart.OUTPUTS, held_bytes=32, is_result=True)
    found = lines([given, looped], [INPUT, returned])
    assert ("1 input is no longer donated (p)", 32) in found


def test_the_table_of_a_tuple_of_results_is_no_output():
    returned = VALUE._replace(part=ReservedPart.OUTPUTS, is_result=True)
    table = returned._replace(name="tuple", shape="(f32[16], f32[16])", held_bytes=16)
    other = returned._replace(name="c", shape="f32[20]", held_bytes=80, op_name="jit(f)/cos")
    found = lines([returned, OTHER], [other, table._replace(shape="(f32[20])"), OTHER])
    assert any(text.startswith("the output is f32[20] now, f32[16] before") for text, _ in found)


def test_an_argument_that_moves_into_a_tree_is_the_one_with_the_most_similar_name():
    base = INPUT._replace(op_name="base['w']")
    trained = INPUT._replace(name="t", op_name="t['base']['w']")
    state = INPUT._replace(name="m", op_name="o[0].mu['base']['w']")
    found = lines([base], [state, trained])
    assert found == [("1 new input: o", 32)]


def test_a_gradient_of_a_gradient_is_named_however_few_values_it_makes():
    forward = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(40)]
    backward = OTHER._replace(op_name="jit(f)/transpose(jvp())/mul")
    second = OTHER._replace(name="s", op_name="jit(f)/jvp(transpose(jvp()))/dot", live_from=9)
    text, _ = lines([*forward, backward], [*forward, backward, second])[0]
    assert text.startswith("1 value made by the gradient of a gradient, none before; 1 new value")


def test_a_hessian_is_a_gradient_of_a_gradient_too():
    forward = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(40)]
    one = OTHER._replace(op_name="jit(f)/jvp(transpose(jvp()))/dot")
    many = one._replace(op_name="jit(f)/jvp(vmap(transpose(vmap(jvp()))))/dot", held_bytes=96)
    found = lines([*forward, one], [*forward, many])
    assert not any("gradient of a gradient" in text for text, _ in found)


def test_a_gradient_within_the_loop_of_another_one_is_a_gradient_of_it_too():
    class InLoop(Mentions):
        def has(self, mark):
            return bool(mark.search("jit(f)/transpose(jvp())/while/body/transpose(jvp())/dot"))

    second = OTHER._replace(op_name="jit(f)/jvp(transpose(jvp()))/dot")
    reasons = explain_pair(Reserved((VALUE,), mentions=InLoop()), Reserved((VALUE, second)))
    texts = [reason_text(each, ("a", "b")) for each in reasons]
    assert not [text for text in texts if "gradient of a gradient" in text]


def test_older_names_of_ops_do_not_show_which_transformations_a_program_lacks():
    before = VALUE._replace(op_name="jit(f)/jit(main)/exp")
    name = "jit(f)/jit(main)/transpose(jvp(checkpoint))/rematted_computation/exp"
    found = lines([before], [before, OTHER._replace(op_name=name)])
    assert found == [("checkpoint added (mostly f.py:1)", 64)]


def test_a_checkpoint_makes_nothing_larger_beside_inputs_of_another_size():
    def program(size, *others):
        data = INPUT._replace(shape=f"f32[{size}]", held_bytes=size * 4)
        made = VALUE._replace(shape=f"f32[{size * 2}]", held_bytes=size * 8)
        return Reserved((data, made, *others))

    again = OTHER._replace(op_name="jit(f)/checkpoint/rematted_computation/neg")
    for larger, growth in ((16, {"size": 160}), (8, {})):
        found = explain_pair(program(8), program(larger, again))
        growths = {each.subject.kind: each.growth_bytes for each in found if each.growth_bytes}
        expected = growth or {"checkpointed": 64}
        assert growths == {kind: size for kind, size in expected.items() if size}
        assert "checkpointed" in {each.subject.kind for each in found}


def test_what_a_checkpoints_policy_keeps_precedes_what_lives_longer_with_it():
    again = OTHER._replace(op_name="jit(f)/checkpoint/rematted_computation/neg")
    rounded = VALUE._replace(name="k", op_name="jit(f)/checkpoint/reduce_precision", live_from=3)
    longer = again._replace(held_bytes=64)
    before = [VALUE, again._replace(held_bytes=0)]
    found = told(before, [VALUE, longer, rounded._replace(held_bytes=32)], (64, 160))
    assert found[0].startswith("1 new value at the peak, which the policy of a checkpoint keeps")


def test_a_larger_table_of_a_tuple_is_no_example_of_new_outputs():
    returned = VALUE._replace(part=ReservedPart.OUTPUTS, is_result=True)
    table = returned._replace(name="tuple", shape="(f32[16])", held_bytes=8, op_name="")
    shared = OTHER._replace(part=ReservedPart.INPUTS, held_bytes=0, is_result=True)
    larger = table._replace(shape="(f32[16], f32[16])", held_bytes=16)
    found = lines([returned, table], [returned, larger, shared])
    assert ("1 new output (mostly f.py:1)", 8) in found


def test_a_part_within_a_list_of_inputs_is_told_by_the_new_names_at_its_end():
    def listed(*shapes):
        return [
            INPUT._replace(name=f"p{at}", op_name=f"p[{at}]", shape=shape)
            for at, shape in enumerate(shapes)
        ]

    before = listed("f32[8]", "f32[2,4]", "f32[3,3]")
    after = listed("f32[8]", "f32[4,2,1]", "f32[5,1,1]", "f32[2,4]")
    assert ("1 input replaced by 2 others; new names: p[3]", 32) in lines(before, after)


def test_inputs_of_other_names_are_told_where_a_branch_counts_them_too():
    def named(*names):
        return [INPUT._replace(name=name, op_name=name) for name in names]

    found = lines(named("o.mu['w']", "o.nu['w']", "x"), named("e['w']", "x"))
    assert found == [("1 input is gone: o; new names: e", -32)]
    # one of the new ones has the shape of an old one
    larger = INPUT._replace(op_name="e.b['w']", shape="f32[4,4]", held_bytes=64)
    found = lines(named("o.mu['w']", "o.nu['w']", "x"), [*named("e.a['w']", "x"), larger])
    assert found == [("2 inputs replaced by 2 others: e instead of o", 32)]


def test_a_result_elsewhere_that_is_now_temporary_is_no_output():
    result = VALUE._replace(part=ReservedPart.INPUTS, held_bytes=0, is_result=True)
    found = lines([result], [VALUE])
    assert found == [
        ("1 temporary value no longer in the bytes of inputs or outputs (mostly f.py:1)", 64)
    ]


def test_one_value_in_a_loop_is_that_of_its_line_in_a_library_only():
    whole = VALUE._replace(op_name="jit(f)/div", shape="f32[16,16]", held_bytes=1024)
    part = VALUE._replace(op_name=f"{LOOP}/div", shape="f32[16,1]")
    assert match_values([whole], [part]).pairs == ((whole, part),)
    other = part._replace(source_line=("/env/site-packages/a/b.py", 7))
    assert match_values([whole], [other]).pairs == ()


def test_a_donation_without_outputs_takes_the_temporary_values_in_its_bytes_only():
    donated = INPUT._replace(is_donated=True)
    elsewhere = VALUE._replace(part=ReservedPart.INPUTS, held_bytes=0)
    assert ("1 input is now donated (p)", -64) in lines([INPUT, VALUE], [donated, elsewhere])
    moved = "1 temporary value no longer in the bytes of inputs or outputs (mostly f.py:1)"
    assert (moved, 64) in lines([INPUT, elsewhere], [donated, VALUE])


def test_another_platform_precedes_all_that_follows_from_it():
    made = OTHER._replace(name="ynn_fusion", opcode="fusion")
    before = Reserved((VALUE, made), platform="cpu")
    after = Reserved((VALUE, OTHER._replace(held_bytes=640, shape="f32[160]")), platform="gpu")
    found = sentences_of(explain_pair(before, after), ("a", "b"), (128, 704))
    assert found[0].line == "compiled for gpu, was cpu: 0 B"
    assert not any("YNN" in each.text for each in found)
    assert sum(each.growth_bytes for each in found) == 576


def test_a_backward_pass_precedes_the_scopes_that_are_gone_with_it():
    kept = [VALUE._replace(name=f"k{n}", op_name=f"jit(f)/jvp(block)/op{n}") for n in range(6)]
    backward = [
        VALUE._replace(name=f"b{n}", op_name=f"jit(f)/transpose(jvp(block))/op{n}", held_bytes=0)
        for n in range(6)
    ]
    found = told([*kept, *backward, OTHER], [OTHER], (448, 64))
    assert found[0] == "6 values made by the backward pass before, none now: 0 B"
    assert found[1].startswith("6 values of block gone, none left")


def test_stacks_of_a_forward_pass_follow_from_a_backward_pass_that_only_one_program_has():
    state = VALUE._replace(name="state", op_name="jit(f)/while/body/neg", live_from=3)
    stack = STACK._replace(op_name="jit(f)/jvp()/while/body/exp")
    backward = [
        VALUE._replace(name=f"b{n}", op_name=f"jit(f)/transpose(jvp())/op{n}", held_bytes=0)
        for n in range(6)
    ]
    found = told([state, OTHER], [state, stack, *backward, OTHER], (128, 768))
    assert found[0].startswith("6 values made by the backward pass, none before; loops now stack")
