"""`compare` counts communication between devices, and names what is gathered."""

from tests.comparison.test_explaining import LOOP, OTHER, VALUE, lines
from tests.comparison.test_lost_loops import texts

GATHERED = OTHER._replace(opcode="all-gather", held_bytes=0, shape="f32[64,16]", size_bytes=4096)
NEW = "collectives: 1 all-gather (none before), such as f32[64,16] at f.py:1"


def test_collectives_are_counted_between_programs_on_as_many_devices():
    assert (NEW, 0) in lines([VALUE], [VALUE, GATHERED], partitions=8)


def test_what_has_the_dimensions_of_a_gathered_value_follows_from_it():
    whole = VALUE._replace(shape="f32[64]", held_bytes=256)
    found = lines([VALUE], [whole, GATHERED], partitions=8)
    assert found == [(f"{NEW} (mostly f.py:1)", 192)]
    other = whole._replace(shape="f32[32]", held_bytes=128)
    assert (NEW, 0) in lines([VALUE], [other, GATHERED], partitions=8)


def test_a_dimension_of_a_gathered_value_may_be_a_factor_of_a_larger_one():
    def program(batch):
        flat = VALUE._replace(shape=f"f32[{9 * batch},8]", held_bytes=288 * batch)
        parts = [
            flat._replace(name=op, op_name=f"jit(f)/{op}", shape=f"f32[{batch},8]", held_bytes=8)
            for op in ("sin", "cos", "exp", "log", "max")
        ]
        return [flat, *parts]

    gathered = GATHERED._replace(shape="f32[16,9,8]", size_bytes=4608)
    found = lines(program(4), [*program(16), gathered], partitions=8)
    new = NEW.replace("64,16", "16,9,8")
    assert found == [(f"{new} (mostly f.py:1)", 12 * 288)]


def test_a_stack_that_is_gathered_at_once_is_no_longer_gathered_in_a_loop():
    part = VALUE._replace(op_name=f"{LOOP}/all_gather", opcode="all-gather", shape="f32[1,16]")
    whole = part._replace(op_name="jit(f)/all_gather", shape="f32[8,16]", held_bytes=512)
    gradient = whole._replace(op_name="jit(f)/psum_scatter", opcode="fusion", name="g")
    for sides, verb in ((([part], [whole, gradient]), "no longer"), (([whole], [part]), "now")):
        found = texts(*sides)
        assert found == [f"all-gather of f32[8,16] {verb} in a loop (mostly f.py:1)"]
