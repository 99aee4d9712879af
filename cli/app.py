"""The app with all commands, and the function that runs one."""

import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from xlagraph.cli.commands.advise import advise
from xlagraph.cli.commands.bisect import bisect
from xlagraph.cli.commands.check import check
from xlagraph.cli.commands.compare import compare
from xlagraph.cli.commands.compilations import compilations
from xlagraph.cli.commands.cypher import cypher
from xlagraph.cli.commands.export.group import export_app
from xlagraph.cli.commands.ingest import ingest
from xlagraph.cli.commands.mcp import mcp
from xlagraph.cli.commands.oom import oom
from xlagraph.cli.commands.query import query_app
from xlagraph.cli.commands.record import record
from xlagraph.cli.commands.remove import remove
from xlagraph.cli.commands.report import report
from xlagraph.cli.commands.runs import runs_app
from xlagraph.cli.commands.schema import schema
from xlagraph.cli.commands.serve import serve
from xlagraph.cli.commands.value import value
from xlagraph.cli.commands.whatif import whatif
from xlagraph.cli.errors import write_failure, write_usage_error
from xlagraph.cli.output.columns import set_wide
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.messages import Verbosity, open_closed_streams, problem, set_verbosity
from xlagraph.cli.output.shared_options import QuietOption, VerboseOption, spread_options
from xlagraph.cli.output.typer_startup import without_missing_defaults

if TYPE_CHECKING:
    from typer._click import Parameter

COMMANDS: Final = (
    ingest,
    record,
    runs_app,
    compilations,
    query_app,
    cypher,
    schema,
    value,
    advise,
    whatif,
    compare,
    bisect,
    report,
    check,
    oom,
    remove,
    export_app,
    serve,
    mcp,
)
"""All commands, in the order of the help; a command with subcommands is an app."""

# Help is wrapped only on a terminal.
_UNWRAPPED: Final = 100_000


def _show_versions(asked: bool) -> None:
    """Write the versions that a bug report needs, one a line."""
    if asked:
        from importlib.metadata import version

        from xlagraph.graph.opening import engine_versions
        from xlagraph.graph.schema import VERSION

        engines = [f"{name} {number}" for name, number in engine_versions().items()]
        lines = [f"xlagraph {version('xlagraph')}", *engines, f"schema {VERSION}"]
        typer.echo("\n".join(lines))
        raise typer.Exit


def xlagraph(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show all versions, and exit.", callback=_show_versions, is_eager=True
        ),
    ] = False,
    verbose: VerboseOption = False,
    quiet: QuietOption = False,
) -> None:
    """Turn the memory plans that XLA dumps into a property graph, and query it.

    Begin with `xlagraph ingest DIR`, then `xlagraph query`.
    """


class _Commands(TyperGroup):
    def get_params(self, ctx: typer.Context) -> "list[Parameter]":  # type: ignore[override]
        """Return the options."""
        return without_missing_defaults(super().get_params(ctx))

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names in the order of `COMMANDS`: typer lists apps last."""
        del ctx
        names = [
            str(command.info.name) if isinstance(command, typer.Typer) else command.__name__
            for command in COMMANDS
        ]
        return [name for name in names if name in self.commands]


def build_app() -> typer.Typer:
    """Return the app with all commands."""
    width = None if sys.stdout.isatty() and sys.stderr.isatty() else _UNWRAPPED
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"terminal_width": width, "help_option_names": ["--help", "-h"]},
    )
    app.callback()(xlagraph)
    for command in COMMANDS:
        if isinstance(command, typer.Typer):
            app.add_typer(command)
        else:
            app.command()(spread_options(command))
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; by default, use the arguments of this process."""
    open_closed_streams()
    set_verbosity(Verbosity.NORMAL)
    set_wide(given=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # escape names that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        command = get_command(build_app())
        code = command(args=arguments, prog_name="xlagraph", standalone_mode=False)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else ExitCode.DONE
    except TyperException as failure:
        code = write_usage_error(failure)
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except Exception as failure:  # noqa: BLE001 - the outermost place that can catch a traceback
        code = write_failure(failure)
    if code == ExitCode.INTERRUPTED:
        # a terminal shows ^C on the current line
        problem("\ninterrupted" if sys.stderr.isatty() else "interrupted")
    return int(code or ExitCode.DONE)
