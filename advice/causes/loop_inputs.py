"""Find values that are computed for all iterations before a loop, which reads one part in each.

Random numbers, table rows and projections of a sequence exist as a whole only because they are
computed outside the loop. In its body only the part of one iteration exists.
"""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from math import prod
from typing import Final

from xlagraph.advice.causes.cause import Cause, Remedies, evidence_row, file_and_line
from xlagraph.advice.causes.copied_inputs import input_of
from xlagraph.advice.causes.loop_readers import (
    READING_NOTHING,
    is_around,
    is_recomputed_backward,
    loops_around,
    readers_of_values,
)
from xlagraph.advice.causes.loop_states import has_carry
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.sliced_reads import elements_of_products, parts_of_reads
from xlagraph.hlo.op_names import is_recomputed, last_part
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.edits.loop_stacks import SAME_ELEMENTS
from xlagraph.planner.edits.resizing import ComputeInParts
from xlagraph.queries.catalogue.declarations import ChangeKind

_LEAST_SHARE: Final = 0.005
"""Smallest share of the reserved bytes for which a value is searched."""
_LEAST_PART: Final = 4
"""A value of less than one in so many of the bytes of another one is small next to it."""
_LEAST_PARTS: Final = 8
"""Least number of parts of a value of which another reader takes one."""
_JOINING: Final = SAME_ELEMENTS | {"concatenate", "constant"}
_TAKING: Final = ("dynamic-slice", "gather")
"""Opcodes that read a part of a value: a slice, or some of its rows."""
MIXING: Final = frozenset(
    (
        "reduce", "reduce-window", "select-and-scatter", "sort", "scatter", "convolution", "fft",
        "custom-call", "cholesky", "triangular-solve", "conditional", "topk", "infeed", "recv",
        "all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute",
    )
)  # fmt: skip
"""Opcodes whose results need more of an operand than the part of one iteration."""

_COMPUTED_AHEAD: Final[Remedies] = {
    "jax": "Compute the part of one iteration in the body of jax.lax.scan: scan over what it is"
    " computed from (jax.random.split(key, n) for random numbers, the ids for rows of a table, the"
    " permuted indices for shuffled minibatches, the inputs of a projection, quantized weights)."
    " One large product before the loop may run faster than one in each iteration.",
    "tensorflow": "Compute the part of one iteration in the body of the tf.while_loop.",
    "pytorch": "Compute the part of one iteration in the body of torch_xla.experimental.scan.",
}


def computed_ahead(program: PeakProgram) -> Iterator[Cause]:
    """Yield a cause for the loops that read parts of values computed before them."""
    least = _LEAST_SHARE * program.compilation.reserved_bytes.get(program.memory_space, 0)
    found: dict[tuple[str, ...], dict[int, tuple[StoredValue, int]]] = {}
    for value in (*program.temporaries, *program.elsewhere):
        if value.size_bytes < least or program.is_copy_of_input(value.label):
            continue  # the compiler stores an input in another layout
        if (read := read_in_parts(program, value)) is not None:
            loops, parts = read
            places = [file_and_line(*program.place_of(each)) or each for each in loops]
            made = made_for(program, [value]) or []
            if not (_is_of_several(program, made) or elements_of_products(program, made)):
                for each in made:
                    if each.memory_space != program.memory_space or is_around(program, each, value):
                        continue
                    by_id = found.setdefault(tuple(dict.fromkeys(places)), {})
                    by_id.setdefault(each.value_id, (each, parts))
    for lines, by_id in found.items():
        yield _cause(program, lines, list(by_id.values()))


def _cause(
    program: PeakProgram, places: Sequence[str], values: list[tuple[StoredValue, int]]
) -> Cause:
    """Return the cause for values with the number of parts that loops at some lines read."""
    parts = max(each for _, each in values)
    noun = "loop" if len(places) == 1 else "loops"
    reason = (
        f"computed before the {noun} at {' and '.join(places)}, each iteration of which reads one"
        f" of {parts} parts"
    )
    values.sort(key=lambda each: (-each[0].size_bytes, each[0].value_id))
    gradients = _gradients(program, [value for value, _ in values], parts)
    rows = [evidence_row(value, reason) for value, _ in values]
    of_all = f"gradient of what is {reason}"
    rows += [evidence_row(value, of_all) for value in gradients]
    return Cause(
        "peak/contributors",
        "Values for all iterations of a loop are computed before it",
        ChangeKind.PARTS,
        ComputeInParts(
            {value.label: Fraction(1, parts) for value, parts in values}
            | {value.label: Fraction(1, parts) for value in gradients}
        ),
        tuple(rows),
        _COMPUTED_AHEAD,
        likelihood=0.8,
    )


def read_in_parts(program: PeakProgram, value: StoredValue) -> tuple[tuple[str, ...], int] | None:
    """Return the loops that read only parts of a value, with the number of parts.

    None if anything else reads it, or if a loop fills it.
    """
    members = [program.values[each] for each in _set_of(program, value)]
    makers = [each for each in members if not each.is_phi and each.opcode not in READING_NOTHING]
    if len(makers) != 1 or (makers[0].is_backward and not is_recomputed(makers[0].known_op_name)):
        return None
    if _is_narrower_input(program, value) or any(each.stack_loop for each in members):
        return None
    maker = program.instructions.get(makers[0].name)
    if maker is None or (maker.computes_with("concatenate") and maker.computes_only(_JOINING)):
        return None  # the parts are arrays of their own, of which a loop cannot choose one
    readers = readers_of_values(program, {each.value_id for each in members})
    loops = {
        program.instructions[name].loop
        for name in readers
        if not is_recomputed_backward(program, name, again=makers[0].is_backward)
    }
    found = sorted(each for each in loops if each is not None)
    if not found or len(found) < len(loops):
        return None
    if len(found) > 1 and any(map(program.is_backward, found)):
        return None  # it would read stacked parts
    for loop in found:
        if maker.loop not in loops_around(program, loop):
            return None
        if "while" not in last_part(program.instructions[loop].op_name):
            return None  # the compiler made it of another op, such as a scatter
    parts = parts_of_reads(program, {each.value_id for each in members}, readers, _TAKING)
    return None if parts is None or parts == 1 else (tuple(found), parts)


def _is_narrower_input(program: PeakProgram, value: StoredValue) -> bool:
    """Return True for an input in a narrower type, which a TPU makes before the loop anyway."""
    given = input_of(program, value) if program.compilation.is_tpu else None
    return given is not None and given.size_bytes > value.size_bytes


def made_for(program: PeakProgram, values: Sequence[StoredValue]) -> list[StoredValue] | None:
    """Return values with the large temporaries that are computed only to make them.

    None if one of these needs more than the part of one iteration, or if another loop makes it
    from its carry: no iteration of this loop can. Nor if the loop would keep in its place what is
    as large and freed before, as the inputs of a projection, or a table of rows, may be. If it is
    live as long as the values anyway, such as the steps of a rollout from which each epoch takes
    its batches, the loop can read it instead. The state of a loop around exists as a whole.
    """
    least = values[0].size_bytes // _LEAST_PART
    end = max(_end(program, value) for value in values)
    given = {program.set_of(value) for value in values}
    chosen, kept, states = set(given), set[int | None](), list[StoredValue]()
    waiting = list(_makers(program, chosen))
    while waiting:
        maker = waiting.pop()
        for value_id in program.read_by.get(maker, ()):
            each = program.values[value_id]
            number = program.set_of(each)
            if number in chosen or each.size_bytes < least:
                continue
            stack = program.stack_of(each)
            if stack is not None and has_carry(program, stack.stack_loop or ""):
                if _end(program, each) >= end:
                    continue
                return None
            if not _is_temporary(program, number) or program.is_copy_of_input(each.label):
                continue
            if each.is_phi:  # the state of a loop around, which no iteration can have in part
                states.append(each)
                continue
            if program.computes_with(maker, "gather"):  # any iteration may read any row
                kept.add(program.set_of(program.values[program.origin_of(value_id)]))
                continue
            chosen.add(number)
            waiting += _makers(program, {number})
    while others := {each for each in chosen if not _is_read_by(program, each, chosen)} - given:
        chosen -= others
        kept |= others
    freed = [each for each in _firsts(program, kept) if _end(program, each) < end]
    freed += [each for each in states if program.program.by_id[each.value_id].live_until < end]
    if any(each.size_bytes >= values[0].size_bytes for each in freed):
        return None
    if not all(_keeps_parts(program, name) for name in _makers(program, chosen)):
        return None
    return _firsts(program, chosen)


def _firsts(program: PeakProgram, numbers: Collection[int | None]) -> list[StoredValue]:
    sets = program.program.sets
    return [program.values[sets[each][0].value_id] for each in numbers if each is not None]


def _is_of_several(program: PeakProgram, values: Sequence[StoredValue]) -> bool:
    """Return True if an instruction makes values of several large ones that exist anyway.

    It is fused with what makes the one array of which a loop could read parts, as random numbers
    are with the bits of which they are made. The loop then needs that array instead.
    """
    chosen = {program.set_of(value) for value in values}
    least = max((value.size_bytes for value in values), default=0) // _LEAST_PART
    for name in _makers(program, chosen):
        read = (program.values[each] for each in program.read_by.get(name, ()))
        numbers = {program.set_of(each) for each in read if each.size_bytes >= least} - chosen
        if sum(_is_temporary(program, number) for number in numbers) > 1:
            return True
    return False


def _gradients(
    program: PeakProgram, values: Sequence[StoredValue], parts: int
) -> list[StoredValue]:
    """Return the stacked gradients of values, with what only changes their elements one by one.

    A backward loop stacks as many elements in each iteration as the loop reads. What then computes
    with the stack reads what the values are computed from, as the gradient of a product does.
    """
    chosen = {program.set_of(value) for value in values}
    inputs = {
        each
        for each in _sources(program, _makers(program, chosen))
        if program.set_of(program.values[each]) not in chosen
    }
    sizes = {prod(value.dimensions) // parts for value in values}
    found: list[StoredValue] = []
    for value in program.temporaries:
        stack = program.stack_of(value)
        if stack is None or not stack.is_backward or stack.stack_turns != parts:
            continue
        if prod(stack.dimensions) // parts not in sizes or program.set_of(value) in chosen:
            continue
        together, readers = _with_same_parts(program, value)
        if not inputs.isdisjoint(_sources(program, readers)):
            found += together
    return found


def _sources(program: PeakProgram, names: Collection[str]) -> set[int]:
    """Return what instructions read, with what integers, such as indices, are computed from."""

    def read(value_id: int) -> Iterator[int]:
        value = program.values[value_id]
        if value.is_integer:
            yield from program.read_by.get(value.name, ())
        yield from program.sources_of(value)

    return set(reached(chain.from_iterable(program.read_by.get(name, ()) for name in names), read))


def _with_same_parts(
    program: PeakProgram, value: StoredValue
) -> tuple[list[StoredValue], set[str]]:
    """Return a value, the large ones that are computed from it part by part, and what reads them.

    Readers are those outside of loops.
    """
    found, waiting, readers = {program.set_of(value): value}, [value], set[str]()
    while waiting:
        for each in _set_of(program, waiting.pop()):
            for name in program.readers_of.get(each, ()):
                known = program.instructions[name]
                if known.loop is not None or known.opcode in READING_NOTHING:
                    continue
                readers.add(name)
                if not _keeps_parts(program, name) or name in program.products:
                    continue
                for made in program.made_by.get(name, ()):
                    number = program.set_of(made)
                    is_large = 2 * prod(made.dimensions) > prod(value.dimensions)
                    if is_large and number not in found and _is_temporary(program, number):
                        found[number] = made
                        waiting.append(made)
    return list(found.values()), readers


def _end(program: PeakProgram, value: StoredValue) -> int:
    """Return the last step at which a value, or what shares its address, is live."""
    return max((each.live_until for each in program.members_of(value)), default=0)


def _makers(program: PeakProgram, numbers: Collection[int | None]) -> set[str]:
    """Return the instructions that make the values of buffer sets."""
    sets = program.program.sets
    found = (member for each in numbers if each is not None for member in sets[each])
    return {program.values[member.value_id].name for member in found}


def _is_temporary(program: PeakProgram, number: int | None) -> bool:
    members = () if number is None else program.program.sets[number]
    return bool(members) and not any(
        member.is_table or member.is_stored or member.lives_out for member in members
    )


def _is_read_by(program: PeakProgram, number: int | None, numbers: Collection[int | None]) -> bool:
    """Return True if only the makers of buffer sets read another one."""
    members = () if number is None else program.program.sets[number]
    readers = {name for each in members for name in program.readers_of.get(each.value_id, ())}
    makers = _makers(program, numbers)
    others = {
        name
        for name in readers - makers
        if program.instructions[name].opcode not in READING_NOTHING
    }
    return all(_reads_small_part(program, name, members[0].size_bytes) for name in others)


def _reads_small_part(program: PeakProgram, name: str, size_bytes: int) -> bool:
    """Return True if few elements of a value are read, each once, as the first part is.

    The program can compute these by themselves.
    """
    made = program.made_by.get(name, ())
    return (
        bool(made)
        and _keeps_parts(program, name)
        and name not in program.products
        and sum(each.size_bytes for each in made) * _LEAST_PARTS <= size_bytes
    )


def _set_of(program: PeakProgram, value: StoredValue) -> list[int]:
    return [each.value_id for each in program.members_of(value)] or [value.value_id]


def _keeps_parts(program: PeakProgram, name: str) -> bool:
    """Return True if each part of an instruction's result needs that part of large operands."""
    opcodes = program.instructions[name].opcodes
    mixing = MIXING if has_window(program, name) else MIXING - {"convolution"}
    return bool(opcodes) and mixing.isdisjoint(opcodes)


def has_window(program: PeakProgram, name: str) -> bool:
    """Return True for a convolution with a window, or that is not known to have none."""
    if not program.computes_with(name, "convolution"):
        return False
    operation = program.operations.get(name)
    return operation is None or any(
        each.has_window for each in (operation, *program.fused_operations(operation))
    )
