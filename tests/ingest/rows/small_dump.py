"""A small dump with its module text, and functions that read a dump's rows."""

from pathlib import Path

from xlagraph.graph import CompilationRows
from xlagraph.graph.row_tables import NODE_COLUMNS, RELATIONSHIP_COLUMNS
from xlagraph.hlo.module_text import parse_module_text
from xlagraph.ingest import DumpFiles, DumpPart, parse_plan
from xlagraph.ingest.carriers.carrier import Part, Source
from xlagraph.ingest.carriers.file_names import dump_name
from xlagraph.ingest.measures.compilation_facts import derive_facts
from xlagraph.ingest.rows.compilation_rows import compilation_tables
from xlagraph.ingest.rows.row_source import Provenance

STEM = "module_0007.jit_step.3.cpu_after_optimizations"

# A donated parameter is overwritten by `add`; `neg` and `mul` follow each other in one slot.
DUMP = """\
BufferAssignment:
allocation 0: size 16, parameter 0, shape |f32[4]| at ShapeIndex {}, maybe-live-out:
 value: <0 p @0> (size=16,offset=0): f32[4]{0}
 value: <1 add @0> (size=16,offset=0): f32[4]{0}
allocation 1: size 8, output shape is |(f32[4])|, maybe-live-out:
 value: <2 out{} @0> (size=8,offset=0): (f32[4]{0})
allocation 2: size 4, thread-local:
 value: <3 x (phi) @0> (size=4,offset=0): f32[]
allocation 3: size 64, color 1, page 0, preallocated-temp:
 value: <4 neg @1> (size=32,offset=32): bf16[8]{0:T(8)S(1)}
 value: <5 mul @1> (size=48,offset=16): bf16[8]{0:T(8)S(1)}

Total bytes used: 92 (92B)

Used values:
<0 p @0>
 positions:
  p
 uses:
  neg, operand 0
  add, operand 0
 from instruction: %p = f32[4]{0} parameter(0), metadata={op_name="params['w']"}
<1 add @0>
 positions:
  add
  out {0}
 uses:
 from instruction: %add = f32[4]{0} add(%p, %mul), metadata={op_name="jit(f)/a[b/c]/add" \
source_file="f.py" source_line=7}
<2 out{} @0>
 positions:
  out {}
 uses:
 from instruction: %out = (f32[4]{0}) tuple(%add)
<3 x (phi) @0>
 positions:
  x
 uses:
  inner, operand 1 {0,1}
 from instruction: %x = f32[] parameter(0)
<4 neg @1>
 positions:
  neg
 uses:
  mul, operand 0
 from instruction: %neg = bf16[8]{0:T(8)S(1)} fusion(%p), kind=kLoop, calls=%fused, \
metadata={op_name="jit(f)/neg" stack_frame_id=2}
<5 mul @1>
 positions:
  mul
 uses:
  add, operand 1
 from instruction: %mul = bf16[8]{0:T(8)S(1)} custom-call(%neg), custom_call_target="gemm"


HloLiveRange (max 5):
  InstructionSequence:
    0:p
    1:neg
    2:mul
    3:add
    4:out
  BufferLiveRange:
    p{}:0-3
    add{}:3-5
    out{}:4-5
    neg{}:1-1
    mul{}:2-3
  Live ranges at 3 (peak):
    mul{}: 16 bytes (cumulative: 16 bytes)
    p{}: 16 bytes (cumulative: 32 bytes)
    add{}: 15 bytes (cumulative: 47 bytes)
"""

MODULE_TEXT = """\
HloModule jit_step, is_scheduled=true

FileNames
1 "train.py"

FunctionNames
1 "main"
2 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=50 end_line=50 column=4 end_column=9}
2 {file_name_id=1 function_name_id=2 line=20 end_line=20 column=8 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

%fused (a: f32[4]) -> bf16[8] {
  %a = f32[4]{0} parameter(0)
  ROOT %pad = bf16[8]{0} pad(%a), padding=0_4
}

ENTRY %main (p: f32[4]) -> (f32[4]) {
  %p = f32[4]{0} parameter(0)
  %neg = bf16[8]{0:T(8)S(1)} fusion(%p), kind=kLoop, calls=%fused
  %mul = bf16[8]{0:T(8)S(1)} custom-call(%neg), metadata={op_name="jit(f)/mul" stack_frame_id=1}
  %add = f32[4]{0} add(%p, %mul)
  ROOT %out = (f32[4]{0}) tuple(%add)
}
"""


def rows_of(
    dump: str,
    module_text: str | None = None,
    *,
    stem: str = STEM,
    tags: tuple[str, ...] = (),
    patterns: tuple[tuple[str, str], ...] = (),
) -> CompilationRows:
    files = DumpFiles(
        run="base",
        run_path="/data/base",
        stem=stem,
        key=f"base/{stem}",
        other_key=None,
        name=dump_name(stem),
        sources=(Source("text", stem, (Part("allocations", Path("x.txt")),)),),
        size_bytes=len(dump),
    )
    plan = parse_plan([DumpPart("x.txt", dump)])
    program = parse_module_text(module_text or "", plan.instructions)
    provenance = Provenance(files, "digest", "2026-11-21T07:00:00+00:00", tags)
    tables = dict(compilation_tables([(provenance, derive_facts(plan, program, patterns))]))
    return CompilationRows(
        {label: tables[label] for label in NODE_COLUMNS},
        {name: tables[name] for name in RELATIONSHIP_COLUMNS},
    )


def nodes(rows: CompilationRows, label: str, *columns: str) -> list[tuple[object, ...]]:
    table = rows.nodes[label].select(list(columns))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def pairs(rows: list[tuple[object, ...]]) -> list[tuple[object, object]]:
    return [(row[0], row[1]) for row in rows]


def edges(rows: CompilationRows, name: str, *columns: str) -> list[tuple[object, ...]]:
    """Return readable names of both ends, then the properties."""
    from xlagraph.graph.schema import SCHEMA

    kind = SCHEMA.relationship(name)
    called = {"Value": "label", "Allocation": "number", "MemorySpace": "color"}
    names: list[dict[object, object]] = []
    for label in (kind.source, kind.target):
        shown = "key" if label in ("Compilation", "SourceLine", "Frame") else "name"
        names.append(dict(pairs(nodes(rows, label, "key", called.get(label, shown)))))
    table = rows.relationships[name]
    columns = ("source", "target", *columns)
    return [
        (names[0][source], names[1][target], *rest)
        for source, target, *rest in zip(
            *(table.column(column).to_pylist() for column in columns), strict=True
        )
    ]
