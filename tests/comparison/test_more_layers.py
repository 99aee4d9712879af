"""`compare` counts layers where the names of inputs say nothing."""

import pytest

from tests.comparison.test_called_functions import Module
from tests.comparison.test_explaining import VALUE
from xlagraph.comparison.called_functions import name_called
from xlagraph.comparison.held_values import Reserved, ReservedPart
from xlagraph.comparison.more_layers import LAYERS as MARK
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, ReasonKind

LAYERS = ["conv", "conv_1", "norm", "norm_1"]


def told(before, after, name="state[0][1]"):
    found = FoundReasons()
    found.of(ReasonKind.INPUTS)
    weight = VALUE._replace(part=ReservedPart.INPUTS, op_name=name)
    a, b = (
        Reserved((weight,), mentions=Module(names=[f"jit(f)/jvp({each})/add" for each in layers]))
        for layers in (before, after)
    )
    name_called((a, b), found)
    return [
        reason_text(each, ("a", "b"))
        for each in found.found.values()
        if each.subject.before == MARK
    ]


def test_layers_of_the_program_with_more_of_them_are_counted_by_class():
    more = ["norm_2", *LAYERS, "conv_2", "norm_3"]
    assert told(LAYERS, more) == ["more layers: 2 norm, 1 conv"]
    assert told(more, LAYERS) == ["fewer layers: 2 norm, 1 conv"]


@pytest.mark.parametrize(
    ("after", "name"),
    [
        pytest.param([*LAYERS[:3], "conv_2"], "state[0]", id="of one class more, of another less"),
        pytest.param([*LAYERS, "dense", "dense_1"], "state[0]", id="of another class"),
        pytest.param([*LAYERS, "conv_2"], "params['conv_2']", id="inputs have names"),
    ],
)
def test_layers_are_not_counted_if_others_say_more(after, name):
    assert told(LAYERS, after, name) == []
