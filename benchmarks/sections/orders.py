"""Rows about other orders of instructions, compared with a replan in the present order."""

from collections.abc import Iterator, Mapping

from benchmarks.measure import in_child
from benchmarks.settings import Settings
from benchmarks.table import Row, format_bytes, growth_row, ratio_row, shown_row

INSTRUCTIONS_PER_LAYER = 101
GOAL_SECONDS: Mapping[int, float] = {91: 3.0, 457: 15.0}
"""Layers of steps of about 9,200 and 46,200 instructions, and the seconds for one order."""


def rows(settings: Settings) -> Iterator[Row]:
    """Replan each step in this order and in another one, and find what its order costs."""
    sizes = tuple(GOAL_SECONDS) if settings.full else (23, 91)
    costs = []
    for layers in sizes:
        graph = settings.fresh(f"orders-{layers}.lbug")
        in_child("ingest", graph, settings.training_step(layers))
        size = f"{INSTRUCTIONS_PER_LAYER * layers:,} instructions"
        present = in_child("replan", graph, "").seconds
        memory = in_child("replan", graph, "memory")
        order = in_child("order", graph)
        costs.append(order.seconds)
        what = f"whatif --schedule memory, {size}"
        wanted = f"{GOAL_SECONDS[layers]:g} s on an idle machine" if layers in GOAL_SECONDS else ""
        yield ratio_row(what, memory.seconds, "whatif", present, 2.5, wanted)
        yield ratio_row(f"order, {size}", order.seconds, "whatif", present, None)
        peaks = [format_bytes(each.answer["peak_bytes"]) for each in (memory, order)]
        yield shown_row(f"peak memory of both, {size}", " ".join(peaks))
    yield growth_row("order", sizes, costs)
