"""Add up what a program takes on a device where other arrays are resident."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xlagraph.advice.needed_memory import NeededMemory
from xlagraph.advice.resident import allocations_of
from xlagraph.advice.stored_snapshots import find_snapshot
from xlagraph.graph.engine import Graph
from xlagraph.presentation.byte_sizes import human_bytes
from xlagraph.queries.runner.compilations import find_compilation


@dataclass(frozen=True, slots=True)
class SnapshotSum(NeededMemory):
    """Memory of one device while a program runs: memory space 0, in bytes."""

    compilation: str
    device: str
    passed_bytes: int
    """Resident arrays that the program takes as arguments."""
    new_argument_bytes: int
    """Arguments that the snapshot does not have: they are made before the call."""
    other_array_bytes: int
    """Resident arrays that the program does not take."""
    executable_bytes: int
    """Resident programs, as far as JAX counts their bytes."""
    running_bytes: int
    """Temporaries, results and constants of the program."""
    capacity_bytes: int | None

    @property
    def needed_bytes(self) -> int:
        """Sum of all."""
        return (
            self.passed_bytes
            + self.new_argument_bytes
            + self.other_array_bytes
            + self.executable_bytes
            + self.running_bytes
        )

    @property
    def sentence(self) -> str:
        """The whole sum in one sentence."""
        new = (
            f" and {human_bytes(self.new_argument_bytes)} that the snapshot does not have"
            if self.new_argument_bytes
            else ""
        )
        parts = (
            f"{self.compilation} on {self.device}: {human_bytes(self.passed_bytes)} of arrays"
            f" passed to it{new}, {human_bytes(self.other_array_bytes)} of other arrays,"
            f" {human_bytes(self.executable_bytes)} of programs and"
            f" {human_bytes(self.running_bytes)} of its temporaries, results and constants are"
            f" {human_bytes(self.needed_bytes)}"
        )
        if self.capacity_bytes is None:
            return f"{parts}."
        left = self.capacity_bytes - self.needed_bytes
        rest = f"{human_bytes(left)} are free" if left >= 0 else f"it is {human_bytes(-left)} short"
        return f"{parts} of {human_bytes(self.capacity_bytes)}: {rest}."


def add_snapshot(
    graph: Graph,
    name: str | None,
    snapshot: str,
    capacity_bytes: int | None = None,
) -> SnapshotSum:
    """Add a program's memory to a snapshot, on the device that holds the most bytes.

    The snapshot is a file or a stored one, as in `find_snapshot`. A resident array that may have
    an argument's size is taken as that argument, once; if shapes are known, they must be equal,
    too. Raises EmptyGraph, NoSuchCompilation, OSError and UnfitSnapshot.
    """
    residents = find_snapshot(graph, snapshot)
    compilation = find_compilation(graph, name).key
    arrays: Counter[str] = Counter()
    for each in residents:
        if each.is_buffer:
            arrays[each.device or "the device"] += each.bytes
    device = max(arrays, key=lambda key: (arrays[key], key), default="the device")
    held = [
        _Arrays(each.shape, each.bytes, each.count)
        for each in residents
        if each.is_buffer and (each.device or "the device") == device
    ]
    arguments: list[tuple[str | None, int]] = []
    running = 0
    for own in allocations_of(graph, [compilation]):
        if own.memory_space != 0:
            continue
        if own.role == "parameter":
            arguments += [(own.shape, own.size_bytes)] * own.allocations
        else:
            running += own.all_bytes
    passed = _found_bytes(arguments, held)
    return SnapshotSum(
        compilation,
        device,
        passed,
        sum(size for _, size in arguments) - passed,
        arrays[device] - passed,
        sum(each.bytes for each in residents if not each.is_buffer),
        running,
        capacity_bytes,
    )


@dataclass(slots=True)
class _Arrays:
    """Arrays of one origin that are not yet taken as arguments."""

    shape: str | None
    bytes: int
    count: int

    def may_have(self, size_bytes: int) -> bool:
        """Return True if one of them may have a size."""
        return self.bytes == size_bytes if self.count == 1 else self.bytes > size_bytes


def _found_bytes(arguments: Sequence[tuple[str | None, int]], held: Sequence[_Arrays]) -> int:
    """Take the arguments out of the resident arrays; return their bytes.

    The profile of JAX adds up the arrays of a line. Lines whose arrays may all have the size of
    the argument are tried first.
    """
    found = 0
    for shape, size_bytes in sorted(arguments, key=lambda each: -each[1]):
        arrays = min(
            (
                each
                for each in held
                if each.count and each.shape in (None, shape) and each.may_have(size_bytes)
            ),
            key=lambda each: (each.bytes != size_bytes * each.count, each.count),
            default=None,
        )
        if arrays is not None:
            arrays.bytes -= size_bytes
            arrays.count -= 1
            found += size_bytes
    return found
