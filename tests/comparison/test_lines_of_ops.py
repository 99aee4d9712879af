"""The user's line of ops of which only one program has some."""

from collections import Counter

from tests.comparison.test_edited_lines import Module
from xlagraph.comparison.called_functions import name_called
from xlagraph.comparison.held_values import Reserved
from xlagraph.comparison.reason_texts import reason_text
from xlagraph.comparison.reasons import FoundReasons

DENSE = [f"step:9 forward:3 Dense_0/{op}" for op in ("dot_general", "add", "max")]
DROPOUT = [
    f"step:9 forward:{line} Dropout_{line}.__call__:5! Dropout_{line}/{op}"
    for line in (4, 6)
    for op in ("lt", "shift", "xor", "mul", "select")
]


class Ops(Module):
    """The ops of a module, with the lines that make them."""

    @property
    def op_names(self):
        return Counter(f"jit(step)/{op.split()[-1]}" for op in self._ops)


def told(before, after):
    found = FoundReasons()
    a, b = (Reserved((), mentions=Ops(*ops)) for ops in (before, after))
    name_called((a, b), found)
    return [reason_text(each, ("a", "b")) for each in found.found.values()]


def test_the_line_of_most_ops_that_only_one_program_has_is_named():
    dropout = DROPOUT[:5]
    assert told(DENSE, [*DENSE, *dropout]) == [
        "5 ops of Dropout_*, none before (mostly train.py:4)"
    ]
    assert told([*DENSE, *dropout], DENSE) == [
        "5 ops of Dropout_* before, none now (mostly train.py:4)"
    ]
    assert told(DENSE, [*DENSE, *DROPOUT]) == ["10 ops of Dropout_*, none before"], "two lines"
