"""cli.md: the help of every command, exit codes and the environment."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

import typer
from typer.core import TyperGroup

from pages.markdown import page, table
from xlagraph.cli.app import build_command
from xlagraph.cli.commands.canned import canned_command
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.queries.catalogue.query_files import load_catalogue

if TYPE_CHECKING:
    from typer._click.core import Command

HELP_COLUMNS: Final = 112
"""A width at which no command's line in the list is cut."""


def command_line_page() -> str:
    """Return the help of every command."""
    group = build_command()
    top = cast(
        "typer.Context",  # typer's commands are click's
        group.make_context("xlagraph", [], resilient_parsing=True, terminal_width=HELP_COLUMNS),
    )
    lines = ["# The command line", ""]
    lines += _help(top)
    lines += [
        _ABOUT_COMMANDS,
        "",
        "## Exit codes",
        "",
        *table(("code", "means"), ((str(int(code)), _MEANINGS[code]) for code in ExitCode)),
        "## Environment",
        "",
        *table(("variable", "says"), ((f"`{name}`", text) for name, text in ENVIRONMENT)),
    ]
    for context in _commands(top):
        lines += [f"## {context.command_path}", "", *_help(context)]
    query = load_catalogue()["peak/by-scope"]
    lines += [
        "## One canned query",
        "",
        "Its parameters are its options. [The canned queries](queries.md) has them all.",
        "",
        *_help(_child_context(canned_command(query), f"query {query.id}", top)),
    ]
    return page("the commands' --help", lines)


_ABOUT_COMMANDS: Final = """\
Options follow the name of a command. Data goes to stdout, everything else to stderr."""
_MEANINGS: Final = {
    ExitCode.DONE: "done",
    ExitCode.FAILED: "an input or the query failed; the rest was done",
    ExitCode.USAGE: "the command line is wrong",
    ExitCode.NO_GRAPH: "server not reachable, password rejected, file missing or no graph",
    ExitCode.GATE: "a limit that you set is exceeded",
    ExitCode.INTERRUPTED: "interrupted",
}
ENVIRONMENT: Final = (
    ("XLAGRAPH_GRAPH", "the graph, a file or a URI, where `--graph` does not"),
    ("NEO4J_URI", "the graph where neither does; without it, `xlagraph.lbug` in this folder"),
    ("NEO4J_USERNAME", "user of the server; `neo4j` by default"),
    ("NEO4J_PASSWORD", "its password; without it one is asked for, on a terminal only"),
    ("NEO4J_DATABASE", "database of the server; `neo4j` by default"),
    ("XLAGRAPH_QUERIES", "folders of your own queries, separated as in `PATH`"),
    ("XLAGRAPH_TOKEN", "what requests to `serve` must carry; needed beyond this machine"),
    ("XDG_STATE_HOME", "bookmarks of a cluster are kept below it; `~/.local/state` by default"),
    ("RAY_ADDRESS", "the Ray cluster of `export neo4j --on ray`"),
    ("SOURCE_DATE_EPOCH", "time of an ingest, in seconds: two exports are the same"),
    ("XDG_CACHE_HOME", "environments of `bisect` are kept below it; `~/.cache` by default"),
    ("XLA_FLAGS", "flags of a recorded program, to which `record` adds"),
    ("XLAGRAPH_DUMPS", "set by `record`: the folder of a recording, for each of its processes"),
    ("XLAGRAPH_SCHEDULE", "set by `record --schedule`: the order in which its processes compile"),
    ("XLAGRAPH_ADDED_FLAGS", "set in recorded processes: the flags that each added for itself"),
    ("COLUMNS", "width of the terminal"),
    (
        "NO_COLOR",
        "any text: no colours; a chart of two lines then has one",
    ),
)


def _child_context(command: "Command", name: str, parent: typer.Context | None) -> typer.Context:
    return typer.Context(command, info_name=name, parent=parent, terminal_width=HELP_COLUMNS)


def _commands(parent: typer.Context) -> Iterator[typer.Context]:
    group = parent.command
    if not isinstance(group, TyperGroup):
        return
    for name in group.list_commands(parent):
        if "/" in name:  # a canned query
            continue
        if command := group.get_command(parent, name):
            context = _child_context(command, name, parent)
            yield context
            yield from _commands(context)


def _help(context: typer.Context) -> Iterator[str]:
    lines = [line.rstrip() for line in context.get_help().splitlines()]
    # the catalogue has a separate page
    if context.info_name == "query":
        lines = lines[: lines.index("Commands:") - 1]
    yield from ("```text", *lines, "```", "")
