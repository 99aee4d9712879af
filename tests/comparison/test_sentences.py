"""Sentences that say why one compilation reserves more than another, over `CASES`."""

from dataclasses import replace

import pytest

from tests.comparison import dump_pairs
from tests.comparison.dump_pairs import LOOP
from tests.comparison.matching_pairs import MATCHING
from tests.tiny_dumps import tiny_dump, write_dump
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import MORE, Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest
from xlagraph.queries import compare

CASES = {**dump_pairs.CASES, **MATCHING}
MODULE = """HloModule jit_f, is_scheduled=true

ENTRY %main (x: f32[16,16]) -> f32[16,16] {{
  %x = f32[16,16]{{1,0}} parameter(0)
  %a = f32[8,16]{{1,0}} {a}, metadata={{op_name="jit(f)/jvp(ode)/tanh"}}
  %b = f32[8,16]{{1,0}} tanh(%a), metadata={{op_name="jit(f)/transpose(jvp(ode))/mul"}}
{g}  ROOT %r = f32[16,16]{{1,0}} {r}, metadata={{op_name="jit(f)/reduce_sum"}}
}}
"""
PRODUCTS = '  %g = f32[8,16,16]{2,1,0} multiply(%a, %b), metadata={op_name="jit(f)/add"}\n'
OF_MODULE = """
    0 | x | f32[16,16]{{1,0}} | 0   | 1024 | 0-4 | parameter(0) | x
    1 | a | f32[8,16]{{1,0}}  | {at} | 512  | 1-3 | {a} | jit(f)/jvp(ode)/tanh @ f.py:1
    1 | b | f32[8,16]{{1,0}}  | 0   | 512  | 2-3 | tanh(a) | jit(f)/transpose(jvp(ode))/mul @ f.py:2
{g}    2 | r | f32[16,16]{{1,0}} | 0   | 1024 | {end} | {r} | jit(f)/reduce_sum @ f.py:4
"""
HELD = "    1 | g | f32[8,16,16]{2,1,0} | 0 | 8192 | 3-4 | multiply(a, b) | jit(f)/add @ f.py:3\n"


def test_an_input_of_another_size_precedes_stacks_that_grow_with_it():
    value = HeldValue(
        *(ReservedPart.INPUTS, 4, False, "p", None, "parameter", "x", None, None),
        *("f32[1]", "f32", 4, 0),
    )
    larger = value._replace(shape="f32[2]", held_bytes=8)
    of_input = Reason(Subject(ReasonKind.SIZE), 4, 1, 1, input_example=(value, larger))
    stack = Reason(Subject(ReasonKind.STACKED), 96, 0, 1, largest=(None, value))
    first, *_ = sentences_of([stack, of_input], ("a", "b"), (1000, 1100))
    assert first.text.startswith("x f32[1] → f32[2]")
    collectives = Reason(Subject(ReasonKind.COLLECTIVES), 200, scopes={"1 all-gather"})
    for sharding, starts in (
        ("{replicated}", "x f32[2] → f32[1] (sharding"),
        (None, "collectives"),
    ):
        of_input.growth_bytes = -100
        whole, part = (larger._replace(sharding=each) for each in (sharding, "{devices=[2]<=[2]}"))
        of_input.input_example = whole, part._replace(shape="f32[1]")
        first, *_ = sentences_of([collectives, of_input], ("a", "b"), (1000, 1100))
        assert first.text.startswith(starts)


def test_an_unrolled_loop_precedes_code_of_both_programs_that_makes_more_values():
    unrolled = Reason(Subject(ReasonKind.UNROLLED), turns={(12, 3)}, scopes={"train.py:3"})
    steps = Reason(Subject(ReasonKind.NEW_CODE, after="new"), 0, 6, 24, {"the backward pass"})
    texts = [each.text for each in sentences_of([steps, unrolled], ("a", "b"), (65536, 65536))]
    assert texts[1:] == ["24 values made by the backward pass, 6 before"]
    steps.count_a = 0
    found = sentences_of([steps, unrolled], ("a", "b"), (65536, 65536))
    assert found[0].text == "24 values made by the backward pass, none before"


def test_a_library_precedes_sizes_that_follow_from_no_input_or_loop():
    sizes = Reason(Subject(ReasonKind.SIZE), 96, 5, 5)
    library = Reason(Subject(ReasonKind.LIBRARY, after="YNN"), -32, 0, 134)
    growth = [sizes, library], ("a", "b"), (1000, 1064)
    assert sentences_of(*growth)[0].text.startswith("YNN now makes 134 values")
    sizes.dimensions = ((4, 8),)
    assert sentences_of(*growth)[0].text.startswith("a dimension of 4 is 8 now")


def test_other_iterations_precede_a_few_bytes():
    turns = Reason(Subject(ReasonKind.TURNS), turns={(4, 8)}, scopes={"train.py:3"})
    gaps = Reason(Subject(ReasonKind.FRAGMENTATION), 4)
    first, rest = sentences_of([gaps, turns], ("a", "b"), (65536, 65540))
    assert (first.text, rest.growth_bytes) == ("a loop has 8 iterations, was 4 (train.py:3)", 4)
    sizes = Reason(Subject(ReasonKind.SIZE), 4096, 5, 5)
    first, second = sentences_of([sizes, turns], ("a", "b"), (65536, 69632))
    assert (first.line[:10], second.growth_bytes) == ("a loop has", 4096)
    sizes.dimensions = ((4, 8),)  # says more than the iterations of a loop
    assert len(sentences_of([sizes, turns], ("a", "b"), (65536, 69632))) == 1


def test_another_loop_precedes_a_cause_that_both_sides_have():
    turns = Reason(Subject(ReasonKind.TURNS), turns={(0, 8)}, scopes={"train.py:3"})
    code = Reason(Subject(ReasonKind.NEW_CODE, after="gone"), 0, 64, 8)
    values = Reason(Subject(ReasonKind.REPLACED), -4096, 64, 8, cause="all at once", code=code)
    for remains, starts in ((True, "a loop of 8 iterations is new"), (False, "no longer: all at")):
        values.cause_remains = remains
        first, *_ = sentences_of([values, turns], ("a", "b"), (65536, 61440))
        assert first.text.startswith(starts)


def test_a_repeated_part_precedes_the_new_state_that_is_returned():
    value = HeldValue(
        *(ReservedPart.OUTPUTS, 96, False, "new", None, "add", "jit(f)/add", None, None),
        *("f32[24]", "f32", 96, 0),
    )
    part = Reason(Subject(ReasonKind.REPEATED), 64, inputs={"w[2]"}, input_count=1)
    outputs = Reason(Subject(ReasonKind.OUTPUTS), 96, 2, 3, example=(None, value))
    first, second = sentences_of([outputs, part], ("a", "b"), (640, 800))
    assert first.text == "w[2] new, with 1 input of a repeated part"
    assert second.text.startswith("1 new output")


def test_new_parameters_precede_what_devices_exchange_and_loops_stack():
    value = HeldValue(
        *(ReservedPart.INPUTS, 64, False, "p", None, "parameter", "w", None, None),
        *("f32[16]", "f32", 64, 0),
    )
    inputs = Reason(Subject(ReasonKind.INPUTS), 64, 0, 1, inputs={"w"}, largest=(None, value))
    collectives = Reason(Subject(ReasonKind.COLLECTIVES), 20000, scopes={"1 all-gather"})
    first, second = sentences_of([collectives, inputs], ("a", "b"), (65536, 85600))
    assert (first.text, second.growth_bytes) == ("1 new input: w", 20000)
    stacks = Reason(Subject(ReasonKind.STACKED), 20000, 0, 2)
    first, _ = sentences_of([stacks, inputs], ("a", "b"), (65536, 85600))
    assert first.text == "1 new input: w"


def test_a_cause_that_only_one_side_has_is_named_with_its_values(tmp_path):
    for run, size, r, end in (
        ("before", 1024, "dot(a, b)", "3-4"),
        ("after", 8704, "reduce(g)", "4-5"),
    ):
        is_after = run == "after"
        temporary = (
            "0 | 1024 | parameter 0, shape |f32[16,16]| at ShapeIndex {}\n"
            f"1 | {size} | preallocated-temp\n2 | 1024 | maybe-live-out"
        )
        values = OF_MODULE.format(a="broadcast(x)", g=HELD * is_after, r=r, end=end, at=size - 512)
        path = write_dump(tmp_path / "runs" / run, 1, "jit_f", tiny_dump(temporary, values))
        module = path.with_name(path.name.replace("-buffer-assignment", ""))
        read = r.replace("(", "(%").replace(", ", ", %")
        module.write_text(MODULE.format(a="broadcast(%x)", g=PRODUCTS * is_after, r=read))
    with open_graph(tmp_path / "g.lbug", create=True) as graph:
        assert ingest(graph, tmp_path / "runs", jobs=1).ok
        found = compare(graph, "before", "after").sentences
        back = compare(graph, "after", "before").sentences
    text = "gradients are kept for each example (f.py:3); 1 new value at the peak: add f32[8,16,16]"
    assert (found[0].text, sum(each.growth_bytes for each in found)) == (text, 7680)
    assert back[0].text.startswith("no longer: gradients are kept for each example (f.py:3); ")


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Return a graph with the dumps of each case, one run before and one after."""
    folder = tmp_path_factory.mktemp("cases")
    for name, case in CASES.items():
        for side, text in (("before", case.before), ("after", case.after)):
            path = write_dump(folder / "runs" / name / side, 1, "jit_f", text)
            if case.devices:
                devices = case.devices.split()[side == "after"]
                module = path.with_name(path.name.replace("-buffer-assignment", ""))
                module.write_text(f"HloModule jit_f, num_partitions={devices}\n")
    with open_graph(folder / "cases.lbug", create=True) as graph:
        assert ingest(graph, folder / "runs", jobs=1).ok
        yield graph


@pytest.mark.parametrize("name", CASES)
def test_the_sentences_of_a_change(cases, name):
    found = compare(cases, f"{name}/before", f"{name}/after")
    assert [sentence.line for sentence in found.sentences] == CASES[name].sentences
    growth = sum(sentence.growth_bytes for sentence in found.sentences)
    assert growth == found.reserved.growth_bytes


def test_a_reverted_change_has_the_reverse_sentences(cases):
    def told(name):
        found = compare(cases, f"{name}/after", f"{name}/before")
        return [sentence.line for sentence in found.sentences]

    assert told("inputs no longer donated") == ["1 input is now donated (w): -64 B"]
    assert told("checkpoint") == ["checkpoint of layer_0 added (mostly f.py:1): -64 B"]
    assert told("packed worse") == ["same values, packed better: -32 B"]
    assert told("copies") == ["2 copies fewer (mostly f.py:1): -128 B"]


def test_each_sentence_names_the_query_that_shows_the_details(cases):
    def command(name):
        (sentence,) = compare(cases, f"{name}/before", f"{name}/after").sentences
        return sentence.command

    stem = "module_0001.jit_f.cpu_after_optimizations"
    assert command("batch") == "xlagraph compare batch/before batch/after --by value"
    assert command("inputs no longer donated") == (
        f"xlagraph query alias/not-donated 'inputs no longer donated/after/{stem}'"
    )
    assert command("packed worse") == (
        f"xlagraph query reuse/fragmentation 'packed worse/after/{stem}'"
    )


def test_a_value_with_a_part_of_each_iteration_is_said_to_be_stacked():
    stack = HeldValue(
        ReservedPart.LIVE,
        640,
        is_donated=False,
        name="while.1",
        shape_index="{2}",
        opcode="while",
        op_name=f"{LOOP}/add",
        user_line=("f.py", 7),
        source_line=("f.py", 7),
        shape="f32[10,16]",
        dtype="f32",
        size_bytes=640,
        live_from=3,
        stack_turns=10,
    )
    state = stack._replace(
        held_bytes=0, shape_index="{0}", shape="f32[16]", op_name=f"{LOOP}/mul", stack_turns=None
    )
    reasons = explain_pair(Reserved((state,)), Reserved((state, stack)))
    (reason,) = [each for each in reasons if each.growth_bytes]
    assert (reason_text(reason, ("a", "b")), reason.growth_bytes) == (
        "loops now stack 1 more value of each iteration: add f32[10,16] (mostly f.py:7)",
        640,
    )


def test_a_new_backward_pass_precedes_a_donation_that_explains_nothing():
    donation = Reason(Subject(ReasonKind.DONATED), 4, 1, 1)
    replaced = Reason(Subject(ReasonKind.REPLACED), 640, 1, 18)
    code = Reason(Subject(ReasonKind.NEW_CODE, after="new"), 0, 0, 53, {"the backward pass"})
    found = sentences_of([donation, replaced, code], ("a", "b"), (1000, 1644))
    assert [each.text.split(",")[0] for each in found] == [
        "53 values made by the backward pass",
        "1 value replaced by 18 others at the peak",
        "1 input is now donated",
    ]


@pytest.mark.parametrize(
    ("backward", "text"),
    [(23, "f.py:15 (f): exp instead of cumprod"), (0, "68 values made by the backward pass")],
)
def test_other_ops_say_more_than_gradients_that_both_programs_have(backward, text):
    scope = Reason(Subject(ReasonKind.SCOPE_GONE, after="cumprod"), -900, 40, 0, {"cumprod"})
    scopes = {"the backward pass"}
    code = Reason(Subject(ReasonKind.NEW_CODE, after="gone"), 0, 68, backward, scopes)
    line = Reason(Subject(ReasonKind.EDITED), scopes={"cumprod"}, inputs={"exp"})
    line.labels = {"f.py:15 (f)"}
    found = sentences_of([scope, code, line], ("a", "b"), (2000, 1100))
    assert found[0].text.startswith(text)


def test_a_gradient_of_one_program_says_why_it_has_more_products():
    values = Reason(Subject(ReasonKind.REPLACED), 1000, 0, 7)
    products = Reason(Subject(ReasonKind.AGAIN, before="products", after="new"), 0, 12, 20)
    scopes = {"the backward pass of a gradient"}
    code = Reason(Subject(ReasonKind.NEW_CODE, after="new"), 0, 0, 18, scopes)
    found = sentences_of([values, products, code], ("a", "b"), (10_000, 11_000))
    assert "made by the backward pass of a gradient" in found[0].text


def test_a_checkpoint_of_few_bytes_precedes_the_cause_of_copies():
    checkpoint = Reason(Subject(ReasonKind.CHECKPOINTED), 2, 9, 9)
    copies = Reason(Subject(ReasonKind.COPIES), 250, 9, 82, cause="it covers too much")
    found = sentences_of([copies, checkpoint], ("a", "b"), (1000, 1252))
    assert [each.text[:14] for each in found] == ["checkpoint add", "it covers too "]


def test_a_checkpoint_precedes_loops_that_are_new_with_it():
    checkpoint = Reason(Subject(ReasonKind.CHECKPOINTED))
    replaced = Reason(Subject(ReasonKind.REPLACED), 640, 1, 18)
    turns = Reason(Subject(ReasonKind.TURNS), scopes={"f.py:9"}, turns={(0, 512)})
    found = sentences_of([checkpoint, replaced, turns], ("a", "b"), (10000, 10640))
    assert [each.text.split(" at ")[0] for each in found] == [
        "checkpoint added",
        "a loop of 512 iterations is new (f.py:9)",
        "1 value replaced by 18 others",
    ]


def test_an_edit_precedes_more_bytes_of_values_if_they_cancel_out():
    scope = Reason(Subject(ReasonKind.SCOPE_NEW, after="head"), 64, 0, 1, {"head"})
    narrowed = Reason(Subject(ReasonKind.NARROWED, after="bf16"), -60, 0, 3, of=(5, 5))
    for growth, first in ((4, "3 of 5 computed values in bf16"), (400, "1 value of head")):
        found = sentences_of([scope, narrowed], ("a", "b"), (1000, 1000 + growth))
        assert found[0].text.startswith(first)


def test_an_element_type_precedes_the_library_that_casts():
    narrowed = Reason(Subject(ReasonKind.NARROWED, after="bf16"), 0, 0, 3, of=(5, 5))
    live = Reason(Subject(ReasonKind.PEAK), -60, 9, 9)
    code = Reason(Subject(ReasonKind.NEW_CODE, after="new"), 0, 0, 23, {"flax/linen/dtypes.py"})
    found = sentences_of([narrowed, live, code], ("a", "b"), (1000, 940))
    texts = ["3 of 5 computed values", "23 values made by flax/linen/dtypes.py", "same values"]
    assert [each.text[: len(text)] for each, text in zip(found, texts, strict=True)] == texts


LIBRARY = Reason(Subject(ReasonKind.LIBRARY, after="YNN"), 0, 0, 1)
REPLACED_BY_MORE = Reason(Subject(ReasonKind.REPLACED), 640, 2, 3)


@pytest.mark.parametrize(
    ("others", "first"),
    [
        # the compiler chooses a library for what someone edits
        ([LIBRARY], "2 values replaced by 3 others"),
        ([Reason(Subject(ReasonKind.OUTPUTS), -320, 2, 2)], "2 outputs, some of other values"),
        ([Reason(Subject(ReasonKind.OUTPUTS), -60, 2, 2)], "2 values replaced by 3 others"),
        (
            [Reason(Subject(ReasonKind.INPUTS), 8, 1, 1, {"x"}, {"y"}, is_of_all_inputs=True)],
            "1 input replaced by 1 other: y instead of x",
        ),
    ],
)
def test_what_someone_edits_precedes_what_follows_from_it(others, first):
    reasons = [*others, REPLACED_BY_MORE]
    growth = sum(each.growth_bytes for each in reasons)
    found = sentences_of(reasons, ("a", "b"), (1000, 1000 + growth))
    assert found[0].text.startswith(first)


def test_a_named_cause_precedes_a_change_that_the_compiler_made_with_it():
    library = Reason(Subject(ReasonKind.LIBRARY, after="YNN"), growth_bytes=100, count_b=1)
    caused = Reason(
        Subject(ReasonKind.LOOPED, after="gone"), growth_bytes=90, count_b=7, cause="all at once"
    )
    found = sentences_of([library, caused], ("a", "b"), (0, 190))
    assert [each.growth_bytes for each in found] == [90, 100]


def test_an_edit_with_many_times_the_bytes_of_a_cause_precedes_it():
    donation = Reason(Subject(ReasonKind.UNDONATED), 540, 9, 9)
    caused = Reason(Subject(ReasonKind.COPIES), 100, 1, 4, cause="a reader forces a copy")
    for bytes_, first in ((540, donation), (300, caused)):
        donation.growth_bytes = bytes_
        found = sentences_of([donation, caused], ("a", "b"), (0, 100 + bytes_))
        assert found[0].growth_bytes == first.growth_bytes


def test_ops_of_one_program_precede_inputs_without_names_and_what_has_almost_no_bytes():
    def texts(*reasons, growth):
        return [
            each.text for each in sentences_of(reasons, ("a", "b"), (1 << 20, (1 << 20) + growth))
        ]

    ops = Reason(Subject(ReasonKind.CALLED, "ops"), 0, 0, 6, inputs={"sgd"})
    inputs = Reason(Subject(ReasonKind.INPUTS), 1 << 16, 0, 2)
    gaps = Reason(Subject(ReasonKind.FRAGMENTATION), -64)
    output = Reason(Subject(ReasonKind.OUTPUTS), 4, 1, 2)
    said = "6 ops of sgd, none before"
    assert texts(inputs, ops, growth=1 << 16) == [said, "2 new inputs"]
    named = replace(inputs, inputs={"state"})
    assert texts(named, ops, growth=1 << 16) == ["2 new inputs: state"]
    more = Reason(Subject(ReasonKind.SCOPE_NEW, MORE, "mul_*"), 1 << 16, 0, 2)
    assert texts(more, ops, growth=1 << 16)[0] == said
    assert texts(gaps, ops, growth=-64) == [said, "everything else"]
    assert texts(gaps, output, growth=-60)[0].startswith("2 outputs")
    assert texts(ops, output, growth=4)[0].startswith("2 outputs")
    assert texts(ops, replace(output, growth_bytes=4), gaps, growth=-60)[0] == said
