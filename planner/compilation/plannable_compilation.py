"""Read a compilation for planning: its program, and facts about its values."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from xlagraph.hlo.op_names import framework_of
from xlagraph.hlo.shapes import index_numbers
from xlagraph.planner.blocks import share_blocks
from xlagraph.planner.compilation.kept_results import kept
from xlagraph.planner.compilation.platform_rules import GPUS, alignments_of, written_by_others
from xlagraph.planner.compilation.records import (
    StoredMaker,
    StoredOverwrite,
    StoredReturn,
    StoredUse,
    StoredValue,
)
from xlagraph.planner.compilation.results import result_shapes, results, run_once
from xlagraph.planner.compilation.stored_compilation import VALUES_STATEMENT, StoredCompilation
from xlagraph.planner.compilation.without_checkpoints import as_first_computed
from xlagraph.planner.memory_plan import MemoryPlan, plan_memory
from xlagraph.planner.planned_program import (
    PRESET_SPACES,
    Overwrite,
    PlannedAllocation,
    PlannedProgram,
    PlannedValue,
)
from xlagraph.planner.replay import Replay, replay
from xlagraph.runtime.memory import collector_paused

_LAST: Final = 1 << 40
"""Place in the post-order of instructions that no module text mentions."""


@dataclass(frozen=True)
class PlannableCompilation:
    """A compilation whose memory can be replanned."""

    key: str
    platform: str | None
    program: PlannedProgram
    values: Mapping[int, StoredValue]
    """Values as they are stored, by id, also those without a live range."""
    parameters: Mapping[int, tuple[int, str]]
    """Number and shape index of each entry parameter, by value id."""
    results: tuple[int, ...]
    """Value ids in the order of the program's results."""
    readers: Mapping[int, tuple[int, ...]]
    """Values that are computed from a value, by its id."""
    has_buffer_sets: bool
    """True if a module text showed which values share an address; without it, no replanning."""
    has_ranges: bool
    """True if the dump has live ranges."""
    reserved_bytes: Mapping[int, int]
    """Reserved bytes by memory space in XLA's plan, without thread-local memory."""
    space_names: Mapping[int, str]
    """HBM, VMEM, host, … by memory space, if known."""
    returned: tuple[StoredReturn, ...] = ()
    """Positions of values in the program's result."""
    result_shape: str | None = None
    """Shape of that result, with layouts; None if unknown."""
    compiled: "PlannableCompilation | None" = None
    """The compilation as XLA planned it, if the instructions run in another order here."""
    recomputed: frozenset[int] = frozenset()
    """Values that belong to the forward pass here, although the backward pass computes them."""

    @property
    def is_gpu(self) -> bool:
        """True for a compilation for a GPU."""
        return self.platform in GPUS

    @property
    def is_tpu(self) -> bool:
        """True for a compilation for a TPU."""
        return self.platform == "tpu" or self.space_names.get(0) == "HBM"

    @property
    def drops_needless_copies(self) -> bool:
        """True if the compiler drops copies after scheduling: on GPUs and TPUs."""
        return self.is_gpu or self.is_tpu

    @property
    def keeps_barriers(self) -> bool:
        """True if the compiler drops optimization barriers only after it has scheduled.

        CPUs do since jaxlib 0.11.2, whose text prints the page of each allocation.
        """
        has_pages = any(each.page is not None for each in self.program.allocations)
        return self.platform != "cpu" or has_pages

    @cached_property
    def framework(self) -> str | None:
        """The framework that compiled the program; None if unknown."""
        return framework_of([self.key, *(value.op_name for value in self.values.values())])

    @cached_property
    def without_checkpoints(self) -> "PlannableCompilation":
        """The compilation, if what checkpoints recompute belonged to the forward pass."""
        values = as_first_computed(self.values)
        recomputed = (each for each, value in values.items() if value != self.values[each])
        return replace(self, values=values, recomputed=frozenset(recomputed))

    @cached_property
    def backward_ids(self) -> frozenset[int]:
        """Ids of the values of the backward pass."""
        return frozenset(each for each, value in self.values.items() if value.is_backward)

    @property
    def orders_recomputation(self) -> bool:
        """True if what a checkpoint recomputes waits for the backward pass.

        Barriers order it, or operands: `tf.recompute_grad` reads a gradient before it recomputes.
        """
        return self.keeps_barriers or self.framework == "tensorflow"

    @cached_property
    def array_parameters(self) -> tuple[StoredValue, ...]:
        """Array parameters of the program in order, donated or not."""
        in_order = (self.values[each] for each in sorted(self.parameters, key=self.parameter_order))
        return tuple([value for value in in_order if value.is_array])

    def parameter_order(self, value_id: int) -> tuple[int, tuple[int, ...]]:
        """Return the number and the shape index of a parameter, to sort by."""
        number, index = self.parameters[value_id]
        return number, index_numbers(index)

    def is_donated(self, parameter: int) -> bool:
        """Return True if a parameter is donated already."""
        allocation = self.program.stored_in(self.program.by_id[parameter])
        return allocation is not None and allocation.maybe_live_out

    @cached_property
    def result_shapes(self) -> Mapping[int, str]:
        """Shape with layout in which a value is returned, by id; a bitcast may have changed it."""
        return result_shapes(self.returned, self.result_shape)

    @cached_property
    def id_by_label(self) -> Mapping[str, int]:
        """Id of each value by label."""
        return {value.label: value_id for value_id, value in self.values.items()}

    @cached_property
    def replays(self) -> tuple[Replay, ...]:
        """The temporary blocks of XLA's plan, packed again."""
        return replay(self.program) if self.compiled is None else self.compiled.replays

    @cached_property
    def plan(self) -> MemoryPlan:
        """The plan without a change."""
        return plan_memory(self.program, self.replays)


@kept
def plannable_compilation(stored: StoredCompilation) -> PlannableCompilation:
    """Read a stored compilation for planning."""
    with stored.reading_ahead(VALUES_STATEMENT):
        return _plannable(stored)


@collector_paused()
def _plannable(stored: StoredCompilation) -> PlannableCompilation:
    totals = stored.totals
    allocations = stored.allocations
    returned = tuple([each for each in stored.returns if each.instruction == totals.result])
    result_ids = results(returned)
    makers, uses, overwrites = stored.makers, stored.uses, stored.overwrites
    # a thread reads the values, which take as long as all tables above
    ranged = [value for value in stored.values if value.live_from is not None]
    stored_ids = _constants_and_parameters(ranged, allocations)
    values = _planned_values(
        ranged,
        makers,
        stored_ids,
        frozenset(result_ids),
        run_once(totals.result, stored.returns, makers),
        uses,
    )
    space_names = {space.color: space.name for space in stored.spaces if space.name is not None}
    places = {
        allocation.number: (allocation.parameter_number, allocation.shape_index or "{}")
        for allocation in allocations
        if allocation.parameter_number is not None
    }
    is_tpu = "HBM" in space_names.values()
    return PlannableCompilation(
        key=stored.key,
        platform=totals.platform,
        program=PlannedProgram(
            values,
            allocations,
            _overwrites_by_id(overwrites, values, allocations),
            alignments_of(totals.platform),
            _given_bytes(values, allocations),
            heaps_take_all=is_tpu and not share_blocks(values, allocations),
            heap_ids=written_by_others(ranged) if is_tpu else frozenset(),
        ),
        values={value.value_id: value for value in stored.values},
        parameters={
            value.value_id: places[value.allocation]
            for value in ranged
            if value.value_id in stored_ids and value.allocation in places
        },
        results=result_ids,
        readers=_readers_by_id(values),
        has_buffer_sets=totals.result is not None
        and any(value.buffer_set is not None for value in stored.values),
        has_ranges=totals.schedule_length is not None,
        reserved_bytes=_reserved_bytes(allocations),
        returned=returned,
        result_shape=stored.result_shape,
        space_names=space_names,
    )


def _planned_values(
    ranged: Sequence[StoredValue],
    makers: Mapping[int, StoredMaker],
    stored_ids: Collection[int],
    lives_out: Collection[int],
    run_once: Collection[str],
    uses: Iterable[StoredUse],
) -> tuple[PlannedValue, ...]:
    """Return the values with a live range; `run_once` names computations outside of loops.

    Each column is made as a whole, which takes half as long as value by value.
    """
    if not ranged:
        return ()
    columns: dict[str, Iterable[Any]] = dict(
        zip(StoredValue._fields, zip(*ranged, strict=True), strict=True)
    )
    sets = [
        value_id if named is None else named
        for value_id, named in zip(columns["value_id"], columns["buffer_set"], strict=True)
    ]
    sizes: dict[int, int] = {}
    for buffer_set, size_bytes in zip(sets, columns["size_bytes"], strict=True):
        sizes[buffer_set] = max(sizes.get(buffer_set, 0), size_bytes)
    made = [makers[value_id] for value_id in columns["value_id"]]
    reads, whole = _reads_by_instruction(uses)
    columns |= {
        "size_bytes": [sizes[buffer_set] for buffer_set in sets],
        "buffer_set": sets,
        "post_order": [_LAST if each.post_order is None else each.post_order for each in made],
        "instruction": columns["name"],
        "computation": [each.computation or "" for each in made],
        "is_in_entry": [each.computation in run_once for each in made],
        "is_stored": [value_id in stored_ids for value_id in columns["value_id"]],
        "is_table": [dtype == "tuple" for dtype in columns["dtype"]],
        "is_copy": [opcode == "copy" for opcode in columns["opcode"]],
        "lives_out": [value_id in lives_out for value_id in columns["value_id"]],
        "operands": [
            whole.get(value.name, ()) if value.shape_index is None else () for value in ranged
        ],
        "reads": [reads.get(name, ()) for name in columns["name"]],
    }
    rows = zip(*[columns[name] for name in PlannedValue._fields], strict=True)
    return tuple(map(PlannedValue._make, rows))


def _reads_by_instruction(
    uses: Iterable[StoredUse],
) -> tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]]]:
    """Return the values that each instruction reads in any part, and those that it reads whole.

    Both are in the order of the operands.
    """
    found: defaultdict[str, list[tuple[int, str, int]]] = defaultdict(list)
    for value_id, instruction, operand, index in uses:
        found[instruction].append((operand, index or "", value_id))
    reads: dict[str, tuple[int, ...]] = {}
    whole: dict[str, tuple[int, ...]] = {}
    for name, operands in found.items():
        operands.sort()
        reads[name] = tuple(dict.fromkeys([value_id for _, _, value_id in operands]))
        whole[name] = tuple([value_id for _, index, value_id in operands if index in ("", "{}")])
    return reads, whole


def _constants_and_parameters(
    ranged: Iterable[StoredValue], allocations: Iterable[PlannedAllocation]
) -> frozenset[int]:
    """Return the ids of constants and entry parameters: the first value of each allocation."""
    kept = {each.number for each in allocations if each.role in ("constant", "parameter")}
    first: dict[int, tuple[int, int, int]] = {}
    for value in ranged:
        if value.allocation in kept:
            place = (value.live_from or 0, value.live_until or 0, value.value_id)
            first[value.allocation] = min(place, first.get(value.allocation, place))
    return frozenset(value_id for _, _, value_id in first.values())


def _overwrites_by_id(
    overwrites: Sequence[StoredOverwrite],
    values: Iterable[PlannedValue],
    allocations: Iterable[PlannedAllocation],
) -> dict[int, tuple[Overwrite, ...]]:
    """Return the operands whose bytes each value may take.

    Up to jaxlib 0.10, XLA asks only the last instruction that shows a value if its reader may take
    the value's block (`BufferAssigner::LiveRangeInterferes`). jaxlib 0.12 asks every one: its plan
    shows that where it shares such a block.
    """
    by_id = {value.value_id: value for value in values}
    blocks = {each.number for each in allocations if each.role != "temp"}
    asks_last = not any(
        not each.is_last_position
        and (later := by_id.get(each.value_id)) is not None
        and (earlier := by_id.get(each.overwritten)) is not None
        and later.allocation == earlier.allocation in blocks
        and later.live_from == earlier.live_until
        and later.buffer_set != earlier.buffer_set
        for each in overwrites
    )
    found: defaultdict[int, list[Overwrite]] = defaultdict(list)
    for value_id, overwritten, _, is_operand, is_last in overwrites:
        found[value_id].append(Overwrite(overwritten, is_operand, is_last or not asks_last))
    return {value_id: tuple(operands) for value_id, operands in found.items()}


def _readers_by_id(values: Iterable[PlannedValue]) -> dict[int, tuple[int, ...]]:
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for value in values:
        for read in value.reads:
            readers[read].append(value.value_id)
    return {value_id: tuple(found) for value_id, found in readers.items()}


def _reserved_bytes(allocations: Iterable[PlannedAllocation]) -> dict[int, int]:
    reserved: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        if allocation.role != "threadLocal":
            reserved[allocation.memory_space] += allocation.size_bytes
    return dict(reserved)


def _given_bytes(
    values: Iterable[PlannedValue], allocations: Iterable[PlannedAllocation]
) -> dict[int, int]:
    with_values = {value.allocation for value in values}
    given: defaultdict[int, int] = defaultdict(int)
    for allocation in allocations:
        is_preset = allocation.role == "temp" and allocation.memory_space in PRESET_SPACES
        if allocation.role != "threadLocal" and (is_preset or allocation.number not in with_values):
            given[allocation.memory_space] += allocation.size_bytes
    return dict(given)
