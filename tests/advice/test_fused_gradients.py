"""`advise` names gradients that the fusion which updates a parameter returns as well."""

import pytest

from xlagraph.advice.causes.boundaries import returned_gradients
from xlagraph.planner.dimensions.stored_operations import operations_of_text


@pytest.mark.parametrize(
    ("gradient", "found"),
    [
        pytest.param("%r", ["f{2}"], id="of the backward pass alone"),
        pytest.param("%m", [], id="what the state is computed into"),
        pytest.param("%u", [], id="what no parameter is computed from"),
    ],
)
def test_a_gradient_may_be_an_element_of_the_fusion_that_updates(returning, gradient, found):
    program = returning(
        """
        0 | 4096 | parameter 0, shape |f32[1024]| at ShapeIndex {}
        1 | 4096 | parameter 1, shape |f32[1024]| at ShapeIndex {}
        2 | 4096 | maybe-live-out
        3 | 4096 | maybe-live-out
        4 | 4096 | maybe-live-out
        5 | 8192 | preallocated-temp
        """,
        """
        0 | w    | f32[1024]   | 0 | 4096 | 0-3 | parameter(0)
        1 | v    | f32[1024]   | 0 | 4096 | 0-3 | parameter(1)
        5 | part | f32[2,1024] | 0 | 8192 | 1-2 | dot() | jit(f)/transpose(jvp())/dot_general
        2 | f{0} | f32[1024]   | 0 | 4096 | 2-3 | fusion(w, v, part) | jit(f)/sub
        3 | f{1} | f32[1024]   | 0 | 4096 | 2-3 | fusion(w, v, part) | jit(f)/sub
        4 | f{2} | f32[1024]   | 0 | 4096 | 2-3 | fusion(w, v, part) | jit(f)/sub
        """,
        *("f{0}", "f{1}", "f{2}"),
    )
    program.stored.operations = operations_of_text(f"""HloModule jit_f

%fused (p: f32[1024], q: f32[1024], s: f32[2,1024]) -> (f32[1024], f32[1024], f32[1024]) {{
  %p = f32[1024] parameter(0)
  %q = f32[1024] parameter(1)
  %s = f32[2,1024] parameter(2)
  %r = f32[1024] reduce(%s)
  %u = f32[1024] negate(%r)
  %m = f32[1024] add(%q, %r)
  %n = f32[1024] subtract(%p, %m)
  ROOT %t = (f32[1024], f32[1024], f32[1024]) tuple(%n, %m, {gradient})
}}

ENTRY %main (w: f32[1024], v: f32[1024]) -> (f32[1024], f32[1024], f32[1024]) {{
  %w = f32[1024] parameter(0)
  %v = f32[1024] parameter(1)
  %part = f32[2,1024] dot(%w, %v)
  ROOT %f = (f32[1024], f32[1024], f32[1024]) fusion(%w, %v, %part), kind=kLoop, calls=%fused
}}
""")
    assert [row["value"] for cause in returned_gradients(program) for row in cause.rows] == found
