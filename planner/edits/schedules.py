"""Schedules that a user can ask for: XLA's orders of instructions on each platform."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.orders.choice_of_three import choice_of_three, lacks_dependences
from xlagraph.planner.orders.order_ranges import FlatSchedule
from xlagraph.planner.orders.ordered_program import Reordering, reordering
from xlagraph.planner.orders.rules import Rule, may_make_all, order_of
from xlagraph.planner.orders.schedulable import Order, SchedulableProgram
from xlagraph.queries.errors import QueryError

_CPU: Final = (
    'compiler_options={"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"} of jax.jit'
    " (tried with jaxlib 0.9.1 to 0.12.0.1; from 0.5.1 to 0.9.0"
    ' {"xla_cpu_enable_concurrency_optimized_scheduler": False})'
)
_GPU: Final = (
    "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=false"
    " --xla_gpu_enable_analytical_sol_latency_estimator=false"
    " (tried with jaxlib 0.10.2 and 0.12.0.1)"
)


LACKING: Final = (
    "XLA makes this order with none of its schedulers, so dependences may be missing: jaxlib 0.12"
    " drops barriers after it has ordered the instructions"
)
"""Why the orders of XLA may differ from those that are planned."""


class Schedule(StrEnum):
    """An order of instructions to plan for."""

    MEMORY = "memory"
    """The order of the platform's setting that saves memory."""
    DEPTH_FIRST = "depth-first"
    POST_ORDER = "post-order"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class ChosenOrder:
    """A schedule's order."""

    rule: Rule
    """The scheduler of XLA that makes it."""
    order: Order
    setting: str | None
    """Setting with which XLA compiles it; None if there is none."""


def memory_setting(compilation: PlannableCompilation) -> str | None:
    """Return the setting of the platform that saves memory, and where it was tried."""
    if compilation.is_gpu:
        return _GPU
    return _CPU if compilation.platform == "cpu" else None


def reordering_of(stored: StoredCompilation, plannable: PlannableCompilation) -> Reordering:
    """Read what the instructions of a compilation depend on.

    Raises QueryError if it is not stored, or if another order cannot be planned.
    """
    if not plannable.has_ranges:
        raise QueryError(f"{stored.key}: the dump has no live ranges, so nothing can be planned")
    if plannable.is_tpu:
        raise QueryError(
            f"{stored.key}: another order cannot be planned for a TPU, whose dump is written after"
            " values were moved to VMEM and copies were inserted; compile with"
            " XLA_FLAGS=--xla_tpu_enable_latency_hiding_scheduler=false and compare (tried with"
            " libtpu 0.0.42: no change on one device, more memory on eight)"
        )
    program = schedulable_program(stored) if plannable.has_buffer_sets else None
    if program is None:
        raise QueryError(
            f"{stored.key}: the dump was ingested without a complete module text, so the order of"
            " its instructions cannot be changed; keep the `.txt` file of the same name next to"
            " the dump"
        )
    return reordering(plannable.program, program)


def recomputes_early(program: SchedulableProgram | None) -> bool:
    """Return True if a CPU recomputes long before values are read: unless ordered for memory."""
    return program is None or not may_make_all(Rule.DEPTH_FIRST, program)


def order_of_schedule(
    found: Reordering, compilation: PlannableCompilation, schedule: Schedule
) -> ChosenOrder:
    """Return the order that XLA makes for a schedule.

    Raises QueryError if the dump does not have all that it depends on.
    """
    if schedule is Schedule.MEMORY and compilation.is_gpu:
        rule, orders = choice_of_three(found)
        if lacks_dependences(found, orders[rule]):
            raise QueryError(
                f"{compilation.key}: another order cannot be planned, because {LACKING}"
            )
        return ChosenOrder(rule, orders[rule], _GPU)
    if schedule in (Schedule.MEMORY, Schedule.DEPTH_FIRST):
        rule = Rule.DEPTH_FIRST
        setting = memory_setting(compilation) if not compilation.is_gpu else None
    else:
        rule, setting = Rule(schedule.value), None
    return ChosenOrder(rule, order_of(found.schedulable, rule), setting)


def with_order(
    compilation: PlannableCompilation, found: Reordering, schedule: FlatSchedule
) -> PlannableCompilation:
    """Return a compilation whose instructions run in another order.

    Its steps are those of the new order.
    """
    _, lasts = found.ranges.of(schedule)
    _, needed = found.ranges.needed(schedule)
    new_step = schedule.new_step.tolist()
    reordered = dict(compilation.values)
    for value, last, until in zip(
        found.schedulable.values, lasts.tolist(), needed.tolist(), strict=True
    ):
        known = reordered[value.value_id]
        reordered[value.value_id] = known._replace(
            live_until=last,
            last_use=max([new_step[step] for step in value.uses], default=None),
            needed_until=None if known.needed_until is None else until,
        )
    return replace(
        compilation, program=found.program(schedule), values=reordered, compiled=compilation
    )
