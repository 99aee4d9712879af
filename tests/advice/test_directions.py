"""`advise` names derivatives in several directions at once, which are linear in them."""

import pytest

from tests.advice.small_compilations import with_dependences, with_results
from xlagraph.advice.causes.mapped_axes import mapped_axes
from xlagraph.planner.dimensions.stored_operations import operations_of_text

ALLOCATIONS = """
    0 | 256 | parameter 0, shape |f32[64]| at ShapeIndex {}
    3 | 4096 | parameter 1, shape |f32[16,64]| at ShapeIndex {}
    1 | 12288 | preallocated-temp
    2 | 4096 | maybe-live-out
"""


@pytest.mark.parametrize(
    ("op", "factor", "last", "is_named"),
    [
        pytest.param("vmap(jvp())", "all", "negate(h)", True, id="a product"),
        pytest.param("vmap(jvp())", "one", "negate(h)", True, id="a repeated factor"),
        pytest.param("vmap(jvp())", "vs", "negate(h)", False, id="squares of the elements"),
        pytest.param("vmap(jvp())", "all", "tanh(h)", False, id="a network of each element"),
        pytest.param("vmap()", "all", "negate(h)", False, id="no derivatives"),
    ],
)
def test_derivatives_in_several_directions_are_linear_in_them(programs, op, factor, last, is_named):
    program = programs(
        ALLOCATIONS,
        f"""
        0 | x  | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        3 | vs | f32[16,64] | 0    | 4096 | 0-5 | parameter(1)
        1 | h  | f32[16,64] | 0    | 4096 | 1-4 | fusion(x, vs) | jit(f)/{op}/mul @ f.py:5
        1 | g  | f32[16,64] | 4096 | 4096 | 2-4 | fusion(h)     | jit(f)/{op}/neg @ f.py:6
        1 | k  | f32[16,64] | 8192 | 4096 | 3-4 | add(h, g)     | jit(f)/{op}/add @ f.py:7
        2 | y  | f32[16,64] | 0    | 4096 | 4-5 | negate(k)     | jit(f)/{op}/neg @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text(
        f"""HloModule m

multiplied {{
  p = f32[64]{{0}} parameter(0)
  vs = f32[16,64]{{1,0}} parameter(1)
  all = f32[16,64]{{1,0}} broadcast(p), dimensions={{1}}
  one = f32[16,64]{{1,0}} cosine(all)
  ROOT m = f32[16,64]{{1,0}} multiply({factor}, vs)
}}

ENTRY e {{
  x = f32[64]{{0}} parameter(0)
  given = f32[16,64]{{1,0}} parameter(1)
  h = f32[16,64]{{1,0}} fusion(x, given), kind=kLoop, calls=multiplied
  g = f32[16,64]{{1,0}} {last}
  k = f32[16,64]{{1,0}} add(h, g)
  ROOT y = f32[16,64]{{1,0}} negate(k)
}}
"""
    )
    with_results(program, "y")
    causes = list(mapped_axes(program))
    named = [(cause.title, [row["value"] for row in cause.rows]) for cause in causes]
    title = "Derivatives in all of 16 directions are computed at once"
    assert named == ([(title, ["h", "g", "k"])] if is_named else [])


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        pytest.param("f32[32]", "x", id="a given array of another shape than the other inputs"),
        pytest.param("f32[64]", "", id="a number that is repeated"),
    ],
)
def test_an_array_without_a_counterpart_has_no_directions(programs, shape, name):
    """Points that a rotation moves are linear like derivatives in several directions."""
    program = programs(
        ALLOCATIONS.replace("f32[64]", shape),
        f"""
        0 | x  | {shape}    | 0    | 256  | 0-5 | parameter(0)
        3 | vs | f32[16,64] | 0    | 4096 | 0-5 | parameter(1)
        1 | h  | f32[16,64] | 0    | 4096 | 1-4 | negate({name and "vs"}) | jit(f)/vmap(jvp())/mul
        1 | g  | f32[16,64] | 4096 | 4096 | 2-4 | negate(h)  | jit(f)/vmap(jvp())/neg
        1 | k  | f32[16,64] | 8192 | 4096 | 3-4 | add(h, g)  | jit(f)/vmap(jvp())/add
        2 | y  | f32[16,64] | 0    | 4096 | 4-5 | negate(k)  | jit(f)/vmap(jvp())/neg
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY e {{
  x = {shape}{{0}} parameter(0)
  vs = f32[16,64]{{1,0}} parameter(1)
  one = f32[] constant(1)
  ones = f32[16,64]{{1,0}} broadcast(one), dimensions={{}}
  h = f32[16,64]{{1,0}} negate({"vs" if name else "ones"})
  g = f32[16,64]{{1,0}} negate(h)
  k = f32[16,64]{{1,0}} add(h, g)
  ROOT y = f32[16,64]{{1,0}} negate(k)
}}
""")
    with_results(program, "y")
    assert not list(mapped_axes(program))


@pytest.mark.parametrize(("product", "is_named"), [("x, d", False), ("x, vs", True)])
def test_data_on_which_derivatives_depend_have_no_directions(programs, product, is_named):
    """A network that is linear in its examples has a dimension of them like one of directions."""
    program = programs(
        ALLOCATIONS,
        f"""
        0 | x  | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        3 | vs | f32[16,64] | 0    | 4096 | 0-5 | parameter(1)
        1 | d  | f32[16,64] | 0    | 4096 | 1-2 | dot(vs)   | jit(f)/jvp()/dot_general @ f.py:4
        1 | h  | f32[16,64] | 4096 | 4096 | 2-4 | multiply({product}) | jit(f)/vmap(jvp())/mul
        1 | g  | f32[16,64] | 8192 | 4096 | 3-4 | negate(h) | jit(f)/vmap(jvp())/neg
        1 | k  | f32[16,64] | 0    | 4096 | 4-5 | add(g, h) | jit(f)/vmap(jvp())/add
        2 | y  | f32[16,64] | 0    | 4096 | 5-5 | negate(k) | jit(f)/vmap(jvp())/neg
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY e {{
  x = f32[64]{{0}} parameter(0)
  vs = f32[16,64]{{1,0}} parameter(1)
  w = f32[64,64]{{1,0}} iota(), iota_dimension=0
  d = f32[16,64]{{1,0}} dot(vs, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  all = f32[16,64]{{1,0}} broadcast(x), dimensions={{1}}
  h = f32[16,64]{{1,0}} multiply({product.replace("x", "all")})
  g = f32[16,64]{{1,0}} negate(h)
  k = f32[16,64]{{1,0}} add(g, h)
  ROOT y = f32[16,64]{{1,0}} negate(k)
}}
""")
    with_results(program, "y")
    with_dependences(program, "x = parameter()", "vs = parameter()", "d = dot(vs)",
                     f"h = multiply({product})", "g = negate(h)", "k = add(g, h)",
                     "y = negate(k)")  # fmt: skip
    assert bool(list(mapped_axes(program))) == is_named


@pytest.mark.parametrize(("part", "is_named"), [("stack", False), ("vs", True)])
def test_what_a_loop_has_stacked_has_no_directions(programs, part, is_named):
    """A loop that writes a dimension one element at a time does not compute it at once."""
    program = programs(
        ALLOCATIONS,
        """
        0 | x  | f32[64]    | 0    | 256  | 0-5 | parameter(0)
        3 | vs | f32[16,64] | 0    | 4096 | 0-5 | parameter(1)
        1 | h  | f32[16,64] | 0    | 4096 | 1-4 | negate(vs) | jit(f)/vmap(jvp())/mul
        1 | g  | f32[16,64] | 4096 | 4096 | 2-4 | negate(h)  | jit(f)/vmap(jvp())/neg
        1 | k  | f32[16,64] | 8192 | 4096 | 3-4 | add(h, g)  | jit(f)/vmap(jvp())/add
        2 | y  | f32[16,64] | 0    | 4096 | 4-5 | negate(k)  | jit(f)/vmap(jvp())/neg
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

body {{
  state = (s32[], f32[64]{{0}}, f32[16,64]{{1,0}}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  row = f32[64]{{0}} get-tuple-element(state), index=1
  old = f32[16,64]{{1,0}} get-tuple-element(state), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  part = f32[1,64]{{1,0}} reshape(row)
  new = f32[16,64]{{1,0}} dynamic-update-slice(old, part, i, zero)
  ROOT all = (s32[], f32[64]{{0}}, f32[16,64]{{1,0}}) tuple(next, row, new)
}}

cond {{
  state = (s32[], f32[64]{{0}}, f32[16,64]{{1,0}}) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(16)
  ROOT c = pred[] compare(i, n), direction=LT
}}

ENTRY e {{
  x = f32[64]{{0}} parameter(0)
  vs = f32[16,64]{{1,0}} parameter(1)
  zero = s32[] constant(0)
  number = f32[] constant(0)
  empty = f32[16,64]{{1,0}} broadcast(number), dimensions={{}}
  first = (s32[], f32[64]{{0}}, f32[16,64]{{1,0}}) tuple(zero, x, empty)
  loop = (s32[], f32[64]{{0}}, f32[16,64]{{1,0}}) while(first), condition=cond, body=body
  stack = f32[16,64]{{1,0}} get-tuple-element(loop), index=2
  h = f32[16,64]{{1,0}} negate({part})
  g = f32[16,64]{{1,0}} negate(h)
  k = f32[16,64]{{1,0}} add(h, g)
  ROOT y = f32[16,64]{{1,0}} negate(k)
}}
""")
    with_results(program, "y")
    titles = [cause.title for cause in mapped_axes(program)]
    assert ("Derivatives in all of 16 directions are computed at once" in titles) == is_named


@pytest.mark.parametrize(("turns", "is_named"), [(4, False), (None, True)])
def test_stacked_gradients_of_each_example_are_no_directions(programs, turns, is_named):
    program = programs(
        """
        0 | 1024 | parameter 0, shape |f32[4,64]| at ShapeIndex {}
        1 | 49152 | preallocated-temp
        2 | 1024 | maybe-live-out
        """,
        """
        0 | w    | f32[4,64]    | 0     | 1024  | 0-5 | parameter(0)
        1 | loop | s32[]        | 0     | 4     | 1-1 | iota()
        1 | g    | f32[4,16,64] | 0     | 16384 | 2-4 | fusion(w) | vmap(transpose(jvp()))/mul
        1 | h    | f32[4,16,64] | 16384 | 16384 | 3-4 | negate(w) | jit(f)/vmap(jvp())/neg
        1 | k    | f32[4,16,64] | 32768 | 16384 | 3-4 | negate(h) | jit(f)/vmap(jvp())/neg
        2 | sum  | f32[4,64]    | 0     | 1024  | 4-5 | reduce(g) | jit(f)/reduce_sum @ f.py:8
        """,
    )
    program.stored.operations = operations_of_text("""HloModule m

repeat {
  p = f32[4,64]{1,0} parameter(0)
  ROOT b = f32[4,16,64]{2,1,0} broadcast(p), dimensions={0,2}
}

sum {
  one = f32[] parameter(0)
  other = f32[] parameter(1)
  ROOT both = f32[] add(one, other)
}

ENTRY e {
  w = f32[4,64]{1,0} parameter(0)
  zero = f32[] constant(0)
  g = f32[4,16,64]{2,1,0} fusion(w), kind=kLoop, calls=repeat
  h = f32[4,16,64]{2,1,0} negate(g)
  k = f32[4,16,64]{2,1,0} negate(h)
  ROOT sum = f32[4,64]{1,0} reduce(g, zero), dimensions={1}, to_apply=sum
}
""")
    with_results(program, "sum")
    stack = program.by_label["g"]
    if turns is not None:
        stack = stack._replace(stack_loop="loop", stack_turns=turns)
    program.compilation.values[stack.value_id] = stack
    assert bool(list(mapped_axes(program))) == is_named
