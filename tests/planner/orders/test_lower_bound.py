"""The lower bound of the memory that a program reserves, for every order."""

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.planner.orders.small_schedules import reorderable
from xlagraph.planner.memory_plan import plan_memory
from xlagraph.planner.orders.live_bytes import LiveBytesModel
from xlagraph.planner.orders.lower_bound import lower_bound
from xlagraph.planner.orders.moves import best_moves
from xlagraph.planner.orders.rules import Rule, order_of
from xlagraph.planner.planned_program import Overwrite
from xlagraph.planner.replay import replay


@st.composite
def programs(draw):
    """Draw a program of up to 7 instructions; some may be written over an operand."""
    count = draw(st.integers(2, 7))
    rows = [("parameter0", "", 16 * draw(st.integers(1, 4)))]
    overwrites = {}
    for number in range(1, count):
        most = min(number, 2)
        read = draw(st.lists(st.integers(0, number - 1), min_size=1, max_size=most, unique=True))
        size = 16 * draw(st.integers(1, 4))
        rows.append((f"op{number}", " ".join(rows[each][0] for each in read), size))
        same = [each for each in read if rows[each][2] == size]
        if same and draw(st.booleans()):
            overwrites[number] = tuple(
                Overwrite(each, is_operand=True, may_share_block=True) for each in same
            )
    return reorderable(*rows, overwrites=overwrites)


def possible_orders(program):
    for steps in permutations(range(len(program.instructions))):
        place = {step: row for row, step in enumerate(steps)}
        if all(
            place[operand] < place[step]
            for step in steps
            for operand in program.instructions[step].operands
        ):
            yield {"main": steps}


def reserved_bytes(reordering, order):
    planned = reordering.program(reordering.flat(order))
    return plan_memory(planned, replay(reordering.planned)).reserved_bytes()


@settings(max_examples=60, deadline=None)
@given(programs())
def test_no_order_reserves_less(reordering):
    bound = lower_bound(reordering.planned, reordering.schedulable).size_bytes
    least = min(
        reserved_bytes(reordering, order) for order in possible_orders(reordering.schedulable)
    )
    assert bound <= least


@settings(max_examples=60, deadline=None)
@given(programs(), st.sampled_from(Rule))
def test_every_scheduler_and_every_move_gives_a_possible_order(reordering, rule):
    program = reordering.schedulable
    possible = {order["main"] for order in possible_orders(program)}
    order = order_of(program, rule)
    assert tuple(order["main"]) in possible
    model = LiveBytesModel(reordering)
    least = model.of(reordering.flat(order)).peak_bytes
    for move in best_moves(model, order, 3):
        assert tuple(move.order["main"]) in possible
        assert model.of(reordering.flat(move.order)).peak_bytes == move.peak_bytes < least
        least = move.peak_bytes


@settings(max_examples=60, deadline=None)
@given(programs())
def test_no_packing_needs_less_than_the_live_bytes(reordering):
    model = LiveBytesModel(reordering)
    for order in possible_orders(reordering.schedulable):
        live = model.of(reordering.flat(order))
        assert live.peak_bytes <= reserved_bytes(reordering, order)


def test_a_value_that_every_order_needs_counts_with_what_is_made_meanwhile():
    reordering = reorderable(
        ("parameter0", "", 16), ("a1", "parameter0", 64), ("b2", "parameter0", 64),
        ("c3", "a1 b2", 16),
    )  # fmt: skip
    found = lower_bound(reordering.planned, reordering.schedulable)
    assert (found.size_bytes, found.instruction) == (64 + 64 + 16, 3)
