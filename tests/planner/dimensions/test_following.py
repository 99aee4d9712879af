"""Dimensions followed through operations: what half of a parameter's dimension changes."""

import re
from fractions import Fraction

import pytest

from xlagraph.planner.dimensions.dimension_trees import arrays
from xlagraph.planner.dimensions.following import follow
from xlagraph.planner.dimensions.stored_operations import operations_of_text

MODULE = (
    "HloModule jit_f, is_scheduled=true\n\n{called}ENTRY %main (x: f32[]) -> f32[] {{\n{body}}}\n"
)
ADD = """%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

"""
FUSED = """%fused (p: f32[4,4], q: f32[4,4]) -> f32[4,4] {
  %p = f32[4,4]{1,0} parameter(0)
  %q = f32[4,4]{1,0} parameter(1)
  ROOT %d = f32[4,4]{1,0} dot(%p, %q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

"""
LOOP = """%body (s: (s32[], f32[4,8], f32[3,4,8])) -> (s32[], f32[4,8], f32[3,4,8]) {
  %s = (s32[], f32[4,8]{1,0}, f32[3,4,8]{2,1,0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %h = f32[4,8]{1,0} get-tuple-element(%s), index=1
  %k = f32[3,4,8]{2,1,0} get-tuple-element(%s), index=2
  %z = s32[] constant(0)
  %r = f32[1,4,8]{2,1,0} reshape(%h)
  %u = f32[3,4,8]{2,1,0} dynamic-update-slice(%k, %r, %i, %z, %z)
  ROOT %n = (s32[], f32[4,8]{1,0}, f32[3,4,8]{2,1,0}) tuple(%i, %h, %u)
}

%condition (t: (s32[], f32[4,8], f32[3,4,8])) -> pred[] {
  %t = (s32[], f32[4,8]{1,0}, f32[3,4,8]{2,1,0}) parameter(0)
  ROOT %less = pred[] constant(true)
}

"""
CHUNKS = """%body (s: (s32[], f32[2,4], f32[2,4])) -> (s32[], f32[2,4], f32[2,4]) {
  %s = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[2,4]{1,0} get-tuple-element(%s), index=1
  %y = f32[2,4]{1,0} get-tuple-element(%s), index=2
  %z = s32[] constant(0)
  %e = f32[1,4]{1,0} dynamic-slice(%x, %i, %z), dynamic_slice_sizes={1,4}
WRITE
}

%condition (t: (s32[], f32[2,4], f32[2,4])) -> pred[] {
  %t = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) parameter(0)
  ROOT %less = pred[] constant(true)
}

"""
WRITTEN = """  %w = f32[2,4]{1,0} dynamic-update-slice(%y, %e, %i, %z)
  ROOT %n = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) tuple(%i, %x, %w)"""
NOT_WRITTEN = "  ROOT %n = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) tuple(%i, %x, %y)"
CHUNKED = """
    %x0 = f32[8]{0} parameter(0)
    %parts = f32[2,4]{1,0} reshape(%x0)
    %zero = f32[] constant(0)
    %zeros = f32[2,4]{1,0} broadcast(%zero), dimensions={}
    %start = s32[] constant(0)
    %state = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) tuple(%start, %parts, %zeros)
    %loop = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) while(%state), condition=%condition, body=%body
    %out = f32[2,4]{1,0} get-tuple-element(%loop), index=2
    ROOT %y0 = f32[8]{0} reshape(%out)
"""


def halved(body, dimension, *, called=""):
    """Return the lengths that change, by operation, if a dimension of parameter 0 is halved."""
    joined = re.sub(r"@\n +", "", body.strip())
    lines = "".join(f"  {line.strip()}\n" for line in joined.splitlines())
    followed = follow(operations_of_text(MODULE.format(called=called, body=lines)))
    lengths = followed.lengths
    (first,) = arrays(followed.parameters[0])
    given_others = (array for number, array in followed.parameters.items() if number)
    others = [each for tree in given_others for array in arrays(tree) for each in array]
    given = {first[dimension]: Fraction(lengths.length(first[dimension]), 2)}
    scaled = lengths.scaled(given, others).lengths

    def now(tree):
        if isinstance(tree, list):
            return [now(each) for each in tree]
        return tuple(int(scaled.get(lengths.find(each), lengths.length(each))) for each in tree)

    return {name: now(tree) for name, tree in followed.results.items()}


@pytest.mark.parametrize(
    ("body", "dimension", "expected"),
    [
        pytest.param(
            """
            %x = f32[4,4]{1,0} parameter(0)
            %w = f32[4,4]{1,0} parameter(1)
            %h = f32[4,4]{1,0} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
            %g = f32[4,4]{1,0} dot(%x, %h), lhs_contracting_dims={0}, rhs_contracting_dims={0}
            ROOT %v = f32[4,4]{1,0} subtract(%w, %g)
            """,
            0,
            {"w": (4, 4), "h": (2, 4), "g": (4, 4), "v": (4, 4)},
            id="a gradient has the shape of its weight, which is as long as the batch",
        ),
        pytest.param(
            """
            %x = f32[4,8]{1,0} parameter(0)
            %k = f32[4,4]{1,0} dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
            ROOT %f = f32[16]{0} reshape(%k)
            """,
            0,
            {"k": (2, 2), "f": (4,)},
            id="a matrix of pairs has the batch twice, also as one dimension",
        ),
        pytest.param(
            """
            %x = f32[4,6,8]{2,1,0} parameter(0)
            %f = f32[24,8]{1,0} reshape(%x)
            %h = f32[24,8]{1,0} tanh(%f)
            %b = f32[4,6,2,4]{3,2,1,0} bitcast(%h)
            ROOT %t = f32[2,24,4]{1,0,2} bitcast(%b)
            """,
            0,
            {"f": (12, 8), "h": (12, 8), "b": (2, 6, 2, 4)},
            id="a batch merged with the sequence is split again",
        ),
        pytest.param(
            """
            %x = f32[12,8]{1,0} parameter(0)
            %k = u32[12]{0} iota(), iota_dimension=0
            %i = u32[12,1]{1,0} reshape(%k)
            ROOT %e = f32[12,8]{1,0} gather(%x, %i), offset_dims={1}, @
            collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1
            """,
            0,
            {"i": (6, 1), "e": (6, 8)},
            id="a batch that is shuffled",
        ),
        pytest.param(
            """
            %x = f32[12,8]{1,0} parameter(0)
            %k = u32[12]{0} parameter(1)
            %i = u32[12,1]{1,0} reshape(%k)
            ROOT %e = f32[12,8]{1,0} gather(%x, %i), offset_dims={1}, @
            collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1
            """,
            0,
            {"i": (12, 1), "e": (12, 8)},
            id="a graph with as many edges as nodes keeps its edges",
        ),
        pytest.param(
            """
            %x = s32[9]{0} parameter(0)
            %table = f32[16,8]{1,0} parameter(1)
            %in = s32[8]{0} slice(%x), slice={[0:8]}
            %i = s32[8,1]{1,0} reshape(%in)
            %e = f32[8,8]{1,0} gather(%table, %i), offset_dims={1}, @
            collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1
            ROOT %back = f32[9,8]{1,0} pad(%e, %e), padding=1_0x0_0
            """,
            0,
            {"in": (3,), "e": (3, 8), "back": (4, 8), "table": (16, 8)},
            id="all but one element, looked up in a table and padded again",
        ),
        pytest.param(
            """
            %x = f32[4,8]{1,0} parameter(0)
            %y = f32[4,8]{1,0} exponential(%x)
            %c = f32[12,8]{1,0} concatenate(%x, %y, %y), dimensions={0}
            ROOT %s = f32[4,8]{1,0} slice(%c), slice={[8:12], [0:8]}
            """,
            0,
            {"c": (6, 8), "s": (2, 8)},
            id="a concatenation of batches, and one third of it",
        ),
        pytest.param(
            """
            %x = f32[4,4]{1,0} parameter(0)
            %w = f32[4,4]{1,0} parameter(1)
            %zero = f32[] constant(0)
            %zeros = f32[4,4]{1,0} broadcast(%zero), dimensions={}
            %a = f32[4,4]{1,0} maximum(%x, %zeros)
            ROOT %b = f32[4,4]{1,0} maximum(%w, %zeros)
            """,
            0,
            {"a": (2, 4), "b": (4, 4), "zeros": (4, 4), "w": (4, 4)},
            id="one constant for the batch and for a weight joins neither",
        ),
        pytest.param(
            """
            %x = f32[4,6,6,3]{3,2,1,0} parameter(0)
            %k = f32[3,3,3,4]{3,2,1,0} parameter(1)
            %y = f32[4,6,6,4]{3,2,1,0} convolution(%x, %k), @
            window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
            ROOT %g = f32[3,3,3,4]{3,2,1,0} convolution(%x, %y), @
            window={size=6x6 pad=1_1x1_1}, dim_labels=f01b_i01o->01bf
            """,
            0,
            {"y": (2, 6, 6, 4), "g": (3, 3, 3, 4)},
            id="a convolution and the gradient of its kernel",
        ),
        pytest.param(
            """
            %x = f32[2,16,3]{2,1,0} parameter(0)
            %k = f32[3,3,4]{2,1,0} parameter(1)
            %y = f32[2,7,4]{2,1,0} convolution(%x, %k), @
            window={size=3 stride=2}, dim_labels=b0f_0io->b0f
            %zero = f32[] constant(0)
            %d = f32[2,7,4]{2,1,0} broadcast(%zero), dimensions={}
            %g = f32[3,3,4]{2,1,0} convolution(%x, %d), @
            window={size=7 pad=0_-1 rhs_dilate=2}, dim_labels=f0b_i0o->0bf
            %n = f32[3,3,4]{2,1,0} subtract(%k, %g)
            %b = f32[2,16,3]{2,1,0} convolution(%d, %k), @
            window={size=3 pad=2_3 lhs_dilate=2}, dim_labels=b0f_0oi->b0f
            ROOT %s = f32[2,16,3]{2,1,0} subtract(%x, %b)
            """,
            1,
            {"y": (2, 3, 4), "d": (2, 3, 4), "n": (3, 3, 4), "b": (2, 8, 3)},
            id="a convolution with a stride, and a gradient of which nothing else is known",
        ),
        pytest.param(
            """
            %x = f32[4,8,3]{2,1,0} parameter(0)
            %k = f32[5,2,3]{2,1,0} parameter(1)
            %d = f32[4,4,5]{2,1,0} parameter(2)
            %f = (f32[5,2,3]{2,1,0}, u8[0]{0}) custom-call(%x, %d), @
            window={size=2 stride=2}, dim_labels=b0f_o0i->b0f, @
            custom_call_target="__cudnn$convBackwardFilter"
            ROOT %b = (f32[4,8,3]{2,1,0}, u8[0]{0}) custom-call(%d, %k), @
            window={size=2 stride=2}, dim_labels=b0f_o0i->b0f, @
            custom_call_target="__cudnn$convBackwardInput"
            """,
            0,
            {"f": [(5, 2, 3), (0,)], "b": [(2, 8, 3), (0,)], "d": (2, 4, 5)},
            id="gradients of a convolution by cuDNN",
        ),
        pytest.param(
            """
            %x = f32[2,64,3]{2,1,0} parameter(0)
            %k = f32[16,3,4]{2,1,0} parameter(1)
            %y = f32[2,4,4]{2,1,0} convolution(%x, %k), @
            window={size=16 stride=16}, dim_labels=b0f_0io->b0f
            %i = s32[2,4,4]{2,1,0} iota(), iota_dimension=1
            %a = f32[] constant(0)
            %b = s32[] constant(0)
            ROOT %w = (f32[2,2,4]{2,1,0}, s32[2,2,4]{2,1,0}) reduce-window(%y, %i, %a, %b), @
            window={size=1x2x1 stride=1x2x1}
            """,
            1,
            {"y": (2, 2, 4), "i": (2, 2, 4), "k": (16, 3, 4), "w": [(2, 1, 4), (2, 1, 4)]},
            id="patches of an image, and the largest of each window with its place",
        ),
        pytest.param(
            """
            %x = f32[6,4]{1,0} parameter(0)
            %zero = f32[] constant(0)
            %wide = f32[8,4]{1,0} broadcast(%zero), dimensions={}
            %all = f32[8,4]{1,0} tanh(%wide)
            %part = f32[6,4]{1,0} slice(%all), slice={[1:7], [0:4]}
            ROOT %sum = f32[6,4]{1,0} add(%x, %part)
            """,
            0,
            {"all": (5, 4), "wide": (5, 4)},
            id="what a slice of all but a few elements is taken from",
        ),
        pytest.param(
            """
            %x = f32[4,8]{1,0} parameter(0)
            %i = s32[4,2]{1,0} parameter(1)
            %one = s32[4,1]{1,0} parameter(2)
            %tree = f32[4,3,8]{2,1,0} parameter(3)
            %table = f32[4,8]{1,0} parameter(4)
            %u = f32[4,1,1,8]{3,2,1,0} reshape(%x)
            %s = f32[4,3,8]{2,1,0} scatter(%tree, %i, %u), update_window_dims={1,2,3}, @
            inserted_window_dims={}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=1
            %v = f32[4,1,8]{2,1,0} reshape(%x)
            ROOT %g = f32[4,8]{1,0} scatter(%table, %one, %v), update_window_dims={1,2}, @
            inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1
            """,
            0,
            {"s": (2, 3, 8), "tree": (2, 3, 8), "g": (4, 8), "table": (4, 8)},
            id="an array with an index for each row, but not the rows of a table",
        ),
    ],
)
def test_half_of_a_dimension(body, dimension, expected):
    found = halved(body, dimension)
    assert {name: found[name] for name in expected} == expected


def test_a_fusion_is_followed_inside():
    body = """
    %x = f32[4,4]{1,0} parameter(0)
    %w = f32[4,4]{1,0} parameter(1)
    %y = f32[4,4]{1,0} fusion(%x, %w), kind=kOutput, calls=%fused
    ROOT %z = f32[4,4]{1,0} fusion(%w, %w), kind=kOutput, calls=%fused
    """
    found = halved(body, 0, called=FUSED)
    assert (found["y"], found["z"]) == ((2, 4), (4, 4))


def test_a_loop_stacks_its_state_but_not_its_iterations():
    body = """
    %x = f32[4,8]{1,0} parameter(0)
    %zero = f32[] constant(0)
    %stack = f32[3,4,8]{2,1,0} broadcast(%zero), dimensions={}
    %i0 = s32[] constant(0)
    %state = (s32[], f32[4,8]{1,0}, f32[3,4,8]{2,1,0}) tuple(%i0, %x, %stack)
    ROOT %w = (s32[], f32[4,8]{1,0}, f32[3,4,8]{2,1,0}) while(%state), @
    condition=%condition, body=%body
    """
    found = halved(body, 0, called=LOOP)
    assert found["w"] == [(), (2, 8), (3, 2, 8)]
    assert found["stack"] == (3, 2, 8)


def test_a_loop_writes_as_many_parts_as_it_reads():
    written = WRITTEN.replace("%e, %i", "%v, %i")
    write = f"  %v = f32[1,4]{{1,0}} broadcast(%z), dimensions={{}}\n{written}"
    body = """
    %x = f32[2,4]{1,0} parameter(0)
    %zero = f32[] constant(0)
    %zeros = f32[2,4]{1,0} broadcast(%zero), dimensions={}
    %start = s32[] constant(0)
    %state = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) tuple(%start, %x, %zeros)
    ROOT %w = (s32[], f32[2,4]{1,0}, f32[2,4]{1,0}) while(%state), @
    condition=%condition, body=%body
    """
    found = halved(body, 0, called=CHUNKS.replace("WRITE", write))
    assert found["w"] == [(), (1, 4), (1, 4)]


@pytest.mark.parametrize(
    ("write", "parts"), [(NOT_WRITTEN, (2, 2)), (WRITTEN, (1, 4))], ids=["microbatches", "chunks"]
)
def test_a_loop_over_parts_has_fewer_if_it_puts_its_results_together(write, parts):
    found = halved(CHUNKED, 0, called=CHUNKS.replace("WRITE", write))
    assert found["parts"] == parts


def test_a_message_says_what_the_text_says():
    jax = pytest.importorskip("jax")
    from xlagraph.planner.dimensions.proto_records import operations_of_proto

    def f(x, k, i):
        y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")
        y = jax.numpy.pad(y[:, :, 1:-1], ((0, 0), (0, 0), (1, 2), (0, 0)))[i]
        s = jax.numpy.linalg.solve(k[0], k[1])
        return jax.lax.scan(lambda c, e: (c + e.sum(0), e @ e.T), y[0, 0], y[:, 0]), s

    shapes = [(4, 2, 6, 6), (3, 2, 3, 3)]
    given = [jax.ShapeDtypeStruct(each, "float32") for each in shapes]
    compiled = jax.jit(f).lower(*given, jax.ShapeDtypeStruct((5,), "int32")).compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    stated = operations_of_proto(module.as_serialized_hlo_module_proto())
    printed = operations_of_text(compiled.as_text())
    assert _shares(follow(stated)) == _shares(follow(printed))


def _shares(followed):
    """Return which dimensions of all results are the same, numbered by first appearance."""
    numbers: dict[int, int] = {}

    def shared(tree):
        if isinstance(tree, list):
            return [shared(each) for each in tree]
        found = map(followed.lengths.find, tree)
        return tuple(numbers.setdefault(each, len(numbers)) for each in found)

    return [(name, shared(followed.results[name])) for name in sorted(followed.results)]
