"""Opens a graph and decides which engine it needs."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from xlagraph.graph.engine import Graph
from xlagraph.graph.errors import GraphMissing
from xlagraph.graph.neo4j.server_uri import check_uri, is_server_uri

DEFAULT_FILE: Final = "xlagraph.lbug"

_DISTRIBUTIONS: Final[Mapping[str, str]] = {"ladybug": "ladybug", "neo4j driver": "neo4j"}


def engine_versions() -> Mapping[str, str]:
    """Return the version of each engine by name, without loading the engine."""
    # this import takes 15 ms (email, socket), and no other command needs it
    from importlib.metadata import version

    return {name: version(distribution) for name, distribution in _DISTRIBUTIONS.items()}


def open_graph(
    location: str | Path | None = None,
    *,
    create: bool = False,
    wait: bool = True,
    ask_password: Callable[[str], str | None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Graph:
    """Open a graph file, or a Neo4j server by its URI.

    Without a location it is what ``XLAGRAPH_GRAPH``, else ``NEO4J_URI`` names, else
    ``xlagraph.lbug`` in the current folder. A server takes name, password and database from
    ``NEO4J_USERNAME``, ``NEO4J_PASSWORD`` and ``NEO4J_DATABASE``; without a password it is
    tried without one, then ``ask_password`` is called with the user's name.

    ``create`` allows a load to make a file that is not there; a file is made by nothing else.
    A load of a file raises GraphBusy while another process writes, or with ``wait`` calls
    ``notify`` and waits; a server ignores ``wait``.

    Raises `GraphMissing`, `GraphUnreachable`, `WrongSchema`, `GraphBusy`.
    """
    named = _named(location)
    notify = notify or _ignore
    if is_server_uri(named):
        check_uri(named)
        from xlagraph.graph.neo4j.engine import open_server

        return open_server(
            named,
            user=os.environ.get("NEO4J_USERNAME") or "neo4j",
            password=os.environ.get("NEO4J_PASSWORD"),
            database=os.environ.get("NEO4J_DATABASE") or "neo4j",
            ask_password=ask_password,
            notify=notify,
        )
    from xlagraph.graph.ladybug.engine import LadybugGraph

    try:
        path = Path(named).expanduser().resolve()
    except (OSError, RuntimeError) as error:  # circular link, no home folder, no current folder
        raise GraphMissing(f"{named} does not exist: {error}") from error
    return LadybugGraph(path, create=create, wait=wait, notify=notify)


def _named(location: str | Path | None) -> str:
    if location is not None:
        if not str(location):
            raise GraphMissing("the name of the graph is empty; name a file or a neo4j:// URI")
        return str(location)
    return os.environ.get("XLAGRAPH_GRAPH") or os.environ.get("NEO4J_URI") or DEFAULT_FILE


def _ignore(_: str) -> None:
    pass
