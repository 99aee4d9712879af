"""Read the scheduled instructions of a stored compilation, to order them otherwise."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Final

from xlagraph.hlo.shapes import Shape, dimensions, parse_shape, printed_shape
from xlagraph.planner.compilation.kept_results import kept
from xlagraph.planner.compilation.platform_rules import GPUS
from xlagraph.planner.compilation.records import StoredDependence
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.orders.elided_copies import with_copies
from xlagraph.planner.orders.schedulable import (
    SchedulableComputation,
    SchedulableInstruction,
    SchedulableProgram,
    SchedulableValue,
)

_PARALLEL_TASK: Final = "parallel_"
"""Begins the names of the computations that `ParallelTaskAssigner` of CPU compilers makes.

The sizes of calls matter only there. JAX's compilers made them up to jaxlib 0.6.2, that of
PyTorch/XLA 2.9 still does.
"""


@kept
def schedulable_program(stored: StoredCompilation) -> SchedulableProgram | None:
    """Return the program as far as it is scheduled; None if its dependences are not stored.

    They are not for dumps without a schedule or without a module text that could be read.
    """
    dependences = stored.dependences
    result = stored.totals.result
    entry = next((each.computation for each in dependences if each.name == result), None)
    if entry is None or any(each.is_root is None for each in dependences):
        return None
    rows = {each.name: row for row, each in enumerate(dependences)}
    own_bytes = [_stored_bytes(value.shape, value.layout) for value in stored.values]
    defined_bytes: defaultdict[str, int] = defaultdict(int)
    for value, size_bytes in zip(stored.values, own_bytes, strict=True):
        defined_bytes[value.name] += size_bytes
    computations: defaultdict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(dependences):
        computations[each.computation or ""].append(row)
    created = _order_of_creation(dependences, computations.values())
    program = SchedulableProgram(
        tuple(
            [
                SchedulableInstruction(
                    each.name,
                    each.opcode or "",
                    _rows(each.operands, rows),
                    _rows(each.control_predecessors, rows),
                    tuple(each.callees or ()),
                    defined_bytes.get(each.name, 0),
                    _result_bytes(each.shape or ""),
                    _has_one_element(each.shape or ""),
                    created[row],
                )
                for row, each in enumerate(dependences)
            ]
        ),
        {
            name: SchedulableComputation(
                name,
                tuple(steps),
                next((step for step in steps if dependences[step].is_root), steps[-1]),
            )
            for name, steps in computations.items()
        },
        entry,
        _values(stored, own_bytes, rows, entry),
        counts_results=not stored.totals.prints_stack_trace
        and any(name.startswith(_PARALLEL_TASK) for name in computations),
    )
    return with_copies(program) if stored.totals.platform in GPUS else program


def _rows(names: Sequence[str] | None, rows: Mapping[str, int]) -> tuple[int, ...]:
    return tuple([rows[name] for name in names if name in rows]) if names else ()


def _order_of_creation(
    dependences: Sequence[StoredDependence], computations: Iterable[Sequence[int]]
) -> list[int]:
    """Return the place of each instruction in XLA's list of its computation.

    Instructions are listed in the order of their numbers, as far as these are known; else the
    schedule is used.
    """
    created = list(range(len(dependences)))
    for steps in computations:
        numbers = [dependences[step].unique_id for step in steps]
        if None not in numbers:
            ordered = sorted(steps, key=lambda step: dependences[step].unique_id or 0)
            for place, step in zip(count(), ordered):
                created[step] = place
    return created


@lru_cache(maxsize=4096)  # shapes recur in every layer
def _has_one_element(shape: str) -> bool:
    sizes = dimensions(shape)
    return sizes is not None and all(size == 1 for size in sizes)


@lru_cache(maxsize=4096)
def _stored_bytes(shape: str, layout: str | None) -> int:
    """Return the size of such a value, which can be less than that of its buffer."""
    return parse_shape(printed_shape(shape, layout)).stored_bytes


@lru_cache(maxsize=4096)
def _result_bytes(shape: str) -> int:
    return _whole_bytes(parse_shape(shape))


def _whole_bytes(shape: Shape) -> int:
    return shape.stored_bytes + sum(map(_whole_bytes, shape.elements))


def _values(
    stored: StoredCompilation, own_bytes: Iterable[int], rows: Mapping[str, int], entry: str
) -> tuple[SchedulableValue, ...]:
    written_over = {each.number for each in stored.allocations if each.maybe_live_out}
    parameters = {
        each.name
        for each in stored.dependences
        if each.opcode == "parameter" and each.computation == entry
    }
    positions = _rows_by_value([(value_id, name) for value_id, name, _ in stored.positions], rows)
    uses = _rows_by_value([(value_id, name) for value_id, name, _, _ in stored.uses], rows)
    return tuple(
        [
            SchedulableValue(
                value.value_id,
                rows[value.name],
                positions.get(value.value_id, ()),
                uses.get(value.value_id, ()),
                value.value_id if value.buffer_set is None else value.buffer_set,
                size_bytes,
                value.name in parameters and value.allocation not in written_over,
            )
            for value, size_bytes in zip(stored.values, own_bytes, strict=True)
            if value.live_from is not None and value.name in rows
        ]
    )


def _rows_by_value(
    names: Iterable[tuple[int, str]], rows: Mapping[str, int]
) -> dict[int, tuple[int, ...]]:
    """Return the rows of the instructions that are named with each value, each once."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for value_id, name in names:
        if name in rows:
            found[value_id].append(rows[name])
    return {value_id: tuple(dict.fromkeys(steps)) for value_id, steps in found.items()}
