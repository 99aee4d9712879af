"""A page of sentences and tables with titles, as text or Markdown."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TextIO

from xlagraph.cli.output.cells import escape_control_characters
from xlagraph.cli.output.destination import open_output
from xlagraph.cli.output.formats import WRITERS, Format, escape_markdown
from xlagraph.cli.output.messages import write_prose
from xlagraph.cli.output.shared_options import ListOptions

if TYPE_CHECKING:
    from xlagraph.graph import Cell


class Section(NamedTuple):
    """A table with a title."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence["Cell"]]
    proofs: Sequence[str] = ()
    """Commands that prove what the table says."""


def write_page(lines: Sequence[str], sections: Sequence[Section], options: ListOptions) -> None:
    """Write sentences, and tables below them, to the destination of the user."""
    with open_output(options) as stream:
        write_lines(lines, options.format, stream)
        write_sections(sections, options.format, stream)


def write_lines(lines: Sequence[str], format_: Format, stream: TextIO) -> None:
    """Write sentences; in Markdown each is a paragraph, and the first one is bold."""
    for index, line in enumerate(lines):
        if format_ is Format.MD:
            text = escape_markdown(escape_control_characters(line))
            stream.write(f"\n{text}\n" if index else f"**{text}**\n")
        else:
            write_prose(line, stream)


def write_sections(sections: Sequence[Section], format_: Format, stream: TextIO) -> None:
    """Write a title, if there is one, and a table for each section."""
    for title, columns, rows, proofs in sections:
        stream.write("\n")
        if title and format_ is Format.MD:
            stream.write(f"### {escape_markdown(escape_control_characters(title))}\n\n")
        elif title:
            write_prose(title, stream)
        WRITERS[format_](columns, rows, stream)
        if proofs and format_ is Format.MD:
            stream.write("\n")
        for command in proofs:  # not wrapped, so that they can be copied
            text = escape_control_characters(command)
            stream.write(
                f"- **Proved by**: `{text}`\n" if format_ is Format.MD else f"Proved by: {text}\n"
            )
