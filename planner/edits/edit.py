"""Edits of a program, and the plan of its memory after them.

    replanned = replan(compilation, [Remove.of(compilation, ["fusion.3"]), Donate.of(...)])
    replanned.saved_bytes(), replanned.sentence

An edit is data, and applies to any program of its compilation: it returns the program that is left,
with another size, live range or order of some values. Everything else follows from the plans
before and after.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.memory_plan import MemoryPlan, plan_memory
from xlagraph.planner.planned_program import PlannedProgram


@dataclass(frozen=True, slots=True)
class DonatedParameter:
    """A parameter to donate, and the outcome."""

    parameter: str
    """Label of the parameter."""
    output: str | None
    """Label of the result that takes its bytes; None if none has its shape and type."""
    size_bytes: int
    outcome: str
    """`in place`; `copied first` if others read the parameter later; `copied last` if the result
    is computed elsewhere and then copied over it; `copied first and last`; `no output`; `donated
    already`; or `gone` if another change removes the parameter."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A program after an edit."""

    program: PlannedProgram
    """Program with the least memory it may need; the same object if nothing changes."""
    most: PlannedProgram | None = None
    """Program with the most memory it may need; None if the effect is not a range."""
    value_ids: frozenset[int] = frozenset()
    """Values that the edit changes, with all that follow them."""
    sizes: tuple[int, int] | None = None
    """Bytes of their buffer sets before and after; None if these are the sizes in XLA's plan."""
    recomputed_count: int = 0
    """Number of values that are no longer kept for the backward pass."""
    stacked_ids: frozenset[int] = frozenset()
    """Recomputed values that a loop stacks. Compilers do not merge computations across
    iterations, so these are surely recomputed."""
    donated: tuple[DonatedParameter, ...] = ()
    """Parameters to donate, the largest first."""
    copied_before: tuple[int, ...] = ()
    """Steps before which the compiler inserts copies, in order."""
    is_certain: bool = True
    """False if the compiler may schedule the program differently."""
    is_packed: bool = False
    """True if the temporary block is packed to its lower bound."""
    assumptions: tuple[str, ...] = ()
    compilation: PlannableCompilation | None = None
    """The compilation with the steps of the program; None if the order of steps is unchanged."""

    @property
    def is_of_loops(self) -> bool:
        """True if all recomputed values are stacks of loops."""
        return 0 < len(self.stacked_ids) == self.recomputed_count


class Edit(ABC):
    """A change of a program; a frozen dataclass."""

    __slots__ = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of `xlagraph whatif` that make this edit; none if it has no such option."""
        return ()

    @property
    def name(self) -> str:
        """The edit in the words of the command line."""
        return " ".join(self.arguments)

    @property
    def matched(self) -> frozenset[int]:
        """Ids of the values that its patterns name; none if it has no pattern of values."""
        return frozenset()

    @abstractmethod
    def apply(self, compilation: PlannableCompilation, program: PlannedProgram) -> Edited:
        """Return the program after the edit."""

    @abstractmethod
    def sentence(self, after: "Replanned", before: "Replanned") -> str:
        """Return what the edit changed and saved, or why it did nothing."""


@dataclass(frozen=True)
class Replanned:
    """A compilation replanned after some edits."""

    compilation: PlannableCompilation
    program: PlannedProgram
    """Program with the least memory it may need."""
    most: PlannedProgram | None = None
    """Program with the most memory it may need; None if there is no range."""
    before: "Replanned | None" = None
    """The state before the last edit; None without an edit."""
    edit: Edit | None = None
    edited: Edited | None = None
    """Effect of the last edit."""

    def after(self, edit: Edit) -> "Replanned":
        """Replan after one more edit."""
        edited = edit.apply(self.compilation, self.program)
        most = edited.most
        if self.most is not None:
            other = edit.apply(self.compilation, self.most)
            most = other.most or other.program
        compilation = edited.compilation or self.compilation
        return Replanned(compilation, edited.program, most, self, edit, edited)

    @property
    def steps(self) -> tuple["Replanned", ...]:
        """The state after each edit, in order."""
        return () if self.before is None else (*self.before.steps, self)

    @property
    def compiled(self) -> PlannableCompilation:
        """The compilation as XLA planned it."""
        return self.compilation.compiled or self.compilation

    @cached_property
    def plan(self) -> MemoryPlan:
        """The program's plan."""
        if self.before is not None and self.program is self.before.program:
            return self.before.plan
        return self._planned(self.program)

    @cached_property
    def most_plan(self) -> MemoryPlan | None:
        """The plan with the most memory; None if there is no range."""
        return None if self.most is None else self._planned(self.most)

    def _planned(self, program: PlannedProgram) -> MemoryPlan:
        if program.values == self.compilation.program.values:
            return self.compilation.plan
        return plan_memory(program, self.compilation.replays, self.compilation.plan)

    def reserved_bytes(self, memory_space: int = 0) -> int:
        """Return the reserved bytes; the least of a range."""
        unused = self.plan.unused_bytes(memory_space) if self.is_packed else 0
        return self.plan.reserved_bytes(memory_space) - unused

    def most_reserved_bytes(self, memory_space: int = 0) -> int:
        """Return the most reserved bytes of a range."""
        plan = self.most_plan
        return (
            self.reserved_bytes(memory_space) if plan is None else plan.reserved_bytes(memory_space)
        )

    def saved_bytes(self, memory_space: int = 0) -> int:
        """Return the bytes that all edits save, the most of a range; negative if they cost."""
        before = self.compiled.plan.reserved_bytes(memory_space)
        return before - self.reserved_bytes(memory_space)

    @property
    def is_packed(self) -> bool:
        """True if an edit packs the temporary block to its lower bound."""
        return any(step.edited is not None and step.edited.is_packed for step in self.steps)

    @property
    def sentence(self) -> str:
        """Sentence about the effect of the last edit, or why it had none; empty without an edit."""
        if self.edit is None or self.before is None:
            return ""
        return f"{self.edit.name}: {self.edit.sentence(self, self.before)}"


def replan(compilation: PlannableCompilation, edits: Iterable[Edit] = ()) -> Replanned:
    """Replan a compilation after edits, one after the other."""
    replanned = Replanned(compilation, compilation.program)
    for edit in edits:
        replanned = replanned.after(edit)
    return replanned
