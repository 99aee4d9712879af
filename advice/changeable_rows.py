"""The values that the change of a query concerns: without those for which it has no effect."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Final

from xlagraph.advice.causes.boundaries import DOUBLE_PRECISION
from xlagraph.advice.causes.cause import evidence_row
from xlagraph.advice.causes.gathered_batches import is_for_tables
from xlagraph.advice.causes.layouts import is_copied_into_another_layout
from xlagraph.advice.causes.loop_states import repeats_a_number
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.causes.recomputable_values import is_recomputable
from xlagraph.advice.causes.repeated_parts import is_repeated_part
from xlagraph.advice.causes.returned_values import held_by_results, without_new_value
from xlagraph.advice.causes.sliced_reads import parts_of_reads
from xlagraph.advice.causes.softmaxes import elements_made
from xlagraph.advice.causes.unused_donations import needed_after_gradients
from xlagraph.advice.causes.wide_checkpoints import recomputed_groups
from xlagraph.graph.engine import Cell
from xlagraph.hlo.op_names import is_checkpointed, is_recomputed
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.dimensions.module_operations import ArrayShape, Operation
from xlagraph.planner.edits.passes import Passes
from xlagraph.planner.planned_program import PlannedValue
from xlagraph.queries.catalogue.declarations import ChangeKind

Rows = Sequence[Mapping[str, Cell]]
_HALF_FLOATS: Final = ("bf16", "f16")
_WIDE_FLOATS: Final = ("f32", "f64")


def changeable_rows(program: PeakProgram, change: ChangeKind | None, rows: Rows) -> Rows:
    """Return the rows of values that a change could concern."""
    match change:
        case ChangeKind.RECOMPUTE:
            return [row for row in rows if _is_recomputable(program, str(row["value"]))]
        case ChangeKind.HALF:  # a result keeps its type; a cause names all values of float64
            held = held_by_results(program)
            return [
                row
                for row in rows
                if row["value"] not in held and row.get("dtype") not in DOUBLE_PRECISION
            ]
        case ChangeKind.DONATE:
            needed = without_new_value(program) | needed_after_gradients(program)
            return [row for row in rows if row["value"] not in needed]
        case ChangeKind.WITHOUT:
            return [row for row in rows if not _is_needed_copy(program, row.get("value"))]
        case ChangeKind.LATE:
            waiting = _waiting_for_others(program)
            return [row for row in rows if row["value"] in waiting]
        case ChangeKind.SHARD:
            return [row for row in rows if not _is_gathered_on_purpose(program, row["value"])]
        case _:
            return rows


def _is_gathered_on_purpose(program: PeakProgram, label: Cell) -> bool:
    """Return True for what is gathered for split tables, or of one layer in each iteration.

    To gather one layer at a time is the remedy for parameters that are split over devices.
    """
    value = program.by_label.get(str(label))
    if value is None or value.opcode == "parameter":
        return False
    if is_for_tables(program, value.name):
        return True
    if program.instructions[value.name].loop is None:
        return False
    return any(
        any(each.is_stored for each in members)
        and parts_of_reads(program, {each.value_id for each in members}, (maker,)) is not None
        for given in program.read_by.get(value.name, ())
        for part in program.sources_of(program.values[given])
        for maker in (program.values[part].name,)
        for whole in program.read_by.get(maker, ())
        if (members := program.members_of(program.values[whole]))
    )


def _is_needed_copy(program: PeakProgram, label: Cell) -> bool:
    """Return True for a copy into another layout, or of an array that the compiler fills.

    A constant that several instructions share is copied for the one that writes into it.
    """
    value = program.by_label.get(str(label))
    planned = None if value is None else program.planned(value)
    if value is None or planned is None:
        return False
    sources = [program.values[each] for each in planned.operands if each in program.values]
    is_filled = planned.is_copy and any(repeats_a_number(program, each) for each in sources)
    return is_filled or is_copied_into_another_layout(program, value)


def wider_than_others(program: PeakProgram, rows: Rows) -> Rows:
    """Return the rows of values that are wider than the program needs elsewhere.

    A program that computes with bf16 or f16 may have forgotten an f32 value. Where all floats are
    f32, half the width is another program, whose casts may take more than they save: of two
    programs for H100 one saved what was planned, and the other took 5 % more.
    """
    if any(value.dtype in _HALF_FLOATS for value in program.values.values()):
        return rows
    return [row for row in rows if row["dtype"] not in _WIDE_FLOATS]


def kept_for_fetches(program: PeakProgram, known: Collection[Cell]) -> Iterator[Mapping[str, Cell]]:
    """Yield the rows of values that the backward pass reads only where a TPU has fetched them.

    What fetches a value into faster memory has the op name of the value, so that no query shows
    them. Known values, and those that a checkpoint reads, are left out.
    """
    if not program.compilation.is_tpu or program.peak_step is None:
        return
    passes = Passes(program.compilation, program.program)
    for value in program.at_peak:
        if value.label in known or value.is_backward or is_recomputed(value.known_op_name):
            continue
        backward, forward = passes.readers(program.program.by_id[value.value_id])
        readers = [each for each in backward if each.live_from > program.peak_step]
        if (
            readers
            and not any(reader.live_from > program.peak_step for reader in forward)
            and not any(map(is_checkpointed, _read_in_the_end(program, passes, readers)))
        ):
            yield {
                **evidence_row(value, ""),
                "physicalBytes": value.size_bytes,
                "keptBytes": value.size_bytes,
                "liveFrom": value.live_from,
                "neededAt": min(reader.live_from for reader in readers),
                "ofCheckpoint": False,
            }


def _read_in_the_end(
    program: PeakProgram, passes: Passes, readers: Iterable[PlannedValue]
) -> Iterator[str | None]:
    """Yield the op names of the backward pass that read values, through what fetches them."""
    waiting = {reader.value_id: reader for reader in readers}
    seen: set[int] = set()
    while waiting:
        number, reader = waiting.popitem()
        seen.add(number)
        value = program.values[number]
        if value.is_backward:
            yield value.known_op_name
        else:
            found = passes.readers(reader)[0]
            waiting |= {each.value_id: each for each in found if each.value_id not in seen}


def _waiting_for_others(program: PeakProgram) -> set[str]:
    """Return the labels of recomputed values that are held at the peak for what comes later.

    Their readers need something that is computed from then on, and not from what is recomputed
    together with them: by the forward pass, or by the backward pass of another checkpoint. Other
    values belong to the part whose backward pass runs.
    """
    by_id, peak_step = program.program.by_id, program.peak_step
    if peak_step is None:
        return set()
    readers = program.compilation.readers
    groups = recomputed_groups(program)
    again = frozenset[int]().union(*groups)
    late = [value for value in program.program.values if value.live_from >= peak_step]

    def is_of(others: Collection[int], value: PlannedValue) -> bool:
        if program.values[value.value_id].is_backward:
            return any(each in others for each in value.reads)
        read = (by_id.get(each) for each in value.reads)
        return any(each is not None and not each.is_stored for each in read)

    found: set[str] = set()
    for group in groups:
        others, own = again - group, set(reached(group, readers.get))
        later = {value.value_id for value in late if is_of(others, value)} - own
        waited_for = set(reached(later, readers.get)) - group
        found |= {
            program.values[each].label
            for each in group
            if not waited_for.isdisjoint(readers.get(each, ()))
        }
    return found


def _is_recomputable(program: PeakProgram, label: str) -> bool:
    """Return True if a checkpoint would remove a value."""
    return (
        is_recomputable(program, label)
        and not is_repeated_part(program, label)
        and not _is_part_of_input(program, program.by_label.get(label))
    )


def _is_part_of_input(program: PeakProgram, value: StoredValue | None) -> bool:
    """Return True for what is computed from one part of an input's rows, as of a minibatch.

    A checkpoint keeps what the function that it wraps is passed. That is the part, which has as
    many bytes, though a fusion takes it from the input, which is kept anyway.
    """
    known = None if value is None else program.instructions.get(value.name)
    if value is None or known is None or known.loop is not None:
        return False
    read = [program.values[each] for each in program.read_by.get(value.name, ())]
    count = prod(value.dimensions)
    sources = {each.opcode for each in read if prod(each.dimensions) >= count}
    if sources != {"parameter"}:
        return False  # reading the whole module takes seconds
    maker = program.operations.get(value.name)
    return maker is not None and any(
        _takes_rows(program, each) and elements_made(program, each.name) == count
        for each in program.fused_operations(maker)
    )


def _takes_rows(program: PeakProgram, operation: Operation) -> bool:
    """Return True for a slice of the first dimension alone."""
    if operation.opcode != "slice":
        return False
    whole = program.operations[operation.operands[0].name].shape
    part = operation.shape
    return (
        isinstance(whole, ArrayShape)
        and isinstance(part, ArrayShape)
        and whole.lengths[1:] == part.lengths[1:]
    )
