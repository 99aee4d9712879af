"""`check --resident` adds up the memory of programs that are loaded together."""

import json

from tests.tiny_dumps import BEFORE_F, BEFORE_G


def test_the_bytes_that_each_program_adds_sum_up_to_the_bound(run, graph):
    ended = run("check", "--resident", "jit_g", BEFORE_F, "--format", "json")
    assert ended.code == 0
    assert [(row["compilation"], row["addsBytes"]) for row in json.loads(ended.out)] == [
        (BEFORE_F, 384),
        (BEFORE_G, 0),
    ]


def test_the_sentence_says_that_it_is_a_lower_bound(run, graph):
    shown = run("check", "--resident", "before").out.splitlines()
    assert shown[0] == (
        "Together 2 programs need 384 B or more of memory space 0, 448 B if they share no"
        " arguments."
    )
    assert shown[1].startswith("This is a lower bound. Arguments of one name and shape")


def test_arguments_of_one_shape_in_two_runs_may_be_the_same_arrays(run, graph):
    shown = run("check", "--resident", "before", "after").out.splitlines()
    assert shown[1] == (
        "64 B of the arguments in memory space 0 have the shape of another program's under another"
        " name or in another run: if they are the same arrays, 640 B are enough."
    )


def test_a_bound_above_the_capacity_trips_the_gate(run, graph):
    ended = run("check", "--resident", "before", "--capacity", "383B")
    assert ended.code == 4
    assert ended.out.splitlines()[0] == (
        "Together 2 programs need 384 B or more of memory space 0, 448 B if they share"
        " no arguments: they do not fit in 383 B, 1 B are missing."
    )
    ended = run("check", "--resident", "before", "--capacity", "384B")
    assert ended.code == 0
    assert "they may fit in 384 B, with at most 0 B left." in ended.out
    ended = run("check", "--resident", "before", "--capacity", "448B")
    assert "either fits in 448 B, with at least 0 B left." in ended.out


def test_it_cannot_be_combined_with_a_replay(run, graph):
    assert run("check", "--resident", "--replay").code == 2
