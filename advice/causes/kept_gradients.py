"""Find gradients that a step of PyTorch returns because ``.grad`` still holds them.

Tensors that are alive at ``torch_xla.sync()`` are results. Op names do not tell the passes of
PyTorch apart, so a gradient is found by what is computed from it, or by what it is computed from.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from xlagraph.advice.causes.boundaries import (
    CALLER,
    GRADIENTS_TITLE,
    LIKELIHOOD_OF_RETURNED,
    RETURNED_GRADIENTS,
)
from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.returned_values import (
    FROZEN_TITLE,
    GRADIENTS_OF_FROZEN,
    source_of_copies,
)
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import MOVED_ELEMENTS
from xlagraph.planner.edits.resizing import Remove
from xlagraph.planner.edits.returning import KeepInside
from xlagraph.queries.catalogue.declarations import ChangeKind

_REASON = "a gradient, of which an updated parameter is computed, which is returned too"
_UNUSED = "the gradient of a parameter that the step does not update"


def kept_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that are gradients of parameters which the step updates.

    An updated parameter, or its state, is computed from the old one and from the gradient, which is
    computed from no input of its size: one that is added to the last gradient is a state.
    """
    results = _results(program)
    updated = _updated(program, results)
    found = [value for value in results if _is_gradient(program, value, updated)]
    yield from _cause(program, GRADIENTS_TITLE, found, _REASON, RETURNED_GRADIENTS, are_needed=True)


def unused_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that are gradients of parameters which the step does not update.

    The step of a generator has those of the discriminator. The gradient of a factor of a product is
    the product of another factor with what a backward pass computes. A step that updates no factor
    may add gradients up for a later one.
    """
    results = _results(program)
    new = {old for value in results for old in _inputs_of_its_size(program, value)}
    others: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    is_update = False
    for value in program.compilation.array_parameters if results else ():
        same = set(reached([value.value_id], lambda each: _moved_to(program, each)))
        readers = {name for each in same for name in program.readers_of.get(each, ())}
        if value.value_id not in new:
            others[_size(value)] |= _factors(program, readers) - same
        elif not program.products.isdisjoint(readers):
            is_update = True
    updated = _updated(program, results)
    found = [
        value
        for value in results
        if is_update
        and not _inputs_of_its_size(program, value)
        and not others[_size(value)].isdisjoint(_factors(program, _makers(program, value)))
        and _is_of_backward_pass(program, value)
        and not _is_gradient(program, value, updated)
    ]
    yield from _cause(program, FROZEN_TITLE, found, _UNUSED, GRADIENTS_OF_FROZEN, are_needed=False)


def _cause(
    program: PeakProgram,
    title: str,
    gradients: Iterable[StoredValue],
    reason: str,
    remedies: Remedies,
    *,
    are_needed: bool,
) -> Iterator[Cause]:
    """Yield the cause, unless all results are in the bytes of inputs.

    ``are_needed`` is true if the step computes the gradients also where they are not returned.

    Results take the bytes of donated inputs of their shape in their order. A gradient that takes
    them leaves an updated parameter without, whose bytes are then the ones that are saved.
    """
    own: defaultdict[tuple[int, ...], list[StoredValue]] = defaultdict(list)
    for value in program.own_results:
        own[_size(value)].append(value)
    found, saved = [], set()
    for value in gradients:
        if free := own[_size(value)]:
            free.remove(taken := value if value in free else free[-1])
            found.append(value)
            saved.add(taken.value_id)
    computed = (program.values[each] for value in found for each in program.sources_of(value))
    gone = {value.label for value in computed} | {program.values[each].label for each in saved}
    inside = KeepInside(frozenset(saved))
    if found:
        yield Cause(
            "peak/contributors",
            title,
            ChangeKind.WITHOUT,
            inside if are_needed else Remove.of(program.compilation, sorted(gone)),
            tuple(evidence_row(value, reason) for value in found),
            remedies,
            CALLER,
            is_exact=True,
            likelihood=LIKELIHOOD_OF_RETURNED,
        )


def _results(program: PeakProgram) -> list[StoredValue]:
    """Return the arrays that a step of PyTorch with a backward pass returns."""
    is_step = program.framework == "pytorch" and any(map(_is_backward, program.values.values()))
    found = (program.values.get(each) for each in dict.fromkeys(program.compilation.results))
    return [value for value in found if is_step and value is not None and value.dimensions]


def _updated(program: PeakProgram, results: Iterable[StoredValue]) -> set[int]:
    """Return the results that are computed from an input of their size."""
    return {
        each
        for value in results
        if _inputs_of_its_size(program, value)
        for each in program.sources_of(value)
    }


def _is_backward(value: StoredValue) -> bool:
    return "_backward" in (value.op_name or "")


def _is_of_backward_pass(program: PeakProgram, value: StoredValue) -> bool:
    operands = reached(
        [value.value_id], lambda each: program.read_by.get(program.values[each].name)
    )
    return any(_is_backward(program.values[each]) for each in operands)


def _makers(program: PeakProgram, value: StoredValue) -> set[str]:
    """Return what computes a value, and what moves its elements."""
    return {program.values[each].name for each in program.sources_of(value)}


def _factors(program: PeakProgram, instructions: Iterable[str]) -> set[int]:
    """Return what the products among these instructions read, and what it is computed from.

    That is what has its size, up to other products: activations may be stored in two orders.
    """

    def operands(value_id: int) -> Iterator[int]:
        value = program.values[value_id]
        if value.name not in program.products:
            for each in program.read_by.get(value.name, ()):
                if _size(program.values[each]) == _size(value):
                    yield each

    products = program.products.intersection(instructions)
    return set(
        reached((each for name in products for each in program.read_by.get(name, ())), operands)
    )


def _is_gradient(program: PeakProgram, value: StoredValue, updated: set[int]) -> bool:
    if _inputs_of_its_size(program, value):
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


def _inputs_of_its_size(program: PeakProgram, value: StoredValue) -> set[int]:
    """Return the inputs that a value is, or that the instruction which computes it reads."""
    read = {each for name in _makers(program, value) for each in program.read_by.get(name, ())}
    same = (program.values[each] for each in read | {value.value_id})
    sources = (source_of_copies(program, each) for each in same if _size(each) == _size(value))
    return {each.value_id for each in sources if each is not None and each.opcode == "parameter"}


def _size(value: StoredValue) -> tuple[int, ...]:
    """Return the lengths of a value in any order, as a transposed weight has them."""
    return tuple(sorted(each for each in value.dimensions if each > 1))
