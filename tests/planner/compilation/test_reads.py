"""Calls and asynchronous fusions are no readers: the instructions of their computations are."""

from tests.tiny_dumps import tiny_dump
from xlagraph.ingest import ingest
from xlagraph.planner.compilation.stored_compilation import StoredCompilation

DUMP = tiny_dump(
    """
    0 | 16 | parameter 0, shape |s8[16]| at ShapeIndex {}
    1 | 16 | maybe-live-out
    """,
    """
    0 | p, q     | s8[16] | 0 | 16 | 0-4 | parameter(0)
    - | q        | s8[16] | 0 | 16 | 1-1 | parameter(0)
    1 | inner, c | s8[16] | 0 | 16 | 2-4 | negate(p)
    - | c        | s8[16] | 0 | 16 | 3-3 | call(p)
    """,
)
MODULE_TEXT = """\
HloModule jit_f, is_scheduled=true

%called (q: s8[16]) -> s8[16] {
  %q = s8[16]{0} parameter(0)
  ROOT %inner = s8[16]{0} negate(%q)
}

ENTRY %main (p: s8[16]) -> s8[16] {
  %p = s8[16]{0} parameter(0)
  ROOT %c = s8[16]{0} call(%p), to_apply=%called
}
"""


ASYNCHRONOUS = tiny_dump(
    """
    0 | 16 | parameter 0, shape |s8[16]| at ShapeIndex {}
    1 | 16 | maybe-live-out
    """,
    """
    0 | p, q         | s8[16] | 0 | 16 | 0-5 | parameter(0)
    - | q            | s8[16] | 0 | 16 | 1-1 | parameter(0)
    1 | inner, s{1}, d | s8[16] | 0 | 16 | 3-5 | fusion(p)
    - | s            | ((s8[16]), s8[16], u32[]) | 0 | 24 | 3-4 | fusion-start(p)
    - | d            | s8[16] | 0 | 16 | 4-5 | async-done(inner)
    """,
)
ASYNCHRONOUS_TEXT = """\
HloModule jit_f, is_scheduled=true

%fused (r: s8[16]) -> s8[16] {
  %r = s8[16]{0} parameter(0)
  ROOT %n = s8[16]{0} negate(%r)
}

%called (q: s8[16]) -> s8[16] {
  %q = s8[16]{0} parameter(0)
  ROOT %inner = s8[16]{0} fusion(%q), kind=kLoop, calls=%fused
}

ENTRY %main (p: s8[16]) -> s8[16] {
  %p = s8[16]{0} parameter(0)
  %s = ((s8[16]{0}), s8[16]{0}, u32[]) async-start(%p), calls=%called
  ROOT %d = s8[16]{0} async-done(%s)
}
"""


def stored_of(graph, folder, module_text, dump=DUMP):
    stem = folder / "module_0001.jit_f.cpu_after_optimizations"
    folder.mkdir()
    stem.with_name(f"{stem.name}-buffer-assignment.txt").write_text(dump)
    if module_text:
        stem.with_name(f"{stem.name}.txt").write_text(module_text)
    ingest(graph, folder, jobs=1)
    return StoredCompilation(graph, f"{folder.name}/{stem.name}")


def readers(graph, folder, module_text, dump=DUMP):
    stored = stored_of(graph, folder, module_text, dump)
    return [{use.instruction for use in uses} for uses in (stored.uses, stored.reads)]


def test_a_call_reads_nothing_beside_its_computation(graph, tmp_path):
    assert readers(graph, tmp_path / "run", MODULE_TEXT) == [{"c", "inner"}, {"inner"}]


def test_a_call_of_an_unknown_computation_reads_its_operands(graph, tmp_path):
    assert readers(graph, tmp_path / "run", None) == [{"c", "inner"}, {"c", "inner"}]


def test_an_asynchronous_fusion_reads_nothing_beside_its_computation(graph, tmp_path):
    found = readers(graph, tmp_path / "run", ASYNCHRONOUS_TEXT, ASYNCHRONOUS)
    assert found == [{"s", "d", "inner"}, {"inner"}]
