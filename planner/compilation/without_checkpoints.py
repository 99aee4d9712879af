"""Values of a compilation as if what its checkpoints recompute belonged to the forward pass."""

from collections.abc import Mapping

from xlagraph.hlo.op_names import is_recomputed, of_first_computation, of_forward_pass
from xlagraph.planner.compilation.records import StoredValue


def as_first_computed(values: Mapping[int, StoredValue]) -> dict[int, StoredValue]:
    """Return values by id, those that a checkpoint recomputes with names of the forward pass.

    All stacks of a loop that is recomputed are among them.
    """
    loops = {value.stack_loop for value in values.values() if is_recomputed(value.known_op_name)}
    loops.discard(None)

    def renamed(value: StoredValue) -> StoredValue:
        rename = of_forward_pass if value.stack_loop in loops else of_first_computation
        names = value.op_name, value.attributed_op_name
        op_name, attributed = (rename(name) if name else None for name in names)
        return value._replace(op_name=op_name, attributed_op_name=attributed)

    return {number: renamed(value) for number, value in values.items()}
