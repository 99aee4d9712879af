"""The edit that frees values at their last use, whatever the compiler keeps them for."""

from dataclasses import dataclass

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import (
    saved_text,
    why_not_changed,
    why_nothing_is_saved,
)
from xlagraph.planner.edits.patterns import matching
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.planner.value_changes import whole_sets, with_shortened_values
from xlagraph.presentation.byte_sizes import counted


@dataclass(frozen=True, slots=True)
class FreeAtLastUse(Edit):
    """Free the values that a pattern names at their last use."""

    pattern: str
    named: frozenset[int]

    @classmethod
    def matching(cls, compilation: PlannableCompilation, pattern: str) -> "FreeAtLastUse":
        """Free what a pattern names; raises NoSuchName."""
        return cls(pattern, frozenset(matching(pattern, compilation)))

    @property
    def arguments(self) -> tuple[str, ...]:
        return "--until-last-use", self.pattern

    @property
    def matched(self) -> frozenset[int]:
        return self.named

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        ends: dict[int, int] = {}
        for value in program.values_of(self.named):
            last_use = compilation.values[value.value_id].last_use
            end = max(value.live_from, value.live_from if last_use is None else last_use)
            if end < value.live_until and not (value.lives_out or value.is_stored):
                ends[value.value_id] = end
        if not ends:
            return Edited(program, value_ids=self.named)
        return Edited(with_shortened_values(program, ends), value_ids=frozenset(ends))

    def sentence(self, after: Replanned, before: Replanned) -> str:
        if after.edited is None or after.program is before.program:
            return f"changes nothing: {self._why_not_shortened(before)}"
        changed = after.edited.value_ids
        count, verb = len(changed), "is" if len(changed) == 1 else "are"
        why = why_nothing_is_saved(before, whole_sets(before.program, changed))
        return (
            f"{count} of {counted(len(self.named), 'named value')} {verb} freed earlier;"
            f" {saved_text(after, before, why)}"
        )

    def _why_not_shortened(self, before: Replanned) -> str:
        planned = before.program.values_of(self.named)
        if not planned:
            return why_not_changed(before, self.named)
        if all(value.is_stored for value in planned):
            return "parameters and constants live to the end"
        if all(value.lives_out or value.is_stored for value in planned):
            return "results of the program live to the end"
        return "the named values are already freed at their last use, or are returned"
