"""Calls and ops of lines of own functions, and which differences follow from others."""

from collections import Counter

from tests.comparison.test_edited_lines import INSTALLED, sites_of, told
from xlagraph.comparison.own_lines import is_in_gradient, own_lines
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of


def test_lines_within_a_call_that_only_one_program_has_follow_from_it():
    loss = "loss:2 sin", "loss:3 cross_entropy:5 dot_general"
    other = "step:9 metrics:7 cross_entropy:5 exp"
    before = [f"step:8 {each}" for each in loss]
    assert told([*before, other], before) == ["train.py:9 (step): metrics gone"]


def test_a_wrapper_calls_the_closure_of_another_file():
    layers = "step:3 wrap.<locals>.run:1! clip.<locals>.update:8! norm:9!"
    (frames,) = (site.frames for site in sites_of(f"{layers} exp").known)
    renamed = [f._replace(file=INSTALLED.replace("core", "clip")) for f in frames[2:]]
    site = next(iter(sites_of(f"{layers} exp").known))
    lines = own_lines(
        [site._replace(frames=(*frames[:2], *renamed))], set(), set(), of_backward=False
    )
    assert [lines.done(line) for line in lines.items] == [("clip",)]


def test_a_joined_op_name_calls_no_program_in_itself():
    """XLA joins the op name of a call and that of an op, which is of the first call."""
    own, first = "step:9 chain:8 body:7 hmc.<locals>.sample:5!", "step:9 chain:6 init:4!"
    both = [f"{own} exp", f"{first} sin"]
    joined = "vmap(jit(split))/init/while/jit(step)/vmap(jit(split))/init"
    split = f"{own} {first} vmap(jit(split))/init"
    assert told([*both, f"{own} {first} {joined}"], [*both, split]) == []


def test_an_op_that_only_moves_data_is_none_if_xla_joined_it_with_another_one():
    before = ["step:9 f:3 tanh", "step:9 f:4 exp"]
    assert told(before, [*before, "step:9 f:5 reshape;jit(step)/reshape"]) == []


def test_a_gradient_of_common_ops_alone_may_be_one_that_xla_drops():
    forward = ["step:9 f:3 jvp()/sin", "step:9 f:4 jvp()/div"]
    assert told(forward, [*forward, "step:9 f:4 transpose(jvp())/mul"]) == []


def test_a_comparison_says_less_than_the_op_that_replaces_it():
    """It is what the gradient of an activation needs."""
    before, after = (["step:9 f:3 sin", f"step:9 f:4 {op}"] for op in ("gt", "tanh"))
    assert told(before, after) == ["train.py:4 (f): tanh new"]
    assert told(after, before) == ["train.py:4 (f): tanh gone"]


def test_a_layer_is_named_by_the_equation_that_its_line_gives_to_it():
    layer, pool = "step:9 f:{} Einsum.__call__:5! {}/dot_general", "step:9 f:7 Pool.__call__:2!"
    before = [layer.format(4, "BTD,NDH->BTNH"), layer.format(5, "BTD,CKDH->CBTKH")]
    within = f"{pool} average:3! BT,T->B/dot_general"  # the layer's own equation
    after = [layer.format(3, "BTD,SNDH->SBTNH"), f"{pool} average:3! BT,T->B/tanh"]
    before.append("step:9 f:5 Einsum.__call__:4! promote:2! convert_element_type")
    gone = "einsum BTD,CKDH->CBTKH, einsum BTD,NDH->BTNH"
    text = f"train.py:3 (f): einsum BTD,SNDH->SBTNH instead of {gone}"
    assert told([*before, within], after) == [text]


def test_the_only_line_of_a_library_with_other_ops_is_named_with_its_caller():
    ops = [f"step:9 update:5! {op}" for op in ("mul", "sub", "sqrt")]
    other = ["step:8 run:3! exp", "step:8 run:3! sub"]
    line = "layers/core.py:5 (update), called at train.py:9"
    assert told([*ops, *other], [*ops[:2], *other]) == [f"{line}: sqrt gone"]
    assert told(ops[:2], ops) == [f"{line}: sqrt new"]
    assert told([*ops, *other], [*ops[:2], *other[1:]]) == []
    assert told(ops[1:2], ops[:2]) == []
    alone = [each.replace("step:9", "step:9!") for each in ops]  # no own line calls it
    assert told(alone[:2], alone) == []
    joined = "step:9 update:5! (sqrt:jit(step)/mul:"
    assert told([*ops[:2], joined], ops[:2]) == []


def test_the_innermost_line_of_stacks_that_were_cut_is_compared():
    known = "step:9 forward:2 tanh"
    layer = "call:3 block:4 Dense.__call__:7! dot_general"
    assert told([known, layer, "block:5 exp"], [known, layer, "block:5 sin"]) == [
        "train.py:5 (block): sin instead of exp"
    ]
    # one frame more, as of a wrapper, cuts more of the stack
    assert told([known, layer], [known, layer.removeprefix("call:3 ")]) == []
    # of two functions, it is not known which one runs first
    both = ["block:5 {}", "head:8 {}"]
    before, after = ([known, *(each.format(op) for each in both)] for op in ("exp", "sin"))
    assert told(before, after) == []


def test_a_function_that_only_calls_what_is_compiled_once_may_be_called_where_no_op_shows_it():
    plain = ["step:9 net:3 act:1 sub", "step:9 net:4 act:1 sub"]
    calls = [f"step:9 net:3 act:1 silu:7! {place}jit(silu)/mul" for place in ("", "b/")]
    gradient = "step:9 net:4 act:1 transpose(jvp())/add_any"
    assert told([*plain, "step:8 tanh"], [*calls, gradient, "step:8 exp"]) == [
        "train.py:8 (step): exp instead of tanh"
    ]


def test_a_comparison_is_not_named_beside_common_ops():
    (text,) = told(["step:9 sub"], ["step:9 abs", "step:9 ge"])
    assert text == "train.py:9 (step): abs instead of sub"


def test_the_line_of_a_product_that_one_program_lacks_precedes_the_sizes_that_follow():
    edited = Reason(Subject(ReasonKind.EDITED), labels={"train.py:3 (f)"}, scopes={"bl,lr->br"})
    sizes = Reason(Subject(ReasonKind.SIZE), 64, 1, 1)
    texts = [each.text for each in sentences_of([sizes, edited], ("a", "b"), (128, 192))]
    assert texts[0] == "train.py:3 (f): einsum bl,lr->br gone"
    edited.scopes = {"exp"}
    texts = [each.text for each in sentences_of([sizes, edited], ("a", "b"), (128, 192))]
    assert not texts[0].endswith("gone")


def test_values_in_fewer_loops_follow_from_inputs_that_are_gone():
    looped = Reason(Subject(ReasonKind.LOOPED, before="loop", after="gone"), -1024, 2, 2)
    inputs = Reason(Subject(ReasonKind.INPUTS), -2056, 1, 0, inputs={"w"})
    constants = Reason(Subject(ReasonKind.CONSTANTS), 2048, 0, 1)
    reasons = [looped, inputs, constants]
    texts = [each.text for each in sentences_of(reasons, ("a", "b"), (16384, 16384))]
    assert texts[0].startswith("1 input is gone")


def test_gradients_of_a_function_of_ones_own_say_nothing_of_the_lines_below_its_call():
    """The backward pass of `jax.custom_vjp` has only the call stack of the call."""
    ops = ["step:9 model:3 f:7 jvp()/tanh", "step:9 model:3 transpose(jvp(jvp()))/sin"]
    assert told([*ops, "step:9 model:3 f:7 transpose(jvp())/dot_general"], ops) == []


def test_a_line_that_does_nothing_in_the_forward_pass_may_have_gradients():
    sites = sites_of("step:9 f:7 jvp()/tanh", "step:9 transpose(jvp())/sin").known
    forward, backward = (
        own_lines(sites, {"f"}, set(), of_backward=of_backward) for of_backward in (False, True)
    )
    (line,) = (each for each in forward.items if each.number == 7)
    assert is_in_gradient(line, forward, backward)


def test_a_gather_is_named_instead_of_the_ops_of_its_indices():
    indices = ["step:9 f:3 lt", "step:9 f:3 add"]
    gather, product = [*indices, "step:9 f:3 gather"], ["step:9 f:3 dot_general"]
    others = ["step:9 f:2 tanh", "step:9 f:4 exp"]
    told_of = told([*others, *gather], [*others, *product])
    assert told_of == ["train.py:3 (f): dot_general instead of gather"]
    told_of = told([*others, *product], [*others, *gather])
    assert told_of == ["train.py:3 (f): gather instead of dot_general"]
    told_of = told([*others, *indices[1:]], [*others, *product])
    assert told_of == ["train.py:3 (f): dot_general instead of add"]


def test_a_call_is_not_gone_that_a_checkpoint_only_recomputes():
    before, after = ["step:9 f:3 tanh", "step:9 f:4 net:7 exp"], ["step:9 f:3 tanh"]
    for kind, programs in (
        (ReasonKind.CHECKPOINTED, (before, after)),
        (ReasonKind.UNCHECKPOINTED, (after, before)),
    ):
        found = FoundReasons()
        found.of(kind)
        assert len(told(*programs, found)) == 1, "only the checkpoint"
        assert len(told(*programs[::-1], found)) == 2, "the checkpoint and the new call"


def test_of_a_line_that_is_two_now_the_one_that_does_what_is_new_is_named():
    before = ["step:9 exp", "step:10 tanh", "step:10 erf", "step:11 log"]
    after = ["step:9 exp", "step:10 tanh", "step:11 erf", "step:11 sin", "step:12 log"]
    assert told(before, after) == ["train.py:11 (step): sin new"]
    assert told(after, before) == ["train.py:11 (step): sin gone"]


def test_several_lines_that_do_what_is_new_are_a_range_at_which_values_may_be():
    before, after = ["step:9 exp", "step:10 tanh"], ["step:9 exp", "step:10 sin", "step:11 cos"]
    found = FoundReasons()
    assert told(before, after, found) == ["train.py:10-11 (step): cos, sin instead of tanh"]
    (edited,) = found.found.values()
    values = Reason(Subject(ReasonKind.REPLACED), 64, 0, 2)
    for line, count in ((11, 1), (12, 2)):
        values.growth_by_line = Counter({("/src/train.py", line): 64})
        assert len(sentences_of([values, edited], ("a", "b"), (64, 128))) == count


def test_the_line_of_the_first_program_had_what_is_gone_if_it_had_more_lines():
    before = ["step:9 exp", "step:10 tanh", "step:11 sin", "step:12 log"]
    assert told(before, ["step:9 exp", "step:11 sin", "step:12 log"]) == [
        "train.py:10 (step): tanh gone"
    ]
    joined = ["step:9 exp", "step:11 sin", "step:11 cos", "step:12 log"]
    after = ["step:9 exp", "step:11 cos", "step:12 log"]
    two = ["step:9 exp", "step:10 tanh", "step:11 sin", "step:11 cos", "step:12 log"]
    assert told(joined, after) == ["train.py:11 (step): sin gone"]
    assert told(two, after) == ["train.py:10-11 (step): sin, tanh gone"]
