"""`xlagraph resident`: what was on a process's devices."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from xlagraph.cli.output.declared_options import option
from xlagraph.cli.output.destination import write_rows
from xlagraph.cli.output.exit_codes import ExitCode, UsageError
from xlagraph.cli.output.graph_and_queries import complete_run, open_graph_of
from xlagraph.cli.output.messages import error, note
from xlagraph.cli.output.shared_options import GraphOptions, ListOptions, parse_path
from xlagraph.presentation.byte_sizes import human_bytes

_COLUMNS: Final = ("device", "kind", "bytes", "count", "function", "file", "line", "shape")


@dataclass(frozen=True)
class ResidentOptions(ListOptions, GraphOptions):
    """Options of the command."""

    run: str | None = option(
        "Store it in the graph with this run.", metavar="RUN", completion=complete_run
    )
    name: str | None = option(
        "Name of what --run stores. (default: FILE without its ending)", metavar="NAME"
    )


def resident(
    options: ResidentOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The profile.", parser=parse_path)],
) -> None:
    """List what was on a process's devices, by line.

    FILE is what jax.profiler.save_device_memory_profile("FILE") or
    xlagraph.jax.resident().write("FILE") writes while a program runs. A row is a line of your code
    on one device; the innermost frame of a package, if there is no other. The list of
    xlagraph.jax.resident has shapes instead of lines. `check --capacity SIZE --snapshot FILE` adds
    a program to it. --run stores it with a run; `--snapshot NAME` then finds it in the graph.

    Example: xlagraph resident memory.prof
    """
    from xlagraph.advice.device_memory import UnfitSnapshot, by_origin, read_snapshot

    name = options.name or file.stem
    if "=" in name or (options.name and options.run is None):
        raise UsageError("--name names what --run stores: give --run too, and a name without '='")
    try:
        residents = read_snapshot(file)
    except (OSError, UnfitSnapshot) as failure:
        error(str(failure))
        raise typer.Exit(ExitCode.FAILED) from None
    rows = by_origin(residents)
    if options.run is not None:
        from xlagraph.advice.stored_snapshots import store_residents
        from xlagraph.queries.runner.compilations import find_run

        with open_graph_of(options) as graph:
            run = find_run(graph, options.run)
            store_residents(graph, run, name, residents)
        note(f"stored as {run}/{name}")
    sums: dict[str, int] = {}
    for each in rows:
        if each.is_buffer:
            sums[each.device or "?"] = sums.get(each.device or "?", 0) + each.bytes
    for device, size_bytes in sorted(sums.items()):
        note(f"{device}: {human_bytes(size_bytes)} of arrays")
    cells = [tuple(getattr(each, name) for name in _COLUMNS) for each in rows]
    write_rows(_COLUMNS, cells, options)
