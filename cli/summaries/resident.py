"""Write the memory that programs need if they are loaded together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from xlagraph.cli.output.destination import first_rows, is_page, open_output, write_rows
from xlagraph.cli.output.messages import counted
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.cli.summaries.sections import Section, write_lines, write_sections
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from xlagraph.advice.resident import ResidentSpace
    from xlagraph.graph import Cell

COLUMNS: Final = (
    "compilation", "memorySpace", "memorySpaceName", "argumentBytes", "sharedArgumentBytes",
    "constantBytes", "runningBytes", "codeBytes", "addsBytes",
)  # fmt: skip
_BASIS: Final = (
    "This is a lower bound. Arguments of one shape are assumed to be the same arrays and count"
    " once. Temporaries and results count for the largest program, because one program runs at a"
    " time. Not counted: the code of programs (if null), arrays that are not arguments, and the"
    " allocator's rounding and fragmentation."
)


def write_resident(
    spaces: Sequence["ResidentSpace"], limit: int | None, options: RowOptions
) -> None:
    """Write a row for each program in each memory space; the sum of `addsBytes` is the bound."""
    every: list[tuple[Cell, ...]] = [
        (
            *(program.compilation, space.memory_space, space.memory_space_name),
            *(program.argument_bytes, program.shared_argument_bytes, program.constant_bytes),
            *(program.running_bytes, program.code_bytes, program.adds_bytes),
        )
        for space in spaces
        for program in space.programs
    ]
    rows = first_rows(every, limit, options.format)
    if not is_page(options):
        write_rows(COLUMNS, rows, options)
        return
    with open_output(options) as stream:
        lines = [_sentence(space) for space in spaces]
        write_lines([*lines, _BASIS], options.format, stream)
        write_sections([Section("What each program adds", COLUMNS, rows)], options.format, stream)


def _sentence(space: "ResidentSpace") -> str:
    least = human_bytes(space.least_bytes)
    count = counted(len(space.programs), "program")
    text = f"Together {count} need {least} or more of {space.space_text}"
    if space.capacity_bytes is None:
        return f"{text}."
    capacity = human_bytes(space.capacity_bytes)
    if space.fits:
        free = human_bytes(space.capacity_bytes - space.least_bytes)
        return f"{text}: they may fit in {capacity}, with at most {free} left."
    missing = human_bytes(space.missing_bytes or 0)
    return f"{text}: they do not fit in {capacity}, {missing} are missing."
