"""Find inputs of which a copy in another type is kept from the forward to the backward pass.

If a program converts all its parameters first, or outside of the checkpoint of their layer, the
copies are kept for the backward pass. Converted within the checkpoint, they are converted again.
"""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.edits.passes import Passes
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.queries.catalogue.declarations import ChangeKind

_REMEDIES: Final[Remedies] = {
    "jax": "Convert the parameters of a layer inside of its jax.checkpoint, not all of them before"
    " the first layer (the dtype of a module of Flax does), so that the backward pass converts"
    " them again.",
    "tensorflow": "Convert the variables of a layer inside of its tf.recompute_grad.",
    "pytorch": "Convert the parameters of a layer inside of its checkpoint.",
}


def converted_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield the copies in another type that both passes read.

    A compiler for CPU itself widens what it computes with.
    """
    is_cpu = program.compilation.platform == "cpu"
    found = [
        (value, given)
        for value in program.at_peak
        if program.is_alone(value)
        and (given := input_of(program, value)) is not None
        and value.dtype != given.dtype
        and not (is_cpu and value.size_bytes > given.size_bytes)
    ]
    if not found:
        return
    passes = Passes(program.compilation, program.program)
    kept = [
        (value, given)
        for value, given in found
        if (planned := program.planned(value)) is not None and all(passes.readers(planned))
    ]
    if kept:
        yield Cause(
            "lifetime/kept-for-backward",
            "Copies of inputs in another type are kept for the backward pass",
            ChangeKind.RECOMPUTE,
            Recompute(tuple(value.label for value, _ in kept)),
            tuple(
                evidence_row(
                    value, f"an input of {given.dtype} as {value.dtype}: both passes read it"
                )
                for value, given in kept
            ),
            _REMEDIES,
        )
