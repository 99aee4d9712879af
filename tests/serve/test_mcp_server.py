"""An assistant speaks the Model Context Protocol to the command on its streams."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from xlagraph.serve.request_limits import MOST_CHARACTERS

COMMAND = "from xlagraph.cli import main; raise SystemExit(main())"


def spoken(graph: Path, *calls: tuple[str, dict[str, object]]) -> list[CallToolResult]:
    """Start the command, call its tools, and return what they answer."""
    server = StdioServerParameters(
        command=sys.executable, args=["-c", COMMAND, "mcp", "--quiet", "--graph", str(graph)]
    )

    async def speak() -> list[CallToolResult]:
        async with Client(stdio_client(server)) as client:
            listed = await client.list_tools()
            assert {name for name, _ in calls} <= {tool.name for tool in listed.tools}
            assert all(tool.description for tool in listed.tools)
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    # in a thread of its own: where a browser was driven, this one has a loop already
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, speak).result()


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def rows_of(result: CallToolResult) -> list[dict[str, object]]:
    assert not result.is_error, text_of(result)
    return [json.loads(line) for line in text_of(result).splitlines() if not line.startswith("#")]


@pytest.fixture(scope="module")
def answers(served_graph: Path) -> dict[str, CallToolResult]:
    """What one conversation answers, by the name of the call."""
    calls: dict[str, tuple[str, dict[str, object]]] = {
        "runs": ("list_runs", {}),
        "compilations": ("list_compilations", {"run_name": "before"}),
        "queries": ("list_queries", {"theme": "peak"}),
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
    }
    results = spoken(served_graph, *calls.values())
    return dict(zip(calls, results, strict=True))


def test_it_lists_what_is_there(answers):
    assert [row["run"] for row in rows_of(answers["runs"])] == ["after", "before", "padded"]
    assert [row["reservedBytes"] for row in rows_of(answers["compilations"])] == [384, 256]
    assert "peak/contributors" in [row["id"] for row in rows_of(answers["queries"])]
    assert json.loads(text_of(answers["described"]))["parameters"]


def test_it_answers_what_the_commands_answer(answers):
    (row,) = rows_of(answers["peak"])
    assert (row["value"], row["physicalBytes"]) == ("t", 256)
    assert "# at most 1 rows are shown" in text_of(answers["peak"])
    assert rows_of(answers["value"])[0]["value"] == "t"
    assert rows_of(answers["cypher"]) == [{"runs": 3}]
    assert any(row["part"] == "total" for row in rows_of(answers["compared"]))
    (finding,) = rows_of(answers["advice"])
    assert (finding["finding"], finding["bytes"]) == ("Padding fills the peak", 8176)


def test_a_long_answer_is_cut_and_says_how_to_ask_for_less(answers):
    text = text_of(answers["long"])
    assert len(text) < 2 * MOST_CHARACTERS
    assert "rows are left out: ask for fewer" in text.splitlines()[-1]


def test_what_it_may_not_do_is_an_error_with_a_message(answers):
    assert answers["writing"].is_error
    assert "does not read the graph" in text_of(answers["writing"])
    assert answers["unknown"].is_error
    assert "peak/nothing" in text_of(answers["unknown"])
