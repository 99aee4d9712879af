"""Find gradients that PyTorch keeps after a step: a training loop that drops them at its beginning.

Tensors that are alive at ``torch_xla.sync()`` are results, and so are the gradients in ``.grad``.
Op names do not tell the passes of PyTorch apart, so gradients are found by what is computed of
them.
"""

from collections import defaultdict
from collections.abc import Iterator

from xlagraph.advice.causes.boundaries import (
    CALLER,
    GRADIENTS_TITLE,
    LIKELIHOOD_OF_RETURNED,
    RETURNED_GRADIENTS,
)
from xlagraph.advice.causes.cause import Cause, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.returned_values import source_of_copies
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS
from xlagraph.planner.edits.returning import KeepInside
from xlagraph.queries.catalogue.declarations import ChangeKind

_REASON = "a gradient, of which an updated parameter is computed, which is returned too"


def kept_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that are gradients of parameters which the step updates.

    An updated parameter, or its state, is computed from the old one and from the gradient, which is
    computed from no input of its size: one that is added to the last gradient is a state.

    Results take the bytes of donated inputs of their shape in their order. A gradient that takes
    them leaves an updated parameter without, whose bytes are then the ones that are saved.
    """
    if program.framework != "pytorch" or not _has_backward_pass(program):
        return
    results = [
        value
        for each in dict.fromkeys(program.compilation.results)
        if (value := program.values.get(each)) is not None and value.dimensions
    ]
    updated = {
        each
        for value in results
        if _reads_an_input_of_its_size(program, value)
        for each in program.sources_of(value)
    }
    own: defaultdict[tuple[int, ...], list[StoredValue]] = defaultdict(list)
    for value in program.own_results:
        own[_size(value)].append(value)
    found, saved = [], set()
    for value in results:
        if _is_gradient(program, value, updated) and (free := own[_size(value)]):
            free.remove(taken := value if value in free else free[-1])
            found.append(value)
            saved.add(taken.value_id)
    if found:
        yield Cause(
            "peak/contributors",
            GRADIENTS_TITLE,
            ChangeKind.WITHOUT,
            KeepInside(frozenset(saved)),
            tuple(evidence_row(value, _REASON) for value in found),
            RETURNED_GRADIENTS,
            CALLER,
            is_exact=True,
            likelihood=LIKELIHOOD_OF_RETURNED,
        )


def _has_backward_pass(program: PeakProgram) -> bool:
    return any("_backward" in (each.op_name or "") for each in program.values.values())


def _is_gradient(program: PeakProgram, value: StoredValue, updated: set[int]) -> bool:
    if _reads_an_input_of_its_size(program, value):
        return False
    same = set(reached(program.sources_of(value), lambda each: _moved_to(program, each)))
    return any(
        made.value_id in updated and _size(made) == _size(value)
        for each in same
        for reader in program.readers_of.get(each, ())
        for made in program.made_by.get(reader, ())
        if made.value_id not in same
    )


def _moved_to(program: PeakProgram, value_id: int) -> Iterator[int]:
    """Yield what has the elements of a value in another order, type or space."""
    for reader in program.readers_of.get(value_id, ()):
        known = program.instructions.get(reader)
        if known is not None and known.computes_only(MOVED_ELEMENTS):
            for made in program.made_by.get(reader, ()):
                if _size(made) == _size(program.values[value_id]):
                    yield made.value_id


def _reads_an_input_of_its_size(program: PeakProgram, value: StoredValue) -> bool:
    """Return True if a value is an input, or computed by an instruction that reads one."""
    makers = {program.values[each].name for each in program.sources_of(value)}
    read = {each for name in makers for each in program.read_by.get(name, ())}
    return any(
        _size(each) == _size(value) and _is_input(program, each)
        for each in map(program.values.__getitem__, read | {value.value_id})
    )


def _is_input(program: PeakProgram, value: StoredValue) -> bool:
    source = source_of_copies(program, value)
    return source is not None and source.opcode == "parameter"


def _size(value: StoredValue) -> tuple[int, ...]:
    """Return the lengths of a value in any order, as a transposed weight has them."""
    return tuple(sorted(each for each in value.dimensions if each > 1))
