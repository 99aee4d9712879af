"""The growth of reserved bytes adds up for any two compilations of the real dumps."""

from itertools import pairwise

from xlagraph.comparison.explaining import explain_pair
from xlagraph.comparison.held_values import ReservedPart, read_reserved
from xlagraph.queries import By, compare


def test_parts_and_reasons_add_up_to_the_growth_between_any_two_real_dumps(real):
    keys = sorted(dump.key for dump in real.telling)
    reserved = read_reserved(real.graph, keys)
    assert len(keys) > 10
    for dump in real.telling:
        assert reserved[dump.key].total_bytes == dump.reserved(0), dump.key
    for before, after in pairwise([*keys, keys[0]]):
        a, b = reserved[before], reserved[after]
        reasons = explain_pair(a, b)
        growth = b.total_bytes - a.total_bytes
        assert sum(reason.growth_bytes for reason in reasons) == growth, (before, after)
        back = explain_pair(b, a)
        assert sum(reason.growth_bytes for reason in back) == -growth, (after, before)


def test_a_real_dump_compared_with_itself_has_no_growth(real):
    for reserved in read_reserved(real.graph, [dump.key for dump in real.telling]).values():
        assert [reason for reason in explain_pair(reserved, reserved) if reason.growth_bytes] == []


def test_the_queries_split_the_growth_like_the_reasons(real):
    runs = sorted({dump.files.run for dump in real.dumps})
    for before, after in pairwise(runs[::3]):
        found = compare(real.graph, before, after, by=[By.CAUSE, By.TEMPORARY])
        causes = {growth.group[0]: growth for growth in found.groups[By.CAUSE]}
        grown = sum(growth.growth_bytes for growth in causes.values())
        assert grown == found.reserved.growth_bytes
        assert sum(sentence.growth_bytes for sentence in found.sentences) == grown
        temporary = sum(growth.growth_bytes for growth in found.groups[By.TEMPORARY])
        assert temporary == (
            causes[ReservedPart.LIVE].growth_bytes if ReservedPart.LIVE in causes else 0
        )
        assert set(causes) <= {*ReservedPart}
