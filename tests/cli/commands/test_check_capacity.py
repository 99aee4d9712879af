"""`check` compares each memory space with its capacity, and says what to change."""

import json
import re

import pytest

from tests.tiny_dumps import AFTER_F, dump, tiny_dump, write_dump

TWO_SPACES = tiny_dump(
    """
    0 | 4096 | preallocated-temp
    1 | 512  | color 1, preallocated-temp
    """,
    """
    0 | a | f32[1024]{0}     | 0 | 4096 | - | iota()
    1 | b | f32[128]{0:S(1)} | 0 | 512  | - | iota()
    """,
)


def rows(ended):
    return [
        (row["memorySpace"], row["reservedBytes"], row["fits"], row["missingBytes"])
        for row in json.loads(ended.out)
    ]


def test_exactly_the_capacity_fits_and_one_byte_less_trips_the_gate(run, graph):
    ended = run("check", "after", "--capacity", "640B", "--format", "json")
    assert ended.code == 0
    assert rows(ended) == [(0, 640, True, 0), (0, 192, True, 0)]
    ended = run("check", "after", "--capacity", "639B", "--format", "json")
    assert ended.code == 4
    assert rows(ended) == [(0, 640, False, 1), (0, 192, True, 0)]
    assert ended.err.splitlines()[1:] == [
        f"{AFTER_F}: does not fit, memory space 0 is 1 B short: it reserves 640 B of 639 B"
    ]


def test_each_memory_space_has_its_capacity(run, tmp_path):
    write_dump(tmp_path / "runs", 1, "jit_f", TWO_SPACES)
    graph = ("--graph", tmp_path / "g.lbug")
    run("ingest", tmp_path / "runs", *graph)
    for capacities, code, found in (
        (["4096B"], 0, [(0, 4096, True, 0), (1, 512, None, None)]),
        (["1=512B"], 0, [(0, 4096, None, None), (1, 512, True, 0)]),
        (["4KiB", "1=500B"], 4, [(1, 512, False, 12), (0, 4096, True, 0)]),
        (["0=4000B", "1=500B"], 4, [(0, 4096, False, 96), (1, 512, False, 12)]),
    ):
        options = [part for text in capacities for part in ("--capacity", text)]
        ended = run("check", *options, *graph, "--format", "json")
        assert ended.code == code
        assert rows(ended) == found


def test_a_memory_space_that_does_not_exist_is_an_error(run, graph):
    ended = run("check", "--capacity", "3=1KiB")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[1:] == [
        "error: nothing is allocated in memory space 3; the memory spaces in use: 0"
    ]


def test_a_capacity_without_a_unit_is_an_error(run, graph):
    for text in ("16", "0=16"):
        ended = run("check", "--capacity", text)
        assert (ended.code, ended.out) == (2, "")
        assert f"{text} has no unit: write {text}GiB, or {text}B for bytes" in ended.err
    assert run("check", "--capacity", "0").code == 4


def test_a_compilation_that_does_not_fit_gets_at_most_three_changes_from_the_advice(run, tmp_path):
    # an input that could be donated: 64 KiB of 192 KiB
    text = dump(65536).replace("f32[16]", "f32[16384]").replace("size 64,", "size 65536,")
    text = text.replace("(size=64,", "(size=65536,").replace("65664", "196608")
    write_dump(tmp_path / "my runs", 1, "jit_f", text)
    graph = ("--graph", tmp_path / "g.lbug")
    assert run("ingest", tmp_path / "my runs", *graph).code == 0
    asked = ("check", "--capacity", "150KiB", *graph)
    ended = run(*asked, "--format", "json")
    assert ended.code == 4
    (row,) = json.loads(ended.out)
    assert row["missingBytes"] == 196608 - 150 * 1024
    assert 1 <= len(row["changes"]) <= 3
    assert {"finding", "query", "bytes", "bytesAtMost", "doubt"} < row["changes"][0].keys()
    assert {"jax", "tensorflow", "pytorch"} < row["changes"][0].keys()
    shown = run(*asked).out
    assert shown.splitlines()[0] == (
        "Does it fit? No: 1 of 1 compilation is too large;"
        " my runs/module_0001.jit_f.cpu_after_optimizations is 42.0 KiB short in memory space 0."
    )
    assert (
        "What to change first, for 42.0 KiB less"
        " (how: xlagraph advise 'my runs/module_0001.jit_f.cpu_after_optimizations')\n"
    ) in shown
    assert row["changes"][0]["query"] in shown
    commands = [change["whatif"] for change in row["changes"] if change["whatif"]]
    assert re.findall(r"^Proved by: (.*)$", shown, re.MULTILINE) == commands


def test_if_everything_fits_a_sentence_says_so(run, graph):
    shown = run("check", "--capacity", "16GiB", "--format", "md").out
    assert shown.startswith(
        f"**Does it fit? Yes: 4 compilations; the tightest is {AFTER_F}, which leaves 16.0 GiB"
        " (100.0%) of memory space 0 free.**\n"
    )


def test_free_and_uncounted_bytes_are_beside_the_verdict(run, graph):
    (row,) = json.loads(
        run("check", "after/module_0001", "--capacity", "1KiB", "--format", "json").out
    )
    assert row["freeBytes"] == 384
    shown = run("check", "after/module_0001", "--capacity", "1KiB").out
    assert shown.splitlines()[0] == (
        f"Does it fit? Yes: 1 compilation; the tightest is {AFTER_F}, which leaves 384 B (37.5%)"
        " of memory space 0 free."
    )
    assert "every argument once. Not counted, because a compilation does not show it" in shown


def test_other_limits_apply_together_with_a_capacity(run, graph):
    ended = run("check", "--capacity", "1KiB", "--max-peak", "639B", "-q")
    assert ended.code == 4
    assert ended.err == f"{AFTER_F}: its peak, 640 B, is above 639 B\n"


@pytest.mark.parametrize("text", ["much", "1=", "hbm=16GiB", "-1=1GiB", "1=1,2=2"])
def test_an_invalid_capacity_shows_the_valid_forms(run, graph, text):
    ended = run("check", "--capacity", text)
    assert ended.code == 2
    assert "expected" in ended.err
    assert "16GiB" in ended.err


def test_a_limit_applies_to_memory_spaces_and_the_gate_to_all(run, graph):
    ended = run("check", "--capacity", "1B", "--limit", "1", "--format", "json")
    assert len(rows(ended)) == 1
    assert ended.code == 4
    assert len(ended.err.splitlines()) == 1 + 1 + 4
    assert "showing the first 1 of 4 rows" in ended.err


def test_two_kinds_of_rows_together_are_a_usage_error(run, graph):
    ended = run("check", "--capacity", "1GiB", "--replay")
    assert (ended.code, ended.out) == (2, "")


def test_a_memory_space_named_twice_is_a_usage_error(run, graph):
    assert run("check", "--capacity", "1GiB", "--capacity", "0=2GiB").code == 2
