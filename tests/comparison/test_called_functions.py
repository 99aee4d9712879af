"""Functions and ops that only one program has precede the values that follow from them."""

from collections import Counter

import pytest

from tests.comparison.small_dumps import PARAMETER
from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.comparison.called_functions import name_called
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.mentions import Function, Mentions
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries import compare

PACKAGES = "/env/lib/python3.12/site-packages"
DUMP = """
0 | x | f32[16] | 0 | 64 | 0-3 | parameter(0) | x
1 | a | f32[16] | 0 | 64 | 1-{end} | exp(x) | jit(f)/mul @ frame 3
1 | b | f32[16] | {at} | 64 | {start}-3 | exp(x) | jit(f)/mul @ frame 3
"""
MODULE = """HloModule jit_step, is_scheduled=true

FileNames
1 "/me/train.py"
2 "{packages}/optim/chain.py"
3 "{packages}/optim/{file}.py"

FunctionNames
1 "step"
2 "chain.<locals>.update_fn"
3 "scale_by_{file}.<locals>.update_fn"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}}
2 {{file_name_id=2 function_name_id=2 line=7 end_line=7 column=1 end_column=2}}
3 {{file_name_id=3 function_name_id=3 line=9 end_line=9 column=1 end_column=2}}

StackFrames
1 {{file_location_id=1 parent_frame_id=1}}
2 {{file_location_id=2 parent_frame_id=2}}
3 {{file_location_id=3 parent_frame_id=3}}

ENTRY %main (x: f32[16]) -> f32[16] {{
  %x = f32[16]{{0}} parameter(0), metadata={{op_name="x"}}
  %a = f32[16]{{0}} exponential(%x), metadata={{op_name="jit(f)/mul" stack_frame_id=3}}
  ROOT %b = f32[16]{{0}} exponential(%x), metadata={{op_name="jit(f)/mul" stack_frame_id=3}}
}}
"""
LION = "scale_by_lion.<locals>.update_fn"
OF_CLIP = '%b = f32[16]{0} exponential(%x), metadata={op_name="jit(f)/loss/jit(clip)/max"'
AGAIN = """
%other (y: f32[16]) -> f32[16] {
  %y = f32[16]{0} parameter(0), metadata={op_name="y"}
  ROOT %z = f32[16]{0} exponential(%y), metadata={op_name="jit(f)/jit(clip)/max" stack_frame_id=3}
}
"""
STEP = Function("train.py", "step", False)
CHAIN = Function("optim/chain.py", "chain.<locals>.update_fn", True)
VALUE = HeldValue(
    part=ReservedPart.LIVE,
    held_bytes=64,
    is_donated=False,
    name="a",
    shape_index=None,
    opcode="fusion",
    op_name="jit(f)/mul",
    user_line=("f.py", 1),
    source_line=("f.py", 1),
    shape="f32[16]",
    dtype="f32",
    size_bytes=64,
    live_from=0,
)


class Module(Mentions):
    """The call stacks and op names of a module."""

    def __init__(self, stacks=(), names=()):
        super().__init__()
        self._stacks, self._names = stacks, names

    @property
    def call_stacks(self):
        return Counter(self._stacks)

    @property
    def op_names(self):
        return Counter(self._names)


def of_package(name, file="a"):
    return Function(f"optim/{file}.py", name, True)


def told(before, after):
    """Return the texts about functions or ops that only one of two modules has."""
    found = FoundReasons()
    a, b = (Reserved((VALUE,), mentions=Module(**each)) for each in (before, after))
    name_called((a, b), found)
    return [reason_text(each, ("a", "b")) for each in found.found.values()]


def told_of_stacks(before, after):
    return told({"stacks": before}, {"stacks": after})


@pytest.mark.parametrize("of_scheduler", ["", ' scheduling_name="b" deduplicated_name="a"'])
def test_an_optimizer_of_a_package_precedes_the_values_that_follow_from_it(tmp_path, of_scheduler):
    for run, file, size, at in (("a", "lion", 64, 0), ("b", "adam", 128, 64)):
        values = DUMP.format(at=at, end=3 if at else 2, start=2 if at else 3)
        dump = tiny_dump(f"{PARAMETER}\n1 | {size} | preallocated-temp", values)
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", dump)
        text = MODULE.format(packages=PACKAGES, file=file)
        text = text.replace(" stack_frame_id", f"{of_scheduler} stack_frame_id")
        path.with_name(path.name.replace("-buffer-assignment", "")).write_text(text)
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        new = [each.line for each in compare(graph, "a", "b").sentences]
        gone = [each.line for each in compare(graph, "b", "a").sentences]
    adam, lion = "scale_by_adam of optim", "scale_by_lion of optim"
    assert new[0] == f"{adam} replaces {lion} (called at train.py:3): 0 B"
    assert gone[0] == f"{lion} replaces {adam} (called at train.py:3): 0 B"
    assert new[1].endswith("+64 B")


def test_the_first_new_function_of_a_call_stack_counts():
    stacks = [(STEP, CHAIN, of_package("Norm.__call__"), of_package("mean"))] * 5
    assert told_of_stacks([(STEP, CHAIN)], [(STEP, CHAIN), *stacks]) == [
        "5 ops made by Norm of optim, none before"
    ]
    assert told_of_stacks([(STEP, CHAIN), *stacks], [(STEP, CHAIN)]) == [
        "5 ops made by Norm of optim before, none now"
    ]


def test_only_functions_that_one_function_calls_replace_each_other():
    adam, norm = of_package("adam"), of_package("norm")
    gone = [(STEP, CHAIN), *[(STEP, adam)] * 6]
    assert told_of_stacks(gone, [(STEP, CHAIN), *[(STEP, CHAIN, norm)] * 9]) == [
        "9 ops made by norm of optim, none before"
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([(STEP, CHAIN)], [(STEP, CHAIN), (STEP, of_package("init"))], id="few ops"),
        pytest.param(
            [(STEP, CHAIN)], [(STEP, CHAIN), *[(STEP, STEP._replace(name="f"))] * 9], id="own file"
        ),
        pytest.param(
            [(STEP, CHAIN)],
            [(STEP, CHAIN), *[(STEP, of_package("<lambda>"))] * 9],
            id="function without a name",
        ),
        pytest.param(
            [(STEP, CHAIN)], [(of_package("f"), of_package("g"))] * 9, id="another program"
        ),
        pytest.param([], [(STEP, CHAIN)] * 9, id="no call stacks"),
    ],
)
def test_functions_that_prove_nothing_are_not_named(before, after):
    assert told_of_stacks(before, after) == []


def test_scopes_and_primitives_of_one_program_are_named_with_those_that_they_replace():
    both = {"jit(f)/net_0/dot": 3}
    gone = {"jit(f)/jvp(net_0)/relu/max": 2, "jit(f)/net_1/transpose": 4}
    new = {"jit(f)/net_1/tanh": 2, "jit(f)/transpose(jvp(net_1))/tanh": 1}
    texts = told({"names": both | gone}, {"names": both | new})
    assert texts == ["3 ops of tanh, none before; 2 ops of relu before, none now"]


def test_scopes_of_other_names_with_the_same_ops_are_no_difference():
    before, after = (
        {
            "jit(f)/dot": 2,
            f"jit(f)/{net}/tanh": 4,
            f"jit(f)/{net}/exp": 4,
            f"p['{net}/w']": 1,
            "jit(f)/jvp()": 1,  # of no scope
        }
        for net in ("net", "model")
    )
    assert told({"names": before}, {"names": after}) == []
    more = {**after, "jit(f)/model/exp": 6}
    assert told({"names": before}, {"names": more}) == [
        "10 ops of model, none before; 8 ops of net before, none now"
    ]


def test_ops_of_pytorch_are_named_without_the_numbers_of_their_nodes():
    common = {f"aten__{name}.{n}": 1 for n, name in enumerate(("add", "mm", "sum"))}
    before = {**common, "aten__gelu.12": 3, "aten__gelu.30": 3}
    after = {**common, "aten__relu.12": 5, "p0.1": 9}
    (text,) = told({"names": before}, {"names": after})
    assert text == "5 ops of aten__relu, none before; 6 ops of aten__gelu before, none now"
    casts = {**common, "xla__cast": 9, "aten__view.8": 9, "xla__device_data": 9}
    assert told({"names": common}, {"names": casts}) == ["9 ops of xla__cast, none before"]


def test_ops_precede_outputs_that_change_against_the_growth():
    ops = Reason(Subject(ReasonKind.CALLED, "ops"), count_b=9, inputs={"xla__cast"})
    outputs = Reason(Subject(ReasonKind.OUTPUTS), -64, 3, 1)
    live = Reason(Subject(ReasonKind.PLACED), 192, 1, 1)
    for bytes_, first in ((192, "9 ops of xla__cast, none before"), (-192, "1 output, 3 before")):
        live.growth_bytes = bytes_
        found = sentences_of([outputs, live, ops], ("a", "b"), (256, 192 + bytes_))
        assert found[0].text.startswith(first)


def test_functions_are_named_with_a_proved_cause_in_one_sentence():
    def reason(kind, growth, **facts):
        return Reason(Subject(kind), growth, count_b=1, **facts)

    called = reason(ReasonKind.CALLED, 0, inputs={"mean of optim"})
    new = reason(ReasonKind.REPLACED, 64, cause="rows are stored")
    (found,) = sentences_of([new, called], ("a", "b"), (64, 128))
    start = "1 op made by mean of optim, none before; rows are stored; 1 new value at the peak"
    assert found.text.startswith(start)


def test_new_inputs_precede_a_cause_of_copies():
    inputs = Reason(Subject(ReasonKind.INPUTS), 32, count_b=1, inputs={"o.acc"})
    copies = Reason(Subject(ReasonKind.COPIES), 64, count_b=1, cause="a reader forces a copy")
    found = sentences_of([copies, inputs], ("a", "b"), (64, 160))
    assert [each.text.partition(":")[0] for each in found] == [
        "1 new input",
        copies.cause + "; 1 copy more",
    ]


def test_an_input_of_another_type_is_no_repeated_part():
    key = VALUE._replace(part=ReservedPart.INPUTS, opcode="parameter", dtype="u32", shape="u32[2]")
    names = ("x[0]", "x[1]", "x[2]")
    x = [
        key._replace(name=f"p{n}", op_name=name, dtype="f32", shape="f32[16]")
        for n, name in enumerate(names[:2])
    ]
    found = explain_pair(Reserved(tuple(x)), Reserved((*x, key._replace(name="k", op_name="x[2]"))))
    assert [each.subject.kind for each in found] == [ReasonKind.INPUTS]


@pytest.mark.parametrize(
    ("dtype", "first"), [("f32", "1 new input: p['g']"), ("u32", "same values, but more of them")]
)
def test_new_inputs_precede_what_only_says_which_values_differ(dtype, first):
    value = VALUE._replace(part=ReservedPart.INPUTS, opcode="parameter", dtype=dtype)
    inputs = Reason(Subject(ReasonKind.INPUTS), inputs={"p['g']"})
    inputs.count(None, value)
    live = Reason(Subject(ReasonKind.PEAK), 6400, count_a=1, count_b=1)
    found = sentences_of([live, inputs], ("a", "b"), (64, 6528))
    assert found[0].text.startswith(first)
    assert sum(each.growth_bytes for each in found) == 6464
    edited = Reason(Subject(ReasonKind.EDITED), labels={"f.py:3 (f)"}, inputs={"Dense"})
    found = sentences_of([live, inputs, edited], ("a", "b"), (64, 6528))
    assert [each.text for each in found[:1 + (dtype == "f32")]] == [
        "f.py:3 (f): Dense new", *["1 new input: p['g']"] * (dtype == "f32")
    ]  # fmt: skip


def test_a_function_precedes_ops_that_a_larger_program_computes_less_often():
    again = Reason(Subject(ReasonKind.AGAIN, after="gone"), count_a=6, count_b=6, of=(9, 9))
    again.turns, again.inputs = {(3, 2)}, {"f.py:1"}
    called = Reason(Subject(ReasonKind.CALLED), count_b=9, inputs={"Normal of stats"})
    for bytes_, first in ((64, "9 ops made by Normal"), (-64, "6 of 9 ops computed 2/3")):
        live = Reason(Subject(ReasonKind.PEAK), bytes_, count_a=1, count_b=1)
        found = sentences_of([live, called, again], ("a", "b"), (128, 128 + bytes_))
        assert found[0].text.startswith(first)


def test_a_function_that_is_traced_once_has_no_call_stack_where_it_is_called_again(tmp_path):
    text = MODULE.format(packages=PACKAGES, file="lion")
    inner = text.replace('%b = f32[16]{0} exponential(%x), metadata={op_name="jit(f)/mul"', OF_CLIP)
    for name, module, count in (("a", text, 2), ("b", inner, 2), ("c", inner + AGAIN, 1)):
        path = write_dump(
            tmp_path / "runs" / name,
            1,
            "jit_f",
            tiny_dump(
                f"{PARAMETER}\n1 | 128 | preallocated-temp", DUMP.format(at=64, end=3, start=2)
            ),
        )
        path.with_name(path.name.replace("-buffer-assignment", "")).write_text(module)
        with open_graph(tmp_path / f"{name}.lbug", create=True) as graph:
            assert ingest(graph, path.parent, jobs=1).ok
            (key,) = [row[0] for row in graph.query("MATCH (c:Compilation) RETURN c.key").rows]
            stacks = Mentions(StoredCompilation(graph, str(key))).call_stacks
        assert [stack[-1].name for stack in stacks.elements()] == [LION] * count


def test_a_closure_of_a_function_that_both_call_says_nothing():
    shared, other = (of_package(f"remat.<locals>.{name}") for name in ("inner", "wrapper"))
    stacks = [(STEP, CHAIN, shared)], [(STEP, CHAIN, shared), *[(STEP, CHAIN, other)] * 9]
    assert told_of_stacks(*stacks) == []


def first_of(*reasons):
    return sentences_of(reasons, ("a", "b"), (1024, 1024 + sum(r.growth_bytes for r in reasons)))[0]


def test_functions_that_replace_others_precede_a_backward_pass_that_both_programs_have():
    called, copies = Reason(Subject(ReasonKind.CALLED)), Reason(Subject(ReasonKind.COPIES))
    called.scopes, called.inputs = {"Recursive.loop of solver"}, {"Backsolve.loop of solver"}
    copies.growth_bytes, copies.count_a, copies.count_b = 64, 1, 5
    copies.code = Reason(Subject(ReasonKind.NEW_CODE, after="new"), count_a=5, count_b=9)
    copies.code.scopes = {"the backward pass"}
    replaces = "Backsolve.loop of solver replaces Recursive.loop of solver"
    assert first_of(called, copies).text == replaces
    copies.code.count_a = 0
    assert first_of(called, copies).text.startswith("9 values made by the backward pass")
    copies.code.scopes = {"solver/recursive.py"}
    assert first_of(called, copies).text == replaces


def test_functions_that_replace_others_precede_sizes_that_no_input_has():
    called, sizes = Reason(Subject(ReasonKind.CALLED)), Reason(Subject(ReasonKind.SIZE))
    called.scopes, called.inputs = {"Tsit5.step of solver"}, {"Dopri8.step of solver"}
    sizes.growth_bytes, sizes.count_a, sizes.count_b = 64, 2, 2
    assert first_of(called, sizes).text == "Dopri8.step of solver replaces Tsit5.step of solver"
    sizes.input_example = VALUE, VALUE
    assert first_of(called, sizes).growth_bytes == 64
    # unless the parameter is that of the layer that they call at the line
    called.labels, sizes.growth_by_line = {"f.py:7"}, Counter({("f.py", 7): 40, ("f.py", 9): 24})
    assert first_of(called, sizes).growth_bytes == 0
    called.labels = {"f.py:9"}
    assert first_of(called, sizes).growth_bytes == 64


def test_new_functions_precede_another_type_of_few_computed_values():
    called = Reason(Subject(ReasonKind.CALLED), count_b=522, inputs={"LayerNorm of flax"})
    dtype = Reason(Subject(ReasonKind.DTYPE, "bf16", "f32"), 640, 1, 1)
    assert first_of(called, dtype).text.startswith("522 ops made by LayerNorm of flax")
    dtype.count_a = dtype.count_b = 6
    assert first_of(called, dtype).text.startswith("dtype of 6 values")


def test_another_type_of_inputs_precedes_the_cause_of_fewer_bytes_of_copies():
    dtype = Reason(Subject(ReasonKind.DTYPE, "bf16", "f32"), 640, 4, 4, input_count=4)
    copies = Reason(Subject(ReasonKind.COPIES), 320, 0, 5, cause="a reader forces a copy")
    assert first_of(copies, dtype).text.startswith("dtype of 4 inputs")
    copies.growth_bytes = 960
    assert first_of(copies, dtype).text.startswith("a reader forces a copy")


def test_functions_of_one_name_in_two_files_are_named_with_these():
    before, after = (
        Counter({(STEP, CHAIN): 9, (STEP, CHAIN, Function(f"optim/{file}.py", "kernel", True)): 9})
        for file in ("hmc", "nuts")
    )
    text = "kernel of optim/nuts.py replaces kernel of optim/hmc.py"
    assert told_of_stacks(before, after) == [text]


def test_a_function_that_only_calls_others_is_named_by_the_new_ones_of_them():
    sequence, norm, dense = (
        Function(f"optim/{file}.py", name, True)
        for file, name in (("base", "Sequential"), ("norm", "LayerNorm"), ("dense", "Dense"))
    )
    before = Counter({(STEP, CHAIN): 9, (STEP, dense): 9})
    wrapped = Counter({(STEP, CHAIN): 9, (STEP, sequence, dense): 9, (STEP, sequence, norm): 20})
    assert told_of_stacks(before, wrapped) == ["20 ops made by LayerNorm of optim, none before"]
    few = Counter({**wrapped, (STEP, sequence, dense): 90})
    assert told_of_stacks(before, few) == ["110 ops made by Sequential of optim, none before"]
    own = Counter({**wrapped, (STEP, sequence): 1})
    assert told_of_stacks(before, own) == ["30 ops made by Sequential of optim, none before"]


def test_a_method_of_a_class_that_both_use_is_named_though_it_only_calls_others():
    call, mask = (
        Function("optim/layer.py", f"Attention.{name}", True) for name in ("call", "mask")
    )
    compare = Function("optim/ops.py", "greater_equal", True)
    before = Counter({(STEP, CHAIN): 9, (STEP, call): 9})
    after = before + Counter({(STEP, call, mask, compare): 8})
    assert told_of_stacks(before, after) == ["8 ops made by Attention.mask of optim, none before"]
