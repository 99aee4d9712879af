"""`compare` names another version of JAX, and then takes no difference of ops for an edit."""

from collections import Counter

import pytest

from tests.comparison.test_edited_lines import Module
from tests.comparison.test_edited_lines import told as edited
from tests.comparison.test_explaining import VALUE
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.sentences import sentences_of

OP = "step:5"
"""A line of the program, which one module has one op more of."""


class Traced(Module):
    """A module in which JAX calls the body of a loop as ``scope``."""

    def __init__(self, scope, *ops):
        super().__init__(*ops)
        self._scope = scope

    @property
    def op_names(self):
        return Counter([f"{self._scope}/mul"])


def told(before, after):
    sides = [
        Reserved((VALUE,), mentions=Traced(scope, *ops))
        for scope, ops in (
            (before, [f"{OP} tanh", f"{OP} draft"]),
            (after, [f"{OP} tanh", f"{OP} draft", f"{OP} fit"]),
        )
    ]
    return [each.text for each in sentences_of(explain_pair(*sides), ("a", "b"), (64, 64))]


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("jit(step)/while/body/closed_call", "jit(step)/while/body/eval_jaxpr",
         "eval_jaxpr in op names now, closed_call before"),
        ("jit(step)/jit(main)/while/body", "jit(step)/while/body/closed_call",
         "no jit(main) in op names now"),
        ("jit(step)/while/body/closed_call", "jit(step)/jit(main)/while/body",
         "jit(main) in op names now"),
    ],
)  # fmt: skip
def test_another_version_of_jax_is_named_and_no_edit(before, after, difference):
    assert told(before, after) == [f"traced by another version of JAX ({difference})"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("jit(step)/while/body/closed_call", "jit(step)/while/body/closed_call"),
        ("jit(step)/while/body/closed_call", "jit(step)"),  # the loop is gone
        ("jit(step)/jit(main)/while", "step"),  # not of JAX
    ],
)
def test_other_programs_of_one_version_differ_by_an_edit(before, after):
    assert told(before, after) == ["train.py:5 (step): fit new"]


@pytest.mark.parametrize(
    ("call", "found"),
    [
        pytest.param("step:5@3 mul", [], id="which the compiler left"),
        pytest.param("step:5@9 mul", ["train.py:5 (step): mul new"], id="a new call"),
        pytest.param("step:5@3 fit", ["train.py:5 (step): fit new"], id="another function"),
    ],
)
def test_common_ops_are_no_edit_if_all_calls_have_their_places(call, found):
    assert edited(["step:5@3 exp"], ["step:5@3 exp", call]) == found
