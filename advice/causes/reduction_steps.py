"""Reductions that a compiler makes in several steps count as one, which the last step makes.

CPU's compiler, up to jaxlib 0.9, reduces windows of 32 elements first.
"""

from collections.abc import Iterator, Mapping, Sequence

from xlagraph.hlo.grouping import grouped
from xlagraph.planner.compilation.records import StoredInstruction, StoredUse, StoredValue


def readers_without_steps(
    uses: Sequence[StoredUse],
    values: Mapping[int, StoredValue],
    instructions: Mapping[str, StoredInstruction],
) -> Iterator[tuple[int, str]]:
    """Yield the id of each value and the name of each of its readers, first steps aside.

    What a first step reads has the reader of the result of this step.
    """
    readers = grouped((use.value_id, use.instruction) for use in uses)
    steps = {
        values[value_id].name: value_id
        for value_id, names in readers.items()
        if is_step(instructions.get(values[value_id].name))
        and all(_reduces(instructions.get(name)) for name in names)
    }
    for use in uses:
        waiting = [use.instruction]
        while waiting:
            name = waiting.pop()
            if name in steps:
                waiting += readers[steps[name]]
            else:
                yield use.value_id, name


def is_step(known: StoredInstruction | None) -> bool:
    """Return True for a reduction of windows that has no op name: the compiler added it."""
    return known is not None and known.op_name is None and known.computes_only(("reduce-window",))


def _reduces(known: StoredInstruction | None) -> bool:
    return known is not None and (is_step(known) or known.computes_with("reduce"))
