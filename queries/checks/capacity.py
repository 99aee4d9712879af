"""Whether compilations fit: what each reserves in a memory space, against what there is."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from xlagraph.graph.engine import Graph
from xlagraph.graph.statement_files import load_statement
from xlagraph.queries.advice.advise import advise
from xlagraph.queries.advice.combined_changes import CombinedChange, combine
from xlagraph.queries.advice.diagnosis import Diagnosis, Finding
from xlagraph.queries.advice.findings import LEAST_SHARE
from xlagraph.queries.advice.savings import Planner
from xlagraph.queries.catalogue.query_files import Query
from xlagraph.queries.errors import NoSuchMemorySpace
from xlagraph.queries.selection.compilations import select_all
from xlagraph.queries.stored_compilation.stored_compilation import StoredCompilation

_RESERVED: Final = load_statement(__file__, "reserved-by-space")
_MOST_DIAGNOSED: Final = 5
"""Of those that do not fit, what lacks most first: a diagnosis takes its time."""
MOST_FINDINGS: Final = 3
"""What to change first where a compilation does not fit."""


def space_text(color: int, name: str | None) -> str:
    """Return a memory space as people read it: `memory space 1 (VMEM)`."""
    return f"memory space {color} ({name})" if name else f"memory space {color}"


@dataclass(frozen=True, slots=True)
class SpaceFit:
    """What one compilation reserves in one memory space, and whether there is so much."""

    run: str
    compilation: str
    memory_space: int
    memory_space_name: str | None
    """HBM, VMEM, SMEM or host; None where that is unknown."""
    reserved_bytes: int
    capacity_bytes: int | None
    """None where the capacity is not given."""

    @property
    def space_text(self) -> str:
        """`memory space 1 (VMEM)`, as people read it."""
        return space_text(self.memory_space, self.memory_space_name)

    @property
    def fits(self) -> bool | None:
        """Exactly the capacity fits; None without one."""
        return None if self.capacity_bytes is None else not self.missing_bytes

    @property
    def missing_bytes(self) -> int | None:
        """What it reserves beyond the capacity, 0 if it fits; None without a capacity."""
        return bytes_beyond(self.capacity_bytes, self.reserved_bytes)

    @property
    def free_bytes(self) -> int | None:
        """What is left of the capacity, 0 if it does not fit; None without a capacity."""
        if self.capacity_bytes is None:
            return None
        return max(0, self.capacity_bytes - self.reserved_bytes)


def bytes_beyond(capacity_bytes: int | None, needed_bytes: int) -> int | None:
    """Return the bytes needed beyond a capacity, 0 if it is enough; None without a capacity."""
    return None if capacity_bytes is None else max(0, needed_bytes - capacity_bytes)


def check_capacity(
    graph: Graph, capacities: Mapping[int, int], names: Sequence[str] = ()
) -> tuple[SpaceFit, ...]:
    """Compare every memory space of runs and compilations with its capacity in bytes.

    All that the graph holds if none is named. What lacks most comes first, then what
    reserves most. Raises NoSuchMemorySpace if a capacity is of a memory space that none of
    them uses, and EmptyGraph if there is nothing to check.
    """
    rows = graph.query(_RESERVED, {"compilations": list(select_all(graph, names))}).rows
    fits = [
        SpaceFit(run, key, color, name, reserved, capacities.get(color))
        for run, key, color, name, reserved in cast(
            "Sequence[tuple[str, str, int, str | None, int]]", rows
        )
    ]
    reject_unknown_spaces(capacities, {fit.memory_space for fit in fits})
    # sorted is stable: of equal ones, in order of key and memory space
    return tuple(sorted(fits, key=lambda fit: (-(fit.missing_bytes or 0), -fit.reserved_bytes)))


def reject_unknown_spaces(named: Iterable[int], used: Collection[int]) -> None:
    """Raise NoSuchMemorySpace for a number that nothing uses; 0 is there on every device."""
    for color in sorted(named):
        if color and color not in used:
            raise NoSuchMemorySpace(color, used)


def first_findings(
    graph: Graph,
    space: SpaceFit,
    *,
    most: int = MOST_FINDINGS,
    catalogue: Mapping[str, Query] | None = None,
) -> tuple[Finding, ...]:
    """Return what to change first where a compilation does not fit, most savings first."""
    return _diagnosis(graph, space, catalogue).findings[:most]


@dataclass(frozen=True, slots=True)
class LackingSpace:
    """What to change where a compilation does not fit."""

    space: SpaceFit
    changes: tuple[CombinedChange, ...]
    """Most savings to expect first: as many as make it fit together, three at least."""
    problems: tuple[str, ...]
    """Files of queries that failed, each with the reason."""

    @property
    def combined(self) -> tuple[CombinedChange, ...]:
        """Those that were replanned together."""
        return tuple(change for change in self.changes if change.together_bytes is not None)

    @property
    def would_fit(self) -> bool:
        """Whether changes together save at least what is missing."""
        return any(change.fits for change in self.changes)


def changes_where_lacking(
    graph: Graph, spaces: Sequence[SpaceFit], *, catalogue: Mapping[str, Query] | None = None
) -> tuple[LackingSpace, ...]:
    """Return what to change in the five memory spaces at most that lack most.

    Where the large findings are not enough together, small ones are looked for too.
    """
    lacking = [space for space in spaces if space.fits is False]
    return tuple(_changes(graph, space, catalogue) for space in lacking[:_MOST_DIAGNOSED])


def _changes(graph: Graph, space: SpaceFit, catalogue: Mapping[str, Query] | None) -> LackingSpace:
    stored = StoredCompilation(graph, space.compilation)
    planner = Planner(stored, space.memory_space)
    missing = space.missing_bytes or 0
    diagnosis = _diagnosis(graph, space, catalogue, stored, LEAST_SHARE)
    changes = combine(planner, diagnosis.findings, missing)
    if diagnosis.hidden and not any(change.fits for change in changes):
        diagnosis = _diagnosis(graph, space, catalogue, stored, 0)
        changes = combine(planner, diagnosis.findings, missing)
    last = max(
        (number for number, change in enumerate(changes, 1) if change.together_bytes is not None),
        default=0,
    )
    return LackingSpace(space, changes[: max(last, MOST_FINDINGS)], diagnosis.problems)


def _diagnosis(
    graph: Graph,
    space: SpaceFit,
    catalogue: Mapping[str, Query] | None,
    stored: StoredCompilation | None = None,
    least_share: float = LEAST_SHARE,
) -> Diagnosis:
    return advise(
        graph,
        space.compilation,
        memory_space=space.memory_space,
        catalogue=catalogue,
        stored=stored,
        least_share=least_share,
    )
