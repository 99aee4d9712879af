"""Checkpoints outside of loops save what the order of the recomputed instructions allows."""

from dataclasses import replace

from tests.advice.small_compilations import compilation, facts
from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.edits import recomputed_parts
from xlagraph.planner.edits.recomputed_parts import recomputed_in_parts
from xlagraph.planner.edits.recomputed_values import parts_of_forward_pass
from xlagraph.planner.memory_plan import plan_memory
from xlagraph.planner.orders.order_ranges import Ranges
from xlagraph.planner.orders.rules import Rule, order_of
from xlagraph.planner.orders.schedulable import SchedulableComputation

LAYERS = 6


def step(layers=LAYERS, wide="fusion"):
    """Layers of a wide and a narrow value, and gradients from the last layer to the first."""
    rows = [("parameter0", "", 64), ("parameter1", "", 0)]
    x, wides = "parameter0", []
    for number in range(layers):
        wides.append(f"{wide}{number}")
        rows += [(wides[-1], x, 1024), (f"dot{number}", wides[-1], 64)]
        x = f"dot{number}"
    rows.append(("tanh0", x, 64))
    x = "tanh0"
    for number in reversed(range(layers)):
        rows.append((f"multiply{number}", f"{x} {wides[number]}", 64))
        x = f"multiply{number}"
    rows.append(("negate0", x, 64))
    return [row for row in rows if row[2]]


def compiled(found, platform="cpu"):
    names = {
        value.value_id: found.schedulable.instructions[value.defined_at].name
        for value in found.schedulable.values
    }
    known = [
        facts(
            value_id,
            "f32[16]",
            name.rstrip("0123456789"),
            "jit(f)/transpose(jvp())/mul" if "multiply" in name else "jit(f)/jvp()/exp",
            name=name,
        )
        for value_id, name in names.items()
    ]
    made = compilation(found.planned.values, known, platform=platform)
    readers = {value.value_id: value.uses for value in found.schedulable.values}
    return replace(made, readers=readers)  # a value has the id of its step


def ordered(found, rule):
    return found.program(found.flat(order_of(found.schedulable, rule)))


def in_parts(found, known, rule):
    longer = recomputed_in_parts(found, known, ordered(found, rule))
    return longer and longer.program(longer.flat(order_of(longer.schedulable, rule)))


def reserved(found, program):
    made = compilation(program.values, ())
    return plan_memory(made.program, made.replays, made.plan).reserved_bytes()


def test_what_layers_hand_on_is_kept_and_the_rest_is_recomputed_late():
    found = reorderable(*step())
    after = in_parts(found, compiled(found), Rule.DEPTH_FIRST)
    assert after is not None
    added = [value for value in after.values if value.value_id not in found.planned.by_id]
    # the last layer and the result are one part
    assert [value.size_bytes for value in added] == [1024] * LAYERS + [64] * 2
    before = ordered(found, Rule.DEPTH_FIRST)
    assert reserved(found, before) > 1024 * LAYERS
    assert reserved(found, after) < 1024 * 2


def test_nothing_is_saved_in_an_order_that_recomputes_early():
    found = reorderable(*step())
    after = in_parts(found, compiled(found), Rule.BREADTH_FIRST)
    assert after is not None
    assert reserved(found, after) > 1024 * LAYERS


def test_what_a_checkpoint_would_compute_from_kept_values_alone_is_merged():
    found = reorderable(*step(wide="convolution"))
    assert in_parts(found, compiled(found), Rule.DEPTH_FIRST) is None


def test_with_barriers_a_part_is_recomputed_when_the_gradient_of_its_result_is_known():
    found = reorderable(*step(wide="convolution"))
    longer = recomputed_in_parts(found, compiled(found, "gpu"), ordered(found, Rule.DEPTH_FIRST))
    assert longer is not None
    instructions = longer.schedulable.instructions
    waits = {
        each.name: [instructions[step].name for step in each.control_predecessors]
        for each in instructions
        if each.name.startswith("convolution") and each.name.endswith(".remat")
    }
    gradients = {f"convolution{n}.remat": [f"multiply{n + 1}"] for n in range(LAYERS - 1)}
    assert waits == {f"convolution{LAYERS - 1}.remat": [], **gradients}


def test_with_barriers_what_makes_values_of_several_layers_is_kept(monkeypatch):
    found = reorderable(*step(wide="convolution"))
    parts = parts_of_forward_pass(compiled(found, "gpu"), ordered(found, Rule.DEPTH_FIRST))
    steps = {each.name: n for n, each in enumerate(found.schedulable.instructions)}
    first, later = steps["convolution1"], steps["convolution4"]
    values = tuple(
        each._replace(defined_at=first, positions=(first,)) if each.defined_at == later else each
        for each in found.schedulable.values
    )
    found = replace(found, schedulable=replace(found.schedulable, values=values))
    parts = parts._replace(made_early={later: later})
    monkeypatch.setattr(recomputed_parts, "parts_of_forward_pass", lambda *_: parts)
    longer = recomputed_in_parts(found, compiled(found, "gpu"), ordered(found, Rule.DEPTH_FIRST))
    assert longer is not None
    names = [each.name for each in longer.schedulable.instructions]
    assert "convolution0.remat" in names
    assert "convolution1.remat" not in names


def with_called_parts(found):
    """Return a program whose calls run a fusion each, as CPUs do for several threads."""
    program = found.schedulable
    instructions, computations = list(program.instructions), dict(program.computations)
    values = {value.defined_at: value for value in program.values}
    for step, each in enumerate(program.instructions):
        if each.opcode == "call":
            given, inner = len(instructions), len(instructions) + 1
            instructions += [
                each._replace(name=f"{each.name}.given", opcode="parameter", operands=()),
                each._replace(name=f"{each.name}.clone", opcode="fusion", operands=(given,)),
            ]
            body = f"body_of_{each.name}"
            computations[body] = SchedulableComputation(body, (given, inner), inner)
            instructions[step] = each._replace(callees=(body,), defined_bytes=0)
            values[step] = values[step]._replace(defined_at=inner, positions=(inner, step))
            for operand in each.operands:
                read = values[operand]
                values[operand] = read._replace(
                    positions=(*read.positions, given), uses=(*read.uses, inner)
                )
    called = replace(
        program,
        instructions=tuple(instructions),
        computations=computations,
        values=tuple(values.values()),
    )
    return replace(found, schedulable=called, ranges=Ranges(called, found.ranges.rules))


def test_what_calls_compute_is_recomputed_too():
    found = reorderable(*step(wide="call"))
    called = with_called_parts(found)
    longer = recomputed_in_parts(called, compiled(found), ordered(called, Rule.DEPTH_FIRST))
    assert longer is not None
    after = longer.program(longer.flat(order_of(longer.schedulable, Rule.DEPTH_FIRST)))
    assert reserved(called, ordered(called, Rule.DEPTH_FIRST)) > 1024 * LAYERS
    assert reserved(called, after) < 1024 * 2


def test_a_result_is_not_recomputed():
    found = reorderable(*step())
    result = next(each for each in found.schedulable.values if each.size_bytes == 1024)
    values = tuple(
        each._replace(lives_out=each.value_id == result.value_id) for each in found.planned.values
    )
    found = replace(found, planned=replace(found.planned, values=values))
    after = in_parts(found, compiled(found), Rule.DEPTH_FIRST)
    assert after is not None
    added = [value for value in after.values if value.value_id not in found.planned.by_id]
    assert [value.size_bytes for value in added].count(1024) == LAYERS - 1


def test_a_program_without_layers_is_not_recomputed_in_parts():
    found = reorderable(*step(layers=2))
    assert in_parts(found, compiled(found), Rule.DEPTH_FIRST) is None


def test_nothing_is_recomputed_without_a_backward_pass():
    found = reorderable(*step())
    known = compiled(found)
    forward = {
        value_id: value._replace(op_name="jit(f)/exp") for value_id, value in known.values.items()
    }
    assert in_parts(found, replace(known, values=forward), Rule.DEPTH_FIRST) is None
