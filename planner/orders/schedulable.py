"""The scheduled instructions of a program, and what depends on what.

    SchedulableProgram
    ├── instructions  SchedulableInstruction  by their step in the dump's schedule
    ├── computations  SchedulableComputation  their instructions and root
    └── values        SchedulableValue        where each value is made, visible and read

An instruction is identified by its step in the dump's schedule, whatever the order.

XLA's GPU compiler orders the instructions before it drops the last copies of donated parameters
(`elided_copies`), so that its schedulers see instructions that no dump has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

Order = Mapping[str, Sequence[int]]
"""The instructions of each computation in an order, by the computation's name."""


class SchedulableInstruction(NamedTuple):
    """An instruction of a scheduled computation."""

    name: str
    opcode: str
    operands: tuple[int, ...] = ()
    """Instructions that it reads, in the order of the operands, with repetitions."""
    control_predecessors: tuple[int, ...] = ()
    callees: tuple[str, ...] = ()
    """Computations that it runs, in the order in which they run."""
    defined_bytes: int = 0
    """Bytes of all values that it defines, tables of tuples included."""
    result_bytes: int = 0
    """Bytes of its whole result, tables of tuples included."""
    has_one_element: bool = False
    """True if its result is an array of one element."""
    created: int = 0
    """Place among the instructions of its computation by the order of their creation."""


class SchedulableValue(NamedTuple):
    """Steps at which a value with a live range is produced, visible and read."""

    value_id: int
    defined_at: int
    """Instruction that defines it."""
    positions: tuple[int, ...]
    """Instructions at which it is visible, the one that defines it included."""
    uses: tuple[int, ...]
    """Instructions that read it."""
    buffer_set: int
    """Smallest id among the values that must share an address."""
    size_bytes: int
    """Its own size."""
    is_kept: bool = False
    """True for a part of an entry parameter that no result is written over."""


@dataclass(frozen=True, slots=True)
class SchedulableComputation:
    """A computation whose instructions can be ordered."""

    name: str
    instructions: tuple[int, ...]
    """Instructions in the dump's order."""
    root: int


@dataclass(frozen=True)
class SchedulableProgram:
    """The scheduled computations of a program."""

    instructions: tuple[SchedulableInstruction, ...]
    computations: Mapping[str, SchedulableComputation]
    entry: str
    """Name of the entry computation."""
    values: tuple[SchedulableValue, ...] = ()
    """Values by id."""
    counts_results: bool = False
    """True if a scheduler counts all bytes that a call returns, as up to jaxlib 0.6.2."""
    as_ordered: "SchedulableProgram | None" = None
    """The program that XLA ordered, if it is another one (`elided_copies`)."""
    dropped: frozenset[int] = frozenset()
    """Copies that XLA dropped after it had ordered the instructions; no dump has them."""
    added: tuple[int, ...] = ()
    """Copies that XLA added after it had ordered the instructions, directly before a reader."""

    @cached_property
    def present_order(self) -> Order:
        """The dump's order."""
        return {name: each.instructions for name, each in self.computations.items()}

    @cached_property
    def is_asynchronous(self) -> bool:
        """True if an instruction only starts an operation, which another one completes."""
        return any(each.opcode.endswith("-start") for each in self.instructions)

    @cached_property
    def known_orders(self) -> dict[tuple[str, str], Sequence[int]]:
        """Orders found so far, by the name of the rule and of the computation; empty for none."""
        return {}

    @cached_property
    def owners(self) -> Sequence[str]:
        """Name of the computation of each instruction."""
        owners = [""] * len(self.instructions)
        for name, computation in self.computations.items():
            for step in computation.instructions:
                owners[step] = name
        return owners

    def step_in_entry(self, step: int) -> int | None:
        """Return an instruction of the entry, or the call of the entry that runs it; else None.

        CPUs call the parts of an operation that several threads compute.
        """
        found = self.within(step, self.entry)
        is_called = found is not None and self.instructions[found].opcode == "call"
        return found if found == step or is_called else None

    @cached_property
    def callers(self) -> Mapping[str, int]:
        """First instruction that runs each computation, by its name."""
        callers: dict[str, int] = {}
        for step, each in enumerate(self.instructions):
            for name in each.callees:
                callers.setdefault(name, step)
        return callers

    def within(self, step: int, computation: str) -> int | None:
        """Return the instruction of a computation that runs `step`, or is it; None if none is."""
        at: int | None = step
        while at is not None and self.owners[at] != computation:
            at = self.callers.get(self.owners[at])
        return at

    @cached_property
    def users(self) -> Sequence[Sequence[int]]:
        """Instructions that read each instruction, by order of creation, each once."""
        users: list[list[int]] = [[] for _ in self.instructions]
        for user in self._by_creation:
            for operand in dict.fromkeys(self.instructions[user].operands):
                users[operand].append(user)
        return users

    @cached_property
    def control_successors(self) -> Mapping[int, Sequence[int]]:
        """Instructions that must run after an instruction that they do not read."""
        successors: dict[int, list[int]] = {}
        for later in self._by_creation:
            for earlier in self.instructions[later].control_predecessors:
                successors.setdefault(earlier, []).append(later)
        return successors

    @cached_property
    def visible(self) -> Sequence[Sequence[SchedulableValue]]:
        """Values that are visible at each instruction, by value id."""
        visible: list[list[SchedulableValue]] = [[] for _ in self.instructions]
        for value in self.values:
            for position in dict.fromkeys(value.positions):
                visible[position].append(value)
        return visible

    def predecessor_count(self, step: int) -> int:
        """Return the number of instructions that must run directly before one."""
        each = self.instructions[step]
        return len(set(each.operands)) + len(each.control_predecessors)

    def by_creation(self, computation: str) -> list[int]:
        """Return a computation's instructions in XLA's list order."""
        steps = self.computations[computation].instructions
        return sorted(steps, key=lambda step: self.instructions[step].created)

    @property
    def _by_creation(self) -> list[int]:
        created = [each.created for each in self.instructions]
        return sorted(range(len(created)), key=created.__getitem__)
