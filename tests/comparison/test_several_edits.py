"""`compare` names a second edit beside the first one, and edits that change almost no bytes."""

import pytest

from tests.comparison.test_explaining import INPUT, VALUE, lines
from xlagraph.comparison.reasons import MORE, Reason, ReasonKind, Subject
from xlagraph.comparison.sentences import sentences_of


@pytest.mark.parametrize(
    ("rows", "batch", "is_named"),
    [
        ((5000, 60000), (64, 128), True),
        ((4096, 16384), (64, 128), False),  # positions of an image, four times as many
        ((576, 640), (64, 128), False),  # joined with others
    ],
)
def test_an_input_of_a_size_that_does_not_follow_from_the_first_one_is_named(rows, batch, is_named):
    def inputs(side):
        table = f"f32[{rows[side]},32]"
        return [
            INPUT._replace(
                op_name="tokens", dtype="s32", shape=f"s32[{batch[side]}]", held_bytes=batch[side]
            ),
            INPUT._replace(
                name="w", op_name="table", shape=table, held_bytes=rows[side], is_result=True
            ),
        ]

    before, after = f"f32[{rows[0]},32]", f"f32[{rows[1]},32]"
    text = lines(inputs(0), inputs(1))[0][0]
    assert text.startswith("tokens s32[64] → s32[128]")
    assert (f"; table {before} → {after}: " in text) is is_named


@pytest.mark.parametrize(("line", "is_told"), [("f.py:9", True), ("f.py:3", False)])
def test_functions_that_replace_others_at_another_line_follow_an_element_type(line, is_told):
    cast = Reason(Subject(ReasonKind.NARROWED, after="bf16"), -500, 0, 9, of=(90, 90))
    cast.growth_by_line[("f.py", 3)] = -500
    called = Reason(Subject(ReasonKind.CALLED), 0, 9, 9, {"adam of optax"}, {"lion of optax"})
    called.labels = {line}
    texts = [each.text for each in sentences_of([cast, called], ("a", "b"), (1000, 500))]
    assert texts[0].startswith("9 of 90 computed values in bf16 now")
    assert (f"lion of optax replaces adam of optax (called at {line})" in texts) is is_told


def test_values_with_few_bytes_precede_constants_of_equal_bytes():
    constants = Reason(Subject(ReasonKind.CONSTANTS), 0, 1, 1)
    values = Reason(Subject(ReasonKind.REPLACED), -2, 1, 1)
    texts = [each.text for each in sentences_of([constants, values], ("a", "b"), (10_000, 9_998))]
    assert texts == ["1 value replaced by 1 other at the peak"]


def test_a_new_output_precedes_ops_of_many_functions_that_other_lines_have_too():
    output = Reason(Subject(ReasonKind.OUTPUTS), 500, 2, 3, example=(None, VALUE))
    line = Reason(Subject(ReasonKind.EDITED, after=MORE), inputs={"mul"}, labels={"f.py (loss)"})
    sides = ("a", "b"), (500, 1000)
    (only,) = sentences_of([output, line], *sides)
    assert only.text.startswith("1 new output")
    line.inputs = {"tanh"}
    first, _ = sentences_of([output, line], *sides)
    assert first.text == "f.py (loss): tanh new, besides others"


@pytest.mark.parametrize(("line", "is_told"), [("f.py:9", True), ("f.py:3", False)])
def test_ops_of_another_line_follow_functions_that_only_one_program_calls(line, is_told):
    inputs = Reason(Subject(ReasonKind.INPUTS), 500, 0, 9, inputs={"ema"})
    called = Reason(Subject(ReasonKind.CALLED), 0, 0, 9, inputs={"update of optax"})
    called.labels = {"f.py:3"}
    ops = Reason(Subject(ReasonKind.CALLED, "ops"), 0, 0, 8, inputs={"tanh"}, labels={line})
    texts = [each.text for each in sentences_of([inputs, called, ops], ("a", "b"), (500, 1000))]
    assert texts[0].startswith("9 ops made by update of optax")
    assert (f"8 ops of tanh, none before (mostly {line})" in texts) is is_told


@pytest.mark.parametrize("kind", [ReasonKind.UNDONATED, ReasonKind.DONATED])
def test_functions_and_lines_of_one_program_follow_a_changed_donation(kind):
    donation = Reason(Subject(kind), 500, 9, 9, inputs={"state"})
    called = Reason(Subject(ReasonKind.CALLED), 0, 0, 9, inputs={"clip of optax"})
    line = Reason(Subject(ReasonKind.EDITED), inputs={"tanh"}, labels={"f.py:3 (loss)"})
    vague = Reason(Subject(ReasonKind.EDITED), inputs={"mul"}, labels={"f.py:3 (loss)"})
    for second, text in (
        ([called], "9 ops made by clip of optax, none before"),
        ([line], "f.py:3 (loss): tanh new"),
        ([vague], None),
    ):
        texts = [each.text for each in sentences_of([donation, *second], ("a", "b"), (500, 1000))]
        assert texts[1:] == ([text] if text else [])


def test_states_of_a_larger_parameter_follow_from_it_in_another_branch_too():
    def inputs(size, branch, scale=1):
        names = ("p['w']", 1), (f"{branch}.mu['w']", scale), (f"{branch}.nu['w']", 1)
        return [
            INPUT._replace(
                name=name, op_name=name, shape=f"f32[{of * size}]", held_bytes=4 * of * size
            )
            for name, of in names
        ]

    for sizes, branches, times in (
        ((8, 16), ("s[0]", "s[1][0]"), "2 times as many elements"),
        ((16, 8), ("s[1][0]", "s[0]"), "1/2 of the elements"),
    ):
        found = lines(*map(inputs, sizes, branches))
        sizes_of = "p['w'] f32[{}] → f32[{}]".format(*sizes)
        assert found[0][0].startswith(f"{sizes_of}: 3 values have {times}")
        assert [growth for _, growth in found] == [12 * (sizes[1] - sizes[0]), 0]
    # a state of another size is another one
    found = lines(inputs(8, "s[0]"), inputs(16, "s[1][0]", 3))
    assert ("2 inputs replaced by 2 others: s[1] instead of s[0]", 160) in found
