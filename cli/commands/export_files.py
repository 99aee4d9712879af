"""`xlagraph export pprof`, `speedscope`, `perfetto`, `xprof`: files for other viewers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from xlagraph.cli.output.exit_codes import UsageError
from xlagraph.cli.output.graph_and_queries import (
    CompilationOption,
    complete_compilation,
    complete_run,
    open_graph_of,
)
from xlagraph.cli.output.messages import counted, note
from xlagraph.cli.output.shared_options import GraphOptions, parse_path

if TYPE_CHECKING:
    from xlagraph.exports.file_formats import FileFormat
    from xlagraph.graph import Graph

NameArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="RUN|COMPILATION",
        help="A key, a unique part of one, or a run; by default the largest.",
        autocompletion=complete_compilation,
    ),
]
FileOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write.", parser=parse_path),
]


def file_command(format_: "FileFormat") -> Callable[..., None]:
    """Return the command that writes a compilation in a format."""

    def write(
        options: GraphOptions,
        output: FileOption,
        name: NameArgument = None,
        compilation: CompilationOption = None,
    ) -> None:
        wanted = _either(name, compilation)
        with open_graph_of(options) as graph:
            format_.write(graph, _found(graph, wanted), output)
        note(f"wrote {output}")

    example = f"Example: xlagraph export {format_.name} baseline -o {format_.example}"
    write.__name__, write.__doc__ = format_.name, f"{format_.help}\n\n{example}"
    return write


def xprof(
    options: GraphOptions,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="The folder for xprof.", parser=parse_path
        ),
    ],
    name: NameArgument = None,
    compilation: CompilationOption = None,
    run: Annotated[
        str | None,
        typer.Option(
            "--run",
            help="Export all compilations of a run instead of one.",
            autocompletion=complete_run,
        ),
    ] = None,
) -> None:
    """Write a profile whose memory viewer shows the plan, for `xprof --logdir DIR`.

    Example: xlagraph export xprof --run baseline -o profiles/
    """
    compilation = _either(name, compilation)
    if run is not None and compilation is not None:
        raise UsageError("name a --run or a --compilation, not both")
    from xlagraph.exports import write_xprof
    from xlagraph.queries import find_run
    from xlagraph.queries.runner.compilations import compilations_of_run

    with open_graph_of(options) as graph:
        if run is None:
            session = _found(graph, compilation)
            keys: Sequence[str] = (session,)
        else:
            session = find_run(graph, run)
            keys = sorted(compilations_of_run(graph, session))
        path = write_xprof(graph, session, keys, output)
    note(f"wrote {counted(len(keys), 'compilation')} to {path}")


def _either(name: str | None, compilation: str | None) -> str | None:
    if name is not None and compilation is not None:
        raise UsageError("a compilation is given twice; give it once")
    return name if compilation is None else compilation


def _found(graph: "Graph", name: str | None) -> str:
    """Return the key of the compilation that a name selects, and note which it is."""
    from xlagraph.queries import find_compilation

    found = find_compilation(graph, name)
    if found.note:
        note(found.note)
    return found.key
