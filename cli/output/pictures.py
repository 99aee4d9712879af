"""Writes the picture of a graph: its edges as rows, or as text that another program draws."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from xlagraph.cli.output.destination import OutputTarget, open_output
from xlagraph.cli.output.formats import WRITERS, Format, PictureFormat
from xlagraph.cli.output.messages import note
from xlagraph.queries.pictures.graph_formats import dot, graphml, mermaid
from xlagraph.queries.pictures.picture import Picture, picture_of

if TYPE_CHECKING:
    from xlagraph.queries import Answer

_DRAWN: Final[Mapping[PictureFormat, Callable[[Picture], str]]] = {
    PictureFormat.DOT: dot,
    PictureFormat.MERMAID: mermaid,
    PictureFormat.GRAPHML: graphml,
}


class PictureDestination(OutputTarget, Protocol):
    """Where a picture goes, and in which form."""

    @property
    def format(self) -> PictureFormat:
        """How it is written."""


def write_picture(answer: "Answer", destination: PictureDestination) -> None:
    """Write the picture of a canned query, and the notes that help to read it."""
    for text in answer.notes:
        note(text)
    picture = picture_of(answer.result)
    if not picture.nodes:
        note("nothing to draw")
    with open_output(destination) as stream:
        if destination.format in _DRAWN:
            stream.write(_DRAWN[destination.format](picture))
        else:
            edges = picture.edge_table()
            WRITERS[Format(destination.format)](edges.columns, edges.rows, stream)
