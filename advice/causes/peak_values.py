"""The values of a compilation at its peak, with their readers and read steps."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from xlagraph.hlo.shapes import parse_shape
from xlagraph.planner.compilation.records import StoredInstruction, StoredValue
from xlagraph.planner.edits.savings import Planner
from xlagraph.planner.planned_program import PlannedValue

__all__ = ["PeakProgram", "dimensions"]

_HANDED_ON: Final = frozenset(
    ("tuple", "get-tuple-element", "bitcast", "opt-barrier", "add-dependency", "copy", "copy-done")
)
"""Opcodes of instructions that read a value without computing anything."""


class PeakProgram:
    """A compilation in one memory space, prepared for the search for causes."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.stored = planner.stored
        self.program = planner.stored.program
        self.color = planner.memory_space

    @cached_property
    def values(self) -> dict[int, StoredValue]:
        """All values, by id."""
        return {value.value_id: value for value in self.planner.compilation.values}

    @cached_property
    def by_label(self) -> dict[str, StoredValue]:
        """All values, by label."""
        return {value.label: value for value in self.values.values()}

    @cached_property
    def instructions(self) -> dict[str, StoredInstruction]:
        """All instructions, by name."""
        return {each.name: each for each in self.planner.compilation.instructions}

    @cached_property
    def peak_step(self) -> int | None:
        """Step of the physical peak of the memory space; None without live ranges."""
        spaces = self.planner.compilation.spaces
        return next((each.physical_peak_step for each in spaces if each.color == self.color), None)

    @cached_property
    def temporaries(self) -> tuple[StoredValue, ...]:
        """Arrays that are neither inputs nor results, one for each buffer set, largest first."""
        return tuple(
            sorted(self._temporaries(), key=lambda value: (-value.size_bytes, value.value_id))
        )

    @cached_property
    def at_peak(self) -> tuple[StoredValue, ...]:
        """Temporaries whose buffer set has a live member at the peak, largest first."""
        return tuple(value for value in self.temporaries if self.set_of(value) in self._live_sets)

    @cached_property
    def temp_bytes_at_peak(self) -> int:
        """Total size of the temporaries at the peak."""
        return sum(value.size_bytes for value in self.at_peak)

    @cached_property
    def _live_sets(self) -> frozenset[int | None]:
        step = self.peak_step
        if step is None:
            return frozenset()
        return frozenset(
            value.buffer_set for value in self.program.values if value.first <= step <= value.last
        )

    def _temporaries(self) -> Iterator[StoredValue]:
        for members in self.program.sets.values():
            first = members[0]
            if first.color != self.color or first.is_table:
                continue
            if not any(member.is_stored or member.lives_out for member in members):
                yield self.values[first.value_id]

    def set_of(self, value: StoredValue | None) -> int | None:
        """Return the buffer set of a value; None without one, or without a live range."""
        planned = self.planned(value) if value is not None else None
        return planned.buffer_set if planned is not None else None

    def planned(self, value: StoredValue) -> PlannedValue | None:
        """Return the planned form of a value; None if it has no live range."""
        return self.program.by_id.get(value.value_id)

    def is_alone(self, value: StoredValue) -> bool:
        """Return True if no other value must share the address of a value."""
        planned = self.planned(value)
        return planned is not None and len(self.program.sets[planned.buffer_set]) == 1

    @cached_property
    def read_steps(self) -> dict[int, list[int]]:
        """Steps at which an instruction computes with a value, in order; by value id."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for value_id, name, _, _ in self.planner.compilation.uses:
            reader = self.instructions.get(name)
            if reader is not None and reader.step is not None and reader.opcode not in _HANDED_ON:
                found[value_id].append(reader.step)
        return {value_id: sorted(steps) for value_id, steps in found.items()}

    @cached_property
    def read_by(self) -> dict[str, list[int]]:
        """Ids of the values that an instruction reads, by its name."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for value_id, name, _, _ in self.planner.compilation.uses:
            found[name].append(value_id)
        return found

    @cached_property
    def parameters(self) -> tuple[StoredValue, ...]:
        """Array parameters of the program."""
        return tuple(
            self.values[facts.value_id]
            for facts in self.stored.facts.values()
            if facts.parameter is not None and facts.dtype not in ("tuple", "token", None)
        )


def dimensions(value: StoredValue) -> tuple[int, ...]:
    """Return the dimensions of an array, outermost first; none of a scalar or a tuple."""
    return parse_shape(value.shape).dimensions or ()
