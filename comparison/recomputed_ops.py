"""Find ops that `tf.recompute_grad` computes again: no op name marks them."""

import re
from typing import Final

from xlagraph.hlo.op_names import without_numbers
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.queries.errors import NotStored

WAITS_FOR_GRADIENT: Final = re.compile(
    r"compare\((?:\S+ )?(%[\w.-]+), (?:\S+ )?\1\), direction=EQ"
    r'[^\n]*op_name="(?:[^"]*/)?Equal(?:_\d+)?"'
)
"""Comparison of a part of a gradient with itself, on which all that is recomputed depends."""
_LEAST_OPS: Final = 5


def recomputes_forward_ops(stored: StoredCompilation) -> bool:
    """Return True if ops of the forward pass are computed again between ops of gradients.

    These depend on a gradient, and a gradient on them; others of the same name and shape do not.
    """
    try:
        compilation = plannable_compilation(stored)
    except NotStored:
        return False
    operands = {value.value_id: value.reads for value in compilation.program.values}
    gradients = {number for number, value in compilation.values.items() if value.is_backward}
    after = set(reached(gradients, compilation.readers.get))
    before = set(reached(gradients, operands.get))
    names = {
        number: (without_numbers(value.op_name), value.shape)
        for number, value in compilation.values.items()
        if value.op_name
    }
    forward = {name for number, name in names.items() if number not in after}
    again = [names.get(number) in forward for number in after & before - gradients]
    return sum(again) >= _LEAST_OPS
