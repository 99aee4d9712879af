"""Tiny dumps whose answers are known by reading them, as two runs.

Run `before` compiles jit_f (temp 256) and jit_g (temp 128); run `after` compiles jit_f
(temp 512) and jit_h (temp 64). Each reserves its temp and 128 bytes more, all of it live
at step 2: parameter `p` (64), `t` from f.py:5 (the temp), result `out` from f.py:7 (64).
Run `padded` has one value, of 16 bytes in 8,192: what `advise` finds fault with.
"""

from pathlib import Path

from xlagraph.graph import Graph
from xlagraph.ingest import ingest

DUMP = """\
BufferAssignment:
allocation 0: size 64, parameter 0, shape |f32[16]| at ShapeIndex {{}}:
 value: <0 p @0> (size=64,offset=0): f32[16]{{0}}
allocation 1: size 64, output shape is |f32[16]|, maybe-live-out:
 value: <2 out @0> (size=64,offset=0): f32[16]{{0}}
allocation 2: size {temp}, preallocated-temp:
 value: <1 t @0> (size={temp},offset=0): f32[{elements}]{{0}}

Total bytes used: {total} ({total}B)

Used values:
<0 p @0>
 positions:
  p
 uses:
  t, operand 0
 from instruction: %p = f32[16]{{0}} parameter(0), metadata={{op_name="p"}}
<1 t @0>
 positions:
  t
 uses:
  out, operand 0
 from instruction: %t = f32[{elements}]{{0}} fusion(%p), kind=kLoop, calls=%fused, \
metadata={{op_name="{op}" source_file="f.py" source_line=5}}
<2 out @0>
 positions:
  out
 uses:
 from instruction: %out = f32[16]{{0}} fusion(%t), kind=kLoop, calls=%fused.1, \
metadata={{op_name="jit(f)/sum" source_file="f.py" source_line=7}}


HloLiveRange (max 3):
  InstructionSequence:
    0:p
    1:t
    2:out
  BufferLiveRange:
    p{{}}:0-3
    t{{}}:1-2
    out{{}}:2-3
  Live ranges at 2 (peak):
    p{{}}: 64 bytes (cumulative: 64 bytes)
    t{{}}: {temp} bytes (cumulative: {after_t} bytes)
    out{{}}: 64 bytes (cumulative: {sum} bytes)
"""

PADDED = """\
BufferAssignment:
allocation 0: size 8192, preallocated-temp:
 value: <0 a @0> (size=8192,offset=0): s8[16,1]

Total bytes used: 8192 (8.0KiB)

Used values:
<0 a @0>
 positions:
  a
 uses:
 from instruction: %a = s8[16,1] iota(), metadata={op_name="jit(f)/iota"}

HloLiveRange (max 1):
  InstructionSequence:
    0:a
  BufferLiveRange:
    a{}:0-1
  Live ranges at 0 (peak):
    a{}: 8192 bytes (cumulative: 8192 bytes)
"""

STEM = "module_{number:04}.{module}.cpu_after_optimizations"
BEFORE_F = f"before/{STEM.format(number=1, module='jit_f')}"
BEFORE_G = f"before/{STEM.format(number=3, module='jit_g')}"
AFTER_F = f"after/{STEM.format(number=1, module='jit_f')}"
AFTER_H = f"after/{STEM.format(number=5, module='jit_h')}"


def dump(temp: int, *, total: int | None = None, op: str = "jit(f)/layer_0/dot") -> str:
    """Write the dump of a module with so many bytes of temporaries."""
    return DUMP.format(
        temp=temp,
        elements=temp // 4,
        after_t=64 + temp,
        sum=128 + temp,
        total=128 + temp if total is None else total,
        op=op,
    )


def write_dump(folder: Path, number: int, module: str, text: str) -> Path:
    """Write a dump where XLA would."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = STEM.format(number=number, module=module)
    path = folder / f"{stem}-buffer-assignment.txt"
    path.write_text(text)
    return path


def write_runs(folder: Path) -> Path:
    """Write the runs `before` and `after`."""
    write_dump(folder / "before", 1, "jit_f", dump(256))
    write_dump(folder / "before", 3, "jit_g", dump(128))
    write_dump(folder / "after", 1, "jit_f", dump(512))
    write_dump(folder / "after", 5, "jit_h", dump(64))
    return folder


def write_padded_run(folder: Path) -> Path:
    """Write the run `padded`, whose compilation is `padded/f`."""
    (folder / "padded").mkdir(parents=True)
    (folder / "padded" / "f.txt").write_text(PADDED)
    return folder


def ingest_two_runs(graph: Graph, folder: Path) -> None:
    """Fill a graph with the runs `before` and `after`."""
    assert ingest(graph, write_runs(folder), jobs=1).ok
