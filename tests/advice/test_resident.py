"""Programs loaded together: arguments count once, plus the largest temporaries; on each engine."""

import pytest

from tests.tiny_dumps import AFTER_F, BEFORE_F, BEFORE_G, dump, ingest_two_runs, write_dump
from xlagraph.ingest import ingest
from xlagraph.queries import NoSuchMemorySpace, ResidentProgram, check_resident


@pytest.fixture
def two_runs(graph_of):
    """Return the runs `before` and `after` of tiny_dumps."""
    return graph_of(ingest_two_runs)


def test_arguments_of_one_shape_count_once_and_the_largest_program_runs(two_runs):
    (space,) = check_resident(two_runs, ["before"])
    # p is 64 in both; jit_f needs 256 + 64 to run, jit_g 128 + 64
    assert space.programs == (
        ResidentProgram(BEFORE_F, 64, 0, 0, 320, None, adds_bytes=64 + 320),
        ResidentProgram(BEFORE_G, 64, 64, 0, 192, None, adds_bytes=0),
    )
    assert space.least_bytes == 384


def test_arguments_of_two_runs_are_shared_by_the_word_of_the_user_only(two_runs):
    (space,) = check_resident(two_runs, ["before", "after"])
    (shared,) = check_resident(two_runs, ["before", "after"], is_shared=True)
    (alone,) = check_resident(two_runs, ["before"])
    assert alone.most_bytes == alone.least_bytes + 64  # p of both programs
    assert space.most_bytes == shared.most_bytes
    assert space.least_bytes == shared.least_bytes + 64
    assert (space.alike_bytes, shared.alike_bytes) == (64, 0)


def test_one_program_needs_what_it_reserves(two_runs):
    (space,) = check_resident(two_runs, [AFTER_F])
    assert space.least_bytes == 640


def test_arguments_of_other_shapes_and_constants_add_up(graph, tmp_path):
    constant = dump(128).replace("preallocated-temp", "constant")
    write_dump(tmp_path / "runs", 1, "jit_f", constant)
    other = dump(512).replace("f32[16]| at ShapeIndex", "f32[4,4]| at ShapeIndex")
    write_dump(tmp_path / "runs", 2, "jit_g", other)
    assert ingest(graph, tmp_path / "runs", jobs=1).ok
    (space,) = check_resident(graph, ["runs"])
    first, second = space.programs
    assert (first.constant_bytes, first.running_bytes, first.adds_bytes) == (128, 64, 64 + 128)
    assert (second.shared_argument_bytes, second.adds_bytes) == (0, 64 + 576)


def test_the_bound_is_compared_with_a_capacity(two_runs):
    (space,) = check_resident(two_runs, ["before"], {0: 384})
    assert (space.fits, space.missing_bytes) == (True, 0)
    (space,) = check_resident(two_runs, ["before"], {0: 383})
    assert (space.fits, space.missing_bytes) == (False, 1)
    with pytest.raises(NoSuchMemorySpace):
        check_resident(two_runs, ["before"], {5: 383})
