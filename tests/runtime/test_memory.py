"""Python's cycle collector: paused while a dump is read, and active for the caller."""

import gc
import weakref
from pathlib import Path

import pytest

from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.runtime.memory import collector_paused

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
    """Restore the collector after the test."""
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    if not was_enabled:
        gc.disable()


def test_a_pause_ends_with_its_block_even_after_an_error(collector):
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), collector_paused():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_a_collector_that_the_caller_has_disabled_stays_disabled(collector):
    gc.disable()
    with collector_paused():
        pass
    assert not gc.isenabled()


def test_many_records_are_not_scanned_again_when_a_pause_ends(collector):
    with collector_paused():
        records = [[number] for number in range(50_000)]
    assert len(gc.get_objects(generation=0)) < len(records) // 10


def test_the_same_is_true_of_records_that_replace_others(collector):
    earlier = [[number] for number in range(50_000)]
    gc.collect()
    with collector_paused(has_many=True):
        records = [[number] for number in range(50_000)]
        del earlier
    assert len(gc.get_objects(generation=0)) < len(records) // 10


class Garbage:
    """An object that refers to itself, so that only the collector can free it."""

    def __init__(self):
        self.own = self


def test_the_garbage_of_a_caller_who_reads_many_small_dumps_is_collected(collector):
    parts = [DumpPart(SAMPLE.name, SAMPLE.read_text("utf-8"))]
    garbage = []
    for _ in range(3000):
        garbage.append(weakref.ref(Garbage()))
        parse_plan(parts)
    left = sum(each() is not None for each in garbage)
    assert left < len(garbage) // 2
