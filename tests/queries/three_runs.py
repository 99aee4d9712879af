# ruff: noqa: E501  each row of a table is one line
"""Three runs of tiny dumps: `before` and `after` are compared, `tiny` has one node of each kind."""

from pathlib import Path

from tests.tiny_dumps import tiny_dump

STEP = tiny_dump(
    """
    0 | 64  | parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out
    1 | 64  | parameter 1, shape |f32[16]| at ShapeIndex {}
    2 | 16  | output shape is |(f32[16], f32[16])|, maybe-live-out
    3 | 64  | maybe-live-out
    4 | 4   | constant
    5 | 32  | thread-local
    6 | 480 | preallocated-temp
    7 | 512 | color 1, preallocated-temp
    """,
    """
    0 | p | f32[16]{0} | 0 | 64 | 0-6 | parameter(0) | p
    1 | q | f32[16]{0} | 0 | 64 | 0-11 | parameter(1) | q
    4 | zero | f32[] | 0 | 4 | 2-9 | constant(0)
    6 | make | f32[32]{0} | 0 | 128 | 3-6 | fusion(p) | jit(f)/layer_0/dot @ f.py:5
    7 | vmem | f32[16]{0:T(128)S(1)} | 0 | 512 | 4-8 | fusion(make) | jit(f)/layer_0/dot @ f.py:5
    6 | pair{} | (f32[64]{0}, f32[0]{0}) | 384 | 16 | 5-6 | fusion(make, q, vmem) | jit(f)/layer_0/sort @ f.py:6
    6 | pair{0}, get-tuple-element | f32[64]{0} | 128 | 256 | 5-7 | fusion(make, q, vmem) | jit(f)/layer_0/sort @ f.py:6
    6 | pair{1} | f32[0]{0} | 400 | 0 | 5-5 | fusion(make, q, vmem) | jit(f)/layer_0/sort @ f.py:6
    6 | update{} | (f32[16]{0}, f32[16]{0}) | 400 | 16 | 6-6 | fusion(p, make) | jit(f)/layer_0/add @ f.py:7
    0 | update{0}, get-tuple-element.2, result{0} | f32[16]{0} | 0 | 64 | 6-11 | fusion(p, make) | jit(f)/layer_0/add @ f.py:7
    6 | update{1}, get-tuple-element.3 | f32[16]{0} | 416 | 64 | 6-8 | fusion(p, make) | jit(f)/layer_0/add @ f.py:7
    6 | loop{0} (phi), get-tuple-element.1 | f32[16]{0} | 0 | 64 | 7-9 | while(pair{0}, zero) | jit(f)/while
    6 | late | f32[25]{0} | 64 | 100 | 8-9 | fusion(loop{0}, update{1})
    3 | out, result{1} | f32[16]{0} | 0 | 64 | 9-11 | multiply(late, zero, loop{0}) | jit(f)/transpose(jvp(layer_1))/mul @ f.py:9
    2 | result{} | (f32[16]{0}, f32[16]{0}) | 0 | 16 | 10-11 | tuple(update{0}, out)
    5 | region | f32[8]{0} | 0 | 32 | - | parameter(0)
    - | get-tuple-element | - | - | - | - | get-tuple-element(pair{})
    - | get-tuple-element.2 | - | - | - | - | get-tuple-element(update{})
    - | get-tuple-element.3 | - | - | - | - | get-tuple-element(update{})
    """,
)


_DUMPS = {
    "tiny/step": STEP,
    "before/module_0001.jit_f.cpu_after_optimizations": tiny_dump(
        """
        0 | 16 | parameter 0, shape |f32[4]| at ShapeIndex {}
        1 | 16 | output shape is |f32[4]|, maybe-live-out
        2 | 16 | preallocated-temp
        """,
        """
        0 | x   | f32[4]{0} | 0 | 16 | 0-3 | parameter(0)   | x
        2 | a   | f32[4]{0} | 0 | 16 | 1-2 | add(x, x)      | jit(f)/a @ f.py:1
        1 | out | f32[4]{0} | 0 | 16 | 2-3 | multiply(a, a)
        """,
    ),
    "before/module_0002.jit_g.cpu_after_optimizations": tiny_dump(
        """
        0 | 8 | parameter 0, shape |f32[2]| at ShapeIndex {}
        """,
        """
        0 | y | f32[2]{0} | 0 | 8 | 0-1 | parameter(0) | y
        """,
    ),
    "after/module_0001.jit_f.cpu_after_optimizations": tiny_dump(
        """
        0 | 16 | parameter 0, shape |f32[2,2]| at ShapeIndex {}
        1 | 16 | output shape is |f32[4]|, maybe-live-out
        2 | 64 | thread-local
        3 | 40 | preallocated-temp
        """,
        """
        0 | x   | f32[2,2]{1,0} | 0  | 16 | 0-4 | parameter(0)   | x
        3 | a   | f32[8]{0}     | 0  | 32 | 1-3 | add(x, x)      | jit(f)/a @ f.py:1
        3 | n   | f32[2]{0}     | 32 | 8  | 2-3 | negate(x)      | jit(f)/n @ f.py:2
        1 | out | f32[4]{0}     | 0  | 16 | 3-4 | multiply(a, n)
        2 | t   | f32[16]{0}    | 0  | 64 | -   | parameter(0)
        """,
    ),
    "after/module_0003.jit_f.cpu_after_optimizations": tiny_dump(
        """
        0 | 16 | parameter 0, shape |f32[4]| at ShapeIndex {}
        """,
        """
        0 | z | f32[4]{0} | 0 | 16 | 0-1 | parameter(0) | z
        """,
    ),
    "after/module_0004.jit_h.cpu_after_optimizations": tiny_dump(
        """
        0 | 8 | color 1, parameter 0, shape |f32[2]| at ShapeIndex {}
        """,
        """
        0 | w | f32[2]{0:S(1)} | 0 | 8 | 0-1 | parameter(0) | w
        """,
    ),
}


def write_three_runs(folder: Path) -> Path:
    """Write them below a folder; `before` has two compilations, `after` has three."""
    for key, text in _DUMPS.items():
        path = folder / f"{key}-buffer-assignment.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
