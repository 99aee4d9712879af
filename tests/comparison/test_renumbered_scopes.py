"""Values of layers are paired by their shapes where one more layer gives later ones a number."""

from tests.comparison.test_explaining import VALUE
from xlagraph.comparison.renumbered_scopes import key_of_lines, key_of_renumbered
from xlagraph.comparison.value_matching import match_values


def blocks(*sizes, remat=(), name="jit(f)/{}Block_{}/exp"):
    return [
        VALUE._replace(
            name=f"b{number}",
            op_name=name.format("Checkpoint" if number in remat else "", number),
            shape=f"f32[{size}]",
            live_from=number,
        )
        for number, size in enumerate(sizes)
    ]


def test_values_of_another_number_of_layers_are_paired_by_shape():
    pairs, only_a, (new,) = match_values(blocks(8, 12, 18), blocks(8, 12, 12, 18))
    assert all(a.shape == b.shape for a, b in pairs)
    assert not only_a
    assert new.shape == "f32[12]"


def test_values_of_as_many_layers_are_paired_by_number():
    before, after = blocks(8, 12), blocks(12, 18)
    assert not any(map(key_of_renumbered(before, after), before))


def test_copies_of_parameters_are_paired_by_shape_if_some_layers_have_a_checkpoint():
    """`nn.remat` counts layers on its own."""
    name = "params['{}Block_{}']['w']"
    before, after = blocks(8, 12, name=name), blocks(12, 8, 8, name=name, remat=(1, 2))
    pairs, only_a, _ = match_values(before, after)
    assert all(a.shape == b.shape for a, b in pairs)
    assert not only_a


def norms(*lines):
    """Return what a module computes by the first, the second, … `Norm` that its lines call."""
    return [
        VALUE._replace(
            name=f"n{number}",
            op_name=f"jit(f)/Block_0/Norm_{number}/sub",
            user_line=("f.py", line),
            live_from=number,
        )
        for number, line in enumerate(lines)
    ]


def test_values_of_scopes_that_have_the_numbers_of_former_ones_are_paired_by_line():
    before, after = norms(17, 20, 23), norms(20, 23)
    pairs, (gone,), only_b = match_values(before, after)
    assert all(a.user_line == b.user_line for a, b in pairs)
    assert gone.user_line == ("f.py", 17)
    assert not only_b
    pairs, _, (new,) = match_values(after, before)
    assert new.user_line == ("f.py", 17)
    moved = norms(20, 23, 26)  # by three lines above them
    assert [a.name for a, _ in match_values(before, moved).pairs] == ["n0", "n1", "n2"]
    assert not any(map(key_of_lines(before, moved), before))


def test_values_of_one_name_are_paired_by_line():
    before = [each._replace(op_name="jit(f)/jit(relu6)/min") for each in norms(18, 21)]
    _, (gone,), _ = match_values(before, before[1:])
    assert gone.user_line == ("f.py", 18)


def test_an_op_of_the_backward_pass_is_not_one_of_the_forward_pass_in_another_scope():
    forward = VALUE._replace(op_name="jit(f)/jvp(Net)/LayerNorm_0/mul")
    backward = VALUE._replace(op_name="jit(f)/transpose(jvp(Net))/BatchNorm_0/mul")
    assert not match_values([backward], [forward]).pairs
    other = backward._replace(op_name="jit(f)/transpose(jvp(Net))/LayerNorm_0/mul")
    assert match_values([backward], [other]).pairs
