"""Options that recur, each defined once; bundles of those that belong together."""

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
        raise UsageError("--run is empty: name the run, or leave it out")
    if given is not None and given != given.encode(errors="replace").decode():
        raise UsageError("--run is not UTF-8")
    return given


def parse_tags(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Read tags, each ``name=value``; raises UsageError."""
    tags = [text.partition("=") for text in texts]
    for name, equals, _ in tags:
        if not (name and equals):
            raise UsageError(f"a tag is name=value, found '{name}'")
    return [(name, value) for name, _, value in tags]


def parse_path(text: str) -> Path:
    """Read a path; raises UsageError where it is empty, which is a variable that is not set."""
    if not text:  # it would be the current folder
        raise UsageError("a PATH is empty")
    return Path(text)


def parse_source(text: str) -> str:
    """Read a path or an address such as ``s3://bucket/runs``; raises UsageError where empty."""
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
FormatOption = Annotated[Format, typer.Option("--format", help="How rows are written.")]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write the rows to a file, not to stdout."),
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
    typer.Option("--format", help="How the picture is written; rows are its edges."),
]
CatalogueFormatOption = Annotated[
    PictureFormat,
    typer.Option("--format", help="How rows, or the picture of a graph/… query, are written."),
]
ShowOption = Annotated[
    bool, typer.Option("--show", help="Print one statement, ready to paste, and do not run it.")
]
BrowserOption = Annotated[
    bool, typer.Option("--browser", help="Print a link that opens it in Neo4j Browser.")
]
BrowserUrlOption = Annotated[
    str | None,
    typer.Option(
        "--browser-url",
        metavar="URL",
        help="Where Neo4j Browser is, if not where the server says: http://HOST:PORT/browser/.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option(min=0, help="Rows to write; 0 is all. (default: 100 for people, else all)"),
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
        help="What is stored: all, or totals, peaks and what is live there (default: all)."
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Files parsed at once (default: one for each core)."),
]


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """What every command takes."""

    quiet: QuietOption = False
    verbose: VerboseOption = False


@dataclass(frozen=True, slots=True)
class GraphOptions(MessageOptions):
    """What a command takes that opens a graph."""

    graph: GraphOption = None


@dataclass(frozen=True, slots=True)
class ListOptions(MessageOptions):
    """What a command takes that returns rows without a graph."""

    wide: WideOption = False
    columns: ColumnsOption = None
    output: OutputOption = None
    format: FormatOption = Format.TABLE


@dataclass(frozen=True, slots=True)
class SelectedRowsOptions(GraphOptions):
    """Columns that a table shows, and those that it leaves out."""

    wide: WideOption = False
    columns: ColumnsOption = None
    output: OutputOption = None


@dataclass(frozen=True, slots=True)
class RowOptions(SelectedRowsOptions):
    """Options of a command that returns rows."""

    format: FormatOption = Format.TABLE


@dataclass(frozen=True, slots=True)
class CatalogueOptions(SelectedRowsOptions):
    """What stands before the ID of a canned query, which may return rows or a picture."""

    format: CatalogueFormatOption = PictureFormat.TABLE


@dataclass(frozen=True, slots=True)
class QueryOptions(RowOptions):
    """What a canned query takes."""

    browser_url: BrowserUrlOption = None
    browser: BrowserOption = False
    show: ShowOption = False


@dataclass(frozen=True, slots=True)
class PictureOptions(SelectedRowsOptions):
    """What a canned query takes that returns a picture."""

    format: PictureFormatOption = PictureFormat.TABLE
    browser_url: BrowserUrlOption = None
    browser: BrowserOption = False
    show: ShowOption = False


T = TypeVar("T")


def spread_options(
    command: Callable[..., T], extra: Sequence[inspect.Parameter] = ()
) -> Callable[..., T]:
    """Return the command with one option for each field of its dataclass parameter ``options``.

    ``extra`` are further options, which replace its ``**parameters``.
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
        for field in reversed(fields(bundle))  # what all commands share stands last
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
    """Pass options that stand before the name of a subcommand on to it."""
    if context.invoked_subcommand is not None:
        given = {
            # as it is typed: another command may know the choice by another enum
            name: value.value if isinstance(value, Enum) else value
            for name, value in context.params.items()
            if value is not None
        }
        context.default_map = {context.invoked_subcommand: given}
