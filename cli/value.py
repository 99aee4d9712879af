"""`xlagraph value`: everything about one value, on one page."""

from typing import Annotated

import typer

from xlagraph.cli.completion import complete_compilation
from xlagraph.cli.formats import WRITERS, Format
from xlagraph.cli.opening import opened
from xlagraph.cli.options import RowOptions
from xlagraph.cli.output import open_output, write_rows


def value(
    options: RowOptions,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its label: fusion.7, while.1{1}; or another name."),
    ],
    compilation: Annotated[
        str | None,
        typer.Option(
            help="Key of a compilation, or a unique part; by default the one that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Tell the story of one value: what it is, whose bytes it has, who reads it, when it dies.

    Example: xlagraph value fusion.7 --compilation jit_train_step
    """
    from xlagraph.cli.value_page import story_cells, story_lines, write_page
    from xlagraph.queries.value_story import value as tell

    with opened(options) as graph:
        story = tell(graph, name, compilation)
    if options.format is Format.TABLE:
        with open_output(options) as stream:
            write_page(story_lines(story), stream)
    elif options.format is Format.MD:
        with open_output(options) as stream:
            WRITERS[Format.MD](("part", "story"), story_lines(story), stream)
    else:
        cells = story_cells(story)
        write_rows(tuple(cells), [tuple(cells.values())], options)
