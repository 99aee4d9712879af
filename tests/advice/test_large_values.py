"""`advise` names values that wait to be read, and the line that takes most of the peak."""

import pytest

from xlagraph.advice.causes.large_values import idle_values, largest_line

WAITING = """
0 | w    | s8[4096] | 0    | 4096 | 0-3 | sort()
0 | t    | s8[4096] | 4096 | 4096 | 1-2 | sort()
0 | u    | s8[4096] | 8192 | 4096 | 2-3 | sort(t{})
0 | last | s8[64]   | 4096 | 64   | 3-4 | fusion(w, u)
"""


def test_a_value_written_early_and_read_after_the_peak_is_idle(programs):
    (cause,) = idle_values(programs("0 | 12288 | preallocated-temp", WAITING.format("")))
    assert [(row["value"], row["reason"]) for row in cause.rows] == [
        ("w", "written at step 0, first read at 3; the peak is at 2")
    ]


def test_a_value_read_before_the_peak_too_is_not_idle(programs):
    program = programs("0 | 12288 | preallocated-temp", WAITING.format(", w"))
    assert not list(idle_values(program))


@pytest.mark.parametrize(("read", "is_idle"), [("t", True), ("t, f{1}", False)])
def test_a_value_that_a_fusion_computes_with_what_is_needed_earlier_is_not_idle(
    programs, read, is_idle
):
    program = programs(
        "0 | 12352 | preallocated-temp",
        f"""
        0 | f{{0}} | s8[4096] | 0     | 4096 | 0-3 | fusion()
        0 | f{{1}} | s8[64]   | 12288 | 64   | 0-2 | fusion()
        0 | t    | s8[4096] | 4096  | 4096 | 1-2 | sort()
        0 | u    | s8[4096] | 8192  | 4096 | 2-3 | sort({read})
        0 | last | s8[64]   | 4096  | 64   | 3-4 | fusion(f{{0}}, u)
        """,
    )
    assert bool(list(idle_values(program))) == is_idle


def test_a_value_that_the_backward_pass_reads_after_the_forward_pass_is_idle(programs):
    values = WAITING.replace("0-3", "0-4").replace("(w, u)", "(w, u) | jit(f)/jvp()/mul")
    values += "0 | g | s8[64] | 4160 | 64 | 4-4 | sort(w) | jit(f)/transpose(jvp())/mul"
    (cause,) = idle_values(programs("0 | 12288 | preallocated-temp", values.format("")))
    assert [row["value"] for row in cause.rows] == ["w"]


def test_an_asynchronous_copy_that_the_compiler_starts_early_is_not_idle(programs):
    values = WAITING.format("").replace(" sort()", " copy-start()", 1)
    assert not list(idle_values(programs("0 | 12288 | preallocated-temp", values)))


@pytest.mark.parametrize(("opcode", "is_computed"), [("sort()", True), ("scatter()", False)])
def test_the_line_with_most_bytes_is_named_unless_another_cause_explains_it(
    programs, opcode, is_computed
):
    values = """
        0 | a | s8[4096] | 0    | 4096 | 0-2 | {} | jit(f)/sort @ model.py:3
        0 | b | s8[1024] | 4096 | 1024 | 1-2 | sort() | jit(f)/sort @ model.py:4
    """
    program = programs("0 | 5120 | preallocated-temp", values.format(opcode))
    (cause,) = largest_line(program, ())
    assert cause.title == "One value takes 80% of reserved memory"
    assert cause.rows[0]["reason"] == "computed by model.py:3"
    assert bool(cause.remedies) == is_computed
    assert not list(largest_line(program, {"a"}))
