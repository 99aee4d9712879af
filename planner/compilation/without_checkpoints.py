"""Values of a compilation as if what its checkpoints recompute belonged to the forward pass.

So does the forward pass of a gradient that the backward pass computes, as that of a loop whose
gradient is defined by a function of its own.
"""

from collections.abc import Mapping

from xlagraph.hlo.op_names import (
    inner_gradients,
    is_of_inner_gradient,
    is_recomputed,
    of_first_computation,
    of_forward_pass,
)
from xlagraph.planner.compilation.records import StoredValue


def as_first_computed(values: Mapping[int, StoredValue]) -> dict[int, StoredValue]:
    """Return values by id, those that are computed again with names of the forward pass.

    All stacks of a loop that is computed again are among them.
    """
    scopes = inner_gradients(value.known_op_name for value in values.values())

    def is_again(name: str | None) -> bool:
        return is_recomputed(name) or is_of_inner_gradient(name, scopes)

    loops = {value.stack_loop for value in values.values() if is_again(value.known_op_name)}
    loops.discard(None)

    def first(name: str | None, loop: str | None) -> str | None:
        if name and (loop in loops or is_of_inner_gradient(name, scopes)):
            return of_forward_pass(name)
        return of_first_computation(name)

    def renamed(value: StoredValue) -> StoredValue:
        names = value.op_name, value.attributed_op_name
        op_name, attributed = (first(name, value.stack_loop) for name in names)
        return value._replace(op_name=op_name, attributed_op_name=attributed)

    return {number: renamed(value) for number, value in values.items()}
