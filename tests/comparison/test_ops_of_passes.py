"""What passes of XLA made has names of instructions, which no line of a program edits."""

from tests.comparison.test_edited_lines import told


def test_instructions_that_passes_of_xla_made_are_no_ops():
    before = ["step:9 loss:5 forward:3 add", "step:9 loss:5 shard_map/broadcast.7"]
    assert told(before, [*before[:1], "step:9 loss:5 shard_map/broadcast.14"]) == []
