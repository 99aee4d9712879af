"""Compute bounds for the memory of programs that are loaded together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from xlagraph.advice.capacity import (
    bytes_beyond,
    reject_unknown_spaces,
    space_text,
)
from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.runner.compilations import select_all

__all__ = ["ResidentProgram", "ResidentSpace", "check_resident"]

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


@dataclass(frozen=True, slots=True)
class ResidentSpace:
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
    def most_bytes(self) -> int:
        """Upper bound, reached if no two programs share an array."""
        return self.least_bytes + sum(program.shared_argument_bytes for program in self.programs)

    @property
    def fits(self) -> bool | None:
        """True if the bound does not exceed the capacity; None without a capacity."""
        return None if self.capacity_bytes is None else not self.missing_bytes

    @property
    def missing_bytes(self) -> int | None:
        """Least number of missing bytes, 0 if it may fit; None without a capacity."""
        return bytes_beyond(self.capacity_bytes, self.least_bytes)


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
    rows = graph.query(_ALLOCATIONS, {"compilations": list(select_all(graph, names))}).rows
    spaces: dict[tuple[int, str | None], dict[str, list[_Allocation]]] = {}
    for key, color, name, role, shape, size, count, argument, run in rows:
        programs = spaces.setdefault((cast("int", color), cast("str | None", name)), {})
        named = None if not argument else ("" if is_shared else str(run), str(argument))
        programs.setdefault(str(key), []).append(
            _Allocation(
                cast("str | None", role),
                cast("str | None", shape),
                cast("int", size),
                cast("int", count),
                named,
            )
        )
    reject_unknown_spaces(capacities or (), {color for color, _ in spaces})
    return tuple(
        ResidentSpace(color, name, _programs(programs), (capacities or {}).get(color))
        for (color, name), programs in sorted(spaces.items(), key=lambda space: space[0][0])
    )


@dataclass(frozen=True, slots=True)
class _Allocation:
    """Allocations of one role, shape, size and argument in a compilation."""

    role: str | None
    shape: str | None
    size_bytes: int
    count: int
    argument: tuple[str, str] | None
    """Run and name of an argument; None if the dump does not name it, and of all others."""


_Argument: TypeAlias = tuple[tuple[str, str] | None, str | None, int]
"""Run and name, shape and size."""


def _programs(
    allocations_by_key: Mapping[str, Sequence[_Allocation]],
) -> tuple[ResidentProgram, ...]:
    running = {
        key: sum(
            each.size_bytes * each.count
            for each in allocations
            if each.role not in ("parameter", "constant")
        )
        for key, allocations in allocations_by_key.items()
    }
    largest = max(running, key=lambda key: (running[key], key))
    arguments: Counter[_Argument] = Counter()
    programs = []
    for key, allocations in allocations_by_key.items():
        own = Counter(
            {
                (e.argument, e.shape, e.size_bytes): e.count
                for e in allocations
                if e.role == "parameter"
            }
        )
        new = own - arguments
        arguments |= Counter({each: own[each] for each in own if each[0] is not None})
        constant_bytes = sum(e.size_bytes * e.count for e in allocations if e.role == "constant")
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
            )
        )
    return tuple(programs)
