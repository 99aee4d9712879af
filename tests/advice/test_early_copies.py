"""`advise` names copies of one value that a GPU writes at once, long before they are read."""

from dataclasses import replace

import pytest

from xlagraph.advice.causes.early_copies import early_copies


@pytest.mark.parametrize(
    ("platform", "opcodes", "named"),
    [
        ("gpu", ("broadcast", "constant", "copy", "tuple"), ["zeros{0}", "zeros{1}"]),
        ("cpu", ("broadcast", "constant", "copy", "tuple"), []),
        ("gpu", ("broadcast", "constant", "tuple"), []),  # two values that no pass has joined
        ("gpu", ("copy", "multiply", "tuple"), []),
    ],
)
def test_copies_that_wait_at_the_peak_until_they_are_written_to(programs, platform, opcodes, named):
    program, causes = found(programs, platform, opcodes)
    assert [row["value"] for cause in causes for row in cause.rows] == named
    for cause in causes:
        assert cause.edit is not None
        after = cause.edit.apply(program.compilation, program.program)
        begins = {program.values[each].label: after.program.by_id[each] for each in after.value_ids}
        assert {label: value.live_from for label, value in begins.items()} == {
            "zeros{0}": 2, "zeros{1}": 3
        }  # fmt: skip


def test_few_bytes_that_wait_are_no_finding(programs):
    assert not found(programs, "gpu", ("broadcast", "constant", "copy"), large=4096)[1]


def found(programs, platform, opcodes, *, large=256):
    """Return a program that writes into three copies of zeros, one after another."""
    program = programs(
        f"0 | {3072 + 4 * large} | preallocated-temp",
        f"""
        0 | zeros{{0}} | f32[256] | 0    | 1024 | 0-2 | fusion()
        0 | zeros{{1}} | f32[256] | 1024 | 1024 | 0-3 | fusion()
        0 | zeros{{2}} | f32[256] | 2048 | 1024 | 0-4 | fusion()
        0 | large    | f32[{large}] | 3072 | {4 * large} | 1-2 | iota()
        0 | a        | f32[256] | 0    | 1024 | 2-4 | scatter(zeros{{0}}, large)
        0 | b        | f32[256] | 1024 | 1024 | 3-4 | scatter(zeros{{1}}, a)
        0 | c        | f32[256] | 2048 | 1024 | 4-5 | scatter(zeros{{2}}, b)
        """,
    )
    program.compilation = replace(program.compilation, platform=platform)
    zeros = program.instructions["zeros"]._replace(fused_opcodes=opcodes)
    program.instructions["zeros"] = zeros
    return program, list(early_copies(program))
