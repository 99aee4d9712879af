"""Find experts that are computed for all tokens, although each token reads the result of one.

With a capacity for each expert, or sorted by expert, each token is computed about once.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from xlagraph.advice.causes.axes import Axes
from xlagraph.advice.causes.cause import Cause, Remedies, file_and_line, of_smaller
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.names import place_name
from xlagraph.advice.causes.needed_only import readers_of_set
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.places_of_reads import place_of_read
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS

_CAPACITY: Final = 2
"""Tokens that each expert computes, divided by the mean."""
_LEAST_EXPERTS: Final = 2 * _CAPACITY
_LEAST_SHARE: Final = 0.02
"""Smallest share of the reserved bytes for which a result is searched."""
_MOVING: Final = SAME_ELEMENTS | {"slice", "dynamic-slice", "constant", "parameter"}

_DENSE_EXPERTS: Final[Remedies] = {
    "jax": "Compute each token for its expert only: gather up to a capacity of tokens for each"
    " expert (about 2 * tokens // experts) into an array of (experts, capacity, d), and take the"
    " results back by their places. jax.lax.ragged_dot(x, w, group_sizes) of tokens that are sorted"
    " by expert needs no capacity, but helps only where the compiler has a kernel for it: on CPU it"
    " computes all experts.",
    "tensorflow": "Compute each token for its expert only: gather up to a capacity of tokens for"
    " each expert (about 2 * tokens // experts), and tf.gather the results by their places.",
    "pytorch": "Compute each token for its expert only: gather up to a capacity of tokens for each"
    " expert (about 2 * tokens // experts), and index the results by their places.",
}


def dense_experts(program: PeakProgram) -> Iterator[Cause]:
    """Yield what has a part for each expert and token, if a gather reads one part for each token.

    The experts are the dimension of weights that a product has for each of its matrices.
    """
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    axes: Axes | None = None
    experts: set[int] = set()
    tokens: set[int] = set()
    reason = ""
    for value in program.temporaries:
        if value.size_bytes < least or program.module is None:
            break
        readers = readers_of_set(program, value)
        if not readers or not all(program.computes_with(name, "gather") for name in readers):
            continue
        ids = {each.value_id for each in program.members_of(value)}
        parts = parts_of_reads(program, ids, readers, ("gather",))
        if (
            parts is None
            or parts < _LEAST_EXPERTS
            or not program.instructions[value.name].multiplies
        ):
            continue
        axes = axes or Axes(program, program.module)
        if found := _expert_and_token(program, axes, value, parts):
            experts.add(found[0])
            tokens |= found[1]
            read = place_of_read(program, min(readers), ids)
            place = file_and_line(read.file, read.line) or place_name(program, min(readers))
            reason = reason or f"computed by all {parts} experts; {place} reads one of them"
    if axes is None or not experts:
        return
    kept = Fraction(_CAPACITY, min(map(axes.length, experts)))
    yield of_smaller(
        program.compilation,
        "All experts are computed for all tokens, each of which reads one",
        [
            (each, reason, kept)
            for each in program.temporaries
            if not axes.of(each).isdisjoint(experts) and not axes.of(each).isdisjoint(tokens)
        ],
        _DENSE_EXPERTS,
        likelihood=0.9,
        doubt="tokens beyond the capacity of an expert are dropped, or take more memory",
    )


def _expert_and_token(
    program: PeakProgram, axes: Axes, value: StoredValue, parts: int
) -> tuple[int, set[int]] | None:
    """Return the dimension of experts of a product with weights of each, and those of tokens."""
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    weights = [each for each in read if _is_given(program, each)]
    others = [each for each in read if each not in weights]
    if len(weights) != 1 or len(others) != 1:
        return None
    batch = axes.of(value) & axes.of(weights[0]) & axes.of(others[0])
    experts = [axis for axis in batch if axes.length(axis) == parts]
    tokens = set(axes.of(value) - axes.of(weights[0]))
    return (experts[0], tokens) if len(experts) == 1 and tokens else None


def _is_given(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for an input, or what a loop takes of one for an iteration."""
    maker = program.instructions[value.name]
    is_slice = maker.computes_with("dynamic-slice") and maker.computes_only(_MOVING)
    return is_slice or input_of(program, value) is not None
