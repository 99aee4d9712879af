"""Find gradients that a step of PyTorch returns because ``.grad`` still holds them.

Tensors that are alive at ``torch_xla.sync()`` are results. Op names do not tell the passes of
PyTorch apart, so a gradient is found by what is computed from it, or by what it is computed from.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from xlagraph.advice.causes.boundaries import GRADIENTS_TITLE, RETURNED_GRADIENTS
from xlagraph.advice.causes.cause import Cause, evidence_row, of_returned
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

_REASON: Final = "a gradient, of which an updated parameter is computed, which is returned too"
_UNUSED: Final = "the gradient of a parameter that the step does not update"


def kept_gradients(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results that are gradients of parameters which a step updates, and of others.

    An updated parameter, or its state, is computed from the old one and from the gradient, which is
    computed from no input of its size: one that is added to the last gradient is a state. The step
    of a generator has the gradients of the discriminator, too, and does not need them.
    """
    if program.framework != "pytorch" or not any(map(_is_backward, program.values.values())):
        return
    results = [
        value
        for each in dict.fromkeys(program.compilation.results)
        if (value := program.values.get(each)) is not None and value.dimensions
    ]
    old = {value.value_id: _inputs_of_its_size(program, value) for value in results}
    updated = {
        each for value in results if old[value.value_id] for each in program.sources_of(value)
    }
    fresh = [value for value in results if not old[value.value_id]]
    used = [value for value in fresh if _is_used(program, value, updated)]
    if places := _places(program, used):
        rows = [evidence_row(program.values[each], _REASON) for each in places]
        kept = KeepInside(frozenset(places.values()))
        yield of_returned(GRADIENTS_TITLE, kept, rows, RETURNED_GRADIENTS)
    others = _others_factors(program, {each for inputs in old.values() for each in inputs})
    unused = [
        value
        for value in fresh
        if value not in used
        and not others[_size(value)].isdisjoint(_factors(program, _makers(program, value)))
        and _is_of_backward_pass(program, value)
    ]
    if places := _places(program, unused):
        rows = [evidence_row(program.values[each], _UNUSED) for each in places]
        computed = {each for value in places for each in program.sources_of(program.values[value])}
        gone = sorted(program.values[each].label for each in computed | {*places.values()})
        removed = Remove.of(program.compilation, gone)
        yield of_returned(FROZEN_TITLE, removed, rows, GRADIENTS_OF_FROZEN)


def _places(program: PeakProgram, gradients: Iterable[StoredValue]) -> Mapping[int, int]:
    """Return for each gradient the result whose bytes are saved, unless inputs give all of them.

    Results take the bytes of donated inputs of their shape in their order. A gradient that takes
    them leaves an updated parameter without, whose bytes are then the ones that are saved.
    """
    own: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for value in program.own_results:
        own[_size(value)].append(value.value_id)
    found: dict[int, int] = {}
    for value in gradients:
        if free := own[_size(value)]:
            place = value.value_id if value.value_id in free else free[-1]
            free.remove(place)
            found[value.value_id] = place
    return found


def _others_factors(
    program: PeakProgram, updated: Collection[int]
) -> Mapping[tuple[int, ...], set[int]]:
    """Return the other factors of products with inputs that the step does not update, by size.

    The gradient of a factor is the product of another one with what a backward pass computes. A
    step that updates no factor may add gradients up for a later one: then there are none.
    """
    found: defaultdict[tuple[int, ...], set[int]] = defaultdict(set)
    is_step = False
    for value in program.compilation.array_parameters:
        same = set(reached([value.value_id], lambda each: _moved_to(program, each)))
        readers = {name for each in same for name in program.readers_of.get(each, ())}
        if value.value_id not in updated:
            found[_size(value)] |= _factors(program, readers) - same
        elif not program.products.isdisjoint(readers):
            is_step = True
    return found if is_step else defaultdict(set)


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


def _is_used(program: PeakProgram, value: StoredValue, updated: Collection[int]) -> bool:
    """Return True if one of the updated values is computed from this one, of its size."""
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
    return tuple(sorted(value.squeezed))
