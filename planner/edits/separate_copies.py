"""The edit that makes a GPU write copies of one value one by one, not all at once."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.edits.chosen_again import in_chosen_order
from xlagraph.planner.edits.edit import Edit, Edited, Replanned
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.orders.schedulable import SchedulableProgram
from xlagraph.planner.planned_program import PlannedProgram
from xlagraph.presentation.byte_sizes import counted


@dataclass(frozen=True)
class SeparateCopies(Edit):
    """Make each copy with an instruction of its own, and order all instructions again.

    XLA does so without the pass `copy_fusion`, which joins the copies.
    """

    copies: frozenset[int]
    """Ids of the values."""
    ordered: PlannableCompilation

    @classmethod
    def of(
        cls, found: Reordering, compilation: PlannableCompilation, copies: Collection[int]
    ) -> "SeparateCopies":
        """Return the edit of a program in the order that is chosen for it."""
        program = _with_copies_apart(found.schedulable, copies)
        return cls(frozenset(copies), in_chosen_order(found, compilation, program))

    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        del compilation, program
        return Edited(
            self.ordered.program,
            value_ids=self.copies,
            compilation=self.ordered,
            is_certain=False,
        )

    def sentence(self, after: Replanned, before: Replanned) -> str:
        del after, before
        return f"{counted(len(self.copies), 'value')}, each copied by an instruction of its own"


def _with_copies_apart(program: SchedulableProgram, copies: Collection[int]) -> SchedulableProgram:
    """Return the program in which each copy is made where its readers get it from the tuple."""
    instructions = list(program.instructions)
    values = []
    for value in program.values:
        elsewhere = tuple([step for step in value.positions if step != value.defined_at])
        if value.value_id in copies and elsewhere:
            size_bytes, part = value.size_bytes, min(elsewhere)
            joined = instructions[value.defined_at]
            instructions[value.defined_at] = joined._replace(
                defined_bytes=joined.defined_bytes - size_bytes
            )
            instructions[part] = instructions[part]._replace(
                opcode="copy", defined_bytes=size_bytes, result_bytes=size_bytes
            )
            value = value._replace(defined_at=part, positions=elsewhere)
        values.append(value)
    return replace(program, instructions=tuple(instructions), values=tuple(values))
