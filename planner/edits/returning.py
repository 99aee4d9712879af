"""An edit that no longer returns some results of the program."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from xlagraph.hlo.opcodes import CONTROL_FLOW, FORWARDING
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import saved_text
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import without_values
from xlagraph.presentation.byte_sizes import counted

_HANDING_ON: Final = CONTROL_FLOW | FORWARDING
"""Opcodes of instructions that hand a value on; what reads it there has a value of its own."""


def _ends_of_loops(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> Mapping[int, set[int]]:
    """Return the last steps of the loops next to each value that read it."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for loop in program.values:
        if compilation.values[loop.value_id].opcode in CONTROL_FLOW:
            for read in loop.reads:
                if read in value_ids and program.by_id[read].computation == loop.computation:
                    found[read].add(loop.live_from)
    return found


def with_their_makers(
    compilation: PlannableCompilation, program: PlannedProgram, unread: Collection[int]
) -> frozenset[int]:
    """Return the values of unread buffer sets, and what is computed for them alone."""
    by_id = program.by_id
    readers: defaultdict[int, set[int]] = defaultdict(set)
    for value in program.values:
        is_handed_on = compilation.values[value.value_id].opcode in _HANDING_ON
        for read in () if is_handed_on or value.is_table else value.reads:
            if read in by_id and by_id[read].buffer_set != value.buffer_set:
                readers[by_id[read].buffer_set].add(value.buffer_set)
    found, waiting = set(unread), list(unread)
    while waiting:
        members = program.sets[waiting.pop()]
        operands = {by_id[read].buffer_set for each in members for read in each.reads}
        for each in operands - found:
            is_needed = any(
                value.is_stored or value.lives_out or value.is_table for value in program.sets[each]
            )
            if not is_needed and readers[each] and readers[each] <= found:
                found.add(each)
                waiting.append(each)
    return frozenset(value.value_id for each in found for value in program.sets[each])


@dataclass(frozen=True, slots=True)
class KeepInside(Edit):
    """Do not return results: each ends with its last reader, or is never made."""

    value_ids: frozenset[int]

    @property
    def matched(self) -> frozenset[int]:
        return self.value_ids

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        by_id = program.by_id
        sets = {by_id[each].buffer_set for each in self.value_ids if each in by_id}
        members = {value.value_id for value in program.values if value.buffer_set in sets}
        last_reads = dict.fromkeys(members, -1)
        ends = _ends_of_loops(compilation, program, members)
        for value in program.values:
            is_handed_on = compilation.values[value.value_id].opcode in _HANDING_ON
            if not is_handed_on and value.buffer_set not in sets:
                for read in members.intersection(value.reads):
                    end = value.live_from
                    if value.computation != by_id[read].computation:
                        # each iteration of a loop reads it
                        end = min((each for each in ends[read] if each > end), default=end)
                    last_reads[read] = max(end, last_reads[read])
        read_sets = {by_id[each].buffer_set for each, last in last_reads.items() if last >= 0}
        unread = with_their_makers(compilation, program, sets - read_sets)
        values = tuple(
            value._replace(
                lives_out=False,
                live_until=min(value.live_until, max(value.live_from, last_reads[value.value_id])),
            )
            if value.value_id in members and value.lives_out
            else value
            for value in program.values
        )
        shorter = without_values(replace(program, values=values), unread)
        return Edited(shorter, value_ids=frozenset(members))

    def sentence(self, after: Replanned, before: Replanned) -> str:
        return f"{counted(len(self.value_ids), 'result')} not returned; {saved_text(after, before)}"
