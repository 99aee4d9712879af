"""The innermost `while` that runs each computation."""

from collections.abc import Collection, Mapping
from typing import Final

from xlagraph.hlo.instruction import Instruction

__all__ = ["loop_of_computations"]

_LOOP: Final = "while"


def loop_of_computations(instructions: Collection[Instruction]) -> Mapping[str | None, str]:
    """Return the name of the innermost loop that runs each computation, by computation name.

    ``instructions`` are those that the plan names. Computations outside of loops are omitted.
    """
    if all(instruction.opcode != _LOOP for instruction in instructions):
        return {}
    callers: dict[str, Instruction] = {}
    for instruction in instructions:
        for _, computation in instruction.attributes.callees:
            callers.setdefault(computation, instruction)
    loops: dict[str | None, str] = {}
    for computation in callers:
        at: str | None = computation
        passed: list[str] = []
        while at is not None and at in callers and at not in loops and at not in passed:
            passed.append(at)
            caller = callers[at]
            if caller.opcode == _LOOP:
                loops[at] = caller.name
                break
            at = caller.computation
        if at in loops:
            loops.update(dict.fromkeys(passed, loops[at]))
    return loops
