"""The compilation that an error message is about, on each engine."""

import pytest

from tests.tiny_dumps import AFTER_F, AFTER_H, BEFORE_F, BEFORE_G, ingest_two_runs
from xlagraph.queries import MessageClues, NoSuchCompilation, diagnose_failed_program

HAS_OPS = "it has the instructions and ops of the message"


@pytest.fixture
def two_runs(graph_of):
    """Return the runs `before` and `after` of tiny_dumps."""
    return graph_of(ingest_two_runs)


def fit_of(graph, clues):
    found = diagnose_failed_program(graph, clues)
    assert found.fit is not None
    return found.fit


@pytest.mark.parametrize(
    ("clues", "names", "key", "reason"),
    [
        (MessageClues(module="jit_h"), (), AFTER_H, "its module is jit_h, of 4"),
        (MessageClues(module="jit_<h>"), (), AFTER_H, "its module is jit_<h>, of 4"),
        (
            MessageClues("jit_f", op_names=("jit(f)/layer_0/dot",), requested_bytes=390),
            (),
            BEFORE_F,
            f"its module is jit_f, {HAS_OPS}, its size is nearest of 4",
        ),
        (MessageClues(requested_bytes=128), ["before"], BEFORE_G, "its size is nearest, of 2"),
        (
            MessageClues(requested_bytes=128, memory_space_name="vmem"),
            ["before"],
            BEFORE_F,
            "the message names none of 2 programs; this one reserves most",
        ),
        (
            MessageClues(),
            (),
            AFTER_F,
            "the message names none of 4 programs; this one reserves most",
        ),
        (MessageClues(), ["jit_h"], AFTER_H, "the only one"),
    ],
)
def test_it_is_found_by_the_facts_in_the_message(two_runs, clues, names, key, reason):
    found = diagnose_failed_program(two_runs, clues, names)
    assert (found.compilation, found.reason) == (key, reason)


def test_its_memory_space_is_compared_with_the_capacity_in_the_message(two_runs):
    clues = MessageClues(module="jit_h", memory_space_name="hbm", capacity_bytes=100)
    fit = fit_of(two_runs, clues)
    assert (fit.memory_space, fit.reserved_bytes, fit.missing_bytes) == (0, 192, 92)


def test_the_largest_lines_at_its_peak_are_those_of_the_query(two_runs):
    lines = diagnose_failed_program(two_runs, MessageClues(module="jit_h")).lines
    assert lines is not None
    assert [(row["sourceLine"], row["physicalBytes"]) for row in lines.mappings()] == [
        (5, 64),
        (7, 64),
        (None, 64),
    ]


def test_without_a_capacity_the_fit_is_unknown(two_runs):
    fit = fit_of(two_runs, MessageClues(module="jit_h"))
    assert (fit.reserved_bytes, fit.fits) == (192, None)


def test_a_memory_space_that_it_does_not_use_has_no_answer(two_runs):
    found = diagnose_failed_program(two_runs, MessageClues(memory_space_name="vmem"))
    assert (found.fit, found.lines, found.findings) == (None, None, ())


def test_a_run_that_does_not_exist_raises(two_runs):
    with pytest.raises(NoSuchCompilation):
        diagnose_failed_program(two_runs, MessageClues(), ["nothing"])


def test_dumps_without_the_module_of_the_message_are_of_another_program(two_runs):
    def mismatch(**clues):
        return diagnose_failed_program(two_runs, MessageClues(**clues)).mismatch

    assert mismatch(module="jit_other") == "the message names another module"
    assert mismatch(memory_space_name="hbm") == ("the message is about a TPU, the dump is of a CPU")
    assert mismatch(module="jit_h", allocated_bytes=1000) == (
        "one block of 1000 B is more than this one reserves"
    )
    # without a module it may be an array, which no program reserves
    assert mismatch(allocated_bytes=1000) is None
