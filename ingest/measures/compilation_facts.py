"""What is known of a compilation once its files are joined and its measures derived."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from xlagraph.ingest.carriers.text.instruction_text import (
    NO_FACTS,
    InstructionFacts,
    instruction_facts,
    with_gaps_filled,
)
from xlagraph.ingest.carriers.text.module_header import ModuleHeader
from xlagraph.ingest.carriers.text.module_text import ModuleText
from xlagraph.ingest.measures.attribution import Attribution, attributions
from xlagraph.ingest.measures.call_paths import CallPath, call_paths
from xlagraph.ingest.measures.live_ranges import Span, value_spans
from xlagraph.ingest.measures.peaks import Peaks, peaks
from xlagraph.ingest.measures.planning_facts import PlanningFacts, planning_facts
from xlagraph.ingest.measures.printed_peak import PrintedShare, printed_shares
from xlagraph.ingest.measures.program_lookup import ProgramLookup
from xlagraph.ingest.measures.range_end import RangeEndKind, range_ends
from xlagraph.ingest.measures.succession import (
    AliasPosition,
    Succession,
    alias_positions,
    succession,
)
from xlagraph.ingest.measures.takeovers import takeovers
from xlagraph.ingest.model.plan import Plan

__all__ = ["CompilationFacts", "DumpInstruction", "derive_facts", "instruction_names"]


class DumpInstruction(NamedTuple):
    """An instruction that the dump names; None where neither dump nor module text states it."""

    name: str
    opcode: str | None
    shape: str | None
    op_name: str | None
    source_file: str | None
    source_line: int | None
    computation: str | None
    """That it belongs to."""
    calls: str | None
    """The computation that it runs."""
    target: str | None
    root_opcode: str | None
    step: int | None
    """Step of the schedule; the first one if the schedule names it twice."""
    text: str | None
    """After ``%name = ``, as the dump prints it."""
    sharding: str | None
    """Of a parameter: how it is split over devices, as printed in braces."""


@dataclass(frozen=True, slots=True)
class CompilationFacts:
    """A plan, what the module text adds, and what follows from them."""

    plan: Plan
    spans: tuple[Span | None, ...]
    """Live ranges, aligned with the values of the plan; so are the next three."""
    last_uses: tuple[int | None, ...]
    range_ends: tuple[RangeEndKind | None, ...]
    alias_positions: tuple[AliasPosition, ...]
    peaks: Peaks
    succession: tuple[Succession, ...]
    printed_shares: tuple[PrintedShare, ...]
    instructions: tuple[DumpInstruction, ...]
    """In the order of `instruction_names`."""
    call_path_of_instructions: tuple[int | None, ...]
    """Index of the call path that led to each instruction."""
    attributions: tuple[Attribution | None, ...]
    """Aligned with the values of the plan; so is the next."""
    call_path_of_values: tuple[int | None, ...]
    """Index of the call path that led to what each value belongs to."""
    call_paths: tuple[CallPath, ...]
    """Callers before those that they call."""
    header: ModuleHeader | None
    """What the module text states of the whole program."""
    planning: PlanningFacts | None
    """What planning anew needs; None without module text, uses or live ranges."""


def instruction_names(plan: Plan) -> tuple[str, ...]:
    """Return every instruction that a dump names, each once, the schedule first."""
    schedule = plan.live_ranges.schedule if plan.live_ranges is not None else ()
    used_values = plan.used_values or ()
    return tuple(
        dict.fromkeys(
            chain(
                schedule,
                [value.name for value in plan.values],
                [name for used in used_values for name, _ in used.positions],
                [name for used in used_values for name, _, _ in used.uses],
                plan.instructions,
            )
        )
    )


def derive_facts(
    plan: Plan, module_text: ModuleText | None, names: Sequence[str]
) -> CompilationFacts:
    """Join a plan with the module text beside it and derive the measures.

    ``names`` are those that `instruction_names` returns for the plan.
    """
    spans = value_spans(plan)
    taken = takeovers(plan, spans)
    followers = succession(spans, taken)
    steps = _steps(plan)
    facts = _instruction_facts(plan, module_text, names)
    program = ProgramLookup(plan.instructions, facts, module_text)
    belonging = attributions(plan, program, steps, module_text)
    del program  # the next takes as much memory
    planning = planning_facts(plan, spans, steps, module_text) if module_text else None
    frame_ids = [each.stack_frame_id for each in facts.values()]
    value_frame_ids = [each.stack_frame_id if each is not None else None for each in belonging]
    frames = module_text.frames if module_text is not None else {}
    paths = call_paths(frames, [*frame_ids, *value_frame_ids])
    last_uses = _last_uses(plan, steps)
    return CompilationFacts(
        plan=plan,
        spans=spans,
        last_uses=last_uses,
        range_ends=range_ends(plan, spans, last_uses, followers),
        alias_positions=alias_positions(plan, spans, followers),
        peaks=peaks(plan, spans, taken),
        succession=followers,
        printed_shares=printed_shares(plan, spans),
        instructions=_instructions(plan, module_text, facts, steps),
        call_path_of_instructions=tuple(map(paths.index_by_frame.get, frame_ids)),
        attributions=belonging,
        call_path_of_values=tuple(map(paths.index_by_frame.get, value_frame_ids)),
        call_paths=paths.paths,
        header=module_text.header if module_text is not None else None,
        planning=planning,
    )


def _steps(plan: Plan) -> dict[str, int]:
    steps: dict[str, int] = {}
    if plan.live_ranges is not None:
        for step, name in enumerate(plan.live_ranges.schedule):
            steps.setdefault(name, step)
    return steps


def _last_uses(plan: Plan, steps: Mapping[str, int]) -> tuple[int | None, ...]:
    last_uses: dict[int, int] = {}
    for value_id, _, uses in plan.used_values or ():
        for name, _, _ in uses:
            step = steps.get(name)
            if step is not None and step >= last_uses.get(value_id, 0):
                last_uses[value_id] = step
    return tuple([last_uses.get(value.value_id) for value in plan.values])


def _instruction_facts(
    plan: Plan, module_text: ModuleText | None, names: Iterable[str]
) -> dict[str, InstructionFacts]:
    """Return what dump and module text state of the instructions, the dump first."""
    in_module = module_text.instructions if module_text is not None else {}
    joined = {}
    for name in names:
        text = plan.instructions.get(name)
        facts = instruction_facts(text) if text is not None else NO_FACTS
        if (found := in_module.get(name)) is not None:
            if text is None:
                facts = instruction_facts(found.text)
            elif text != found.text:  # alike in every producer but the oldest
                facts = with_gaps_filled(facts, instruction_facts(found.text))
        joined[name] = facts
    return joined


def _instructions(
    plan: Plan,
    module_text: ModuleText | None,
    facts_by_name: Mapping[str, InstructionFacts],
    steps: Mapping[str, int],
) -> tuple[DumpInstruction, ...]:
    instructions = []
    for name, facts in facts_by_name.items():
        text = plan.instructions.get(name)
        computation = root_opcode = None
        source_file, source_line = facts.source_file, facts.source_line
        if module_text is not None:
            if (found := module_text.instructions.get(name)) is not None:
                computation = found.computation or None
                root_opcode = module_text.root_opcode(facts)
            source_file, source_line = module_text.source_location(facts)
        instructions.append(
            DumpInstruction(
                name,
                facts.opcode,
                facts.shape,
                facts.op_name or None,
                source_file or None,
                source_line,
                computation,
                facts.calls,
                facts.target,
                root_opcode,
                steps.get(name),
                text,
                facts.sharding,
            )
        )
    return tuple(instructions)
