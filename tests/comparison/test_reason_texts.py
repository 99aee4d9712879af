"""The text of a reason, from the values behind it."""

from fractions import Fraction

import pytest

from tests.comparison.test_explaining import INPUT
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import HeldValue, Reserved, ReservedPart
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import Reason, ReasonKind, Subject

STACK = HeldValue(
    ReservedPart.OUTPUTS, 64, False, "s", "{}", "while", None, None, None, "f32[16]", "f32", 64, 0
)


@pytest.mark.parametrize(
    ("counts", "example", "text"),
    [
        ((3, 2), (None, STACK), "2 outputs, 3 before, some of other values, such as f32[16]"),
        ((3, 2), (STACK, None), "1 output is gone, such as f32[16]"),
        ((2, 3), (None, STACK), "1 new output, such as f32[16]"),
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


def test_the_values_of_a_loop_are_counted_where_it_is():
    reason = Reason(Subject(ReasonKind.LOOPED, after="gone"), -64, 17, 2)
    assert reason_text(reason, ("a", "b")) == "17 values no longer computed in a loop"


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


def test_inputs_that_replace_others_are_named_with_these():
    key = INPUT._replace(op_name="key", shape="u32[2]", dtype="u32", held_bytes=8)
    (reason,) = explain_pair(Reserved((INPUT,)), Reserved((key,)))
    assert reason_text(reason, ("a", "b")) == "1 input replaced by 1 other: key instead of p"
