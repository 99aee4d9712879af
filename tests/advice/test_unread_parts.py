"""`advise` names factors with columns that nothing reads, and spectra of real numbers."""

from fractions import Fraction

import pytest

from tests.advice.small_compilations import with_results
from xlagraph.advice.causes.unread_parts import full_factors, whole_spectra
from xlagraph.planner.dimensions.stored_operations import operations_of_text
from xlagraph.planner.edits.resizing import Scale


def factors(programs, *, columns=8, target="lapack_sorgqr_ffi", root="slice"):
    slicing = ", slice={[0:64], [0:8]}" if root == "slice" else ""
    shape = "f32[64,8]" if root == "slice" else "f32[64,64]"
    size = 256 * (8 if root == "slice" else 64)
    program = programs(
        f"0 | 256 | parameter 0, shape |f32[{columns}]| at ShapeIndex {{}}\n"
        f"1 | 16384 | preallocated-temp\n2 | {size} | maybe-live-out".replace("\\\n", "\n"),
        f"""
        0 | t | f32[{columns}] | 0 | {4 * columns} | 0-3 | parameter(0)
        1 | q | f32[64,64] | 0 | 16384 | 1-2 | custom-call(t) | jit(f)/householder @ f.py:5
        2 | r | {shape} | 0 | {size} | 2-3 | fusion(q) | jit(f)/slice @ f.py:6
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

reading {{
  p = f32[64,64]{{1,0}} parameter(0)
  c = f32[64,64]{{1,0}} copy(p)
  ROOT s = {shape}{{1,0}} {root}(c){slicing}
}}

ENTRY e {{
  t = f32[{columns}]{{0}} parameter(0)
  q = f32[64,64]{{1,0}} custom-call(t)
  ROOT r = {shape}{{1,0}} fusion(q), kind=kLoop, calls=reading
}}
""")
    program.instructions["q"] = program.instructions["q"]._replace(target=target)
    with_results(program, "r")
    return list(full_factors(program))


def test_columns_that_complete_a_basis_are_named_if_nothing_reads_them(programs):
    (cause,) = factors(programs)
    assert isinstance(cause.edit, Scale)
    assert cause.edit.kept_by_label == {"q": Fraction(1, 8)}
    reason = "completes 8 columns to 64; f.py:6 reads at most 8 of its 64 columns"
    assert [row["reason"] for row in cause.rows] == [reason]


@pytest.mark.parametrize(
    "changed",
    [{"root": "negate"}, {"target": "lapack_sgetrf_ffi"}, {"columns": 4}, {"columns": 64}],
)
def test_factors_that_are_read_are_not_named(programs, changed):
    assert factors(programs, **changed) == []


def spectra(programs, *, convert="convert", real="real"):
    shape, size = ("f32[16]", 64) if real == "real" else ("c64[16]", 128)
    program = programs(
        """
        0 | 64 | parameter 0, shape |f32[16]| at ShapeIndex {}
        1 | 640 | preallocated-temp
        2 | 128 | maybe-live-out
        """,
        f"""
        0 | x | f32[16] | 0   | 64  | 0-6 | parameter(0)
        1 | c | c64[16] | 0   | 128 | 1-3 | {convert}(x) | jit(f)/fft @ f.py:5
        1 | s | c64[16] | 128 | 128 | 2-4 | fft(c) | jit(f)/fft @ f.py:5
        1 | m | c64[16] | 256 | 128 | 3-5 | multiply(s) | jit(f)/mul @ f.py:6
        1 | i | c64[16] | 384 | 128 | 4-6 | fft(m) | jit(f)/ifft @ f.py:7
        2 | r | {shape} | 0 | {size} | 5-6 | {real}(i) | jit(f)/real @ f.py:7
        """,
    )
    program.stored.operations = operations_of_text(f"""HloModule m

ENTRY e {{
  x = f32[16]{{0}} parameter(0)
  c = c64[16]{{0}} {convert}(x)
  s = c64[16]{{0}} fft(c), fft_type=FFT, fft_length={{16}}
  m = c64[16]{{0}} multiply(s, s)
  i = c64[16]{{0}} fft(m), fft_type=IFFT, fft_length={{16}}
  ROOT r = {shape}{{0}} {real}(i)
}}
""")
    with_results(program, "r")
    return list(whole_spectra(program))


def test_complex_transforms_of_real_numbers_are_named(programs):
    (cause,) = spectra(programs)
    assert isinstance(cause.edit, Scale)
    assert cause.edit.kept_by_label == dict.fromkeys("csmi", Fraction(1, 2))
    assert "at f.py:5" in str(cause.rows[0]["reason"])


@pytest.mark.parametrize("changed", [{"convert": "complex"}, {"real": "negate"}])
def test_transforms_of_complex_numbers_are_not_named(programs, changed):
    assert spectra(programs, **changed) == []
