"""`xlagraph value`: everything about one value, on one page."""

from typing import Annotated

import typer

from xlagraph.cli.options.completion import complete_compilation
from xlagraph.cli.options.graph import opened
from xlagraph.cli.options.recurring import RowOptions
from xlagraph.cli.output.destination import open_output, write_rows
from xlagraph.cli.output.formats import WRITERS, Format
from xlagraph.cli.output.messages import note


def value(
    options: RowOptions,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Its label: fusion.7, while.1{1}; or another name."),
    ],
    compilation: Annotated[
        str | None,
        typer.Option(
            "--compilation",
            "-c",
            help="A key, a unique part of one, or a run; by default the one that reserves most.",
            autocompletion=complete_compilation,
        ),
    ] = None,
) -> None:
    """Show one value: what it is, whose bytes it takes over, what reads it, and why it ends.

    Example: xlagraph value fusion.7 --compilation jit_train_step
    """
    from xlagraph.cli.pages.value import story_lines, write_page
    from xlagraph.queries.story.story_cells import story_cells
    from xlagraph.queries.story.value_story import value as value_story

    with opened(options) as graph:
        story = value_story(graph, name, compilation)
    if story.note:
        note(story.note)
    if options.format is Format.TABLE:
        with open_output(options) as stream:
            write_page(story_lines(story), stream)
    elif options.format is Format.MD:
        with open_output(options) as stream:
            WRITERS[Format.MD](("part", "story"), story_lines(story), stream)
    else:
        cells = story_cells(story)
        write_rows(tuple(cells), [tuple(cells.values())], options)
