"""Options that several commands share, and dataclasses that bundle them."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Annotated, TypeVar, get_type_hints

import typer

from xlagraph.cli.output.columns import set_wide
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.formats import Format, PictureFormat
from xlagraph.cli.output.messages import Verbosity, set_verbosity
from xlagraph.graph.schema_detail import Detail


def _be_verbose(given: bool) -> bool:
    if given:
        set_verbosity(Verbosity.VERBOSE)
    return given


def _be_quiet(given: bool) -> bool:
    if given:
        set_verbosity(Verbosity.QUIET)
    return given


def _be_wide(given: bool) -> bool:
    if given:
        set_wide(given=True)
    return given


def _run_name(given: str | None) -> str | None:
    if given == "":
        raise UsageError("--run is empty: name the run, or omit the option")
    if given is not None and given != given.encode(errors="replace").decode():
        raise UsageError("--run is not UTF-8")
    return given


def parse_tags(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Parse tags, each ``name=value``; raise UsageError for others."""
    tags = [text.partition("=") for text in texts]
    for name, equals, _ in tags:
        if not (name and equals):
            raise UsageError(f"a tag is name=value, found '{name}'")
    return [(name, value) for name, _, value in tags]


def parse_path(text: str) -> Path:
    """Parse a path; raise UsageError if it is empty, e.g. from an unset shell variable."""
    if not text:  # Path("") would be the current folder
        raise UsageError("a PATH is empty")
    return Path(text)


def parse_source(text: str) -> str:
    """Parse a path or an address such as ``s3://bucket/runs``; raise UsageError if empty."""
    return text if "://" in text else str(parse_path(text))


VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", help="Write more on stderr.", callback=_be_verbose)
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Write only errors on stderr.", callback=_be_quiet)
]
GraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="FILE|URI",
        help="The graph: a file, or neo4j://… "
        "(default: XLAGRAPH_GRAPH, NEO4J_URI, ./xlagraph.lbug).",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", help="Format of the rows.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the rows to a file instead of stdout."),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="A,B",
        help="The columns to write, in this order. (default: all; in a table, those that fit)",
    ),
]
WideOption = Annotated[
    bool,
    typer.Option(
        "--wide",
        help="Show every column of a table, in bands if it is too wide.",
        callback=_be_wide,
    ),
]
PictureFormatOption = Annotated[
    PictureFormat,
    typer.Option("--format", help="Format of the picture; as rows, its edges."),
]
CatalogueFormatOption = Annotated[
    PictureFormat,
    typer.Option("--format", help="Format of the rows, or of the picture of a graph/… query."),
]
ShowOption = Annotated[
    bool, typer.Option("--show", help="Print the statement, ready to paste, instead of running it.")
]
BrowserOption = Annotated[
    bool, typer.Option("--browser", help="Print a link that opens it in Neo4j Browser.")
]
BrowserUrlOption = Annotated[
    str | None,
    typer.Option(
        "--browser-url",
        metavar="URL",
        help="Address of Neo4j Browser, if the server does not report it: http://HOST:PORT/browser/.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(min=0, help="Rows to write; 0 for all. (default: 100 in a table, otherwise all)"),
]
RunNameOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Name of the run, if there is only one.", callback=_run_name),
]
TagOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE", help="A property of the run: its commit, job or device; repeatable."
    ),
]
DetailOption = Annotated[
    Detail | None,
    typer.Option(
        help="Detail to store: everything, or totals, peaks and values live there (default: all)."
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Number of files parsed in parallel (default: one for each core)."
    ),
]


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """Options of every command."""

    quiet: QuietOption = False
    verbose: VerboseOption = False


@dataclass(frozen=True, slots=True)
class GraphOptions(MessageOptions):
    """Options of a command that opens a graph."""

    graph: GraphOption = None


@dataclass(frozen=True, slots=True)
class ListOptions(MessageOptions):
    """Options of a command that returns rows without a graph."""

    wide: WideOption = False
    columns: ColumnsOption = None
    output: OutputOption = None
    format: FormatOption = Format.TABLE


@dataclass(frozen=True, slots=True)
class SelectedRowsOptions(GraphOptions):
    """Options that select the columns to write, and the file."""

    wide: WideOption = False
    columns: ColumnsOption = None
    output: OutputOption = None


@dataclass(frozen=True, slots=True)
class RowOptions(SelectedRowsOptions):
    """Options of a command that returns rows."""

    format: FormatOption = Format.TABLE


@dataclass(frozen=True, slots=True)
class CatalogueOptions(SelectedRowsOptions):
    """Options before the ID of a canned query, which may return rows or a picture."""

    format: CatalogueFormatOption = PictureFormat.TABLE


@dataclass(frozen=True, slots=True)
class QueryOptions(RowOptions):
    """Options of a canned query that returns rows."""

    browser_url: BrowserUrlOption = None
    browser: BrowserOption = False
    show: ShowOption = False


@dataclass(frozen=True, slots=True)
class PictureOptions(SelectedRowsOptions):
    """Options of a canned query that returns a picture."""

    format: PictureFormatOption = PictureFormat.TABLE
    browser_url: BrowserUrlOption = None
    browser: BrowserOption = False
    show: ShowOption = False


T = TypeVar("T")


def spread_options(
    command: Callable[..., T], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., T]:
    """Return the command with one option for each field of its dataclass parameter ``options``.

    ``extra`` are additional options, which replace its ``**parameters``.
    """
    signature = inspect.signature(command, eval_str=True)
    bundle = signature.parameters["options"].annotation
    hints = get_type_hints(bundle, include_extras=True)
    own = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in signature.parameters.values()
        if parameter.name != "options" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    shared = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in reversed(fields(bundle))  # options that all commands share are last
    ]

    @functools.wraps(command)
    def spread(**arguments: object) -> T:
        options = bundle(**{field.name: arguments.pop(field.name) for field in shared})
        return command(**arguments, options=options)

    parameters = [*own, *extra, *shared]
    vars(spread)["__signature__"] = signature.replace(parameters=parameters)
    spread.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spread


def pass_on_options(context: typer.Context) -> None:
    """Pass options given before the name of a subcommand on to it."""
    if context.invoked_subcommand is not None:
        given = {
            # as typed: the subcommand may use a different enum for the choice
            name: value.value if isinstance(value, Enum) else value
            for name, value in context.params.items()
            if value is not None
        }
        context.default_map = {context.invoked_subcommand: given}
