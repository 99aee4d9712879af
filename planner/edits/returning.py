"""An edit that no longer returns some results of the program."""

# ruff: noqa: D102  `Edit` describes an edit's methods

from dataclasses import dataclass, replace
from typing import Final

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import saved_text
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import without_values
from xlagraph.presentation.byte_sizes import counted

__all__ = ["KeepInside"]

_HANDING_ON: Final = frozenset(("tuple", "get-tuple-element", "while", "call", "conditional"))
"""Opcodes of instructions that hand a value on; what reads it there has a value of its own."""


@dataclass(frozen=True, slots=True)
class KeepInside(Edit):
    """Do not return results: each ends with its last reader, or is never made."""

    value_ids: frozenset[int]

    @property
    def arguments(self) -> tuple[str, ...]:
        return ()

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        by_id = program.by_id
        sets = {by_id[each].buffer_set for each in self.value_ids if each in by_id}
        members = {value.value_id for value in program.values if value.buffer_set in sets}
        last_reads = dict.fromkeys(members, -1)
        for value in program.values:
            is_handed_on = compilation.values[value.value_id].opcode in _HANDING_ON
            if not is_handed_on and value.buffer_set not in sets:
                for read in value.reads:
                    if read in members:
                        last_reads[read] = max(value.live_from, last_reads[read])
        read_sets = {by_id[each].buffer_set for each, last in last_reads.items() if last >= 0}
        unread = {each for each in members if by_id[each].buffer_set not in read_sets}
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
