"""`compare` shows if and where memory grew, and if that is allowed."""

import json

import pytest

from tests.cli.command_line import json_rows
from tests.tiny_dumps import AFTER_F, AFTER_H, BEFORE_F, BEFORE_G


def test_the_first_line_of_compare_says_if_memory_grew(run, graph):
    ended = run("compare", "before", "after")
    assert ended.out.splitlines()[0] == (
        "before → after: reserved bytes grow by 192 B (+30.0%), from 640 B to 832 B,"
        " summed over 2 programs"
    )
    assert f"only in before: {BEFORE_G} (256 B reserved)" in ended.err
    assert f"only in after: {AFTER_H} (192 B reserved)" in ended.err


def test_compare_returns_every_part_as_rows(run, graph):
    found = json_rows(run("compare", "before", "after", "--format", "json"))
    assert found[:4] == [
        ("total", "reserved", None, None, 640, 832, 192),
        ("total", "logicalPeak", None, None, 640, 832, 192),
        ("total", "physicalPeak", None, None, 640, 832, 192),
        ("total", "allocation", None, None, 640, 832, 192),
    ]
    assert found[4:7] == [
        ("compilation", "jit_f", BEFORE_F, AFTER_F, 384, 640, 256),
        ("unpaired", "jit_g", BEFORE_G, None, 256, None, -256),
        ("unpaired", "jit_h", None, AFTER_H, None, 192, 192),
    ]
    assert ("role", "temp", None, None, 384, 576, 192) in found
    assert ("op", "jit(f)/layer_0/dot", None, None, 384, 576, 192) in found
    assert ("line", "f.py:5", None, None, 384, 576, 192) in found


@pytest.mark.parametrize(
    ("by", "total"),
    [(by, 640) for by in ("op", "line", "caller", "opcode", "scope", "shape", "role")],
)
def test_the_rows_of_a_grouping_add_up_to_the_total_even_if_few_are_shown(run, graph, by, total):
    for limit in (0, 1):
        found = json.loads(
            run("compare", "before", "after", "--by", by, "--limit", limit, "--format", "json").out
        )
        assert sum(row["bytesA"] for row in found) == total
        assert sum(row["bytesB"] for row in found) == total + 192
    assert "everything else" in found[-1].values()


def test_compare_by_scope_takes_leading_parts_of_op_names(run, graph):
    ended = run("compare", "before", "after", "--by", "scope", "--depth", 1, "--format", "csv")
    assert ended.out.splitlines()[1] == "jit(f),512,704,192"


def test_compare_takes_two_compilations(run, graph):
    found = json_rows(run("compare", "after/module_0005", "before/module_0003", "--format", "json"))
    assert ("compilation", "jit_g", AFTER_H, BEFORE_G, 192, 256, 64) in found


@pytest.mark.parametrize(("limit", "code"), [("29.9%", 4), ("30%", 0), ("191B", 4), ("192B", 0)])
def test_growth_beyond_the_limit_trips_the_gate(run, graph, limit, code):
    ended = run("compare", "before", "after", "--max-growth", limit, "--quiet")
    assert ended.code == code
    assert ended.err == "" if code == 0 else f"more than {limit} is not allowed" in ended.err


def test_shrinking_never_trips_the_gate(run, graph):
    assert run("compare", "after", "before", "--max-growth", "0").code == 0
