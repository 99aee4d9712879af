"""Find equal parts of an unrolled loop, of which a CPU keeps, or recomputes, the values of all.

A compiler that drops barriers may recompute what all checkpoints need before the first gradient is
known. In a loop of the program each iteration recomputes its own part.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import (
    is_backward,
    is_checkpointed,
    is_named_by_first_call,
    is_per_example,
    is_recomputed,
    stem,
    without_numbers,
)
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.recomputing import RecomputeInLoop
from xlagraph.planner.edits.resizing import Scale
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_PARTS: Final = 4
"""Fewest parts: some layers have as many equal ops."""
_LEAST_EQUAL: Final = 0.8
"""Least share of the bytes of equal values: layers that differ, as in strides, need no loop."""
_LEAST_OF_OP: Final = 0.03
"""Least share of the recomputed bytes of an op that shows the number of parts."""
_MOST_STACKED: Final = Fraction(1, 2)
"""Most bytes that a loop stacks, of those of what is recomputed in it, for it to save much."""

_UNROLLED: Final[Remedies] = {
    "jax": "Put the parts into a loop of the program, outside of which this compiler does not order"
    " what is recomputed: stack their parameters or inputs, and use"
    " jax.lax.scan(jax.checkpoint(body), ...) or jax.lax.map(jax.checkpoint(part), ...).",
}


_Part = tuple[str, ...]


class _Op(NamedTuple):
    """An op, the same for the values of all equal parts of a program."""

    scopes: tuple[str, ...]
    """Scopes without transformations, those that a checkpoint adds, and the number of the part."""
    shape: str
    line: tuple[str | None, int | None]
    """File and line: a part may repeat an op at several."""
    is_recomputed: bool
    is_checkpointed: bool


def _op(program: PeakProgram, value: StoredValue) -> _Op:
    name = value.known_op_name
    return _Op(
        _scopes(name),
        value.shape,
        program.place_of(value.name),
        is_recomputed(name),
        is_checkpointed(name),
    )


def _scopes(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes of an op, the outermost number left out, which is that of its part."""
    part = _part(op_name)
    rest = stem(op_name)[len(part) :]
    return (*part[:-1], without_numbers(part[-1]), *rest) if part else rest


def _part(op_name: str | None) -> tuple[str, ...]:
    """Return the scopes up to the outermost number; none without one."""
    found = stem(op_name)
    places = (place for place, scope in enumerate(found, 1) if without_numbers(scope) != scope)
    return found[: next(places, 0)]


def unrolled_checkpoints(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values of equal parts that checkpoints outside of loops recompute at once."""
    if program.framework != "jax" or program.compilation.orders_recomputation:
        return
    groups = _groups(program)
    parts = _part_count({op: values for op, values in groups.items() if op.is_recomputed})
    if parts is None:
        return
    inner = {op.scopes for op in groups}
    chosen = {
        program.set_of(value)
        for values in groups.values()
        if len(values) >= parts
        for value in values
        if not _leaves_part(program, value, inner)
    }
    at_peak = [value for value in program.at_peak if program.set_of(value) in chosen]
    if at_peak:
        reason = f"one of {parts} or more equal values that checkpoints recompute at once"
        values = (each for each in program.temporaries if program.set_of(each) in chosen)
        yield Cause(
            "lifetime/recomputed",
            "Checkpoints of an unrolled loop are recomputed at once",
            ChangeKind.PARTS,
            Scale({each.label: Fraction(1, parts) for each in values}),
            tuple(evidence_row(value, reason) for value in at_peak),
            _UNROLLED,
            "the loop is another program, which the compiler may schedule and fuse differently",
            likelihood=0.9,
            is_unrolled=True,
        )


def kept_by_unrolled_parts(program: PeakProgram, labels: Collection[str]) -> Cause | None:
    """Return the cause for values that the backward pass reads, if most are of equal parts.

    None if a checkpoint around each part is enough, or if a loop would stack gradients of each
    example or call, which the program reduces one after another; or of derivatives within a loss,
    whose own backward pass no checkpoint of a part covers. `scan_layers` of PyTorch/XLA saves
    nothing, also with `min_cut_rematerialization_partition` (tried with 2.9).
    """
    if program.framework != "jax" or not program.recomputes_early:
        return None
    values = [program.by_label[label] for label in labels]
    inner = [each for each in values if (each.known_op_name or "").count("jvp(") > 1]
    if 2 * _bytes(inner) > _bytes(values):
        return None
    often = [found for found in _by_op(program, values) if len(found) >= _LEAST_PARTS]
    equal = {each.value_id: each for found in often for each in found}
    if _bytes(equal.values()) < _LEAST_EQUAL * _bytes(values):
        return None
    parts = min(map(len, often))
    called = _called_often(program, values)
    if not _are_equal_parts(values, called):
        return None
    if _bytes(_stacked_gradients(program, parts, called)) > _MOST_STACKED * _bytes(values):
        return None
    reason = f"one of {parts} or more equal values that the backward pass reads"
    rows = [evidence_row(each, reason) for each in program.at_peak if each.value_id in equal]
    if not rows:
        return None
    return Cause(
        "lifetime/kept-for-backward",
        "Activations of an unrolled loop are kept for the backward pass",
        ChangeKind.PARTS,
        RecomputeInLoop(tuple(labels), parts, _others_of_parts(program, labels, parts)),
        tuple(rows),
        _UNROLLED,
        "outside of a loop this compiler recomputes too early for a checkpoint to save much",
        likelihood=0.9,
        is_unrolled=True,
    )


def _called_often(program: PeakProgram, values: Iterable[StoredValue]) -> Collection[_Part]:
    """Return the parts of which most values are held many times, as of a module called in a loop.

    It has one number for all of its calls.
    """
    total: Counter[_Part] = Counter()
    often: Counter[_Part] = Counter()
    for found in _by_op(program, values):
        for part, same in grouped((_part(each.known_op_name), each) for each in found).items():
            if part and not is_named_by_first_call(same[0].known_op_name):
                total[part] += _bytes(same)
                often[part] += _bytes(same) if len(same) >= _LEAST_PARTS else 0
    return {part for part, size in often.items() if size >= _LEAST_EQUAL * total[part]}


def _are_equal_parts(values: Iterable[StoredValue], called: Collection[_Part]) -> bool:
    """Return True unless numbers in op names show that few parts are alike, as in a U-Net.

    Its blocks have equal values, but differ in channels and in what they concatenate.
    """
    parts: defaultdict[_Part, Counter[tuple[tuple[str, ...], str]]] = defaultdict(Counter)
    for value in values:
        name = value.known_op_name
        if value.stack_loop is None and not is_named_by_first_call(name) and (part := _part(name)):
            parts[part][_scopes(name), value.shape] += value.size_bytes
    equal = sum(
        part.total()
        for name, part in parts.items()
        if name in called
        or sum(2 * (part & each).total() >= (part | each).total() for each in parts.values())
        >= _LEAST_PARTS
    )
    return equal >= _LEAST_EQUAL * sum(part.total() for part in parts.values())


def _others_of_parts(program: PeakProgram, labels: Collection[str], parts: int) -> tuple[str, ...]:
    """Return the labels of the other values of equal parts, of which a loop needs those of one.

    Gradients that the optimizer reads of each part are stacked.
    """
    differentiated = (
        value for value in program.temporaries if _is_differentiated(value.known_op_name)
    )
    return tuple(
        program.values[member.value_id].label
        for values in _by_op(program, differentiated)
        if len(values) >= parts
        for value in values
        if value.label not in labels and _is_read_in_passes(program, value)
        for member in program.members_of(value)
    )


def _stacked_gradients(
    program: PeakProgram, parts: int, called: Collection[_Part]
) -> Iterator[StoredValue]:
    """Yield the gradients of each example, or call, that are read after their part's backward pass.

    Those of different layers are kept in any case.
    """
    gradients = (
        each
        for each in program.temporaries
        if each.is_backward
        and (is_per_example(each.known_op_name) or _part(each.known_op_name) in called)
    )
    for values in _by_op(program, gradients):
        if len(values) >= parts:
            yield from (each for each in values if not _is_read_in_passes(program, each))


def _by_op(
    program: PeakProgram, values: Iterable[StoredValue]
) -> Collection[Sequence[StoredValue]]:
    """Return the values that no loop stacks, in groups of equal parts of one loop, or of none."""
    return grouped(
        ((program.instructions[value.name].loop, _op(program, value)), value)
        for value in values
        if value.stack_loop is None
    ).values()


def _is_differentiated(op_name: str | None) -> bool:
    """Return True for an op of the forward or backward pass of a gradient."""
    return is_backward(op_name) or "jvp(" in (op_name or "")


def _is_read_in_passes(program: PeakProgram, value: StoredValue) -> bool:
    names = program.readers_of.get(value.value_id, ())
    return not value.is_backward or all(
        _is_differentiated(program.instructions[name].op_name) for name in names
    )


def _bytes(values: Iterable[StoredValue]) -> int:
    return sum(each.size_bytes for each in values)


_Groups = Mapping[_Op, list[StoredValue]]


def _groups(program: PeakProgram) -> _Groups:
    """Return the values of checkpoints outside of loops, by op.

    Those of the forward pass are the ones that are recomputed, too.
    """
    groups: defaultdict[_Op, list[StoredValue]] = defaultdict(list)
    for value in program.temporaries:
        known = program.instructions[value.name]
        if known.loop is None and value.known_op_name is not None and program.is_alone(value):
            groups[_op(program, value)].append(value)
    again = {(op.scopes, op.shape) for op in groups if op.is_recomputed}
    return {
        op: values
        for op, values in groups.items()
        if op.is_checkpointed
        or ((op.scopes, op.shape) in again and not any(each.is_backward for each in values))
    }


def _part_count(again: _Groups) -> int | None:
    """Return how many equal parts are recomputed; None for fewer than `_LEAST_PARTS`."""
    sizes = {op: _bytes(values) for op, values in again.items()}
    total = sum(sizes.values())
    equal = sum(sizes[op] for op, values in again.items() if len(values) >= _LEAST_PARTS)
    counts = [len(values) for op, values in again.items() if sizes[op] >= _LEAST_OF_OP * total]
    if equal < _LEAST_EQUAL * total or min(counts, default=0) < _LEAST_PARTS:
        return None
    return min(counts)


def _leaves_part(
    program: PeakProgram, value: StoredValue, inner: Collection[tuple[str, ...]]
) -> bool:
    """Return True for results of parts, and for values that the forward pass keeps."""
    names = program.readers_of.get(value.value_id, ())
    ops = [program.instructions[name].op_name for name in names]
    if not value.is_backward and any(map(is_checkpointed, ops)):
        return True
    return any(
        op is not None and not is_checkpointed(op) and _scopes(op) not in inner for op in ops
    )
