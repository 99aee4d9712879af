"""Values of layers are paired by their shapes where one more layer gives later ones a number."""

from tests.comparison.test_explaining import VALUE
from xlagraph.comparison.renumbered_scopes import key_of_renumbered
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
