"""`advise` names copies of one value that a GPU writes at once, long before they are read."""

from dataclasses import replace

import pytest

from xlagraph.advice.causes import early_copies as module
from xlagraph.advice.causes.early_copies import early_copies
from xlagraph.planner.edits.separate_copies import SeparateCopies


@pytest.fixture(autouse=True)
def order_without_the_copies(monkeypatch):
    """Let the order be known; the edit is then the set of values that are copied apart."""
    monkeypatch.setattr(module, "reordering_of_choice", lambda *_: "known")
    monkeypatch.setattr(SeparateCopies, "of", lambda _, __, copies: set(copies))


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
    assert [cause.edit for cause in causes] == [
        {program.by_label[label].value_id for label in named} for _ in causes
    ]


def test_few_bytes_that_wait_are_no_finding(programs):
    assert not found(programs, "gpu", ("broadcast", "constant", "copy"), large=4096)[1]


def test_nothing_is_said_if_the_order_without_the_copies_is_not_known(programs, monkeypatch):
    monkeypatch.setattr(module, "reordering_of_choice", lambda *_: None)
    assert not found(programs, "gpu", ("broadcast", "constant", "copy"))[1]


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
