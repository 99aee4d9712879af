"""The changes of a what-if, as a user gives them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.edit import Edit
from xlagraph.planner.edits.last_uses import FreeAtLastUse
from xlagraph.planner.edits.patterns import reject_malformed
from xlagraph.planner.edits.recomputing import Checkpoint
from xlagraph.planner.edits.resizing import ComputeInParts, Remove, Scale, Shrink
from xlagraph.planner.edits.schedules import Schedule
from xlagraph.queries.errors import BadParameter

_PATTERNS: Final = ("donate", "without", "until_last_use", "checkpoint", "batch_of")
"""Fields that a string stands for as one name."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes to plan for; none by default.

    `xlagraph.planner.edits.patterns` describes patterns. Raises BadParameter for an
    invalid factor or schedule, and for a batch that is given but not changed.
    """

    donate: Sequence[str] = ()
    """Parameters to donate, by number, label or op name, or `all`. A string is one name, here and
    in the other fields."""
    without: Sequence[str] = ()
    """Patterns of values to remove, with all that must share their bytes."""
    until_last_use: Sequence[str] = ()
    """Patterns of values to free at their last use."""
    shrink: Mapping[str, float | str | Fraction] = field(default_factory=dict)
    """Factor by which values shrink, by pattern, with all that must share their bytes;
    `parse_factor` reads it."""
    checkpoint: Sequence[str] = ()
    """Scopes to wrap in a checkpoint."""
    batch: float | str | Fraction | None = None
    """Factor by which the batch shrinks; `parse_factor` reads it."""
    batch_of: Sequence[str] = ()
    """Parameters, or values by label, whose first dimension is the batch, or `NAME:DIMENSION`."""
    batch_like: str | None = None
    """Compilation with another batch to compare with; by default one of the same module."""
    schedule: str | None = None
    """Order of instructions: `memory`, `depth-first`, `post-order` or `list`; the other changes
    are made in this order."""

    def __post_init__(self) -> None:
        for field_ in _PATTERNS:
            if isinstance(given := getattr(self, field_), str):
                object.__setattr__(self, field_, (given,))  # the class is frozen
        if not isinstance(self.shrink, Mapping):
            raise BadParameter("shrink takes a factor for each pattern: {'w*': 2} keeps half of it")
        for pattern in (*self.without, *self.until_last_use, *self.shrink, *self.checkpoint):
            reject_malformed(pattern)
        if self.schedule is not None and self.schedule not in list(Schedule):
            raise BadParameter(
                f"expected a schedule, one of {', '.join(Schedule)}; found {self.schedule!r}"
            )
        for factor in (*self.shrink.values(), *(() if self.batch is None else (self.batch,))):
            parse_factor(factor)
        if self.batch is None and (self.batch_of or self.batch_like is not None):
            raise BadParameter("a batch is given, but no change of it: add --batch FACTOR")
        if self.batch_of and self.batch_like is not None:
            raise BadParameter(
                "give either parameters that carry the batch or another compilation, not both"
            )

    def edits(
        self,
        compilation: PlannableCompilation,
        batch: Edit | None = None,
        *,
        recomputes_early: bool = False,
        stored: StoredCompilation | None = None,
    ) -> list[Edit]:
        """Return the edits in the order in which they are made; raises NoSuchName.

        `batch` is the edit that scales the batch, and `recomputes_early` is said of a CPU's default
        order. Donations come last, as one edit, because frameworks pair all donated parameters
        with the results that are left; alone they may change the order, if `stored` is given.
        """
        edits: list[Edit] = [Remove.matching(compilation, pattern) for pattern in self.without]
        if batch is not None:
            edits.append(batch)
        for pattern, factor in self.shrink.items():
            edits.append(Shrink.matching(compilation, pattern, parse_factor(factor)))
        edits += [FreeAtLastUse.matching(compilation, each) for each in self.until_last_use]
        edits += [Checkpoint(scope, recomputes_early) for scope in self.checkpoint]
        if self.donate:
            donated = Donate.matching(compilation, self.donate)
            if stored is not None and not edits:
                donated = donated.in_chosen_order(stored, compilation)
            edits.append(donated)
        return edits

    def __bool__(self) -> bool:
        return (
            self.batch is not None
            or self.schedule is not None
            or any((self.donate, self.without, self.until_last_use, self.shrink, self.checkpoint))
        )


def whatif_arguments(edit: Edit, compilation: PlannableCompilation) -> tuple[str, ...]:
    """Return the arguments of `whatif` that make exactly this edit; none if it has none.

    Patterns of `whatif` name more than labels do: all that shares bytes with what they name.
    """
    named: list[Edit]
    match edit:
        case ComputeInParts():
            return ()
        case Remove(has_followers=False):
            named = [Remove.matching(compilation, pattern) for pattern in edit.patterns]
        case Scale():
            named = [
                Shrink.matching(compilation, label, kept)
                for label, kept in edit.kept_by_label.items()
            ]
        case _:
            return edit.arguments
    program = compilation.program
    for each in named:
        program = each.apply(compilation, program).program
    is_same = program.values == edit.apply(compilation, compilation.program).program.values
    return edit.arguments if is_same else ()


def parse_factor(factor: float | str | Fraction) -> Fraction:
    """Return the part of its bytes that a value keeps: `2`, `0.5` and `1/2` are all one half."""
    try:
        parsed = Fraction(str(factor))
    except (ValueError, ZeroDivisionError):
        parsed = Fraction(0)
    if parsed <= 0:
        raise BadParameter(
            f"{factor} is not a factor; give a positive number: 2 or 0.5 keeps half of the bytes"
        )
    return 1 / parsed if parsed > 1 else parsed
