"""`xlagraph whatif`: replan memory the way XLA would after a change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.destination import write_record
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import CompilationArgument, open_graph_of
from xlagraph.cli.output.messages import note
from xlagraph.cli.output.shared_options import RowOptions

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class ChangeOptions(RowOptions):
    """Options of the command."""

    donate: list[str] | None = option(
        "A parameter to donate, by number or name; repeatable.", metavar="PARAMETER|all"
    )
    without: list[str] | None = option(
        "Values to remove, by label, op, scope or line, with all that share their bytes or stack"
        " them; repeatable.",
        metavar="PATTERN",
    )
    until_last_use: list[str] | None = option(
        "Values to free at their last use; repeatable.", metavar="PATTERN"
    )
    shrink: list[str] | None = option(
        "Values to shrink, with all that share their bytes or stack them: 2 or 0.5 keeps half;"
        " repeatable.",
        metavar="PATTERN=FACTOR",
    )
    checkpoint: list[str] | None = option(
        "A scope whose values are recomputed when needed; repeatable.", metavar="SCOPE"
    )
    batch: str | None = option("Shrink the batch: 2 or 0.5 keeps half.", metavar="FACTOR")
    batch_of: list[str] | None = option(
        "A parameter, or a value by label, whose first dimension, or the given one, is the batch;"
        " repeatable.",
        metavar="PARAMETER[:DIMENSION]",
    )
    schedule: str | None = option(
        "Run the instructions in another order of XLA, with the other changes: `memory` is the"
        " memory-optimized setting of the platform.",
        metavar="memory|depth-first|post-order|list",
    )
    batch_like: str | None = option(
        "A compilation with another batch, which shows the values that carry it; by default one of"
        " the same module.",
        metavar="COMPILATION",
    )


def whatif(
    options: ChangeOptions,
    name: CompilationArgument = None,
) -> None:
    """Replan memory the way XLA would after a change.

    First the plan is replayed without changes. If the replay is not exact, do not trust effects.

    Example: xlagraph whatif baseline --donate all
    """
    from xlagraph.cli.summaries.whatif import write_whatif
    from xlagraph.planner.edits.changes import Changes
    from xlagraph.planner.edits.result import whatif_cells
    from xlagraph.planner.edits.whatif import whatif as replan

    if options.batch is None and (options.batch_of or options.batch_like):
        raise UsageError("--batch-of and --batch-like need --batch, the factor of the batch")
    changes = Changes(
        donate=options.donate or (),
        without=options.without or (),
        until_last_use=options.until_last_use or (),
        shrink=_parse_factors(options.shrink or ()),
        checkpoint=options.checkpoint or (),
        batch=options.batch,
        batch_of=options.batch_of or (),
        batch_like=options.batch_like,
        schedule=options.schedule,
    )
    with open_graph_of(options) as graph:
        result = replan(graph, name, changes)
    for text in result.notes:
        note(text)
    write_record(whatif_cells(result), options, partial(write_whatif, result))


def _parse_factors(texts: Sequence[str]) -> "dict[str, Fraction]":
    from xlagraph.planner.edits.changes import parse_factor

    factors: dict[str, Fraction] = {}
    for text in texts:
        pattern, equals, factor = text.rpartition("=")
        if not equals or not pattern:
            raise UsageError(f"--shrink expects PATTERN=FACTOR, found {text!r}")
        if pattern in factors:
            raise UsageError(f"--shrink names {pattern} twice; give one factor for each")
        factors[pattern] = parse_factor(factor)
    return factors
