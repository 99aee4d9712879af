"""Find checkpoints around many layers or around a loop: all is recomputed at once.

Such a checkpoint, as one around the whole loss, keeps few values after the forward pass, but all
values of its layers while the backward pass runs. What it recomputes outside of loops reads each
other; a checkpoint around one layer reads a value that the forward pass kept. Without barriers, as
on CPUs, what such layers compute alike is merged, so that their values are connected, but those of
one layer are not computed from those of another. A loop in a
checkpoint stacks the values of its iterations when it is recomputed. So does a loop that is
differentiated within the backward pass.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.recomputable_values import is_stacked_carry
from xlagraph.hlo.op_names import (
    BACKWARD_MARKS,
    inner_gradients,
    is_of_inner_gradient,
    is_recomputed,
)
from xlagraph.hlo.walks import reached
from xlagraph.planner.edits.loop_stacks import loop_stacks
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.queries.catalogue.declarations import ChangeKind

_EACH_LAYER: Final = {
    "jax": "Wrap each layer, not all of them at once: jax.checkpoint(layer) instead of"
    " jax.checkpoint(loss).",
    "tensorflow": "Wrap each layer in tf.recompute_grad, not all of them at once.",
    "pytorch": "Checkpoint each layer: one call of torch_xla.utils.checkpoint.checkpoint for each.",
}
_PART_OF_LAYER: Final = {
    "jax": "Wrap parts that hand on few bytes, such as jax.checkpoint(attention), or, if there are"
    " none, each layer, jax.checkpoint(layer): without barriers the compiler may recompute whole"
    " layers all at once.",
    "tensorflow": _EACH_LAYER["tensorflow"],  # orders what it recomputes
    "pytorch": "Checkpoint parts that hand on few bytes, such as attention, or, if there are none,"
    " each layer.",
}
_BODY: Final = {
    "jax": "Wrap the body of the loop, too: jax.lax.scan(jax.checkpoint(body), ...). Keep the"
    " checkpoint around the loop if it contains more than the loop, such as the rest of a layer.",
    "tensorflow": "Wrap the body of the loop in tf.recompute_grad, too, and keep the one around"
    " the loop if it contains more than the loop.",
    "pytorch": "Checkpoint the layer that torch_xla.experimental.scan repeats, too, and keep the"
    " checkpoint around the loop if it contains more than the loop.",
}
_INNER: Final = {
    "jax": "Wrap the body of the inner loop in jax.checkpoint, or run fewer iterations in it. If a"
    " library's solver makes it, let that differentiate the solution implicitly.",
    "tensorflow": "Wrap the body of the inner loop in tf.recompute_grad.",
    "pytorch": "Checkpoint the body of the inner loop.",
}
_MOST: Final = 3 / 4
"""Share of all recomputed bytes from which on one checkpoint covers most of the layers.

The largest of a few layers, each with a checkpoint of its own, may have more than half of them.
"""
_MOST_AT_ONCE: Final = 1 / 2
"""Share of what a checkpoint recomputes that one value needs, if its layers follow each other."""


def wide_checkpoints(program: PeakProgram) -> Iterator[Cause]:
    """Yield what a checkpoint around a loop, or around most layers, recomputes at once."""
    groups = recomputed_groups(program)
    again = {each for group in groups for each in group}
    names = {each.value_id: each.known_op_name for each in program.values.values()}
    scopes = inner_gradients(names.values())
    inner = {each for each, name in names.items() if is_of_inner_gradient(name, scopes)}
    if not (again or inner):
        return
    compilation = program.compilation.without_checkpoints
    found = list(loop_stacks(compilation, program.program, program.program.by_id))

    def stacks_of(values: Collection[int]) -> frozenset[int]:
        kept = (each.value_ids for each in found if not each.value_ids.isdisjoint(values))
        return frozenset[int]().union(*kept)

    stacks = stacks_of(again)
    yield from _cause(
        program,
        "A checkpoint around a loop recomputes all iterations at once",
        "stacked for all iterations when the checkpoint recomputes the loop",
        stacks,
        _BODY,
    )
    yield from _cause(
        program,
        "A gradient that the backward pass computes keeps all iterations of an inner loop",
        "stacked for all iterations of a loop that the backward pass computes again",
        _read_by_gradient(program, stacks_of(inner) - stacks, scopes),
        _INNER,
    )
    if not groups:
        return
    outside = [
        {
            each
            for each in group - stacks
            if program.instructions[program.values[each].name].loop is None
        }
        for group in groups
    ]
    sizes = [program.program.bytes_of(group) for group in outside]
    if max(sizes) <= _MOST * sum(sizes):
        return
    largest = sizes.index(max(sizes))
    layers = outside[largest]
    needed = layers & _needed_for_one(program, groups[largest])
    is_one = program.program.bytes_of(needed) > _MOST_AT_ONCE * max(sizes)
    has_barriers = program.compilation.orders_recomputation
    if is_one or not has_barriers:
        yield from _cause(
            program,
            "One checkpoint covers too much: all of it is recomputed at once"
            if is_one
            else "Checkpoints cover too much: what they recompute is held at once",
            "recomputed together with other values, and held until it is read",
            layers,
            _EACH_LAYER if has_barriers else _PART_OF_LAYER,
        )


def _read_by_gradient(
    program: PeakProgram, stacks: Collection[int], scopes: Collection[str]
) -> frozenset[int]:
    """Return the stacks if the backward pass of a gradient in one of these scopes reads one.

    The backward pass of a gradient of a gradient, as of MAML, runs through it from its end.
    """
    readers = (
        program.values[reader].known_op_name or ""
        for each in stacks
        for reader in program.compilation.readers.get(each, ())
    )
    starts = tuple(f"{scope}/{BACKWARD_MARKS[0]}" for scope in scopes)
    return frozenset(stacks) if any(name.startswith(starts) for name in readers) else frozenset()


def recomputed_groups(program: PeakProgram) -> list[set[int]]:
    """Return the recomputed values that are connected by reads, as those of one checkpoint are."""
    again = {
        planned.value_id
        for planned in program.program.values
        if not planned.is_stored
        and (value := program.values[planned.value_id]).attribution != "reader"
        and is_recomputed(value.known_op_name)
    }
    near: defaultdict[int, set[int]] = defaultdict(set)
    for each in again:
        for reader in again.intersection(program.compilation.readers.get(each, ())):
            near[each].add(reader)
            near[reader].add(each)
    groups: list[set[int]] = []
    while again:
        groups.append(set(reached([again.pop()], near.get)))
        again -= groups[-1]
    return groups


def _needed_for_one(program: PeakProgram, group: Collection[int]) -> frozenset[int]:
    """Return the values of a group that are recomputed for the one that needs most of them."""
    again, by_id = frozenset(group), program.program.by_id
    operands: defaultdict[int, list[int]] = defaultdict(list)
    needed: defaultdict[int, int] = defaultdict(int)
    for each in sorted(again, key=lambda each: by_id[each].live_from):
        needed[each] += by_id[each].size_bytes
        for reader in again.intersection(program.compilation.readers.get(each, ())):
            operands[reader].append(each)
            needed[reader] = max(needed[reader], needed[each])
    return frozenset(reached([max(needed, key=lambda each: needed[each])], operands.get))


def _cause(
    program: PeakProgram, title: str, reason: str, found: Collection[int], remedies: Remedies
) -> Iterator[Cause]:
    at_peak = [
        value
        for value in program.at_peak
        if value.value_id in found
        and not is_stacked_carry(program, program.stack_of(value) or value)
        and not program.is_copy_of_input(value.label)
    ]
    if at_peak:
        edit = Recompute(tuple(program.values[each].label for each in sorted(found)), again=True)
        rows = tuple(evidence_row(value, reason) for value in at_peak)
        yield Cause("lifetime/recomputed", title, ChangeKind.RECOMPUTE, edit, rows, remedies)
