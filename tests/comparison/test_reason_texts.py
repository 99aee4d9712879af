"""The text of a reason, from the values behind it."""

import pytest

from xlagraph.comparison.held_values import HeldValue, ReservedPart
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
