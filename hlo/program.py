"""The HLO program of a compilation as data, independent of the input format.

    Program
    ├── computations   Computation    instructions in the schedule's order, the root
    ├── instructions   Instruction    those that the plan names, also of no known computation
    │     ├── operands     Operand        instruction and tuple element that it reads
    │     └── attributes   Attributes     metadata, called computations, aliasing, …
    ├── frames         StackFrame     call stacks, each frame with its caller
    └── donations      by parameter   results that are written over a parameter

Input formats fill it; rules and measures read only this. Missing facts are None or empty, never
guessed. Tuple indices have XLA's spelling: ``{1,0}``, ``{}`` for the whole.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias
from zlib import compress, decompress

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.instruction import Attributes, Instruction, ProgramError
from xlagraph.hlo.metadata import StackFrame, is_installed
from xlagraph.hlo.scoped_memory import ScopedMemory

ModuleForm: TypeAlias = Literal["text", "proto"]
_LEVEL: Final = 1
"""Level 6 packs a third smaller and takes three times as long."""


class PackedModule(NamedTuple):
    """A module as XLA wrote it, compressed, so that a graph can store it.

    Most questions need only what the memory plan names. What the operations inside of fusions do
    with the dimensions of their operands is read from this when it is asked.
    """

    form: ModuleForm
    """`text`, or `proto` for an HloModuleProto without literals."""
    packed: str
    """Base64 of zlib."""

    def contents(self) -> bytes:
        """Return the text in UTF-8, or the serialized message."""
        return decompress(b64decode(self.packed))


def packed_module(form: ModuleForm, contents: bytes) -> PackedModule:
    """Compress a module."""
    return PackedModule(form, b64encode(compress(contents, _LEVEL)).decode("ascii"))


class EntryParameter(NamedTuple):
    """A parameter of the entry computation, or an element of one."""

    number: int
    shape_index: str
    """``{}`` for the whole parameter."""


@dataclass(frozen=True)
class Program:
    """An HLO program with all facts that its input format has."""

    name: str | None = None
    """Name of the module."""
    entry_name: str | None = None
    """Name of the entry computation."""
    computations: Mapping[str, Computation] = field(default_factory=dict)
    """Computations by name; empty if the input format has only the plan's instructions."""
    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    """Instructions of the memory plan by name; others are found in their computation."""
    frames: Mapping[int, StackFrame] = field(default_factory=dict)
    """Frames by number; every caller is included, and there are no cycles."""
    output_by_donated: Mapping[EntryParameter, str] = field(default_factory=dict)
    """Shape index of the result that a donated parameter is paired with."""
    unpaired_donors: frozenset[EntryParameter] = frozenset()
    """Donated parameters that are not paired with a result."""
    partitions: int | None = None
    """Number of devices that the program is split over; None if unknown."""
    scoped_memory: Mapping[str, ScopedMemory] = field(default_factory=dict)
    """VMEM that instructions take while they run, by name."""
    is_gpu: bool = False
    """True if it was evidently compiled for a GPU."""
    packed: PackedModule | None = None
    """The module as the input format has it, compressed; None if it has only the plan."""

    @property
    def has_computations(self) -> bool:
        """True if the input format has computations, not only the plan's instructions."""
        return bool(self.computations)

    @property
    def entry(self) -> Computation:
        """The entry computation; raises ProgramError if there is none."""
        return self.computation(self.entry_name)

    def computation(self, name: str | None) -> Computation:
        """Return a computation; raise ProgramError if it does not exist."""
        found = self.computations.get(name or "")
        if found is None:
            raise ProgramError(f"there is no computation {name}")
        return found

    def root_opcode(self, instruction: Instruction) -> str | None:
        """Return the opcode of a fusion's root; None for other instructions."""
        runs = instruction.attributes.runs
        if instruction.opcode != "fusion" or runs is None or runs not in self.computations:
            return None
        return self.computations[runs].root_opcode

    def fused_opcodes(self, instruction: Instruction) -> tuple[str, ...] | None:
        """Return the opcodes in a fusion and the fusions inside of it, without parameters.

        None if not all could be read.
        """
        if instruction.opcode != "fusion":
            return None
        return _sorted_opcodes(self._opcodes_in(instruction.attributes.runs))

    def _opcodes_in(self, name: str | None) -> frozenset[str | None]:
        """Return the opcodes in a computation and in the fusions that it runs; None if unknown."""
        found = self.computations.get(name or "")
        if found is None:
            return frozenset((None,))
        if "fusion" not in found.opcodes:
            return found.opcodes
        return (found.opcodes - {"fusion"}).union(*map(self._opcodes_in, found.runs))

    def find(self, name: str, computation: str | None) -> Instruction | None:
        """Return an instruction that a computation mentions; None if it does not exist."""
        found = self.instructions.get(name)
        if found is None and computation is not None:
            own = self.computations.get(computation)
            return own.find(name) if own is not None else None
        return found

    def source_location(self, attributes: Attributes) -> tuple[str | None, int | None]:
        """Return source file and line of the instruction, else of its innermost frame."""
        if attributes.source_file is not None or attributes.stack_frame is None:
            return attributes.source_file, attributes.source_line
        frame = self.frames.get(attributes.stack_frame)
        return (frame.file, frame.line) if frame else (None, None)

    def user_frame(self, number: int | None) -> StackFrame | None:
        """Return the innermost frame of a call stack outside of installed packages."""
        while (frame := None if number is None else self.frames.get(number)) is not None:
            if frame.file is not None and not is_installed(frame.file):
                return frame
            number = frame.caller
        return None


@lru_cache(maxsize=1 << 10)
def _sorted_opcodes(opcodes: frozenset[str | None]) -> tuple[str, ...] | None:
    """Return them without parameters; None if some are unknown. Most fusions have the same few."""
    known = [opcode for opcode in opcodes if opcode is not None]
    is_known = len(known) == len(opcodes)
    return tuple(sorted({*known} - {"parameter"})) if is_known else None
