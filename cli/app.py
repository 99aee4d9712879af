"""The app with all commands, and the function that runs one."""

import functools
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer.exceptions import TyperException
from typer.main import get_command

from xlagraph.cli.errors import write_failure, write_usage_error
from xlagraph.cli.output.columns import set_wide
from xlagraph.cli.output.declared_options import QuickGroup, new_command, spread_options
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.messages import Verbosity, open_closed_streams, problem, set_verbosity
from xlagraph.cli.output.shared_options import MessageOptions

if TYPE_CHECKING:
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

GROUPS: Final = {
    "Load": {"ingest": "ingest", "record": "record"},
    "Ask": {
        "runs": "runs",
        "compilations": "runs",
        "query": "query",
        "value": "value",
        "cypher": "cypher",
        "schema": "schema",
    },
    "Decide": {
        "advise": "advise",
        "whatif": "whatif",
        "order": "order",
        "check": "check",
        "resident": "resident",
        "compare": "compare",
        "bisect": "bisect",
        "oom": "oom",
    },
    "Share": {"report": "report", "export": "export", "serve": "serve", "mcp": "serve"},
    "Maintain": {"remove": "remove", "catalogue": "catalogue"},
}
"""The module of each command in `cli/commands`, in the groups and the order of the help.

It has a function of that name, or NAME_app if the command has subcommands.
"""
COMMANDS: Final = {name: module for group in GROUPS.values() for name, module in group.items()}

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
    options: MessageOptions,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show all versions, and exit.", callback=_show_versions, is_eager=True
        ),
    ] = False,
) -> None:
    """Turn the memory plans that XLA dumps into a property graph, and query it.

    Begin with `xlagraph ingest DIR`, then `xlagraph query`.
    """


class _Commands(QuickGroup):
    """All commands; the module of a command is imported when it is used."""

    def list_commands(self, ctx: "Context") -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(COMMANDS)

    def format_commands(self, ctx: "Context", formatter: "HelpFormatter") -> None:
        """Write the commands in their groups, each with its summary."""
        for group, names in GROUPS.items():
            self.write_commands(group, list(names), ctx, formatter)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        """Return a command; None if there is none of that name."""
        del ctx
        if cmd_name in COMMANDS:
            return _command(cmd_name)
        self.commands = {name: _command(name) for name in COMMANDS}  # typer suggests one of them
        return None


@functools.cache
def _command(name: str) -> "Command":
    module = import_module(f"xlagraph.cli.commands.{COMMANDS[name]}")
    app = getattr(module, f"{name}_app", None)
    return get_command(app) if app is not None else new_command(getattr(module, name))


def build_command() -> "Command":
    """Return `xlagraph` with all commands."""
    width = None if sys.stdout.isatty() and sys.stderr.isatty() else _UNWRAPPED
    app = typer.Typer(
        cls=_Commands,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"terminal_width": width, "help_option_names": ["--help", "-h"]},
    )
    app.callback()(spread_options(xlagraph))
    return get_command(app)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; by default, use the arguments of this process."""
    open_closed_streams()
    set_verbosity(Verbosity.NORMAL)
    set_wide(given=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # escape names that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        command = build_command()
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
