"""Rules of memory planning that depend on the platform."""

from tests.advice.small_compilations import facts
from xlagraph.planner.compilation.platform_rules import written_by_others


def test_values_that_other_tpus_write_are_known_by_opcode_or_by_the_name_of_a_fusion():
    values = [
        facts(1, "f32[4]", "all-gather", name="all-gather.1"),
        facts(2, "f32[4]", "fusion", name="async-collective-start.2"),
        facts(3, "f32[4]", "all-reduce", name="all-reduce.3"),
        facts(4, "f32[4]", "fusion", name="fusion.4"),
    ]
    assert written_by_others(values) == {1, 2}
