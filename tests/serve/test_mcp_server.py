"""An assistant speaks the Model Context Protocol to the command on its streams."""

import json
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent, TextResourceContents, Tool

from xlagraph.serve.readers.service_limits import MOST_CHARACTERS

COMMAND = "from xlagraph.cli import main; raise SystemExit(main())"


Outcome = TypeVar("Outcome")


def conversation(graph: Path, speak: Callable[[Client], Awaitable[Outcome]]) -> Outcome:
    """Start the command, and return the result of a conversation with it."""
    server = StdioServerParameters(
        command=sys.executable, args=["-c", COMMAND, "mcp", "--quiet", "--graph", str(graph)]
    )

    async def converse() -> Outcome:
        async with Client(stdio_client(server)) as client:
            return await speak(client)

    # in a separate thread: after browser tests, this one has a running loop
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, converse).result()


def spoken(graph: Path, *calls: tuple[str, dict[str, object]]) -> list[CallToolResult]:
    """Start the command, call its tools, and return their answers."""

    async def speak(client: Client) -> list[CallToolResult]:
        listed = await client.list_tools()
        assert {name for name, _ in calls} <= {tool.name for tool in listed.tools}
        assert all(tool.description for tool in listed.tools)
        return [await client.call_tool(name, arguments) for name, arguments in calls]

    return conversation(graph, speak)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def rows_of(result: CallToolResult) -> list[dict[str, object]]:
    assert not result.is_error, text_of(result)
    return [json.loads(line) for line in text_of(result).splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def answers(served_graph: Path) -> dict[str, CallToolResult]:
    """The answers of one conversation, by the name of the call."""
    calls: dict[str, tuple[str, dict[str, object]]] = {
        "runs": ("list_runs", {}),
        "compilations": ("list_compilations", {"run_name": "before"}),
        "queries": ("list_queries", {"theme": "peak"}),
        "found": ("list_queries", {"about": "why is a donated buffer copied"}),
        "not found": ("list_queries", {"about": "xyzzy"}),
        "described": ("describe_query", {"query_id": "peak/contributors"}),
        "peak": (
            "run_query",
            {
                "query_id": "peak/contributors",
                "parameters": {"compilation": "before/module_0001", "limit": 1},
            },
        ),
        "advice": ("advise", {"name": "padded"}),
        "value": ("value", {"label": "t", "compilation": "before/module_0001"}),
        "compared": ("compare", {"before": "before", "after": "after"}),
        "cypher": ("cypher", {"statement": "MATCH (r:Run) RETURN count(r) AS runs"}),
        "long": ("cypher", {"statement": "UNWIND range(1, 90000) AS n RETURN n AS n2"}),
        "writing": ("cypher", {"statement": "CREATE (:Run {key: 'x'})"}),
        "unknown": ("run_query", {"query_id": "peak/nothing"}),
        "unknown theme": ("list_queries", {"theme": "nothing"}),
        "unknown argument": ("advise", {"name": "padded", "limit": 3}),
        "one long row": ("cypher", {"statement": "RETURN range(1, 90000) AS numbers"}),
        "deep": ("cypher", {"statement": "RETURN " + "[" * 1000 + "]" * 1000}),
        "after all": ("cypher", {"statement": "RETURN 1 AS one"}),
    }
    results = spoken(served_graph, *calls.values())
    return dict(zip(calls, results, strict=True))


def test_it_lists_the_contents_of_the_graph(answers):
    assert [row["run"] for row in rows_of(answers["runs"])] == ["after", "before", "padded"]
    assert [row["reservedBytes"] for row in rows_of(answers["compilations"])] == [384, 256]
    assert "peak/contributors" in [row["id"] for row in rows_of(answers["queries"])]
    assert json.loads(text_of(answers["described"]))["parameters"]


def test_it_answers_like_the_commands(answers):
    (row,) = rows_of(answers["peak"])
    assert (row["value"], row["physicalBytes"]) == ("t", 256)
    assert "# showing the first row" in text_of(answers["peak"])
    assert rows_of(answers["value"])[0]["value"] == "t"
    assert rows_of(answers["cypher"]) == [{"runs": 3}]
    assert any(row["part"] == "total" for row in rows_of(answers["compared"]))
    (finding,) = rows_of(answers["advice"])
    assert (finding["finding"], finding["bytes"]) == ("Padding fills the peak", 8176)


def test_a_long_answer_is_cut_and_says_how_to_get_less(answers):
    text = text_of(answers["long"])
    assert len(text) <= MOST_CHARACTERS
    assert "rows are left out: ask for fewer" in text.splitlines()[-1]
    text = text_of(answers["one long row"])
    assert len(text) <= MOST_CHARACTERS
    assert "the first of 1 rows is cut" in text.splitlines()[-1]


def test_a_refused_call_is_an_error_with_a_message(answers):
    assert answers["writing"].is_error
    assert "does not read the graph" in text_of(answers["writing"])
    assert answers["unknown"].is_error
    assert "peak/nothing" in text_of(answers["unknown"])
    assert answers["unknown theme"].is_error
    assert "alias, compare" in text_of(answers["unknown theme"])


def test_an_unknown_argument_of_a_tool_is_refused(answers):
    assert answers["unknown argument"].is_error
    assert "limit" in text_of(answers["unknown argument"])


def test_a_statement_that_would_overflow_the_stack_is_refused_and_the_server_goes_on(answers):
    assert answers["deep"].is_error
    assert "nested brackets and CASE" in text_of(answers["deep"])
    assert rows_of(answers["after all"]) == [{"one": 1}]


def test_a_question_finds_the_query_that_answers_it(answers):
    found = [row["id"] for row in rows_of(answers["found"])]
    assert found[0] == "alias/donated"
    assert "alias/copies" in found[:4]
    assert "no query has these words" in text_of(answers["not found"])


def test_every_parameter_is_described_and_names_are_listed(served_graph: Path) -> None:
    async def listed(client: Client) -> dict[str, Tool]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = conversation(served_graph, listed)
    for tool in tools.values():
        assert tool.input_schema["additionalProperties"] is False
        for parameter in tool.input_schema["properties"].values():
            assert parameter["description"], tool.name
    theme = tools["list_queries"].input_schema["properties"]["theme"]
    assert "peak" in theme["anyOf"][0]["enum"]
    query = tools["run_query"].input_schema["properties"]["query_id"]
    assert "alias/copies" in query["enum"]


def test_prompts_and_resources_can_be_read(served_graph: Path) -> None:
    async def read(client: Client) -> tuple[str, str]:
        assert len((await client.list_prompts()).prompts) == 2
        prompt = await client.get_prompt("explain_peak", {"compilation": "padded"})
        resources = {str(each.uri) for each in (await client.list_resources()).resources}
        assert resources == {"xlagraph://schema", "xlagraph://queries"}
        (schema,) = (await client.read_resource("xlagraph://schema")).contents
        assert isinstance(schema, TextResourceContents)
        content = prompt.messages[0].content
        assert isinstance(content, TextContent)
        return content.text, schema.text

    prompt, schema = conversation(served_graph, read)
    assert "padded" in prompt
    assert "(:Compilation)" in schema


def test_a_cancelled_call_ends_its_work(served_graph: Path) -> None:
    slow = "UNWIND range(1, 3000) AS a UNWIND range(1, 3000000) AS b RETURN sum(a * b) AS s"

    async def cancel(client: Client) -> list[dict[str, object]]:
        with anyio.move_on_after(1):
            await client.call_tool("cypher", {"statement": slow})
        # both processes for statements are free long before the time limit of this statement
        for _ in range(3):
            with anyio.move_on_after(1):
                await client.call_tool("cypher", {"statement": slow})
        return rows_of(await client.call_tool("cypher", {"statement": "RETURN 1 AS one"}))

    assert conversation(served_graph, cancel) == [{"one": 1}]


def start_command(graph: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "mcp", "--graph", str(graph)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("ending", ["input", "output", "interrupt"])
def test_it_ends_quietly(served_graph: Path, ending: str) -> None:
    request = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    with start_command(served_graph) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        if ending == "input":
            process.stdin.close()
        elif ending == "output":
            process.stdout.close()
            process.stdin.write(json.dumps({**request, "id": 2, "method": "ping"}) + "\n")
            process.stdin.close()
        else:
            process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert errors == f"graph: {served_graph}\n"
    assert process.returncode == (130 if ending == "interrupt" else 0)
