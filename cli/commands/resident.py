"""`xlagraph resident`: what was on the devices of a process."""

from pathlib import Path
from typing import Annotated, Final

import typer

from xlagraph.cli.output.destination import write_rows
from xlagraph.cli.output.exit_codes import ExitCode
from xlagraph.cli.output.messages import error, note
from xlagraph.cli.output.shared_options import ListOptions, parse_path
from xlagraph.presentation.byte_sizes import human_bytes

_COLUMNS: Final = ("device", "kind", "bytes", "count", "function", "file", "line", "shape")


def resident(
    options: ListOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The profile.", parser=parse_path)],
) -> None:
    """List what was on the devices of a process, by line.

    FILE is what jax.profiler.save_device_memory_profile("FILE") or
    xlagraph.jax.resident().write("FILE") writes while a program runs. A row is a line of your code
    on one device; the innermost frame of a package, if there is no other. The list of
    xlagraph.jax.resident has shapes instead of lines. `check --capacity SIZE --snapshot FILE` adds
    a program to it.

    Example: xlagraph resident memory.prof
    """
    from xlagraph.advice.device_memory import UnfitSnapshot, by_origin, read_snapshot

    try:
        rows = by_origin(read_snapshot(file))
    except (OSError, UnfitSnapshot) as failure:
        error(str(failure))
        raise typer.Exit(ExitCode.FAILED) from None
    sums: dict[str, int] = {}
    for each in rows:
        if each.is_buffer:
            sums[each.device or "?"] = sums.get(each.device or "?", 0) + each.bytes
    for device, size_bytes in sorted(sums.items()):
        note(f"{device}: {human_bytes(size_bytes)} of arrays")
    cells = [tuple(getattr(each, name) for name in _COLUMNS) for each in rows]
    write_rows(_COLUMNS, cells, options)
