"""Compute bounds for the memory of programs that are loaded together."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from xlagraph.advice.capacity import (
    reject_unknown_spaces,
    space_text,
)
from xlagraph.advice.needed_memory import NeededMemory
from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.planner.compilation.records import read_records
from xlagraph.queries.runner.compilations import select_all

_ALLOCATIONS: Final = load_statement(__file__, "resident-allocations")


@dataclass(frozen=True, slots=True)
class ResidentProgram:
    """Memory of one of the programs in a memory space."""

    compilation: str
    argument_bytes: int
    shared_argument_bytes: int
    """Bytes of arguments that are counted for an earlier program: those with a name and shape of
    its arguments."""
    constant_bytes: int
    running_bytes: int
    """Bytes of temporaries and results, which only the running program needs."""
    code_bytes: int | None
    """Bytes of code; None if the dump does not contain them (text dumps never do)."""
    adds_bytes: int
    """Bytes that it adds to the bound."""
    alike_argument_bytes: int = 0
    """Bytes of its counted arguments that have the shape of an earlier program's arguments, but
    another name or run."""


@dataclass(frozen=True, slots=True)
class ResidentSpace(NeededMemory):
    """A memory space that programs share."""

    memory_space: int
    memory_space_name: str | None
    programs: tuple[ResidentProgram, ...]
    """Programs in the order of their keys."""
    capacity_bytes: int | None

    @property
    def space_text(self) -> str:
        """Text for the memory space: `memory space 1 (VMEM)`."""
        return space_text(self.memory_space, self.memory_space_name)

    @property
    def least_bytes(self) -> int:
        """Lower bound of the bytes that they need together."""
        return sum(program.adds_bytes for program in self.programs)

    @property
    def alike_bytes(self) -> int:
        """Bytes less that they need if all arguments of one shape are the same arrays."""
        return sum(program.alike_argument_bytes for program in self.programs)

    @property
    def needed_bytes(self) -> int:
        """The lower bound."""
        return self.least_bytes

    @property
    def most_bytes(self) -> int:
        """Upper bound, reached if no two programs share an array."""
        return self.least_bytes + sum(program.shared_argument_bytes for program in self.programs)


def check_resident(
    graph: Graph,
    names: Sequence[str],
    capacities: Mapping[int, int] | None = None,
    *,
    is_shared: bool = False,
) -> tuple[ResidentSpace, ...]:
    """Add up runs and compilations that are loaded at the same time, for each memory space.

    Arguments of one name, shape and size are assumed to be the same arrays in all programs of a
    run, if `is_shared` of all runs, and count once. Constants of every program count. Temporaries
    and results count for the largest program.
    Raises EmptyGraph, NoSuchCompilation for an unknown name, and NoSuchMemorySpace.
    """
    spaces: dict[tuple[int, str | None], dict[str, list[ResidentAllocation]]] = {}
    for each in allocations_of(graph, select_all(graph, names)):
        programs = spaces.setdefault((each.memory_space, each.memory_space_name), {})
        found = each._replace(run="") if is_shared else each
        programs.setdefault(each.compilation, []).append(found)
    reject_unknown_spaces(capacities or (), {color for color, _ in spaces})
    return tuple(
        ResidentSpace(color, name, _programs(programs), (capacities or {}).get(color))
        for (color, name), programs in sorted(spaces.items(), key=lambda space: space[0][0])
    )


class ResidentAllocation(NamedTuple):
    """Allocations of one role, shape, size and argument in a compilation."""

    compilation: str
    memory_space: int
    memory_space_name: str | None
    role: str | None
    shape: str | None
    size_bytes: int
    allocations: int
    """Their number."""
    argument: str | None
    """Name of an argument; none if the dump does not name it, and of all others."""
    run: str

    @property
    def all_bytes(self) -> int:
        """Bytes of all of them."""
        return self.size_bytes * self.allocations


def allocations_of(graph: Graph, compilations: Iterable[str]) -> Sequence[ResidentAllocation]:
    """Return the allocations of compilations, except for thread-local ones."""
    parameters = {"compilations": list(compilations)}
    return read_records(graph, _ALLOCATIONS, ResidentAllocation, parameters)


_Argument: TypeAlias = tuple[tuple[str, str] | None, str | None, int]
"""Run and name, shape and size."""


def _programs(
    allocations_by_key: Mapping[str, Sequence[ResidentAllocation]],
) -> tuple[ResidentProgram, ...]:
    running = {
        key: sum(
            each.all_bytes for each in allocations if each.role not in ("parameter", "constant")
        )
        for key, allocations in allocations_by_key.items()
    }
    largest = max(running, key=lambda key: (running[key], key))
    arguments: Counter[_Argument] = Counter()
    shapes: Counter[tuple[str | None, int]] = Counter()
    programs = []
    for key, allocations in allocations_by_key.items():
        own: Counter[_Argument] = Counter()
        for each in allocations:
            if each.role == "parameter":
                name = (each.run, each.argument) if each.argument else None
                own[name, each.shape, each.size_bytes] = each.allocations
        new = own - arguments
        alike = (_by_shape(own) & shapes) - _by_shape(own - new)
        shapes |= _by_shape(own)
        arguments |= Counter({named: own[named] for named in own if named[0] is not None})
        constant_bytes = sum(each.all_bytes for each in allocations if each.role == "constant")
        added = sum(size * count for (_, _, size), count in new.items()) + constant_bytes
        argument_bytes = sum(size * count for (_, _, size), count in own.items())
        programs.append(
            ResidentProgram(
                key,
                argument_bytes,
                argument_bytes - added + constant_bytes,
                constant_bytes,
                running[key],
                None,
                added + (running[key] if key == largest else 0),
                sum(size * count for (_, size), count in alike.items()),
            )
        )
    return tuple(programs)


def _by_shape(arguments: Mapping[_Argument, int]) -> Counter[tuple[str | None, int]]:
    found: Counter[tuple[str | None, int]] = Counter()
    for (_, shape, size), count in arguments.items():
        found[shape, size] += count
    return found
