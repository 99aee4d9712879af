"""The graph for assistants: tools of the Model Context Protocol, which only read."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Annotated, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from xlagraph.graph import Cell, Graph, GraphError
from xlagraph.graph.row_cells import without_nan
from xlagraph.queries import (
    Query,
    QueryError,
    advise,
    compare,
    comparison_result,
    diagnosis_result,
    find_query,
    list_runs,
    run,
    run_statement,
    value,
    value_cells,
)
from xlagraph.serve.graph_pool import GraphPool
from xlagraph.serve.json_cells import answer_result, json_rows, query_description
from xlagraph.serve.request_limits import MOST_ROWS, MOST_SECONDS

__all__ = ["MOST_CHARACTERS", "create_server"]

MOST_CHARACTERS: Final = 40_000
"""Of an answer: some ten thousand tokens."""

_INSTRUCTIONS: Final = (
    "XLA memory plans as a property graph. Begin with list_runs and list_compilations; "
    "advise finds what to change in a compilation, run_query answers one question of "
    "list_queries, value shows everything about one value, compare what grew between two "
    "runs. A compilation is named by its key, a unique part of it, or a run. Bytes are "
    "integers; reserved bytes are what running the program takes."
)

Name = Annotated[
    str | None,
    Field(description="key of a compilation, a unique part of it, or a run; null: the largest"),
]


def create_server(pool: GraphPool, catalogue: Mapping[str, Query]) -> MCPServer:
    """Return the server; its `run` speaks on standard input and output."""
    tools = _Tools(pool, catalogue)
    server = MCPServer(
        "xlagraph", instructions=_INSTRUCTIONS, version=version("xlagraph"), log_level="WARNING"
    )
    for function in (
        tools.list_runs,
        tools.list_compilations,
        tools.list_queries,
        tools.describe_query,
        tools.run_query,
        tools.advise,
        tools.value,
        tools.compare,
        tools.cypher,
    ):
        server.tool(
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
            structured_output=False,
        )(function)
    return server


class _Tools:
    """What an assistant may call; the docstrings are what it reads."""

    def __init__(self, pool: GraphPool, catalogue: Mapping[str, Query]) -> None:
        self._pool = pool
        self._catalogue = catalogue

    def list_runs(self) -> str:
        """List the runs, which are folders of dumps, with their tags."""
        return self._read(lambda graph: (json_rows(list_runs(graph)), ()))

    def list_compilations(self, run_name: str = "") -> str:
        """List the compilations of a run, or all, with their bytes; the largest first."""
        return self._rows("overview/compilations", {"run": run_name})

    def list_queries(self, theme: str = "") -> str:
        """List the canned queries and the question that each answers; of one theme if named."""
        listed: list[Cell] = [
            {"id": query.id, "question": query.answers}
            for query in self._catalogue.values()
            if not theme or query.theme == theme
        ]
        return _bounded(listed, ())

    def describe_query(self, query_id: str) -> str:
        """Return the parameters, columns and Cypher of one canned query."""
        try:
            query = find_query(query_id, self._catalogue)
        except QueryError as error:
            raise ToolError(str(error)) from error
        return json.dumps(query_description(query), ensure_ascii=False)

    def run_query(
        self, query_id: str, parameters: dict[str, str | int | float | bool] | None = None
    ) -> str:
        """Run a canned query, for example peak/contributors with {"limit": 10}."""
        return self._rows(query_id, parameters or {})

    def advise(self, name: Name = None) -> str:
        """Return what stands out in a compilation or a run, and what to change."""

        def read(graph: Graph) -> tuple[Sequence[Cell], Sequence[str]]:
            diagnosis = advise(graph, name, catalogue=self._catalogue)
            notes = (*diagnosis.notes, *diagnosis.problems)
            return json_rows(diagnosis_result(diagnosis)), notes

        return self._read(read)

    def value(self, label: str, compilation: Name = None) -> str:
        """Return everything about one value: storage, maker, readers, life, share of the peak."""

        def read(graph: Graph) -> tuple[Sequence[Cell], Sequence[str]]:
            return [without_nan(value_cells(value(graph, label, compilation)))], ()

        return self._read(read)

    def compare(self, before: str, after: str) -> str:
        """Return what grew, shrank, appeared and went between two runs or compilations."""
        return self._read(
            lambda graph: (json_rows(comparison_result(compare(graph, before, after))), ())
        )

    def cypher(self, statement: str, parameters: dict[str, object] | None = None) -> str:
        """Run one reading Cypher statement; describe_query shows how the graph is walked."""

        def read(graph: Graph) -> tuple[Sequence[Cell], Sequence[str]]:
            given: Mapping[str, Cell] = parameters or {}  # type: ignore[assignment]  # JSON
            result, notes = run_statement(
                graph, statement, given, timeout_seconds=MOST_SECONDS, max_rows=MOST_ROWS
            )
            return json_rows(result), notes

        return self._read(read)

    def _rows(self, query_id: str, parameters: Mapping[str, str | int | float | bool]) -> str:
        def read(graph: Graph) -> tuple[Sequence[Cell], Sequence[str]]:
            answer = run(graph, query_id, catalogue=self._catalogue, **parameters)
            return json_rows(answer_result(answer)), answer.notes

        return self._read(read)

    def _read(self, read: Callable[[Graph], tuple[Sequence[Cell], Sequence[str]]]) -> str:
        try:
            with self._pool.borrow() as graph:
                return _bounded(*read(graph))
        except (GraphError, QueryError) as error:
            raise ToolError(str(error)) from error


def _bounded(rows: Sequence[Cell], notes: Sequence[str]) -> str:
    """Return rows as JSON lines under their notes, as many as an assistant can read."""
    lines = [f"# {note}" for note in notes]
    room = MOST_CHARACTERS
    for number, row in enumerate(rows):
        line = json.dumps(row, ensure_ascii=False)
        if len(line) > room:
            lines.append(
                f"# {len(rows) - number} of {len(rows)} rows are left out: ask for fewer with a"
                " limit, for one compilation, or with an aggregating Cypher statement"
            )
            if number == 0:
                lines.append(line[:room])
            break
        lines.append(line)
        room -= len(line)
    return "\n".join(lines or ["# no rows"])
