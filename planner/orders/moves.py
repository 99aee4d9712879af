"""The few moves of instructions that lower the peak of an order most.

Greedy: of the largest values that are live at the peak, each is made later, just before its first
reader after the peak, or read earlier, just before the peak; the move that lowers the peak most is
kept. A move takes along what the order requires: what depends on a maker that runs later and what
is only needed by it, or what a reader that runs earlier still needs.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from xlagraph.planner.orders.live_bytes import LiveBytes, LiveBytesModel
from xlagraph.planner.orders.schedulable import Order, SchedulableProgram, SchedulableValue

_MOST_VALUES: Final = 30


@dataclass(frozen=True, slots=True)
class OrderMove:
    """Instructions that run elsewhere; all are steps of the schedule in the dump."""

    moved: tuple[int, ...]
    """Instructions in their order; the last one produces or reads the value."""
    before: int
    """Instruction before which they run."""
    value_id: int
    """Value that is no longer live at the peak."""
    order: Order
    """The order after this move and those before it."""
    peak_bytes: int
    """Most bytes live at one step of this order."""


def best_moves(model: LiveBytesModel, order: Order, count: int) -> list[OrderMove]:
    """Return up to `count` moves, each of which lowers the peak further."""
    moves: list[OrderMove] = []
    live = model.of(model.reordering.flat(order))
    while len(moves) < count:
        tried = [
            OrderMove(
                *candidate, peak_bytes=model.of(model.reordering.flat(candidate[3])).peak_bytes
            )
            for candidate in _candidates(model, live, order)
        ]
        best = min(tried, key=lambda move: move.peak_bytes, default=None)
        if best is None or best.peak_bytes >= live.peak_bytes:
            break
        moves.append(best)
        order = best.order
        live = model.of(model.reordering.flat(order))
    return moves


def _candidates(
    model: LiveBytesModel, live: LiveBytes, order: Order
) -> Iterator[tuple[tuple[int, ...], int, int, Order]]:
    program = model.reordering.schedulable
    at_peak = model.live_sets(live, live.peak_step)
    largest = sorted(at_peak, key=lambda name: (-model.sizes[name], name))[:_MOST_VALUES]
    peak = live.schedule.steps[live.peak_step] if live.peak_step < len(program.instructions) else -1
    seen = set()
    for name in largest:
        value = program.values[at_peak[name]]
        for moved, before in _moves(program, live, order, value, peak):
            if moved and (moved, before) not in seen:
                seen.add((moved, before))
                yield moved, before, value.value_id, _moved(program, order, moved, before)


def _moves(
    program: SchedulableProgram,
    live: LiveBytes,
    order: Order,
    value: SchedulableValue,
    peak: int,
) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield instructions to move for a value, and the one to move them before."""
    computation = program.owners[value.defined_at]
    at = program.within(peak, computation) if peak >= 0 else None
    if at is None:
        return
    new_step = live.schedule.new_step
    sequence = order[computation]
    place = {step: row for row, step in enumerate(sequence)}
    later = [
        step
        for step in value.uses
        if program.owners[step] == computation and new_step[step] > new_step[at]
    ]
    if not later:
        return
    maker, reader = value.defined_at, min(later, key=place.__getitem__)
    if maker != at and program.instructions[maker].opcode != "parameter":
        following = _dependent(program, sequence[place[maker] : place[reader]], {maker})
        if at not in following:
            needed = _only_needed(program, sequence[: place[maker]], following)
            for moved in dict.fromkeys((tuple(following), (*needed, *following))):
                yield moved, reader
    before_peak = sequence[place[at] + 1 : max(place[step] for step in later) + 1]
    needed_first = _needed(program, before_peak, later)
    if not any(at in _direct(program, step) for step in needed_first):
        yield tuple(needed_first), at


def _dependent(
    program: SchedulableProgram, sequence: Sequence[int], makers: Collection[int]
) -> list[int]:
    """Return these makers and what depends on them in a sequence, in its order."""
    found = set(makers)
    for step in sequence:
        if not found.isdisjoint(_direct(program, step)):
            found.add(step)
    return [step for step in sequence if step in found]


def _only_needed(
    program: SchedulableProgram, sequence: Sequence[int], users: Collection[int]
) -> list[int]:
    """Return what only these users need, directly or indirectly, in the order of a sequence."""
    found = set(users)
    needed = []
    for step in reversed(sequence):
        following = (*program.users[step], *program.control_successors.get(step, ()))
        is_movable = program.instructions[step].opcode not in ("parameter", "constant")
        if following and is_movable and found.issuperset(following):
            found.add(step)
            needed.append(step)
    return needed[::-1]


def _needed(
    program: SchedulableProgram, sequence: Sequence[int], readers: Collection[int]
) -> list[int]:
    """Return these readers and what they need in a sequence, in its order."""
    found = set(readers)
    for step in reversed(sequence):
        if step in found:
            found.update(_direct(program, step))
    return [step for step in sequence if step in found]


def _direct(program: SchedulableProgram, step: int) -> tuple[int, ...]:
    each = program.instructions[step]
    return (*each.operands, *each.control_predecessors)


def _moved(program: SchedulableProgram, order: Order, moved: Sequence[int], before: int) -> Order:
    computation = program.owners[before]
    gone = set(moved)
    sequence = [step for step in order[computation] if step not in gone]
    place = sequence.index(before)
    return {**order, computation: [*sequence[:place], *moved, *sequence[place:]]}
