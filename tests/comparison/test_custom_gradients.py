"""`compare` tells gradients that `jax.custom_vjp` takes from those of a gradient."""

import pytest

from tests.comparison.test_explaining import OTHER, VALUE
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.reason_texts import reason_text

CUSTOM = "jit(f)/transpose(jvp(transpose(jvp())))/dot"


class Module(Mentions):
    """A module with one op name."""

    def __init__(self, name):
        super().__init__()
        self._name = name

    def has(self, mark):
        return bool(mark.search(self._name))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (CUSTOM, "1 value made by gradients in a custom backward pass, none before"),
        ("jit(f)/jvp(transpose(jvp()))/dot", "1 value made by the gradient of a gradient, none"),
    ],
)
def test_only_a_gradient_that_the_forward_pass_takes_has_a_gradient(name, text):
    values = [VALUE._replace(name=f"v{n}", op_name=f"jit(f)/op{n}") for n in range(20)]
    values.append(OTHER._replace(op_name="jit(f)/transpose(jvp())/mul"))
    after = [*values, OTHER._replace(name="s", op_name=CUSTOM, live_from=9)]
    first, *_ = explain_pair(
        Reserved(tuple(values), mentions=Module("jit(f)/transpose(jvp())/mul")),
        Reserved(tuple(after), mentions=Module(name)),
    )
    assert reason_text(first, ("a", "b")).startswith(text)
