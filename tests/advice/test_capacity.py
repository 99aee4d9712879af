"""Whether compilations fit their memory spaces, on each engine."""

import pytest

from tests.tiny_dumps import dump, ingest_two_runs
from xlagraph.advice.advise import advise
from xlagraph.advice.capacity import changes_where_lacking
from xlagraph.ingest import ingest
from xlagraph.queries import NoSuchCompilation, NoSuchMemorySpace, check_capacity


@pytest.fixture
def two_runs(graph_of):
    """Return the runs `before` and `after` of tiny_dumps."""
    return graph_of(ingest_two_runs)


def test_rows_are_sorted_by_missing_bytes_and_then_by_reserved_bytes(two_runs):
    found = check_capacity(two_runs, {0: 300})
    assert [
        (space.run, space.reserved_bytes, space.missing_bytes, space.fits) for space in found
    ] == [
        ("after", 640, 340, False),
        ("before", 384, 84, False),
        ("before", 256, 0, True),
        ("after", 192, 0, True),
    ]


def test_a_memory_space_without_a_capacity_has_no_row(two_runs):
    (space,) = check_capacity(two_runs, {}, ["jit_h"])
    assert (space.memory_space, space.capacity_bytes, space.fits, space.missing_bytes) == (
        *(0, None, None, None),
    )
    assert space.free_bytes is None


def test_a_capacity_of_a_memory_space_that_nothing_uses_raises(two_runs):
    with pytest.raises(NoSuchMemorySpace, match="in memory space 1; the memory spaces in use: 0"):
        check_capacity(two_runs, {1: 5}, ["jit_h"])


def test_three_changes_of_the_advice_are_named_if_all_are_not_enough(graph, tmp_path):
    # every value grows a thousandfold, or advice would consider it too small
    text = dump(262144).replace("f32[16]", "f32[65536]").replace("64,", "262144,")
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "f.txt").write_text(text.replace("262272", "786432"))
    assert ingest(graph, folder, jobs=1).ok
    (space,) = check_capacity(graph, {0: 1})
    (lacking,) = changes_where_lacking(graph, [space])
    found = advise(graph, space.compilation, least_share=0).findings
    assert [change.finding.advice.title for change in lacking.changes] == [
        finding.advice.title for finding in found[:3]
    ]
    assert not lacking.would_fit


def test_a_name_without_compilations_raises(two_runs):
    with pytest.raises(NoSuchCompilation, match="is called 'nothing'"):
        check_capacity(two_runs, {0: 1}, ["nothing"])
