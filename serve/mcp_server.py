"""The graph for assistants: tools of the Model Context Protocol, which only read."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Annotated, Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from xlagraph.graph import Cell, QueryFailed
from xlagraph.queries import Query, QueryError, find_query
from xlagraph.serve.guides import add_guides
from xlagraph.serve.query_search import find_queries
from xlagraph.serve.readers.jobs import Catalogue, Form, Job, Lane, statement_job
from xlagraph.serve.readers.json_rows import json_lines, query_description
from xlagraph.serve.readers.service_limits import MOST_MESSAGE_CHARACTERS
from xlagraph.serve.readers.workers import Workers

_INSTRUCTIONS: Final = (
    "XLA memory plans as a property graph: why a compiled JAX, TensorFlow or PyTorch/XLA program"
    " needs its memory. Begin with list_runs and list_compilations; advise finds what to change in"
    " a compilation. For any other question call list_queries with the question itself as `about`,"
    " then run_query. value shows everything about one value, compare what grew between two runs,"
    " cypher answers what no query does. A compilation is named by its key, a unique part of it,"
    " or a run. Bytes are integers; reserved bytes are what running the program takes."
)
_MOST_FOUND: Final = 12
"""Most queries returned for a question."""

_NAME: Final = "key of a compilation, a unique part of it, or a run; null: the largest of all"
_QUERY_ID: Final = "id of a canned query, as list_queries returns it: peak/contributors"


def create_server(workers: Workers) -> MCPServer:
    """Return the server; its `run` speaks on standard input and output."""

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await workers.close()

    tools = _Tools(workers)
    themes = sorted({query.theme for query in workers.catalogue.values()})
    server: MCPServer = MCPServer(
        "xlagraph",
        instructions=_INSTRUCTIONS,
        version=version("xlagraph"),
        log_level="CRITICAL",
        lifespan=lifespan,
        tools=[
            _tool(tools.list_runs),
            _tool(tools.list_compilations),
            _tool(tools.list_queries, theme=themes),
            _tool(tools.describe_query, query_id=list(workers.catalogue)),
            _tool(tools.run_query, query_id=list(workers.catalogue)),
            _tool(tools.advise),
            _tool(tools.value),
            _tool(tools.compare),
            _tool(tools.cypher),
        ],
    )
    add_guides(server, workers.catalogue)
    return server


class _Tool(Tool):
    """A tool whose errors are short sentences."""

    async def run(self, arguments: dict[str, Any], *given: Any, **options: Any) -> Any:  # noqa: ANN401  as in Tool
        """Run the tool; raise ToolError if it fails."""
        try:
            return await super().run(arguments, *given, **options)
        except ToolError as error:
            cause = error.__cause__
            text = str(error)
            if isinstance(cause, ValidationError):
                known = ", ".join(self.parameters["properties"]) or "none"
                text = f"{_sentence(cause)}; the arguments of {self.name} are: {known}"
            if len(text) > MOST_MESSAGE_CHARACTERS:
                text = text[:MOST_MESSAGE_CHARACTERS] + " …"
            raise ToolError(text) from cause


def _sentence(invalid: ValidationError) -> str:
    """Return the first fault of a tool's arguments in words."""
    fault = invalid.errors(include_url=False, include_context=False)[0]
    name = ".".join(str(part) for part in fault["loc"])[:80]
    if fault["type"] == "extra_forbidden":
        return f"there is no argument {name}"
    if fault["type"] == "missing":
        return f"the argument {name} is missing"
    expected = fault["msg"].removeprefix("Input should be ")
    return f"the argument {name} should be {expected}, found {str(fault['input'])[:80]!r}"


def _tool(function: Callable[..., object], **names: Sequence[str]) -> Tool:
    """Return a tool that rejects unknown arguments; ``names`` are the known ones."""
    tool = _Tool.from_function(
        function,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        structured_output=False,
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = arguments.model_json_schema(by_alias=True)
    for parameter, allowed in names.items():
        schema = tool.parameters["properties"][parameter]
        text = next(each for each in schema.get("anyOf", [schema]) if each["type"] == "string")
        text["enum"] = list(allowed)
    return tool


class _Tools:
    """Tools that an assistant may call; it reads their docstrings."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._catalogue: Catalogue = workers.catalogue

    async def list_runs(self) -> str:
        """List the runs, which are folders of dumps, with their tags. Begin here."""
        return await self._read("runs", {})

    async def list_compilations(
        self,
        run_name: Annotated[str, Field(description="name of a run; empty: all runs")] = "",
    ) -> str:
        """List compilations, which are compiled programs, with reserved and peak bytes.

        The largest is first. Answers: which of my programs needs the most memory?
        """
        return await self._read("compilations", {"name": run_name})

    async def list_queries(
        self,
        about: Annotated[
            str,
            Field(description="a question or words, such as: why is a donated buffer copied"),
        ] = "",
        theme: Annotated[
            str | None,
            Field(
                description="peak: what is biggest; alias: donation, copies, in-place updates;"
                " lifetime: what is kept and recomputed; reuse: fragmentation and shared bytes;"
                " waste: padding, duplicates; compare and trend: what grew; flow: readers and"
                " producers; graph: pictures; overview: totals. null: all"
            ),
        ] = None,
    ) -> str:
        """Find the canned query that answers a question about memory.

        With `about`, the best matches are first. Topics: what is biggest at the peak by layer, op,
        line, shape or type; donated and copied buffers; activations kept for the backward pass;
        rematerialization; padding; fragmentation; replicated tensors; growth between runs.
        """
        themes = {query.theme for query in self._catalogue.values()}
        if theme is not None and theme not in themes:
            raise ToolError(f"there is no theme {theme}; expected {', '.join(sorted(themes))}")
        found = (
            find_queries(about, self._catalogue)
            if about.strip()
            else list(self._catalogue.values())
        )
        listed = [query for query in found if theme in (None, query.theme)]
        notes: list[str] = []
        if about.strip():
            if not listed:
                notes.append("no query has these words: leave out `about` to list all")
            listed = listed[:_MOST_FOUND]
        return json_lines([_heading(query) for query in listed], notes).decode()

    async def describe_query(self, query_id: Annotated[str, Field(description=_QUERY_ID)]) -> str:
        """Return the parameters, columns and Cypher of one canned query.

        Read this before run_query with parameters, or to learn how the graph is walked.
        """
        try:
            query = find_query(query_id, self._catalogue)
        except QueryError as error:
            raise ToolError(str(error)) from error
        return json_lines([query_description(query)], ()).decode()

    async def run_query(
        self,
        query_id: Annotated[str, Field(description=_QUERY_ID)],
        parameters: Annotated[
            dict[str, str | int | float | bool] | None,
            Field(
                description="values by name, as describe_query lists them; most queries take"
                ' compilation and limit: {"compilation": "run/module_0001", "limit": 10}'
            ),
        ] = None,
    ) -> str:
        """Run a canned query and return its rows, each as a JSON object.

        list_queries finds the query. peak/contributors shows what is biggest at the peak,
        alias/donated what became of donated inputs, alias/copies why a buffer is copied.
        """
        arguments: Mapping[str, Cell] = {"query": query_id, "parameters": parameters or {}}
        return await self._read("canned", arguments, Lane.QUERIES)

    async def advise(self, name: Annotated[str | None, Field(description=_NAME)] = None) -> str:
        """Return the findings about a compilation: what to change, and the bytes that it saves.

        Answers: how can this program use less memory, why is it out of memory?
        """
        return await self._answer(
            Job("advise", {"key": name}, Lane.QUERIES, Form.LINES, is_long=True)
        )

    async def value(
        self,
        label: Annotated[
            str,
            Field(description="label of a value: fusion.3, or copy.1{0}, or another name of it"),
        ],
        compilation: Annotated[str | None, Field(description=_NAME)] = None,
    ) -> str:
        """Return everything about one value, which is one buffer or tensor of the program.

        Where it is stored, who makes and reads it, when it is live, why it is freed late, and its
        share of the peak.
        """
        return await self._read("value", {"label": label, "key": compilation})

    async def compare(
        self,
        before: Annotated[str, Field(description="a run or compilation")],
        after: Annotated[str, Field(description="the run or compilation to compare with it")],
    ) -> str:
        """Return what grew, shrank, appeared or disappeared between two runs or compilations.

        Answers: why does the program need more memory than before?
        """
        return await self._read("compare", {"a": before, "b": after}, Lane.QUERIES)

    async def cypher(
        self,
        statement: Annotated[
            str,
            Field(description="one openCypher statement that only reads: MATCH … RETURN … LIMIT …"),
        ],
        parameters: Annotated[
            dict[str, object] | None,
            Field(description="values of its $names, as JSON: numbers, strings, lists, maps"),
        ] = None,
    ) -> str:
        """Run your own read-only Cypher statement; prefer a canned query if there is one.

        The resource xlagraph://schema lists labels, relationships and properties.
        """
        given: Mapping[str, Cell] = parameters or {}  # type: ignore[assignment]  # JSON
        try:
            job = statement_job(statement, given, Form.LINES)
        except QueryFailed as error:
            raise ToolError(str(error)) from error
        return await self._answer(job)

    async def _read(self, read: str, arguments: Mapping[str, Cell], lane: Lane = Lane.LISTS) -> str:
        return await self._answer(Job(read, arguments, lane, Form.LINES))

    async def _answer(self, job: Job) -> str:
        answer = await self._workers.read(job)
        text = answer.body.decode()
        if answer.is_refusal:
            raise ToolError(text)
        return text


def _heading(query: Query) -> Cell:
    return {"id": query.id, "question": query.answers, "title": query.title}
