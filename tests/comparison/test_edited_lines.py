import re
from collections import Counter

import pytest

from xlagraph.comparison.call_sites import call_sites
from xlagraph.comparison.edited_lines import name_edited_lines
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of
from xlagraph.hlo.metadata import StackFrame

INSTALLED = "/venv/lib/python3.12/site-packages/layers/core.py"


class Module(Mentions):
    """The call sites of a module."""

    def __init__(self, *ops):
        super().__init__()
        self._ops = ops

    @property
    def call_sites(self):
        return sites_of(*self._ops)


def sites_of(*ops):
    """Return the sites of ops: ``step:5 Dense.__call__:9! mul`` has a line of a library."""
    frames: dict[int, StackFrame] = {}
    named: set[tuple[str, int]] = set()
    numbers: dict[str, int] = {}
    for op in ops:
        *stack, name = op.split()
        caller: int | None = None
        for place, text in enumerate(stack):
            function, line, column, installed = re.findall(r"(\S+?):(\d+)@?(\d*)(!?)$", text)[0]
            key = " ".join(stack[: place + 1])
            caller_of, caller = caller, numbers.setdefault(key, len(numbers) + 1)
            file = INSTALLED if installed else "/src/train.py"
            frames[caller] = StackFrame(function, file, int(line), int(column or 0), caller_of)
        named.add((f"jit(step)/{name}", caller or 0))
    return call_sites("step", named, frames)


def told(before, after, found=None):
    found = found or FoundReasons()
    a, b = (Reserved((), mentions=Module(*ops)) for ops in (before, after))
    name_edited_lines((a, b), found)
    return [reason_text(each, ("a", "b")) for each in found.found.values()]


def test_an_edited_line_precedes_what_only_says_which_values_differ():
    edited, replaced = Reason(Subject(ReasonKind.EDITED)), Reason(Subject(ReasonKind.REPLACED))
    edited.labels, edited.inputs = {"train.py:3 (f)"}, {"tanh", "add"}
    replaced.growth_bytes, replaced.count_b = 64, 2
    lines = [each.line for each in sentences_of([replaced, edited], ("a", "b"), (64, 128))]
    assert lines == ["train.py:3 (f): tanh new: 0 B", "2 new values at the peak: +64 B"]
    copies = Reason(Subject(ReasonKind.COPIES), 64, 1, 3)
    (both,) = sentences_of([copies, edited], ("a", "b"), (64, 128))
    assert both.line == "train.py:3 (f): tanh new; 2 copies more: +64 B"
    (only,) = sentences_of([edited], ("a", "b"), (64, 64))
    assert only.line == "train.py:3 (f): tanh new: 0 B"
    constant = Reason(Subject(ReasonKind.CONSTANTS), 4, 0, 1)
    only, rest = sentences_of([constant, edited], ("a", "b"), (65536, 65540))
    assert (only.line, rest.line) == ("train.py:3 (f): tanh new: 0 B", "everything else: +4 B")
    replaced.growth_by_line = Counter({("train.py", 3): 40, ("train.py", 4): 24})
    (both,) = sentences_of([replaced, edited], ("a", "b"), (64, 128))
    assert both.text.startswith("train.py:3 (f): tanh new; 2 new values at the peak (mostly")


def test_a_function_that_only_the_smaller_program_calls_makes_none_of_the_others_values():
    edited, called, new = map(
        Reason,
        (Subject(ReasonKind.EDITED), Subject(ReasonKind.CALLED), Subject(ReasonKind.SCOPE_NEW)),
    )
    edited.labels, edited.inputs = {"train.py:3 (f)"}, {"tanh"}
    called.scopes, called.count_a = {"filter of equinox"}, 21
    new.growth_bytes, new.count_b, new.scopes = 64, 2, {"g"}
    reasons = [new, called, edited]
    first, *_ = sentences_of(reasons, ("a", "b"), (64, 128))
    assert first.text == "train.py:3 (f): tanh new"
    called.scopes, called.inputs, called.count_a, called.count_b = set(), called.scopes, 0, 21
    first, *_ = sentences_of(reasons, ("a", "b"), (64, 128))
    assert first.text == "21 ops made by filter of equinox, none before"
    called.inputs, edited.inputs, edited.scopes = {"Rms of flax"}, {"Rms"}, {"Norm"}
    first, *_ = sentences_of(reasons, ("a", "b"), (64, 128))
    assert first.text == "train.py:3 (f): Rms instead of Norm"


def test_a_line_that_calls_another_layer_precedes_functions_that_follow_from_it():
    edited, called, gone = (
        Reason(Subject(ReasonKind.EDITED)),
        Reason(Subject(ReasonKind.CALLED), 0, 48, 0),
        Reason(Subject(ReasonKind.SCOPE_GONE), -64, 2, 0, scopes={"g"}),
    )
    edited.labels, edited.inputs, edited.scopes = {"ssm.py:3 (f)"}, {"Diagonal"}, {"Dense"}
    called.labels, called.scopes = {"train.py:9"}, {"abs_sq of optax"}
    gone.cause = "values far larger than their inputs"
    first, *_ = sentences_of([gone, called, edited], ("a", "b"), (128, 64))
    assert first.text.startswith("ssm.py:3 (f): Diagonal instead of Dense; ")
    called.labels = {"ssm.py:3"}
    first, *_ = sentences_of([gone, called, edited], ("a", "b"), (128, 64))
    assert first.text.startswith("48 ops made by abs_sq of optax before")


def test_an_edited_line_precedes_the_size_of_a_parameter_that_follows_from_it():
    edited = Reason(Subject(ReasonKind.EDITED), labels={"train.py:3 (f)"}, scopes={"exp"})
    value = HeldValue(
        *(ReservedPart.INPUTS, 64, False, "p", None, "parameter", "p['w']", None, None),
        *("f32[16]", "f32", 64, 0),
    )
    sizes = Reason(Subject(ReasonKind.SIZE), -64, 1, 1, input_example=(value, value))
    first, second = (each.text for each in sentences_of([sizes, edited], ("a", "b"), (128, 64)))
    assert first == "train.py:3 (f): exp gone"
    assert second.startswith("p['w'] f32[16]")
    edited.scopes = {"concatenate"}
    gone = Reason(Subject(ReasonKind.REPLACED), -256, 2, 1)
    growth = [gone, sizes, edited], ("a", "b"), (1024, 704)
    assert sentences_of(*growth)[1].text == "train.py:3 (f): concatenate gone"
    gone.growth_by_line = Counter({("train.py", 3): -192, ("train.py", 4): -64})
    assert sentences_of(*growth)[0].text == "train.py:3 (f): concatenate gone"
    edited.scopes = {"exp"}
    tokens = value._replace(dtype="s32")
    sizes.input_example = tokens, tokens
    assert sentences_of([sizes, edited], ("a", "b"), (128, 64))[1].text == first
    called = Reason(Subject(ReasonKind.CALLED), scopes={"Adam of o"}, inputs={"Lion of o"})
    both = sentences_of([sizes, edited, called], ("a", "b"), (128, 64))
    assert both[1].text == "Lion of o replaces Adam of o"
    assert sentences_of([sizes, called], ("a", "b"), (128, 64))[1].text == both[1].text
    sizes.input_example = value, value
    files = Reason(Subject(ReasonKind.NEW_CODE, after="new"), 0, 0, 8, scopes={"pool/max.py"})
    assert sentences_of([sizes, edited, files], ("a", "b"), (128, 64))[0].text == first
    sizes.turns = {(4, 2)}
    assert sentences_of([sizes, edited], ("a", "b"), (128, 64))[0].text.startswith("p['w'] f32[16]")


def test_new_inputs_precede_the_outputs_that_return_them_if_no_line_was_edited():
    weights = HeldValue(
        *(ReservedPart.INPUTS, 64, False, "p", None, "parameter", "p['w']", None, None),
        *("f32[16]", "f32", 64, 0),
    )
    inputs = Reason(Subject(ReasonKind.INPUTS), 64, 0, 1, inputs={"p['w']"})
    inputs.largest = None, weights
    outputs = Reason(Subject(ReasonKind.OUTPUTS), 96, 1, 2)
    lines = [each.line for each in sentences_of([outputs, inputs], ("a", "b"), (1, 161))]
    assert lines[0] == "1 new input: p['w']: +64 B"


def test_another_element_type_precedes_the_functions_that_cast_to_it():
    dtype, called = (
        Reason(Subject(ReasonKind.DTYPE, "f32", "f64")),
        Reason(Subject(ReasonKind.CALLED)),
    )
    dtype.growth_bytes, dtype.count_b = 64, 14
    called.inputs, called.count_b = {"promote_dtype of flax"}, 20
    lines = [each.text for each in sentences_of([called, dtype], ("a", "b"), (64, 128))]
    assert lines == [
        "dtype of 14 values is now f64, was f32",
        "20 ops made by promote_dtype of flax, none before",
    ]


def test_an_op_that_one_line_has_no_longer_is_named_with_the_line_and_its_function():
    before = ["step:9 loss:5 forward:2 dot_general", "step:9 loss:5 forward:3 add"]
    assert told(before, before[:1]) == ["train.py:3 (forward): add gone"]
    assert told(before[:1], before) == ["train.py:3 (forward): add new"]
    assert told(before, [*before[:1], "step:9 loss:5 forward:3 tanh"]) == [
        "train.py:3 (forward): tanh instead of add"
    ]
    assert told(before, before) == []


def test_an_op_that_xla_merges_with_equal_ones_of_the_same_sharding_is_no_edit():
    found = FoundReasons()
    value = HeldValue(
        *(ReservedPart.INPUTS, 64, False, "p", None, "parameter", "p", None, None),
        *("f32[16]", "f32", 64, 0),
    )
    whole = value._replace(sharding="{replicated}")
    found.of(ReasonKind.SIZE).input_example = value._replace(sharding="{devices=[2]<=[2]}"), whole
    ops = ["step:5 mul", "step:6 sqrt"]
    assert told(ops, ops[:1]) == ["train.py:6 (step): sqrt gone"]
    assert len(told(ops, ops[:1], found)) == 1


def test_lines_that_moved_are_the_same():
    before = ["step:9 loss:5 forward:2 dot_general", "step:9 loss:5 forward:3 add"]
    after = [
        "step:12 loss:8 forward:4 dot_general",
        "step:12 loss:8 forward:5 exp",
        "step:12 loss:8 forward:6 add",
    ]
    assert told(before, after) == ["train.py:5 (forward): exp new"]


def test_a_condition_that_a_backward_pass_needs_is_no_call_of_the_layer_that_computes_it():
    dense = "step:9 loss:5 Dense.__call__:7! dot_general"
    assert told([dense, "step:9 loss:5 MLP.__call__:8! gt"], [dense]) == []
    assert told([dense, "step:9 loss:5 MLP.__call__:8! max"], [dense]) != []


def test_a_function_that_is_called_less_often_differs_where_it_was_called():
    dense = "dense:1 dot_general"
    before = [f"step:9 forward:3 {dense}", f"step:9 forward:4 {dense}", "step:9 forward:5 tanh"]
    more = [*before, f"step:9 forward:6 {dense}"]
    assert told(more, before) == ["train.py:6 (forward): dense gone, others left"]
    # either of two lines
    assert told(before, [before[0], before[2]]) == ["train.py (forward): dense gone, others left"]
    assert told(before[::2], before) == ["train.py (forward): dense new, besides others"]


def test_a_line_with_the_same_ops_in_another_order_is_named():
    before = ["step:9 f:3@5 tanh", "step:9 f:3@9 add", "step:9 f:4@2 exp"]
    after = ["step:9 f:3@9 tanh", "step:9 f:3@5 add", "step:9 f:4@8 exp"]
    assert told(before, after) == ["train.py:3 (f): the same ops in another order"]
    assert told(before, before) == told([*before, "step:9 f:3@5 ge"], before) == []


def test_an_op_that_another_line_has_now_is_told_as_another_order():
    norm = "norm:1 exp", "norm:1 transpose(jvp())/mul"
    others = "step:9 f:4 tanh", "step:9 f:5 sin"
    before = [*(f"step:9 f:3 {op}" for op in norm), *others]
    after = [*(f"step:9 f:5 {op}" for op in norm), *others]
    assert told(before, after) == ["train.py:5 (f): the same ops in another order"]


def test_what_runs_first_counts_as_other_differences_follow_from_it():
    head, loss = "step:9 loss:4 forward:7 dense:1 dot_general", "step:9 loss:5 exp"
    first = ["step:9 loss:4 forward:3 tanh", "step:9 loss:6 reduce_sum"]
    assert told([*first, head, loss], first) == ["train.py:7 (forward): dense gone"]


def test_a_function_that_only_one_program_calls_precedes_an_earlier_line_of_common_ops():
    setup, scan = "step:5 setup:9", "step:7 apply:20"
    before = (f"{setup} mul", f"{scan} tanh")
    after = (*before, "step:5 setup:10 add", f"{scan} tanh", "step:7 apply:21 combine:30 exp")
    (line,) = told(before, after)
    assert line == "train.py:21 (apply): combine new"


def test_what_a_library_computes_around_a_function_follows_from_its_lines():
    before = ["step:9 net:3 stack:1! block:5 tanh", "step:9 net:4 exp"]
    after = [*before, "step:9 net:3 stack:1! block:6 dropout:2! mul", "step:9 net:3 split:8! shift"]
    assert told(before, after) == ["train.py:6 (block): dropout new"]


@pytest.mark.parametrize("first", ["7", "2"])
def test_the_first_call_of_a_compiled_function_says_nothing_of_the_others(first):
    """XLA puts its stack below that of the call."""
    called = [f"step:9 f:3 step:9 f:{first} norm:1 jit(norm)/exp", "step:9 f:4 tanh"]
    assert told(called, called[1:]) == ["train.py:3 (f): norm gone"]


def test_functions_that_another_program_traced_first_are_not_compared():
    init = "main:1 init:4 f:3 jit(relu)/max"
    own = ["main:2 step:9 f:4 tanh", "main:2 step:9 f:5 add"]
    assert told([init, *own], ["main:2 step:9 f:3 jit(relu)/max", *own]) == []
    assert sites_of(init, *own).unknown == {"relu"}


def test_a_function_of_a_library_above_the_program_may_also_be_within_it():
    wrapped = ["main:2 call:3! step:9 call:3! f:4 tanh", "main:2 call:3! step:9 call:3! f:5 add"]
    assert told(wrapped, wrapped[:1]) == ["train.py:5 (f): add gone"]
    again = "main:2 call:3! step:9 call:3! f:6 call:3! step:9 call:3! f:6 jit(norm)/exp"
    assert told(wrapped, [*wrapped, again]) == ["train.py:6 (f): norm new"]


def test_a_loop_in_a_loop_has_the_stack_of_the_outer_one_once():
    (site,) = sites_of("step:9 body:2 f:3 body:2 f:3 cell:1 exp").known
    assert [frame.function for frame in site.frames] == ["step", "body", "f", "cell"]


def test_a_wrapper_of_a_library_is_in_a_stack_once_for_each_layer():
    call = "wrapped:2! run:3!"
    inner = f"step:9 {call} Model.__call__:3 {call} Block.__call__:5 {call} Layers.__call__:6!"
    before = [f"{inner} tanh", f"step:9 {call} Model.__call__:4 add"]
    after = [f"{inner} exp", before[1]]
    (site,) = sites_of(before[0]).known
    assert [frame.line for frame in site.frames if frame.file != INSTALLED] == [9, 3, 5]
    # the same layers are called
    assert told(before, after) == []


def test_lines_of_stacks_that_were_cut_are_not_compared():
    """JAX keeps as many frames as `jax_traceback_in_locations_limit` says."""
    first = "step:9 forward:2 tanh"
    layers = "block:4 Dense.__call__:7! exp", "block:5 Norm.__call__:8! sin"
    whole = [first, *(f"step:9 forward:3 {layer}" for layer in layers)]
    assert told(whole, [first, *layers]) == []
    assert told(whole, whole[:2]) == ["train.py:5 (block): Norm gone"]


def test_a_program_of_another_name_is_the_outermost_function_of_several_lines():
    """`jax.pmap` calls it `_fun`."""
    before = ["<module>:2 train:9 f:3 tanh", "<module>:2 train:10 f:4 exp"]
    after = [before[0], "<module>:2 train:10 f:4 sin"]
    assert told(before, after) == ["train.py:4 (f): sin instead of exp"]


def test_of_two_differences_at_one_line_number_the_first_is_named():
    before = ["step:9 f:5 tanh", "step:9 f:6 tanh", "step:9 f:7 exp"]
    after = ["step:9 f:1 tanh", "step:9 f:3 exp", "step:9 f:5 sin"]
    assert told(before, after) == ["train.py (f): tanh gone, others left"]


def test_a_library_is_named_by_the_layer_that_its_wrappers_call():
    layer = "wrap.<locals>.wrapped:2! run:3! Dense.__call__:4! dot_general"
    before = ["step:9 forward:3 tanh"]
    assert told(before, [*before, f"step:9 forward:4 {layer}"]) == [
        "train.py:4 (forward): Dense new"
    ]


def test_lines_without_a_backward_pass_are_named_if_all_forward_passes_are_the_same():
    forward = ["step:9 f:3 jvp()/dot_general", "step:9 f:4 jvp()/tanh", "step:9 f:4 jvp()/gt"]
    backward = [
        "step:9 f:3 transpose(jvp())/dot_general",
        "step:9 f:4 transpose(jvp())/mul",
    ]
    assert told([*forward, *backward], [*forward[:2], backward[1]]) == [
        "gradients of train.py:3 (f), none now"
    ]
    assert told(forward, [*forward, *backward]) == [
        "gradients of train.py:3 (f), train.py:4 (f), none before"
    ]


def test_a_forward_pass_that_differs_in_more_than_its_backward_pass_needs_is_named():
    forward, backward = "step:9 f:3 jvp()/dot_general", "step:9 f:4 transpose(jvp())/mul"
    after = [forward, "step:9 f:4 jvp()/exp", backward]
    assert told([forward, "step:9 f:4 jvp()/add"], after) == ["train.py:4 (f): exp instead of add"]


def test_a_private_wrapper_of_a_library_is_not_what_a_line_calls():
    wrapper = "_JitWrapper.__call__:2! _call:3! cache.<locals>.run:4!"
    before = ["step:9 forward:3 tanh"]
    assert told(before, [*before, f"step:9 forward:4 {wrapper} solve:5! exp"]) == [
        "train.py:4 (forward): solve new"
    ]
    assert told(before, [*before, f"step:9 forward:4 {wrapper} own:7 exp"])[0].endswith("own new")


@pytest.mark.parametrize("within", ["solve:5! Solver.__call__:6!", "check:5! Rule.__call__:6!", ""])
def test_what_is_in_a_compiled_function_whose_calls_are_not_known_is_no_difference(within):
    wrapper = "_JitWrapper.__call__:2! _call:3!"
    before = ["step:9 tanh", f"step:10 {wrapper} {within} jit(solve)/jit(check)/exp"]
    assert told(before, [before[0], "solve:5! jit(solve)/exp", "step:12 sin"]) == [
        "train.py:12 (step): sin new"
    ]
    assert told(before, [before[0]]) == ["train.py:10 (step): solve gone"]


def test_an_einsum_is_named_by_its_equation():
    before = ["step:9 f:3 bhts,bshd->bthd/dot_general", "step:9 f:4 tanh"]
    after = ["step:9 f:3 vmap(BNTS,BSNH->BTNH)/dot_general", "step:9 f:4 tanh"]
    text = "train.py:3 (f): einsum BNTS,BSNH->BTNH instead of einsum bhts,bshd->bthd"
    assert told(before, after) == [text]


def test_a_line_that_takes_a_part_is_named_if_lines_differ_in_nothing_else():
    before = ["step:9 loss:3 exp", "step:9 loss:4 reduce_sum"]
    assert told(before, [*before, "step:9 loss:4 slice"]) == ["train.py:4 (loss): slice new"]
    assert told(before, [*before, "step:9 loss:4 slice", "step:9 loss:5 tanh"]) == [
        "train.py:5 (loss): tanh new"
    ]
    edited, sizes = Reason(Subject(ReasonKind.EDITED)), Reason(Subject(ReasonKind.SIZE), -64, 1, 1)
    edited.labels, edited.inputs = {"train.py:4 (loss)"}, {"slice"}
    first, *_ = sentences_of([sizes, edited], ("a", "b"), (128, 64))
    assert first.text == "train.py:4 (loss): slice new"
    # what else only the program with smaller values computes makes no others smaller
    edited.inputs = {"dot_general", "tanh"}
    first, *_ = sentences_of([sizes, edited], ("a", "b"), (128, 64))
    assert first.text != "train.py:4 (loss): dot_general, tanh new"
    edited.turns = {(0, 3)}  # unless in a loop
    first, *_ = sentences_of([sizes, edited], ("a", "b"), (128, 64))
    assert "a loop of 3 iterations is new, with dot_general" in first.text
    edited.turns, sizes.growth_bytes = set(), 64
    first, *_ = sentences_of([sizes, edited], ("a", "b"), (64, 128))
    assert first.text == "train.py:4 (loss): dot_general, tanh new"


@pytest.mark.parametrize(
    ("place", "loop"), [("12", "a loop of 2 iterations is new, with "), ("4", "")]
)
def test_an_edited_line_names_the_loop_that_only_one_program_has_there(place, loop):
    turns = FoundReasons()
    reason = turns.of(ReasonKind.TURNS)
    reason.turns, reason.scopes = {(0, 2)}, {f"train.py:{place}"}
    after = ["step:12 micro:7 loss:3 exp", "step:12 stack"]
    found = told(["step:9 loss:3 exp"], after, turns)
    assert found[1] == f"train.py:12 (step): {loop}micro, stack instead of loss"


def test_a_stack_that_lacks_frames_is_no_call():
    before = ["step:9 f:3 block:5 tanh", "step:9 f:3 block:6 jit(tril)/ge"]
    after = [before[0], "step:9 block:6 jit(tril)/ge", "step:12 exp"]
    assert told(before, after) == ["train.py:12 (step): exp new"]
