"""`xlagraph whatif`: the memory planned anew, as XLA does, under changes."""

from collections.abc import Sequence
from typing import Annotated

import typer

from xlagraph.cli.options.completion import complete_compilation
from xlagraph.cli.options.open_graph import open_graph_of
from xlagraph.cli.options.shared_options import RowOptions
from xlagraph.cli.output.destination import open_output, write_rows
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.messages import note


def whatif(
    options: RowOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="COMPILATION",
            help="A key, a unique part of one, or a run; by default the one that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
    donate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PARAMETER|all", help="A parameter to donate, by number or name; repeatable."
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Values to leave out, by label, op, scope or line; repeatable."
        ),
    ] = None,
    until_last_use: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Values to free when they are last read; repeatable."),
    ] = None,
    shrink: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN=FACTOR", help="Values to make smaller: 2, or 0.5, is half; repeatable."
        ),
    ] = None,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE", help="A scope whose values are computed again when needed; repeatable."
        ),
    ] = None,
) -> None:
    """Plan the memory anew as XLA does, under changes: what would be reserved, and why.

    First the plan is replayed as it is; where that is not exact, changes are not to be trusted.

    Example: xlagraph whatif baseline --donate all
    """
    from xlagraph.cli.summaries.whatif import write_whatif
    from xlagraph.queries.planning.whatif import whatif as plan_anew
    from xlagraph.queries.planning.whatif_cells import whatif_cells

    with open_graph_of(options) as graph:
        result = plan_anew(
            graph,
            name,
            donate=donate or (),
            without=without or (),
            until_last_use=until_last_use or (),
            shrink=_factors(shrink or ()),
            checkpoint=checkpoint or (),
        )
    for text in result.notes:
        note(text)
    if options.format in (Format.TABLE, Format.MD):
        with open_output(options) as stream:
            write_whatif(result, options.format, stream)
    elif options.format is Format.JSON:
        import json

        with open_output(options) as stream:
            stream.write(json.dumps(whatif_cells(result), indent=2) + "\n")
    else:
        cells = whatif_cells(result)
        write_rows(tuple(cells), [tuple(cells.values())], options)


def _factors(texts: Sequence[str]) -> dict[str, str]:
    factors = {}
    for text in texts:
        pattern, equals, factor = text.rpartition("=")
        if not equals or not pattern:
            raise typer.BadParameter(f"--shrink takes PATTERN=FACTOR, not {text!r}")
        factors[pattern] = factor
    return factors
