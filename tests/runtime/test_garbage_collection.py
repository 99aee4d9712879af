"""Python's cycle collector: kept away while a dump is read, and at work for the caller."""

import gc
import weakref
from pathlib import Path

import pytest

from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.runtime.garbage_collection import collector_paused

SAMPLE = (
    Path(__file__).parents[1]
    / "ingest"
    / "carriers"
    / "text"
    / "samples"
    / "jaxlib-0.9.2-buffer-assignment.txt"
)


@pytest.fixture
def collector():
    """Restore the collector afterwards."""
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    if not was_enabled:
        gc.disable()


def test_a_pause_ends_with_its_block_however_that_ends(collector):
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_paused():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_a_collector_that_the_caller_does_without_stays_off(collector):
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_many_records_are_looked_at_no_more_when_a_pause_ends(collector):
    with collector_paused():
        records = [[number] for number in range(50_000)]
    assert len(gc.get_objects(generation=0)) < len(records) // 10


def test_so_are_those_that_took_the_place_of_as_many(collector):
    earlier = [[number] for number in range(50_000)]
    gc.collect()
    with collector_paused(has_many=True):
        records = [[number] for number in range(50_000)]
        del earlier
    assert len(gc.get_objects(generation=0)) < len(records) // 10


class Garbage:
    """Refers to itself: only the collector finds that nobody else does."""

    def __init__(self):
        self.own = self


def test_garbage_of_a_caller_who_reads_many_small_dumps_is_collected(collector):
    parts = [DumpPart(SAMPLE.name, SAMPLE.read_text("utf-8"))]
    garbage = []
    for _ in range(3000):
        garbage.append(weakref.ref(Garbage()))
        parse_plan(parts)
    left = sum(each() is not None for each in garbage)
    assert left < len(garbage) // 2
