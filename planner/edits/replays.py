"""Replay the temporary blocks of a graph and compare them with XLA's plan byte for byte."""

from collections.abc import Sequence
from dataclasses import dataclass

from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.planned_program import PRESET_SPACES
from xlagraph.planner.replay import replay
from xlagraph.queries.runner.compilations import select_all

__all__ = ["ReplayedBlock", "replay_blocks"]


@dataclass(frozen=True, slots=True)
class ReplayedBlock:
    """A temporary block of XLA's plan, packed again."""

    compilation: str
    memory_space: int
    memory_space_name: str | None
    """HBM, VMEM, host, …; None if unknown."""
    allocation: int
    temp_bytes: int
    temp_bytes_replayed: int
    offsets_equal: bool
    values_of_other_spaces: int = 0
    """Values in it that belong to another memory space, which XLA packs by rules of its own."""

    @property
    def is_exact(self) -> bool:
        """True if the size and every offset equal XLA's."""
        return self.offsets_equal and self.temp_bytes == self.temp_bytes_replayed

    @property
    def is_packed_by_another_method(self) -> bool:
        """True if XLA places values there by other rules (TPU VMEM)."""
        return self.memory_space in PRESET_SPACES


def replay_blocks(graph: Graph, names: Sequence[str] = ()) -> tuple[ReplayedBlock, ...]:
    """Replay the temporary blocks of the named runs and compilations, or of all.

    Compilations without live ranges are skipped. Raises EmptyGraph.
    """
    read = (
        plannable_compilation(StoredCompilation(graph, key)) for key in select_all(graph, names)
    )
    return tuple(
        ReplayedBlock(
            each.key,
            block.allocation.memory_space,
            each.space_names.get(block.allocation.memory_space),
            block.allocation.number,
            block.allocation.size_bytes,
            block.size_bytes,
            block.offsets_equal,
            len(each.program.in_blocks_of_other_spaces.get(block.allocation.number, ())),
        )
        for each in read
        if each.has_ranges
        for block in replay(each.program)
    )
