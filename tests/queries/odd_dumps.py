"""Dumps that are valid but odd, for which a query with usual assumptions is wrong."""

from pathlib import Path

from tests.tiny_dumps import tiny_dump

NOTHING = """\
BufferAssignment:
allocation 0: size 0, output shape is |()|, maybe-live-out:
 value: <0 tuple{} @0> (size=0,offset=0): ()

Total bytes used: 0 (0B)

Used values:
<0 tuple{} @0>
 positions:
  tuple {}
 uses:
 from instruction: %tuple = () tuple()


HloLiveRange (max 1):
  InstructionSequence:
    0:tuple
  BufferLiveRange:
    tuple{}:0-1
  Peak memory could not be determined.
"""
"""An empty module: one tuple table of no bytes."""

THREAD_LOCAL = tiny_dump(
    """
    0 | 4 | thread-local
    1 | 4 | thread-local
    """,
    """
    0 | a | f32[] | 0 | 4 | - | parameter(0) | same
    1 | b | f32[] | 0 | 4 | - | copy(a)      | same
    """,
)
"""Only thread-local values, and no section of live ranges."""

FIRST_FILE_ONLY = "\n".join(
    [
        "BufferAssignment:",
        "allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {}:",
        " value: <0 p @0> (size=64,offset=0): f32[16]{0}",
        "allocation 1: size 128, color 1, preallocated-temp:",
        " value: <1 q @1> (size=64,offset=0): f32[16]{0:S(1)}",
        " value: <2 r @1> (size=64,offset=0): f32[16]{0:S(1)}",
        "",
    ]
)
"""The allocation file of a dump in three files, without the other two: no users, no live ranges."""

OTHER_SPACE = tiny_dump(
    """
    0 | 64 | color 1, parameter 0, shape |f32[16]| at ShapeIndex {}
    1 | 64 | color 1, maybe-live-out
    2 | 96 | color 2, preallocated-temp
    """,
    """
    0 | p | f32[16]{0:S(1)} | 0 | 64 | 0-4 | parameter(0) | p
    2 | u | f32[8]{0:S(2)}  | 0 | 32 | 1-2 | copy(p)      | jit(f)/a @ é.py:1
    2 | v | f32[8]{0:S(2)}  | 0 | 32 | 2-3 | negate(u)    | jit(f)/a @ é.py:1
    1 | w | f32[16]{0:S(1)} | 0 | 64 | 3-4 | fusion(v, p)
    """,
)
"""Nothing in memory space 0."""

NO_BYTES = tiny_dump(
    """
    0 | 0 | parameter 0, shape |f32[0]| at ShapeIndex {}
    1 | 0 | preallocated-temp
    2 | 0 | maybe-live-out
    """,
    """
    0 | p | f32[0]{0}   | 0 | 0 | 0-4 | parameter(0)
    1 | a | f32[0,4]{1,0} | 0 | 0 | 1-3 | copy(p) | jit(f)/a
    1 | b | f32[0,4]{1,0} | 0 | 0 | 2-3 | iota() | jit(f)/a
    2 | w | f32[0]{0}   | 0 | 0 | 3-4 | fusion(a, b)
    """,
)
"""Arrays without elements."""

SAME_STEP = tiny_dump(
    """
    0 | 64  | parameter 0, shape |f32[16]| at ShapeIndex {}, maybe-live-out
    1 | 128 | preallocated-temp
    """,
    """
    0 | p | f32[16]{0} | 0  | 64 | 0-1 | parameter(0)                   | jit(f)/x[a/b]/y
    1 | a | f32[16]{0} | 0  | 64 | 1-1 | fusion(p)                      | jit(f)/x[a/b]/y/z
    1 | b | f32[32]{0} | 0  | 128 | 2-3 | dynamic-update-slice(a, p, p) | jit(f)/transpose(g)/b
    1 | c | f32[16]{0} | 32 | 64 | 3-4 | fusion(b, p)                   | jit(f)/transpose(g)/c
    0 | w | f32[16]{0} | 0  | 64 | 4-5 | copy(c)                        | jit(f)/out
    """,
)
"""Ranges of one step, and a value that overwrites a part of another in place."""

ODD = {
    "nothing": NOTHING,
    "thread_local": THREAD_LOCAL,
    "first_file_only": FIRST_FILE_ONLY,
    "other_space": OTHER_SPACE,
    "no_bytes": NO_BYTES,
    "same_step": SAME_STEP,
}


def write_odd_dumps(folder: Path) -> None:
    """Write them as the run `odd`."""
    folder.mkdir()
    for number, (name, text) in enumerate(ODD.items()):
        stem = f"module_{number:04}.{name}.cpu_after_optimizations"
        (folder / f"{stem}-buffer-assignment.txt").write_text(text)
