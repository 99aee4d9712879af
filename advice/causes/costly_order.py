"""Find values that are live at the peak only because of the order of instructions."""

from collections.abc import Iterator
from typing import Final

from xlagraph.advice.causes.cause import Cause, evidence_row
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.planner.edits.order_result import named_order
from xlagraph.planner.edits.schedules import memory_setting
from xlagraph.planner.orders.rules import is_made_by_xla, may_make_most
from xlagraph.planner.orders.waiting import waiting_values
from xlagraph.queries.catalogue.declarations import ChangeKind

_ON_CPU: Final = (
    "XLA_FLAGS=--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED; if XLA does not know"
    " it, --xla_cpu_enable_concurrency_optimized_scheduler=false"
)
_TIME_ON_CPU: Final = (
    "A step may take longer, because fewer instructions can run at the same time: measure it."
)
_TIME_ON_GPU: Final = (
    "A step may take longer, because collectives no longer overlap with computation: measure it."
)


def costly_order(program: PeakProgram) -> Iterator[Cause]:
    """Yield the values that wait at the peak, if the memory-optimized order has a lower one."""
    compilation = program.compilation
    setting = memory_setting(compilation)
    if setting is None:
        return
    orders = program.live_orders
    if orders is None:
        return
    here, other, chosen = orders.here, orders.other, orders.chosen
    edit = program.memory_order if other.peak_bytes < here.peak_bytes else None
    known = orders.reordering.schedulable
    if edit is None or (not is_made_by_xla(known) and may_make_most(chosen.rule, known)):
        return  # dependences are missing, and it is compiled so already
    rows = tuple(
        evidence_row(
            program.values[each.value_id],
            f"{each.wait}: made at step {each.made_at}"
            + (", and returned" if each.read_at is None else f", read at step {each.read_at}"),
        )
        for each in waiting_values(orders.model, here, other)
    )
    flags = setting if compilation.is_gpu else _ON_CPU
    by_library = "" if compilation.is_gpu else f"; where a library calls jax.jit, with {flags}"
    time = _TIME_ON_GPU if compilation.is_gpu else _TIME_ON_CPU
    yield Cause(
        "lifetime/longest",
        f"The schedule keeps values at the peak that {named_order(chosen.rule)} does not keep",
        ChangeKind.SCHEDULE,
        edit,
        rows,
        {
            "jax": f"Compile with {setting}{by_library}. {time}",
            "tensorflow": f"Compile with {flags}. {time}",
            "pytorch": f"Compile with {flags}. {time}",
        },
        edit.doubt,
        is_exact=True,
        likelihood=1.0 if edit.doubt is None else None,
    )
