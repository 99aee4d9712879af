"""The relationship types of the graph, their ends and their properties."""

from typing import Final

from xlagraph.graph.schema_nodes import (
    AllocationNodes,
    CompilationNodes,
    FrameNodes,
    InstructionNodes,
    MemorySpaceNodes,
    MemoryStatisticNodes,
    ModuleNodes,
    OpNodes,
    PackedModuleNodes,
    RunNodes,
    ScopeNodes,
    SourceLineNodes,
    ValueNodes,
)
from xlagraph.graph.schema_types import Booleans, Integers, RelationshipRows, Strings, described


class CompiledRows(RelationshipRows, source=RunNodes, target=CompilationNodes):
    """The run holds the dump."""


class OfModuleRows(RelationshipRows, source=CompilationNodes, target=ModuleNodes):
    """The program that was compiled."""


class UsesSpaceRows(RelationshipRows, source=CompilationNodes, target=MemorySpaceNodes):
    """The compilation has allocations in this memory space."""


class StatesRows(RelationshipRows, source=CompilationNodes, target=MemoryStatisticNodes):
    """A number that JAX states for the compilation."""


class PacksRows(RelationshipRows, source=CompilationNodes, target=PackedModuleNodes):
    """The compiled module."""


class AllocatesRows(RelationshipRows, source=CompilationNodes, target=AllocationNodes):
    """A buffer of its plan."""


class HoldsRows(RelationshipRows, source=AllocationNodes, target=ValueNodes):
    """A value's slot."""

    offset_bytes: Integers = described("start within the allocation")
    size_bytes: Integers = described("assigned size")


class UsedByRows(RelationshipRows, source=ValueNodes, target=InstructionNodes):
    """The instruction reads the value."""

    operand: Integers = described("operand number")
    operand_index: Strings = described("index within a tuple operand, in braces")


class DefinesRows(RelationshipRows, source=InstructionNodes, target=ValueNodes):
    """The instruction produces the value."""


class AppearsAtRows(RelationshipRows, source=ValueNodes, target=InstructionNodes):
    """A position: another name of the value."""

    shape_index: Strings = described("tuple index there, in braces")


class LiveFromRows(RelationshipRows, source=ValueNodes, target=InstructionNodes):
    """The first step of its live range."""

    step: Integers = described("position of the instruction in the schedule")


class LiveUntilRows(RelationshipRows, source=ValueNodes, target=InstructionNodes):
    """The last step of its live range; none where it ends past the last instruction."""

    step: Integers = described("position of the instruction in the schedule")


class SchedulesRows(RelationshipRows, source=CompilationNodes, target=InstructionNodes):
    """The schedule."""

    step: Integers = described("position in the schedule, from 0")


class NextRows(RelationshipRows, source=InstructionNodes, target=InstructionNodes):
    """The schedule's order."""


class LiveAtPeakRows(RelationshipRows, source=ValueNodes, target=MemorySpaceNodes):
    """Live at the physical peak of its memory space."""

    physical_bytes: Integers = described(
        "the value's share; all shares add up to physicalPeakBytes", is_captioned=True
    )


class InPrintedPeakRows(RelationshipRows, source=ValueNodes, target=CompilationNodes):
    """Listed by XLA at the peak that it prints."""

    printed_bytes: Integers = described("as listed", is_captioned=True)
    rank: Integers = described("position in the list, from 0")
    ambiguous: Booleans = described("the list names a tuple, not its element")


class UpdatesInPlaceRows(RelationshipRows, source=ValueNodes, target=ValueNodes):
    """The later value overwrites the earlier one where both are live."""

    shared_bytes: Integers = described(
        "bytes of the earlier value that the later one uses", is_captioned=True
    )
    step: Integers = described("first step of the later one")


class ReusesRows(RelationshipRows, source=ValueNodes, target=ValueNodes):
    """The later value takes bytes that the earlier one left."""

    shared_bytes: Integers = described(
        "bytes of the earlier value that the later one uses", is_captioned=True
    )
    gap_steps: Integers = described("steps from the earlier one's end to the later one's start")


class MayOverwriteRows(RelationshipRows, source=ValueNodes, target=ValueNodes):
    """XLA may store the value in the bytes of an operand whose live range ends at its step."""

    operand: Integers = described("operand number of the other value")
    is_operand: Booleans = described(
        "whether the operand is the value's instruction, not a bitcast of it"
    )
    is_last_position: Booleans = described(
        "whether the operand is the last instruction in the schedule that shows the other value"
    )


class FromOpRows(RelationshipRows, source=InstructionNodes, target=OpNodes):
    """The op name that the user wrote."""


class FromLineRows(RelationshipRows, source=InstructionNodes, target=SourceLineNodes):
    """The source line at which the user wrote it."""


class InFrameRows(RelationshipRows, source=InstructionNodes, target=FrameNodes):
    """The call path that led there."""


class AttributedToRows(RelationshipRows, source=ValueNodes, target=OpNodes):
    """The op that it belongs to, by any rule."""


class AttributedLineRows(RelationshipRows, source=ValueNodes, target=SourceLineNodes):
    """The source line of that op."""


class AttributedFrameRows(RelationshipRows, source=ValueNodes, target=FrameNodes):
    """The call path that led to that op."""


class WithinRows(RelationshipRows, source=OpNodes, target=ScopeNodes):
    """Each leading part of the op name."""


class CalledFromRows(RelationshipRows, source=FrameNodes, target=FrameNodes):
    """The caller; at most one."""


RELATIONSHIPS: Final = tuple(rows.declared for rows in RelationshipRows.__subclasses__())
