"""The section of changes lists each one, and the command that replans all of them together."""

import pytest

from xlagraph.advice.capacity import LackingSpace, SpaceFit
from xlagraph.advice.checkpoint_scopes import CheckpointScopes
from xlagraph.advice.combined_changes import CombinedChange
from xlagraph.advice.diagnosis import Finding
from xlagraph.advice.planned_savings import PotentialSavings
from xlagraph.cli.summaries.capacity import changes_section, tried_scopes
from xlagraph.queries.catalogue.query_files import load_catalogue

SPACE = SpaceFit("run", "run/f", 0, None, 8192, 4096)


def change(arguments, together, at_most=None):
    query = load_catalogue()["alias/not-donated"]
    assert query.advice is not None
    savings = PotentialSavings(2048, None, "reserved", None, is_planned=True)
    words = ("xlagraph", "whatif", "run/f", *arguments) if arguments else ()
    finding = Finding("run/f", query, query.advice, savings, 0.5, (), whatif=words)
    return CombinedChange(finding, together, at_most, fits=False)


def test_the_last_command_replans_all_combined_changes():
    changes = [
        change(("--donate", "w[*"), 2048),
        change(("--without", "b"), None),
        change(("--schedule", "memory"), 0, 3072),
    ]
    section = changes_section(SPACE, changes)
    assert section.proofs == (
        "xlagraph whatif run/f --donate 'w[*'",
        "xlagraph whatif run/f --without b",
        "xlagraph whatif run/f --schedule memory",
        "xlagraph whatif run/f --donate 'w[*' --schedule memory",
    )
    assert [row[2] for row in section.rows] == ["2.0 KiB", "", "up to 3.0 KiB"]


def test_changes_without_a_command_have_none_together():
    section = changes_section(SPACE, [change(("--without", "b"), 2048), change((), 3072)])
    assert section.proofs == ("xlagraph whatif run/f --without b",)


@pytest.mark.parametrize("keeps_first", [False, True])
def test_checkpoints_that_the_compiler_may_undo_are_doubted(keeps_first):
    scopes = CheckpointScopes(("--checkpoint", "a"), 1024, 4096, keeps_first)
    (text,) = tried_scopes(LackingSpace(SPACE, (), (), scopes))
    said = "xlagraph whatif run/f --checkpoint a saves up to 4.0 KiB, which may be enough to fit"
    doubt = "; the compiler drops barriers, and may keep first results instead"
    assert text == f"Tried too: {said}{doubt if keeps_first else ''}."
