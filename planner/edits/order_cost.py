"""Find what the order of instructions costs, and which values wait because of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.hlo.op_names import is_recomputed
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.order_result import (
    MovedInstructions,
    OrderCost,
    PlannedOrder,
    WaitingGroup,
)
from xlagraph.planner.edits.schedules import LACKING, memory_setting, reordering_of
from xlagraph.planner.memory_plan import MemoryPlan, plan_memory
from xlagraph.planner.orders.choice_of_three import choice_of_three, lacks_dependences
from xlagraph.planner.orders.live_bytes import LiveBytes, LiveBytesModel
from xlagraph.planner.orders.lower_bound import lower_bound
from xlagraph.planner.orders.moves import best_moves
from xlagraph.planner.orders.ordered_program import Reordering
from xlagraph.planner.orders.rules import Rule, rules_of
from xlagraph.planner.orders.schedulable import Order
from xlagraph.planner.orders.waiting import WaitingValue, waiting_values
from xlagraph.planner.packing import pack
from xlagraph.planner.solving import SolvedPacking, solve_packing
from xlagraph.queries.runner.compilations import find_compilation
from xlagraph.runtime.memory import collector_paused

_MOVES: Final = 5
_COLLECTIVES: Final = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective")


@collector_paused(has_many=True)
def order_cost(
    graph: Graph, compilation: str | None = None, *, moves: int = _MOVES, solve: float = 0
) -> OrderCost:
    """Replan a compilation in XLA's other orders; find the values that wait, and what moves save.

    At most `moves` moves are returned. `solve` is a number of seconds in which to search for the
    smallest heap. Raises QueryError if the dump does not tell what the instructions depend on,
    and SolverMissing.
    """
    key = find_compilation(graph, compilation)
    stored = StoredCompilation(graph, key.key)
    plannable = plannable_compilation(stored)
    found = reordering_of(stored, plannable)
    costs = _Costs(plannable, found)
    result = costs.result(moves, () if key.note is None else (key.note,))
    return replace(result, solved=costs.solved(solve)) if solve else result


class _Costs:
    def __init__(self, compilation: PlannableCompilation, reordering: Reordering) -> None:
        self._compilation = compilation
        self._reordering = reordering
        self._program = reordering.schedulable
        self._before = compilation.plan
        self._model = LiveBytesModel(reordering)
        self._here = self._model.of(reordering.flat(self._program.present_order))
        self._rules = rules_of(self._program)

    def result(self, moves: int, notes: tuple[str, ...]) -> OrderCost:
        compilation, program = self._compilation, self._program
        preferred, orders = choice_of_three(self._reordering)
        chosen = preferred if compilation.is_gpu else Rule.DEPTH_FIRST
        planned = {rule: self._planned(rule, order, chosen) for rule, order in orders.items()}
        bound = lower_bound(compilation.program, program)
        reserved = compilation.reserved_bytes.get(0, 0)
        best = min(planned, key=lambda rule: (planned[rule].reserved_bytes, rule is not chosen))
        if planned[chosen].reserved_bytes < reserved:
            best = chosen  # what a setting makes is of more use than the very best
        is_better = planned[best].reserved_bytes < reserved
        other = self._model.of(self._reordering.flat(orders[best])) if is_better else None
        temp = [each for each in compilation.replays if each.allocation.memory_space == 0]
        heap = self._before.heap()
        temp_bytes = sum(each.allocation.size_bytes for each in temp)
        return OrderCost(
            compilation=compilation.key,
            instruction_count=len(program.instructions),
            present=tuple([rule.value for rule in self._rules]),
            reserved_bytes=reserved,
            reserved_bytes_replanned=self._before.reserved_bytes(),
            temp_bytes=temp_bytes,
            orders=tuple(planned.values()),
            chosen=chosen.value,
            is_choice=compilation.is_gpu,
            bound_bytes=bound.size_bytes,
            bound_instruction=None if bound.instruction is None else self._name(bound.instruction),
            live_bytes=self._here.peak_bytes,
            peak_step=self._here.peak_step,
            packing_bytes=temp_bytes - heap.lower_bound_bytes if heap is not None else 0,
            compared_with=best.value if is_better else None,
            waiting=tuple(self._waiting(other)) if other is not None else (),
            moves=tuple(self._moves(moves)),
            doubts=tuple(self._doubts(orders[preferred])),
            notes=notes,
        )

    def solved(self, seconds: float) -> SolvedPacking | None:
        """Search for the smallest temporary block; None if there is none."""
        heap = self._before.heap()
        if heap is None or not heap.groups:
            return None
        known = next(
            each
            for each in self._compilation.replays
            if each.allocation.memory_space == heap.memory_space
        )
        packing = pack(heap.groups, known.alignment, known.strategy)
        found = solve_packing(heap.groups, known.alignment, packing.size_bytes, seconds)
        tables = heap.size_bytes - packing.size_bytes
        return replace(
            found,
            size_bytes=found.size_bytes + tables,
            bound_bytes=found.bound_bytes + tables,
        )

    def _plan(self, order: Order) -> MemoryPlan:
        changed = self._reordering.program(self._reordering.flat(order))
        return plan_memory(changed, self._compilation.replays)

    def _planned(self, rule: Rule, order: Order, chosen: Rule) -> PlannedOrder:
        plan = self._plan(order)
        setting = memory_setting(self._compilation) if rule is chosen else None
        return PlannedOrder(rule.value, plan.reserved_bytes(), plan.temp_bytes(), setting)

    def _waiting(self, other: LiveBytes) -> Iterable[WaitingGroup]:
        """Group the values that wait by kind, line and scope, the largest group first."""
        known = self._compilation.values
        groups: dict[tuple[str, str | None, str | None], list[WaitingValue]] = {}
        for value in waiting_values(self._model, self._here, other):
            place = _place(known[value.value_id])
            groups.setdefault((value.wait, *place), []).append(value)
        found = [
            WaitingGroup(
                wait,
                sum(value.size_bytes for value in values),
                len(values),
                line,
                scope,
                known[values[0].value_id].label,
                self._delay(values[0]),
            )
            for (wait, line, scope), values in groups.items()
        ]
        return sorted(found, key=lambda group: (-group.size_bytes, group.largest))

    def _delay(self, value: WaitingValue) -> str:
        """Return what delays the last reader of a value."""
        op_name = self._compilation.values[value.value_id].op_name
        made = f"{'recomputed' if is_recomputed(op_name) else 'made'} at step {value.made_at}"
        if value.read_at is None:
            return f"{made}, not read at the peak or later"
        reader = f"{self._named(value.read_at)} reads it at step {value.read_at}"
        new_step = self._here.schedule.new_step
        if value.waits_for is None or new_step[value.waits_for] <= new_step[value.made_at]:
            return f"{made}; {reader}, but could run at once"
        needed = f"{self._named(value.waits_for)}, step {value.waits_for}"
        if value.wait == "read late":
            return f"{made}; {reader}, but could run after {needed}"
        return f"{made}; {reader}, which must wait for {needed}"

    def _moves(self, count: int) -> Iterable[MovedInstructions]:
        least = self._before.reserved_bytes()
        found = []
        for move in best_moves(self._model, self._program.present_order, count):
            reserved = self._plan(move.order).reserved_bytes()
            step = move.moved[-1]
            found.append(
                MovedInstructions(
                    self._name(step),
                    len(move.moved),
                    step,
                    self._name(move.before),
                    move.before,
                    reserved,
                )
            )
        # a move that lowers the live bytes need not lower the reserved ones
        best = min(found, key=lambda move: move.reserved_bytes, default=None)
        if best is None or best.reserved_bytes >= least:
            return ()
        return found[: found.index(best) + 1]

    def _doubts(self, preferred: Order) -> Iterable[str]:
        reserved = self._compilation.reserved_bytes.get(0, 0)
        if not self._reordering.is_exact:
            yield "the live ranges of this order are not reproduced: do not trust the figures"
        elif self._before.reserved_bytes() != reserved:
            difference = self._before.reserved_bytes() - reserved
            yield (
                f"replanning this order differs by {difference:+,} bytes from XLA's plan: do not"
                " trust differences of that size"
            )
        is_gpu = self._compilation.is_gpu
        if not self._rules and (not is_gpu or lacks_dependences(self._reordering, preferred)):
            yield LACKING
        if is_gpu and self._program.is_asynchronous:
            yield (
                "the list order can differ in ties, and asynchronous operations are not moved"
                " apart, so figures for a GPU are near but not exact"
            )
        elif is_gpu and Rule.LIST not in self._rules:
            yield "the list order can differ in ties, so its figures are near but not exact"

    def _name(self, step: int) -> str:
        return self._program.instructions[step].name

    def _named(self, step: int) -> str:
        """Return an instruction with its kind, if it is one that often delays others."""
        each = self._program.instructions[step]
        if each.opcode.startswith(_COLLECTIVES):
            return f"the collective {each.name}"
        if each.opcode.startswith(("copy", "slice-start", "slice-done")):
            return f"the copy {each.name}"
        return each.name


def _place(value: StoredValue) -> tuple[str | None, str | None]:
    """Return the user's line of a value, and the scope of its op name."""
    scope, _, _ = (value.known_op_name or "").rpartition("/")
    lines = value.source_lines
    return (lines[-1] if lines else None), scope or None
