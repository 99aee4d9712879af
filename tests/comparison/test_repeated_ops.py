"""Ops of both programs that one computes several times as often."""

import re
from collections import Counter

from tests.comparison.test_explaining import STACK, VALUE
from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.joined_reasons import Sides
from xlagraph.comparison.mentions import Mentions
from xlagraph.comparison.new_code import name_new_code
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons, ReasonKind
from xlagraph.comparison.repeated_ops import name_repeated_ops
from xlagraph.comparison.sentences import sentences_of
from xlagraph.comparison.value_matching import match_values

OPS = ("dot", "exp", "div", "mul", "sub", "sin")


def ops(name, times=1, shape="f32[16]"):
    """Return all ops in a transformation, each several times."""
    return [
        VALUE._replace(name=f"{op}.{name}.{at}", op_name=f"jit(f)/{name}/{op}", shape=shape)
        for op in OPS
        for at in range(times)
    ]


class Names(Mentions):
    """The op names of a module."""

    def __init__(self, *names):
        super().__init__()
        self._names = names

    @property
    def op_names(self):
        return Counter(self._names)

    def has(self, mark):
        return any(map(mark.search, self._names))

    def count(self, name):
        return sum(name in each for each in self._names)


def program(values, *inside_of_fusions):
    names = [*(each.op_name for each in values), *inside_of_fusions]
    return Reserved(tuple(values), mentions=Names(*names))


def told(before, after):
    found = FoundReasons()
    name_repeated_ops((program(before), program(after)), found)
    return [reason_text(each, ("a", "b")) for each in found.found.values()]


def test_a_second_gradient_repeats_the_ops_of_the_first():
    once = [*ops("jvp()"), *ops("transpose(jvp())"), *ops("adam")]
    twice = [*ops("jvp()", 2), *ops("transpose(jvp())", 2), *ops("adam")]
    text = "12 of 12 ops of gradients computed {} as often (f.py:1)"
    assert told(once, twice) == [text.format("2 times")]
    assert told(twice, once) == [text.format("1/2")]


def test_a_network_that_is_applied_a_third_time_repeats_the_ops_of_its_forward_pass():
    backward = ops("transpose(jvp())")
    text = "6 of 12 ops of gradients computed 3/2 times as often (f.py:1)"
    assert told([*ops("jvp()", 2), *backward], [*ops("jvp()", 3), *backward]) == [text]


def test_more_steps_of_a_gradient_in_the_program_have_more_matrix_products():
    def steps(products, others):
        dot = VALUE._replace(op_name="jit(f)/jvp()/dot_general")
        return [*ops("jvp()", others), *(dot._replace(name=f"p{at}") for at in range(products))]

    assert told(steps(4, 11), steps(10, 13)) == [
        "10 matrix products or convolutions, 4 before (f.py:1)"
    ]
    assert told(steps(4, 11), steps(5, 13)) == []


def test_parts_that_are_computed_one_by_one_are_no_longer_in_vmap():
    together, one_by_one = ops("vmap(net)", shape="f32[4,16]"), ops("net", 4)
    (text,) = told(together, one_by_one)
    assert text.startswith("6 of 6 ops computed 4 times as often, on 1/4 of the elements each")
    assert text.endswith(", no longer in jax.vmap (f.py:1)")
    (text,) = told(one_by_one, together)
    assert text.startswith("6 of 6 ops computed 1/4 as often, on 4 times as many elements each")
    assert text.endswith(", now in jax.vmap (f.py:1)")


def test_a_few_repeated_ops_and_recomputed_ones_say_nothing():
    once = [*ops("jvp()"), *ops("transpose(jvp())")]
    assert told(once, [*once, once[0]._replace(name="again")]) == []
    recomputed = ops("transpose(jvp(checkpoint))/rematted_computation")
    assert told(once, [*once, *recomputed]) == []


def test_lines_that_are_computed_again_are_named():
    first = ops("encoder")
    others = [each._replace(name=f"o.{each.name}", source_line=("f.py", 2)) for each in ops("head")]
    twice = [
        *ops("encoder", 2),
        *others,
        *(each._replace(name=f"n.{each.name}") for each in others),
    ]
    more = [
        each._replace(name=f"m.{each.name}", source_line=("f.py", 3)) for each in ops("loss", 3)
    ]
    assert told([*first, *others, *more], [*first, *twice[12:], *more]) == [
        "6 of 18 ops computed 2 times as often (f.py:1)"
    ]


def test_ops_that_fusions_hide_are_not_repeated():
    before, after = program(ops("net"), *(f"jit(f)/net/{op}" for op in OPS)), program(ops("net", 2))
    found = FoundReasons()
    name_repeated_ops((before, after), found)
    assert not found.found


def test_ops_that_a_loop_computes_too_are_not_said_to_be_computed_twice():
    looped = [each._replace(name=f"l.{each.name}") for each in ops("while/body/net")]
    assert told(ops("net"), [*ops("net"), *looped]) == []


def test_repeated_ops_precede_the_values_that_they_make():
    before, after = program(ops("net")), program(ops("net", 2))
    found = sentences_of(
        explain_pair(before, after), ("a", "b"), (before.total_bytes, after.total_bytes)
    )
    assert found[0].line == "6 of 6 ops computed 2 times as often (f.py:1): 0 B"
    assert found[1].text.startswith("6 new values at the peak")


def test_a_gradient_that_is_not_differentiated_makes_no_backward_pass_of_it():
    inner = "jit(f)/jvp()/while/body/transpose(jvp())/mul"
    second = "jit(f)/transpose(jvp())/while/body/transpose(jvp())/mul"
    made = VALUE._replace(name="s", op_name=second, live_from=2)
    base = VALUE._replace(op_name=inner)

    def texts(*of_first):
        sides = (
            Reserved((base,), mentions=Names(*of_first)),
            Reserved((base, made), mentions=Names(inner, second)),
        )
        return " ".join(reason_text(each, ("a", "b")) for each in explain_pair(*sides))

    text = "1 value made by the backward pass of a gradient, none before"
    assert text in texts(inner)
    # a library may take gradients in its own backward pass
    assert not re.search("backward pass of a gradient", texts("jit(f)/jvp()/while/body/mul"))


def test_a_stopped_gradient_leaves_a_small_part_of_the_backward_pass():
    forward = ops("jvp()")
    gradients = [
        each._replace(
            name=f"{each.name}.{n}", op_name=f"jit(f)/transpose(jvp({n}))/{each.op_name[13:]}"
        )
        for each in forward
        for n in range(2)
    ]
    before, frozen = program([*forward, *gradients]), program([*forward, *gradients[:3]])
    found = sentences_of(
        explain_pair(before, frozen), ("a", "b"), (before.total_bytes, frozen.total_bytes)
    )
    assert found[0].text.startswith("12 values made by the backward pass before, 3 now; 9 values")
    # a program without half of the ops has half of the gradients, too
    half = program([*forward[:3], *gradients[:6]])
    reasons = explain_pair(program([*forward, *gradients]), half)
    assert not any("backward pass" in reason_text(each, ("a", "b")) for each in reasons)
    # what the forward pass stacks for gradients follows from them
    state = VALUE._replace(name="state", op_name="jit(f)/while/body/neg")
    stack = STACK._replace(name="stack", op_name="jit(f)/jvp()/while/body/exp")
    reasons = explain_pair(
        program([*forward, *gradients, state, stack]), program([*forward, *gradients[:3], state])
    )
    found = sentences_of(reasons, ("a", "b"), (64 * 19 + 640, 64 * 10))
    text = "12 values made by the backward pass before, 3 now; loops no longer stack 1 value"
    assert found[0].text.startswith(text)


def test_an_unrolled_loop_has_more_gradients():
    forward, steps = ops("jvp()"), ops("transpose(jvp())", 3)
    before, after = program([*forward, *steps[::3]]), program([*forward, *steps])
    found = FoundReasons()
    name_new_code(Sides(before, after, match_values(before.values, after.values)), found)
    assert any("the backward pass" in each.scopes for each in found.found.values())
    found = FoundReasons()
    found.of(ReasonKind.UNROLLED)
    name_new_code(Sides(before, after, match_values(before.values, after.values)), found)
    assert not any("the backward pass" in each.scopes for each in found.found.values())


def test_ops_in_scopes_that_only_one_program_has_precede_copies():
    copied = VALUE._replace(name="c", opcode="copy", op_name="jit(f)/mul", held_bytes=640)
    for scope, first in (
        ("jvp(ij,jk->ik)", "5 values made by ij,jk->ik/dot_general"),
        ("a", "1 cop"),
    ):
        made = [
            VALUE._replace(name=f"d{n}", op_name=f"jit(f)/{scope}/dot_general", held_bytes=0)
            for n in range(5)
        ]
        before, after = program([VALUE], "jit(f)/a/exp"), program([VALUE, *made, copied])
        reasons = explain_pair(before, after._replace(copies=1))
        found = sentences_of(reasons, ("a", "b"), (before.total_bytes, after.total_bytes))
        assert found[0].text.startswith(first)


def of_library(name, op_name):
    package = "/env/lib/python3.11/site-packages/optim"
    return VALUE._replace(name=name, op_name=op_name, source_line=(f"{package}/{name[0]}.py", 7))


def test_a_library_is_named_rather_than_the_vmap_in_its_code():
    made = [of_library(f"m{n}", "jit(f)/vmap(ns)/dot") for n in range(5)]
    texts = [
        reason_text(each, ("a", "b"))
        for each in explain_pair(program([VALUE]), program([VALUE, *made]))
    ]
    assert any("5 values made by optim/m.py, none before" in each for each in texts)


def test_an_op_that_a_newer_library_has_in_another_scope_is_not_new():
    before = program([VALUE, of_library("m1", "jit(f)/pow")])
    after = program([VALUE, of_library("m2", "jit(f)/jit(bias)/pow")])
    found = FoundReasons()
    name_new_code(Sides(before, after, match_values(before.values, after.values)), found)
    assert not found.found
