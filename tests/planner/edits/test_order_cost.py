"""What the order of instructions costs, compared with programs compiled with another order."""

import pytest

from xlagraph.advice.advise import advise
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.planned_savings import replanned_savings
from xlagraph.graph import open_graph
from xlagraph.ingest import ingest, ingest_compiled
from xlagraph.planner.compilation.plannable_compilation import plannable_compilation
from xlagraph.planner.compilation.schedulable_compilation import schedulable_program
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.planner.edits.donating import Donate
from xlagraph.planner.edits.order_cost import order_cost
from xlagraph.planner.edits.reordering_edit import Reorder
from xlagraph.planner.edits.schedules import (
    Schedule,
    order_of_schedule,
    reordering_of,
    with_order,
)
from xlagraph.planner.orders.ordered_program import reordering
from xlagraph.planner.orders.rules import Rule, rules_of
from xlagraph.queries import BadParameter, Changes, QueryError, whatif
from xlagraph.queries.catalogue.declarations import ChangeKind

MEMORY_OPTIMIZED = {"xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"}


def programs():
    """Functions with the shapes of their arguments: a checkpoint, a loop, branches, sorts."""
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def layer(x, w):
        return x + jnp.tanh(x @ w) @ w.T

    def trained(weights, x):
        def loss(weights):
            y = x
            for w in weights:
                y = jax.checkpoint(layer)(y, w)
            return (y**2).sum()

        return [w - g for w, g in zip(weights, jax.grad(loss)(weights), strict=True)]

    def looped(w, xs):
        def step(carry, x):
            carry = jnp.tanh(carry @ w) + x
            return carry, carry.sum(0)

        last, sums = jax.lax.scan(step, xs[0], xs)
        return jnp.sort(last), sums

    def branched(number, x, w):
        branches = [lambda x: jnp.sin(x @ w), lambda x: jnp.cumsum(x @ w, 0)]
        y = jax.lax.switch(number, branches, x)
        return y @ y.T, jnp.exp(y).sum()

    def wide(x):
        total = x[0]
        for factor in range(2, 8):
            total += jnp.sort(jnp.cumsum(x * factor, 0)).sum(0)
        return total

    def shape(*dimensions, dtype="float32"):
        return jax.ShapeDtypeStruct(dimensions, dtype)

    return {
        "trained": (trained, [shape(64, 96)] * 4, shape(256, 64)),
        "looped": (looped, shape(64, 64), shape(12, 32, 64)),
        "branched": (branched, shape(dtype="int32"), shape(128, 64), shape(64, 128)),
        "wide": (wide, shape(256, 64)),
    }


@pytest.fixture(scope="module")
def compiled_twice(tmp_path_factory):
    """Programs compiled in the default and in the memory-optimized order."""
    jax = pytest.importorskip("jax")
    with open_graph(tmp_path_factory.mktemp("orders") / "g.lbug", create=True) as graph:
        for name, (function, *arguments) in programs().items():
            for order, options in (("default", {}), ("memory", MEMORY_OPTIMIZED)):
                compiled = jax.jit(function, compiler_options=options).lower(*arguments).compile()
                ingest_compiled(graph, compiled, run=f"{name}/{order}")
        yield graph


@pytest.mark.parametrize("name", ["trained", "looped", "branched"])
def test_the_memory_order_is_that_of_the_compiler_to_the_byte(compiled_twice, name):
    default, memory = (
        stored_run(compiled_twice, f"{name}/{order}") for order in ("default", "memory")
    )
    plannable = plannable_compilation(default)
    found = reordering_of(default, plannable)
    schedule = found.flat(order_of_schedule(found, plannable, Schedule.MEMORY).order)
    ordered = [found.schedulable.instructions[step].name for step in schedule.steps]
    assert ordered == [each.name for each in memory.dependences]
    changed = with_order(plannable, found, schedule)
    real = {value.value_id: value for value in memory.values}
    assert {
        value.value_id: (value.live_from, value.live_until) for value in changed.program.values
    } == {
        value.value_id: (value.live_from, value.live_until)
        for value in real.values()
        if value.live_from is not None
    }
    cost = order_cost(compiled_twice, f"{name}/default", moves=0)
    (reserved,) = [each.reserved_bytes for each in cost.orders if each.name == "depth-first"]
    assert reserved == order_cost(compiled_twice, f"{name}/memory", moves=0).reserved_bytes


def test_a_whatif_in_the_memory_order_reserves_what_the_compiler_does(compiled_twice):
    found = whatif(compiled_twice, "trained/default", Changes(schedule="memory"))
    real = whatif(compiled_twice, "trained/memory")
    assert found.reserved_bytes_after == real.reserved_bytes
    assert found.temp_bytes_after == real.temp_bytes
    (effect,) = found.effects
    assert effect.change == "--schedule memory"
    assert "depth-first order" in effect.text
    assert any("CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED" in text for text in found.assumptions)


def test_the_order_that_a_program_has_already_changes_nothing(compiled_twice):
    found = whatif(compiled_twice, "trained/memory", Changes(schedule="memory"))
    assert found.saved_bytes == 0
    assert "already" in found.effects[0].text


def test_other_changes_are_made_in_the_other_order(compiled_twice):
    name = "looped/default"
    alone = whatif(compiled_twice, name, Changes(schedule="memory"))
    both = whatif(compiled_twice, name, Changes(schedule="memory", donate=["all"]))
    real = whatif(compiled_twice, "looped/memory", Changes(donate=["all"]))
    assert both.reserved_bytes_after == real.reserved_bytes_after
    assert [effect.change for effect in both.effects] == ["--schedule memory", "--donate all"]
    assert both.effects[0].saved_bytes == alone.saved_bytes


def test_advice_is_to_compile_with_the_setting_that_saves_what_the_compiler_saves(compiled_twice):
    default, memory = (
        whatif(compiled_twice, f"wide/{order}").reserved_bytes for order in ("default", "memory")
    )
    (finding,) = of_schedules(advise(compiled_twice, "wide/default"))
    assert finding.bytes == default - memory
    assert finding.savings.doubt is None
    assert "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED" in finding.advice.remedies["jax"]
    assert "tried with jaxlib 0.9.1" in finding.advice.remedies["jax"]
    assert {str(row["reason"]).partition(":")[0] for row in finding.rows} <= {
        "made early",
        "read late",
    }
    assert not of_schedules(advise(compiled_twice, "wide/memory"))


def test_changes_that_are_combined_with_the_setting_are_made_in_its_order(compiled_twice):
    program = PeakProgram(stored_run(compiled_twice, "looped/default"), 0)
    order = Reorder.of(program.stored, program.compilation, Schedule.MEMORY)
    donation = Donate.matching(program.compilation, ["all"])
    together = whatif(compiled_twice, "looped/default", Changes(schedule="memory", donate=["all"]))
    assert replanned_savings(program, [donation, order]).bytes == together.saved_bytes


def of_schedules(diagnosis):
    return [each for each in diagnosis.findings if each.advice.change is ChangeKind.SCHEDULE]


def test_an_unknown_schedule_names_the_known_ones():
    with pytest.raises(BadParameter, match="memory, depth-first, post-order, list"):
        Changes(schedule="fast")


def stored_run(graph, run):
    (key,) = graph.query(
        "MATCH (c:Compilation) WHERE c.run = $run RETURN c.key AS key", {"run": run}
    ).rows[0]
    return StoredCompilation(graph, key)


def test_the_order_of_a_dump_is_recognized(compiled_twice):
    memory = schedulable_program(stored_run(compiled_twice, "trained/memory"))
    assert memory is not None
    assert rules_of(memory) == [Rule.DEPTH_FIRST]


@pytest.fixture(scope="module")
def graph(corpus, tmp_path_factory):
    """All dumps in the repository."""
    with open_graph(tmp_path_factory.mktemp("orders") / "g.lbug", create=True) as graph:
        ingest(graph, corpus)
        yield graph


def test_the_live_ranges_of_every_dump_are_computed_exactly(graph):
    keys = graph.query("MATCH (c:Compilation) RETURN c.key AS key ORDER BY key").rows
    count = 0
    for (key,) in keys:
        stored = StoredCompilation(graph, key)
        plannable = plannable_compilation(stored)
        if plannable.has_ranges and plannable.has_buffer_sets:
            program = schedulable_program(stored)
            assert program is not None
            found = reordering(plannable.program, program)
            assert found.is_exact, key
            assert found.flat(program.present_order).steps == tuple(
                range(len(program.instructions))
            )
            count += 1
    assert count > 10


def test_the_parts_of_the_reserved_bytes_add_up_and_none_is_negative(graph):
    rows = graph.query(
        "MATCH (c:Compilation) RETURN c.run AS run, c.key AS key ORDER BY run, c.valueCount, key"
    ).rows
    largest_of_runs = dict(rows)
    count = 0
    for key in largest_of_runs.values():
        try:
            cost = order_cost(graph, key, moves=0)
        except QueryError:
            continue
        count += 1
        parts = (cost.bound_bytes, cost.order_bytes, cost.sharing_bytes, cost.packing_bytes)
        assert min(parts) >= 0, key
        assert sum(parts) == cost.reserved_bytes
    assert count > 10


def test_another_order_is_not_planned_for_a_tpu(graph):
    key = graph.query(
        "MATCH (c:Compilation) WHERE c.platform = 'tpu' AND c.scheduleLength IS NOT NULL"
        " RETURN c.key AS key ORDER BY key"
    ).rows[0][0]
    with pytest.raises(QueryError, match="VMEM"):
        order_cost(graph, key)
