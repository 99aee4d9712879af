"""Open the graph that a command works on, and write which one it is."""

import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xlagraph.cli.options.shared_options import GraphOptions
from xlagraph.cli.output.messages import detail, note
from xlagraph.cli.output.standard_streams import is_interactive

if TYPE_CHECKING:
    from xlagraph.graph import Graph


@contextmanager
def open_graph_of(
    options: GraphOptions, *, create: bool = False, wait: bool = True
) -> Iterator["Graph"]:
    """Open the graph of ``--graph``, of the environment, or of the current folder."""
    from xlagraph.graph import open_graph

    with open_graph(
        options.graph, create=create, wait=wait, ask_password=ask_password, notify=note
    ) as graph:
        note(f"graph: {graph.location}")
        detail(", ".join(f"{name} {version}" for name, version in graph.versions.items()))
        yield graph


def ask_password(user: str) -> str | None:
    """Ask for the password of a user; None where nobody can be asked."""
    if not is_interactive():
        return None
    return getpass.getpass(f"password of {user}: ", stream=sys.stderr)
