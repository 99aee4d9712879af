"""A reduction that the compiler makes in several steps counts as one."""

import pytest


@pytest.mark.parametrize(
    ("first", "last", "readers"),
    [
        ("reduce-window(rows)", "reduce(less)", ["sum"]),
        ("reduce-window(rows) | jit(f)/reduce_window_sum", "reduce(less)", ["part"]),
        ("reduce-window(rows)", "negate(less)", ["less"]),
    ],
)
def test_what_the_first_step_reads_is_read_by_the_last(programs, first, last, readers):
    program = programs(
        "0 | 565760 | preallocated-temp",
        f"""
        0 | rows | s8[64,8192] | 0      | 524288 | 0-1 | iota()
        0 | part | s8[64,256]  | 524288 | 16384  | 1-2 | {first}
        0 | less | s8[64,8]    | 540672 | 512    | 2-3 | reduce-window(part)
        0 | sum  | s8[64]      | 541184 | 64     | 3-3 | {last}
        """,
    )
    assert program.readers_of[program.by_label["rows"].value_id] == readers
