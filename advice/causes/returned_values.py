"""Find results of a training step that the caller may not need, and inputs that it has already."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from xlagraph.advice.causes.cause import (
    Cause,
    Remedies,
    evidence_row,
    of_avoidable,
    of_returned,
)
from xlagraph.advice.causes.copied_inputs import GATHERING
from xlagraph.advice.causes.loop_states import has_carry
from xlagraph.advice.causes.names import input_name, pattern_of
from xlagraph.advice.causes.peak_values import JOINED_PARTS, PeakProgram
from xlagraph.hlo.op_names import is_recomputed
from xlagraph.hlo.opcodes import COPYING
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS
from xlagraph.planner.edits.returning import KeepInside

_ONE_ARRAY: Final = "only if the caller can use one array for both, and does not donate it twice"

FROZEN_TITLE: Final = "Gradients of parameters that the step does not update are returned"
GRADIENTS_OF_FROZEN: Final[Remedies] = {
    "jax": "Differentiate only with respect to the parameters that are updated (argnums of"
    " jax.grad, or a partition of the tree), and return only the new ones.",
    "tensorflow": "Pass only the updated variables to tape.gradient.",
    "pytorch": "Set requires_grad_(False) on the frozen parameters.",
}
_RETURNED_FORWARD_VALUES: Final[Remedies] = {
    "jax": "Return only what the caller reads, such as the loss or a mean: leave activations and"
    " logits out of the auxiliary results (has_aux=True), or reduce them in the step.",
    "tensorflow": "Return the loss or a mean instead of the activations.",
    "pytorch": "Drop the activations (del, or .detach() of a mean) before torch_xla.sync().",
}
_UNCHANGED_INPUTS: Final[Remedies] = {
    "jax": "Do not return it: the caller has the array that it passed. Or donate it"
    " (donate_argnums), if the caller goes on with the result.",
    "tensorflow": "Do not return it: the caller has the tensor that it passed.",
    "pytorch": "Do not return it: the caller has the tensor that it passed.",
}
_RETURNED_BY_NNX: Final[Remedies] = {
    "jax": "nnx.jit returns the states of all modules that it takes: if the function changes none,"
    " compile it with nnx.jit(..., graph_updates=False) of Flax 0.12. Else donate the modules"
    " (donate_argnums), which get their arrays back.",
}
_STATE_OF_NNX: Final = re.compile(r"\.states\[\d+\]\[")
"""Part of the op name of an array that `nnx.jit` takes from a module."""

_RETURNED_TWICE: Final[Remedies] = {
    "jax": "Return it once, and use this array in both places after the call, such as in the"
    " evaluation and in the next step.",
    "tensorflow": "Return it once, and use this tensor in both places after the call.",
    "pytorch": "Keep it once until torch_xla.sync(), and drop the other tensor (del). What a layer"
    " returns may be a view, which keeps the tensor behind it: keep y.clone() in place of y.",
}


def returned_forward_values(program: PeakProgram) -> Iterator[Cause]:
    """Yield the results of the forward pass of a step that updates parameters."""
    if not _updates_parameters(program):
        return
    forward = [
        value
        for value in program.own_results
        if value.dimensions
        if not any(_is_of_steps(program, each) for each in program.sources_of(value))
        # a cast of an updated parameter follows from its gradient
        if not any(_is_of_gradient(program.values[each]) for each in _leading_to(program, [value]))
        if not _follows_gradient(program, value)
    ]
    given = Counter(value.shape for value in program.compilation.array_parameters)
    shapes = {value: _returned_shape(program, value) for value in forward}
    returned = Counter(shapes.values())
    # as many as inputs may be new states
    found = [value for value in forward if returned[shapes[value]] > given[shapes[value]]]
    yield from _cause(
        "A training step returns values of its forward pass",
        [(value, "computed by the forward pass, and returned") for value in found],
        _RETURNED_FORWARD_VALUES,
    )


def _returned_shape(program: PeakProgram, value: StoredValue) -> str:
    """Return the shape in which a value is returned, which a bitcast may have changed."""
    found = program.compilation.result_shapes.get(value.value_id)
    return (value.shape or "") if found is None else found.partition("{")[0]


def gradients_of_frozen(program: PeakProgram) -> Iterator[Cause]:
    """Yield returned gradients of parameters that a step, which updates others, does not update."""
    if not _updates_parameters(program):
        return
    inputs = reversed(program.compilation.array_parameters)
    names = {value.dimensions: input_name(value) for value in inputs}
    updates = [value for value in _results(program) if _is_update(program, value)]
    computed = (source_of_copies(program, value) or value for value in updates)
    read = {each for value in computed for each in program.read_by.get(value.name, ())}
    given_ids = {value.value_id for value in program.compilation.array_parameters}
    gradients = [
        value
        for value in program.own_results
        if value.is_backward
        and value.dimensions in names
        and read.isdisjoint(program.sources_of(value))
        # an update that is fused with a gradient has its op name
        and given_ids.isdisjoint(_leading_to(program, [value]))
    ]
    given, updated, returned = (
        Counter(value.dimensions for value in side)
        for side in (program.compilation.array_parameters, updates, gradients)
    )
    found = [
        value
        for value in gradients
        if updated[value.dimensions] + returned[value.dimensions] <= given[value.dimensions]
    ]
    text = pattern_of(names[value.dimensions] for value in found)
    reason = f"a gradient of the shape of {text}; the step does not update it"
    yield from _cause(
        FROZEN_TITLE,
        [(value, reason) for value in found],
        GRADIENTS_OF_FROZEN,
    )


def unchanged_inputs(program: PeakProgram) -> Iterator[Cause]:
    """Yield results that are copies of inputs, which are not donated."""
    copied = list(_copied_inputs(program))
    found = [(value, f"a copy of {input_name(old)}, which the caller has") for value, old in copied]
    is_of_nnx = all(_STATE_OF_NNX.search(old.op_name or "") for _, old in copied)
    if found:
        yield of_avoidable(
            program.compilation,
            "alias/copies",
            "An input is returned unchanged, so it is copied",
            found,
            _RETURNED_BY_NNX if is_of_nnx else _UNCHANGED_INPUTS,
            is_exact=True,
            likelihood=1.0,
        )


def repeated_results(program: PeakProgram) -> Iterator[Cause]:
    """Yield results that are copies of other results."""
    returned = {each.value_id for each in program.program.values if each.lives_out}
    found = []
    for value in program.own_results:
        is_copy = program.program.by_id[value.value_id].is_copy
        old = source_of_copies(program, value) if is_copy else None
        planned = None if old is None else program.planned(old)
        if old is None or planned is None or planned.is_stored:
            continue
        if old.value_id in returned:
            found.append((value, f"a copy of {old.label}, which is returned, too"))
        returned.add(old.value_id)
    if found:
        yield of_avoidable(
            program.compilation,
            "alias/copies",
            "A result is returned more than once, so it is copied",
            found,
            _RETURNED_TWICE,
            is_exact=True,
            likelihood=1.0,
            doubt=_ONE_ARRAY,
        )


def _copied_inputs(program: PeakProgram) -> Iterator[tuple[StoredValue, StoredValue]]:
    """Yield the results that are copies of inputs, which are not donated, with these inputs."""
    for value in program.own_results:
        known = program.program.by_id[value.value_id]
        old = source_of_copies(program, value) if known.is_copy else None
        planned = None if old is None else program.planned(old)
        if old is None or planned is None or program.compilation.is_donated(old.value_id):
            continue
        if planned.is_stored and not planned.lives_out and old.dimensions == value.dimensions:
            yield value, old


def source_of_copies(program: PeakProgram, value: StoredValue) -> StoredValue | None:
    """Return the value at the beginning of a chain of copies and fetches, which compute nothing."""
    seen: set[int] = set()
    while value.value_id not in seen:
        seen.add(value.value_id)
        maker = program.instructions.get(value.name)
        if maker is None or not (maker.computes_only(COPYING) or maker.target == JOINED_PARTS):
            return value
        count = math.prod(value.dimensions)  # a copy may have another shape
        read = map(program.values.__getitem__, program.wholes_read_by(value.name))
        whole = list(islice((each for each in read if math.prod(each.dimensions) == count), 2))
        if len(whole) != 1:
            return None
        value = whole[0]
    return None


def without_new_value(program: PeakProgram) -> frozenset[str]:
    """Return the inputs whose bytes only new values of other inputs could take.

    Next to parameters that a step updates, the frozen ones of a reference model have the same
    types, but the caller needs them for the next step. One that is returned unchanged has no new
    value either: it need not be returned. PyTorch donates no tensor but for its own new value.
    """
    copied = {value for value, _ in _copied_inputs(program)}
    new = [value for value in program.own_results if value not in copied]
    results = Counter(value.shape for value in new)
    inputs = [
        value
        for value in program.compilation.array_parameters
        if not program.compilation.is_donated(value.value_id)
    ]
    updated = _leading_to(program, new)
    taken = Counter(value.shape for value in inputs if value.value_id in updated)
    return frozenset(
        value.label
        for value in inputs
        if value.value_id not in updated
        and (program.framework == "pytorch" or results[value.shape] <= taken[value.shape])
    )


def held_by_results(program: PeakProgram) -> frozenset[str]:
    """Return the values of which a result has the elements, in another place or order."""
    waiting = [each.value_id for each in program.program.values if each.lives_out]
    found = set(waiting)
    while waiting:
        value = program.values[waiting.pop()]
        maker = program.instructions.get(value.name)
        if maker is None or not maker.computes_only(SAME_ELEMENTS):
            continue
        for each in program.read_by.get(value.name, ()):
            is_planned = each in program.program.by_id
            if each not in found and is_planned and program.values[each].dtype == value.dtype:
                found.add(each)
                waiting.append(each)
    return frozenset(program.values[each].label for each in found)


def _is_of_gradient(value: StoredValue) -> bool:
    """Return True for a value of the backward pass that a checkpoint does not compute again."""
    return value.is_backward and not is_recomputed(value.attributed_op_name)


def _follows_gradient(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a result of PyTorch that is computed from a gradient, through any values.

    The names of PyTorch have no mark of a pass, and the category of a result is none either.
    """
    if program.framework != "pytorch":
        return False
    made_of = reached([value.value_id], lambda each: program.read_by.get(program.values[each].name))
    return any(_is_of_gradient(program.values[each]) for each in made_of)


def _is_of_steps(program: PeakProgram, value_id: int) -> bool:
    """Return True for a stack of a loop with a carry, which another cause names."""
    stack = program.stack_of(program.values[value_id])
    return stack is not None and has_carry(program, stack.stack_loop or "")


def _leading_to(program: PeakProgram, results: Iterable[StoredValue]) -> set[int]:
    """Return the values from which values of as many elements lead to one of the results.

    The parts of all devices have as many elements as what is gathered from them.
    A loop reads all that its body reads, so only what shares the bytes of its result leads there.
    """
    waiting = list(results)
    found = {value.value_id for value in waiting}
    while waiting:
        value = waiting.pop()
        near = {each.value_id for each in program.members_of(value)}
        if value.opcode != "while":
            near |= program.wholes_read_by(value.name)
        is_gathered = value.opcode in GATHERING
        for each in near - found:
            count = math.prod(program.values[each].dimensions)
            if is_gathered or count == math.prod(value.dimensions):
                found.add(each)
                waiting.append(program.values[each])
    return found


def _cause(
    title: str,
    found: Sequence[tuple[StoredValue, str]],
    texts: Remedies,
) -> Iterator[Cause]:
    if found:
        yield of_returned(
            title,
            KeepInside(frozenset(value.value_id for value, _ in found)),
            (evidence_row(value, reason) for value, reason in found),
            texts,
        )


def _results(program: PeakProgram) -> list[StoredValue]:
    found = (program.values.get(each) for each in program.compilation.results)
    return [value for value in found if value is not None]


def _updates_parameters(program: PeakProgram) -> bool:
    return any(_is_update(program, value) for value in _results(program))


def _is_update(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for a result of an input's shape that is computed from it and a gradient.

    It may be in the bytes of a donated input. A TPU may compute it in faster memory, together with
    the gradient, from fetched values.
    """
    planned = program.planned(value)
    allocation = None if planned is None else program.program.allocation_of(planned)
    is_in_input = allocation is not None and allocation.parameter_number is not None
    value = source_of_copies(program, value) or value
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    if not any(_is_input_like(each, value) for each in read):
        read += [each for other in read if (each := source_of_copies(program, other)) is not None]
    if value.dimensions == () or not any(each.is_backward for each in (value, *read)):
        return False
    return is_in_input or (
        not value.is_backward and any(_is_input_like(each, value) for each in read)
    )


def _is_input_like(value: StoredValue, other: StoredValue) -> bool:
    """Return True for an input or a copy with the shape of another value."""
    return value.opcode in ("parameter", "copy") and value.shape == other.shape
