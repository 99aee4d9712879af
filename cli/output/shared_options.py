"""Options that several commands share, and dataclasses that bundle them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xlagraph.cli.output.columns import set_wide
from xlagraph.cli.output.declared_options import flag, option
from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.formats import Format, PictureFormat
from xlagraph.cli.output.messages import Verbosity, set_verbosity
from xlagraph.graph.schema import Detail


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


@dataclass(frozen=True)
class MessageOptions:
    """Options of every command."""

    verbose: bool = flag("Write more on stderr.", "-v", check=_be_verbose)
    quiet: bool = flag("Write only errors on stderr.", "-q", check=_be_quiet)


@dataclass(frozen=True)
class GraphOptions(MessageOptions):
    """Options of a command that opens a graph."""

    graph: str | None = option(
        "The graph: a file, or neo4j://… (default: XLAGRAPH_GRAPH, NEO4J_URI, ./xlagraph.lbug).",
        metavar="FILE|URI",
    )


@dataclass(frozen=True)
class LineOptions(GraphOptions):
    """Options of a command that shows lines of the user's code."""

    own: list[str] | None = option(
        "Lines in this package or path are yours, though it is installed; repeatable. (also: own"
        " in [lines] of xlagraph.toml next to the graph)",
        metavar="PACKAGE|PATH",
    )
    library: list[str] | None = option(
        "Lines in this package or path are a library's, though it is not installed; repeatable.",
        metavar="PACKAGE|PATH",
    )


@dataclass(frozen=True)
class OutputOptions(MessageOptions):
    """Options that select the file and the columns to write."""

    output: Path | None = option("Write to a file; - is stdout, the default.", "-o", metavar="FILE")
    columns: str | None = option(
        "The columns to write, in this order. (default: all; in a table, those that fit)",
        metavar="A,B",
    )
    wide: bool = flag("Show every column of a table, in bands if it is too wide.", check=_be_wide)


@dataclass(frozen=True)
class ListOptions(OutputOptions):
    """Options of a command that returns rows without a graph."""

    format: Format = option("Format of the rows.", default=Format.TABLE)


@dataclass(frozen=True)
class RowOptions(ListOptions, LineOptions):
    """Options of a command that returns rows."""


@dataclass(frozen=True)
class CatalogueOptions(OutputOptions, LineOptions):
    """Options before the ID of a canned query, which may return rows or a picture."""

    format: PictureFormat = option(
        "Format of the rows, or of a picture from a graph/… query.", default=PictureFormat.TABLE
    )


def browser_url_option() -> str | None:
    """Return the option with the address of Neo4j Browser."""
    return option(
        "Address of Neo4j Browser, if the server does not report it: http://HOST:PORT/browser/.",
        metavar="URL",
    )


@dataclass(frozen=True)
class LinkOptions(GraphOptions):
    """Options that print a canned query instead of running it."""

    show: bool = flag("Print the statement, ready to paste, instead of running it.")
    browser: bool = flag("Print a link that opens it in Neo4j Browser.")
    browser_url: str | None = browser_url_option()


@dataclass(frozen=True)
class QueryOptions(LinkOptions, RowOptions):
    """Options of a canned query that returns rows."""


@dataclass(frozen=True)
class PictureOptions(LinkOptions, CatalogueOptions):
    """Options of a canned query that returns a picture."""

    format: PictureFormat = option(
        "Format of the picture; as rows, its edges.", default=PictureFormat.TABLE
    )


def limit_option() -> int | None:
    """Return the option that limits the rows of a list."""
    return option("Rows to write; 0 for all. (default: 100 in a table, otherwise all)", least=0)


def run_name_option(text: str) -> str | None:
    """Return the option that names the run to write."""
    return option(text, metavar="NAME", check=_run_name)


def tag_option() -> list[str] | None:
    """Return the option with the run's tags to write."""
    return option(
        "A tag of the run, such as its commit, job or device; repeatable.", metavar="NAME=VALUE"
    )


def categories_option() -> Path | None:
    """Return the option with the file of the user's categories."""
    return option(
        "Your categories of values: a file like xlagraph.toml. (default: ./xlagraph.toml)",
        metavar="FILE",
        parser=parse_path,
    )


def parse_categories(file: Path | None) -> tuple[tuple[str, str], ...]:
    """Return the categories of a file, or of the project's; raise UsageError with its fault."""
    from xlagraph.ingest.options import PROJECT_FILE, read_categories

    if file is None and not Path(PROJECT_FILE).is_file():
        return ()
    try:
        return read_categories(file or Path(PROJECT_FILE))
    except (OSError, ValueError) as error:
        raise UsageError(f"--categories: {error}") from None


def detail_option() -> Detail | None:
    """Return the option that selects the detail to store."""
    return option(
        "Detail to store: everything, or totals, peaks and values live there (default: all)."
    )


def jobs_option() -> int | None:
    """Return the option with the number of processes that parse."""
    return option(
        "Number of files parsed in parallel (default: one for each core).", metavar="N", least=1
    )
