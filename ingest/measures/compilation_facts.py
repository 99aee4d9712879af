"""Everything known about a compilation once its measures are derived."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.program import PackedModule, Program
from xlagraph.hlo.scoped_memory import ScopedMemory
from xlagraph.ingest.measures.allocation_roles import Donation, donations
from xlagraph.ingest.measures.attribution import Attribution, attributions
from xlagraph.ingest.measures.categories import categories
from xlagraph.ingest.measures.dependence import Dependence, dependences
from xlagraph.ingest.measures.input_categories import Categorized
from xlagraph.ingest.measures.live_ranges import Span, residents_of_allocations, value_spans
from xlagraph.ingest.measures.memory_spaces import memory_space_names
from xlagraph.ingest.measures.op_search import StackOfValue
from xlagraph.ingest.measures.peaks import Peaks, PrintedShare, peaks, printed_shares
from xlagraph.ingest.measures.planner_inputs import PlannerInputs, planner_inputs
from xlagraph.ingest.measures.range_end import RangeEndKind, range_ends
from xlagraph.ingest.measures.source_places import LOCATION, CallPath, Places, call_paths
from xlagraph.ingest.measures.succession import (
    AliasPosition,
    Succession,
    alias_positions,
    succession,
    takeovers,
)
from xlagraph.ingest.plan import Plan

_FIRST: Final = itemgetter(0)


class NamedInstruction(NamedTuple):
    """An instruction that the plan names, with its derived facts."""

    instruction: Instruction
    source_file: str | None
    source_line: int | None
    root_opcode: str | None
    """Opcode of the root of the computation that a fusion runs."""
    fused_opcodes: tuple[str, ...] | None
    """Opcodes in that computation, sorted; None if not all are known."""
    step: int | None
    """Step of the schedule; the first one if the schedule lists the instruction twice."""
    call_path: int | None
    """Index of the call path that led to it."""


@dataclass(frozen=True, slots=True)
class CompilationFacts:
    """A plan and all measures derived from it and its program.

    The program is not kept: its computations take as much memory as everything else.
    """

    plan: Plan
    spans: tuple[Span | None, ...]
    """Live ranges, aligned with the plan's values, like the next three fields."""
    last_uses: tuple[int | None, ...]
    range_ends: tuple[RangeEndKind | None, ...]
    alias_positions: tuple[AliasPosition, ...]
    peaks: Peaks
    space_names: Mapping[int, str]
    """Known names of memory spaces, by color."""
    succession: tuple[Succession, ...]
    printed_shares: tuple[PrintedShare, ...]
    instructions: tuple[NamedInstruction, ...]
    """Every instruction that the plan names, each once, scheduled ones first."""
    loops: Mapping[str | None, str]
    """Name of the innermost loop that runs a computation, by the computation's name."""
    attributions: tuple[Attribution | None, ...]
    """Attributions aligned with the plan's values, like the next two fields."""
    categories: tuple[Categorized, ...]
    """Categories aligned with the plan's values."""
    stacks: tuple[StackOfValue | None, ...]
    """Stack in which each value lies; None if it lies in none."""
    call_path_of_values: tuple[int | None, ...]
    """Index of the call path of the instruction that each value is attributed to."""
    call_paths: tuple[CallPath, ...]
    """Call paths, callers before callees."""
    donations: tuple[Donation | None, ...]
    """Donations aligned with the plan's allocations; None if nothing is donated."""
    partitions: int | None
    """Number of devices over which the program is partitioned."""
    dependences: Mapping[str, Dependence]
    """Dependences of scheduled instructions, by name; empty without a complete program."""
    scoped_memory: Mapping[str, ScopedMemory]
    """VMEM that instructions take while they run, by name."""
    planner_inputs: PlannerInputs | None
    """Inputs of replanning; None without computations, uses or live ranges."""
    packed_module: PackedModule | None


def derive_facts(
    plan: Plan, program: Program, patterns: tuple[tuple[str, str], ...] = ()
) -> CompilationFacts:
    """Derive the measures of a compilation; ``patterns`` are the user's, for categories."""
    spans = value_spans(plan)
    residents = residents_of_allocations(plan, spans)
    taken = takeovers(residents)
    followers = succession(spans, taken)
    steps = _steps(plan)
    named = _named_instructions(plan, program)
    places = Places(program)
    belonging = attributions(plan, program, steps, named, places)
    instructions = named.values()
    places_of_named = [places[LOCATION(each.attributes)] for each in instructions]
    frames = [place.frame for place in places_of_named]
    value_frames = [None if each is None else each.stack_frame for each in belonging.owners]
    paths = call_paths(program.frames, chain(frames, value_frames))
    path_of_frame = paths.index_by_frame.get
    with_facts = [
        NamedInstruction(
            each,
            place.file,
            place.line,
            program.root_opcode(each) if each.opcode == "fusion" else None,
            program.fused_opcodes(each) if each.opcode == "fusion" else None,
            steps.get(each.name),
            path_of_frame(place.frame),
        )
        for each, place in zip(instructions, places_of_named, strict=True)
    ]
    last_uses = _last_uses(plan, steps)
    replanned = planner_inputs(plan, spans, steps, program)
    sets = None if replanned is None else replanned.buffer_sets
    return CompilationFacts(
        plan=plan,
        spans=spans,
        last_uses=last_uses,
        range_ends=range_ends(plan, spans, last_uses, followers),
        alias_positions=alias_positions(plan, spans, followers),
        peaks=peaks(plan, spans, residents, taken),
        space_names=memory_space_names(plan, is_gpu=program.is_gpu),
        succession=followers,
        printed_shares=printed_shares(plan, spans),
        instructions=tuple(with_facts),
        loops=_loop_of_computations(instructions),
        attributions=belonging.owners,
        categories=categories(
            plan, spans, belonging.owners, named, program.root_opcode, sets, patterns
        ),
        stacks=belonging.stacks,
        call_path_of_values=tuple(map(path_of_frame, value_frames)),
        call_paths=paths.paths,
        donations=donations(plan.allocations, program),
        partitions=program.partitions,
        dependences=dependences(program) if plan.live_ranges is not None else {},
        scoped_memory=program.scoped_memory,
        planner_inputs=replanned,
        packed_module=program.packed,
    )


def _named_instructions(plan: Plan, program: Program) -> dict[str, Instruction]:
    """Return every instruction that the plan names, by name, the schedule first."""
    schedule = plan.live_ranges.schedule if plan.live_ranges is not None else ()
    used_values = plan.used_values or ()
    positions = chain.from_iterable([used.positions for used in used_values])
    uses = chain.from_iterable([used.uses for used in used_values])
    names = dict.fromkeys(
        chain(
            schedule,
            [value.name for value in plan.values],
            map(_FIRST, positions),
            map(_FIRST, uses),
        )
    )
    find = program.instructions.get
    return {name: find(name) or Instruction(name, None, None) for name in names}


def _steps(plan: Plan) -> dict[str, int]:
    steps: dict[str, int] = {}
    if plan.live_ranges is not None:
        for step, name in enumerate(plan.live_ranges.schedule):
            steps.setdefault(name, step)
    return steps


def _last_uses(plan: Plan, steps: Mapping[str, int]) -> tuple[int | None, ...]:
    last_uses: dict[int, int] = {}
    step_of = steps.get
    for value_id, _, uses in plan.used_values or ():
        last = -1
        for name, _, _ in uses:  # mostly one: a call of max would take longer
            step = step_of(name, -1)
            if step > last:
                last = step
        if last >= 0:
            last_uses[value_id] = last
    return tuple([last_uses.get(value.value_id) for value in plan.values])


def _loop_of_computations(instructions: Collection[Instruction]) -> Mapping[str | None, str]:
    """Return the name of the innermost loop that runs each computation, by computation name.

    ``instructions`` are those that the plan names. Computations outside of loops are omitted.
    """
    if all(instruction.opcode != "while" for instruction in instructions):
        return {}
    callers: dict[str, Instruction] = {}
    for instruction in instructions:
        for _, computation in instruction.attributes.callees:
            callers.setdefault(computation, instruction)
    loops: dict[str | None, str] = {}
    for computation in callers:
        at: str | None = computation
        passed: list[str] = []
        while at is not None and at in callers and at not in loops and at not in passed:
            passed.append(at)
            caller = callers[at]
            if caller.opcode == "while":
                loops[at] = caller.name
                break
            at = caller.computation
        if at in loops:
            loops.update(dict.fromkeys(passed, loops[at]))
    return loops
