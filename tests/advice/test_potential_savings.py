"""Potential savings have a range or a doubt in their text, and an edit of whole buffers."""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import pytest

from tests.advice.small_compilations import compilation, facts
from tests.planner.small_programs import value
from xlagraph.advice.causes.peak_values import PeakProgram
from xlagraph.advice.edits_of_rows import edit_of_rows
from xlagraph.advice.planned_savings import PotentialSavings, Savings, savings_of_edit
from xlagraph.planner.edits.recomputing import Recompute
from xlagraph.planner.edits.resizing import Scale
from xlagraph.planner.planned_program import PlannedAllocation
from xlagraph.queries.catalogue.declarations import Advice, ChangeKind

if TYPE_CHECKING:
    from xlagraph.planner.compilation.stored_compilation import StoredCompilation
    from xlagraph.planner.edits.live_orders import LiveOrders


@pytest.mark.parametrize(
    ("at_most", "doubt", "text"),
    [
        (None, None, "1.0 KiB"),
        (None, "the compiler may undo it", "up to 1.0 KiB"),
        (4096, None, "1.0 KiB to 4.0 KiB"),
        (4096, "the compiler may undo it", "1.0 KiB to 4.0 KiB"),
        (1024, "the compiler may undo it", "up to 1.0 KiB"),
    ],
)
def test_savings_are_written_with_their_range_or_doubt(
    at_most: int | None, doubt: str | None, text: str
) -> None:
    assert PotentialSavings(1024, at_most, "reserved", doubt, is_planned=True).text == text


@pytest.mark.parametrize("fact", [{}, {"is_stored": True}, {"lives_out": True}])
def test_a_narrower_type_is_that_of_all_values_that_share_their_bytes(fact):
    state = [value(1, 0, 3, buffer_set=1), value(2, 3, 6, buffer_set=1, **fact)]
    known = [facts(1, "f32[4]"), facts(2, "f32[4]")]
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.HALF)
    edit = edit_of_rows([{"value": "v1"}], advice, compilation(state, known))
    assert isinstance(edit, Scale)
    # the type of an input or a result belongs to the caller
    assert set(edit.kept_by_label) == ({"v1"} if fact else {"v1", "v2"})


def test_a_copy_in_a_loop_of_an_input_has_the_type_of_the_input():
    given = value(1, 0, 6, is_stored=True)
    copy = value(2, 3, 4, is_copy=True, operands=(1,), is_in_entry=False)
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.HALF)
    known = [facts(1, "f32[4]", "parameter"), facts(2, "f32[4]", "copy")]
    edit = edit_of_rows([{"value": "v2"}], advice, compilation([given, copy], known))
    assert isinstance(edit, Scale)
    assert edit.kept_by_label == {}


def test_a_checkpoint_recomputes_all_values_of_an_op():
    names = ("jit(f)/jvp(net)/tanh", "jit(f)/jvp(net)/tanh", "jit(f)/jvp(net)/dot")
    values = [value(number, number, 6) for number in range(3)]
    known = [facts(number, "f32[4]", "add", name) for number, name in enumerate(names)]
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.RECOMPUTE)
    edit = edit_of_rows([{"value": "v0"}], advice, compilation(values, known))
    assert edit == Recompute(("v0", "v1"))


@pytest.mark.parametrize(
    ("read", "scope", "doubt", "is_expected"),
    [
        pytest.param(1, "l{}", "a checkpoint keeps its inputs: around", True, id="the value"),
        pytest.param(2, "l{}", "the compiler may schedule", True, id="something smaller of it"),
        pytest.param(1, "", "a checkpoint keeps its inputs, and no scope", False, id="no layers"),
    ],
)
def test_a_checkpoint_keeps_what_the_next_layer_reads(read, scope, doubt, is_expected):
    program = layers(read, scope, "tpu")
    edit = Recompute(("v1", "v3", "v5"))
    found = savings_of_edit(ChangeKind.RECOMPUTE, edit, 3 * 4096, "reserved", program)
    assert bool(found.bytes) == (read == 2)
    assert found.at_most
    assert str(found.doubt).startswith(doubt)
    assert bool(found.likelihood) == is_expected


@pytest.mark.parametrize("saved", [0, 2, 9])
def test_a_gpu_may_choose_another_order_next_to_a_checkpoint(monkeypatch, saved):
    program = layers(1, "l{}", "gpu")
    edit = Recompute(("v1", "v3", "v5"))
    program.live_orders = None  # another order cannot be planned
    here = savings_of_edit(ChangeKind.RECOMPUTE, edit, 0, "reserved", program)
    program.live_orders = cast("LiveOrders", object())
    in_order = "xlagraph.advice.planned_savings.saved_in_parts"
    monkeypatch.setattr(in_order, lambda stored, memory_space, again: saved * 4096)
    found = savings_of_edit(ChangeKind.RECOMPUTE, edit, 0, "reserved", program)
    # no more than the values that are recomputed
    assert found.most_bytes == max(here.most_bytes, min(saved, 3) * 4096)
    assert found.bytes == here.bytes


@pytest.mark.parametrize(
    ("platform", "in_vmem", "is_sure"),
    [("tpu", 2048, False), ("tpu", 1024, True), ("gpu", 2048, True)],
)
def test_what_a_checkpoint_leaves_may_fit_into_the_vmem_of_a_tpu(
    monkeypatch, platform, in_vmem, is_sure
):
    program = PeakProgram(cast("StoredCompilation", None), 0)  # only its plan is read
    temporary = PlannedAllocation(0, 4096, "temp", 0)
    known = compilation([], [], allocations=[temporary], platform=platform)
    program.compilation = replace(known, reserved_bytes={0: 4096, 1: in_vmem})
    program.obstacle = None
    saved = Savings(1024, 2048)
    monkeypatch.setattr("xlagraph.advice.planned_savings._savings", lambda *given: saved)
    found = savings_of_edit(ChangeKind.RECOMPUTE, Recompute(()), 0, "reserved", program)
    assert (found.doubt is None) == is_sure


def layers(read, scope, platform):
    """Three layers, each of a large value and a small one; the next layer reads one of them."""
    values = [value(0, 0, 12, 64)]
    names = ["jit(f)/x"]
    for layer in range(3):
        large, small = 2 * layer + 1, 2 * layer + 2
        before = 2 * (layer - 1) + read if layer else 0
        values.append(value(large, large, 12 - layer, 4096, reads=(before,)))
        values.append(value(small, small, small + 1, 64, reads=(large,)))
        name = f"jit(f)/jvp({scope.format(layer)})"
        names += [f"{name}/tanh", f"{name}/sum"]
    for layer in reversed(range(3)):
        step = 12 - layer
        values.append(value(step, step, step, 64, reads=(2 * layer + 1,)))
        names.append(f"jit(f)/transpose(jvp({scope.format(layer)}))/mul")
    known = [
        facts(each.value_id, "f32[16]", op_name=name)
        for each, name in zip(values, names, strict=True)
    ]
    program = PeakProgram(cast("StoredCompilation", None), 0)  # only its plan is read
    program.compilation, program.obstacle = compilation(values, known, platform=platform), None
    return program


@pytest.mark.parametrize(("platform", "saved"), [("gpu", "up to 2.0 KiB"), ("cpu", "nothing is")])
def test_a_narrower_type_is_for_the_user_to_decide(platform: str, saved: str):
    values = [value(0, 0, 3, 64), value(1, 1, 3, 4096, reads=(0,))]
    known = [facts(each.value_id, "f32[16,64]") for each in values]
    program = PeakProgram(cast("StoredCompilation", None), 0)  # only its plan is read
    program.compilation, program.obstacle = compilation(values, known, platform=platform), None
    edit = Scale({"v1": Fraction(1, 2)})
    found = savings_of_edit(ChangeKind.HALF, edit, 2048, "reserved", program)
    assert found.text.startswith(saved)
    assert found.doubt is not None


@pytest.mark.parametrize(("platform", "saved"), [("gpu", "up to 2.0 KiB"), ("cpu", "nothing is")])
def test_a_narrower_type_saves_nothing_on_a_cpu_also_if_the_plan_is_not_known(platform, saved):
    program = PeakProgram(cast("StoredCompilation", None), 0)  # only its plan is read
    program.compilation, program.obstacle = compilation([], [], platform=platform), "not exact"
    edit = Scale({"v1": Fraction(1, 2)})
    assert savings_of_edit(ChangeKind.HALF, edit, 2048, "physical", program).text.startswith(saved)


def test_what_is_computed_from_a_gathered_value_or_gathered_like_it_is_sharded_with_it():
    values = [
        value(0, 0, 3, 4096),
        value(1, 1, 3, 4096, reads=(0,)),
        value(2, 4, 5, 4096),
        value(3, 2, 3, 64, reads=(1,)),
    ]
    known = [
        facts(0, "f32[16,64]", "all-gather"),
        facts(1, "f32[16,64]", "tanh"),
        facts(2, "f32[64,16]", "all-gather"),
        facts(3, "f32[16]", "reduce"),
    ]
    advice = Advice("bytes", "reserved", "", (), None, {}, ChangeKind.SHARD)
    edit = edit_of_rows([{"value": "v0", "devices": 4}], advice, compilation(values, known))
    assert isinstance(edit, Scale)
    assert edit.kept_by_label == dict.fromkeys(("v0", "v1", "v2"), Fraction(1, 4))


def test_no_shape_is_sure_to_be_stored_without_padding():
    program = layers(1, "l{}", "tpu")
    found = savings_of_edit(ChangeKind.DENSE, Scale({"v1": Fraction(1, 2)}), 0, "reserved", program)
    assert str(found.doubt).startswith("an upper bound")
