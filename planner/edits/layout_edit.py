"""An edit by which the caller passes inputs in the layout of their copies."""

# ruff: noqa: ARG002

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.edits.effect_sentences import saved_text
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.presentation.byte_sizes import counted


@dataclass(frozen=True, slots=True)
class PassInLayout(Edit):
    """Pass inputs in the layout of their copies, and return results in that layout, too.

    The copy becomes the input: it takes its bytes all the time. The input that it replaces is gone,
    with the result that was copied back over it.
    """

    input_by_copy: Mapping[int, int]
    """Ids of the inputs, by the ids of their copies."""
    bytes_by_input: Mapping[int, int] = field(default_factory=dict)
    """Bytes of other inputs in their new layout, by id."""

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        by_id = program.by_id
        pairs = {
            copy: given
            for copy, given in self.input_by_copy.items()
            if copy in by_id and given in by_id
        }
        kept_sets = {by_id[copy].buffer_set for copy in pairs}
        gone = {by_id[given].allocation for given in pairs.values()}
        resized = {
            by_id[given].buffer_set: size_bytes
            for given, size_bytes in self.bytes_by_input.items()
            if given in by_id
        }
        last = max((value.live_until for value in program.values), default=0)
        values = []
        for value in program.values:
            if value.buffer_set in kept_sets:
                values.append(value._replace(live_from=0, live_until=last))
            elif value.allocation not in gone or not (value.is_stored or value.lives_out):
                size_bytes = resized.get(value.buffer_set, value.size_bytes)
                values.append(value._replace(size_bytes=size_bytes))
        changed = frozenset((*pairs, *pairs.values()))
        return Edited(replace(program, values=tuple(values)), value_ids=changed)

    def sentence(self, after: Replanned, before: Replanned) -> str:
        count = counted(len(self.input_by_copy), "input")
        return f"{count} in the layout of the copy; {saved_text(after, before)}"
