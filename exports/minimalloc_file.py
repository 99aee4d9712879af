"""The heaps of a plan as problems for MiniMalloc and other static allocators.

    id,lower,upper,size[,alignment][,gaps]
    fusion.7,12,40,4096

Each row is a value, or several that must share one offset; it is named after the first of them.
`lower` and `upper` are ticks of the clock of XLA's heap simulation, the upper one exclusive: two
rows overlap if XLA may not give them the same bytes. The columns in brackets are written only if a
row needs them: `alignment` if a size is not a multiple of it, `gaps` if a row leaves its bytes to
others for some ticks. Tables of tuples are not in a heap.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from xlagraph.exports.file_formats import NothingToExport, write_whole
from xlagraph.graph.engine import Graph
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.heap import Group, merged


def write_minimalloc(graph: Graph, compilation: str, path: Path) -> None:
    """Write the heap of memory space 0 of a compilation, by its key, and each other heap.

    The heap of another memory space is in a file whose name has `-space` and its number at the
    end. Raises NothingToExport if there is no heap, and GraphUnwritable.
    """
    read = plannable_compilation(StoredCompilation(graph, compilation))
    if not (read.has_ranges and read.has_buffer_sets):
        raise NothingToExport(
            f"{compilation}: its values cannot be packed without live ranges and module text"
        )
    heaps = {heap.memory_space: heap.groups for heap in read.plan.heaps}
    alignments = {each.allocation.memory_space: each.alignment for each in read.replays}
    if not any(heaps.values()):
        raise NothingToExport(f"{compilation}: no value is in a heap")
    for memory_space, groups in heaps.items():
        ending = "" if memory_space == 0 else f"-space{memory_space}"
        text = "\n".join([*_lines(groups, alignments.get(memory_space, 1), read), ""])
        write_whole(path.with_stem(path.stem + ending), text.encode())


def _lines(
    groups: tuple[Group, ...], alignment: int, compilation: PlannableCompilation
) -> Iterator[str]:
    has_alignment = any(group.size_bytes % alignment for group in groups)
    ticks = [merged(group.ticks) for group in groups]
    has_gaps = any(len(each) > 1 for each in ticks)
    yield "id,lower,upper,size" + ",alignment" * has_alignment + ",gaps" * has_gaps
    for group, spans in zip(groups, ticks, strict=True):
        label = compilation.values[group.value_ids[0]].label.replace(
            ",", "."
        )  # 1.0 of the index {1,0}
        cells = [label, spans[0][0], spans[-1][1] + 1, group.size_bytes]
        if has_alignment:
            cells.append(alignment)
        if has_gaps:
            cells.append(
                " ".join(f"{last + 1}-{first}" for (_, last), (first, _) in pairwise(spans))
            )
        yield ",".join(map(str, cells))
