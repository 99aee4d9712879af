"""Write whether compilations fit, what is missing, and what to change first."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from xlagraph.cli.options.shared_options import RowOptions
from xlagraph.cli.output.destination import first_rows, is_page, open_output, write_rows
from xlagraph.cli.output.messages import counted
from xlagraph.cli.summaries.advice import WHOLES
from xlagraph.cli.summaries.sections import Section, write_lines, write_sections
from xlagraph.presentation.byte_sizes import human_bytes, share_text

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries.advice.diagnosis import Finding
    from xlagraph.queries.checks.capacity import SpaceFit

    Changes = Mapping[SpaceFit, Sequence[Finding]]

NOT_COUNTED: Final = (
    "Counted: temporaries, results, constants, and every argument once. Not counted, as a"
    " compilation cannot tell: other programs that are loaded (check --resident A B), arrays that"
    " you hold besides the arguments, the code of the program, and the rounding and fragmentation"
    " of the allocator."
)
COLUMNS: Final = (
    "run", "compilation", "memorySpace", "memorySpaceName", "reservedBytes", "capacityBytes",
    "fits", "missingBytes", "freeBytes",
)  # fmt: skip


def write_fit(
    spaces: Sequence["SpaceFit"], changes: "Changes", limit: int | None, options: RowOptions
) -> None:
    """Write a row for each memory space, and what to change where one does not fit."""
    shown = first_rows(spaces, limit, options.format)
    rows: list[tuple[Cell, ...]] = [
        (
            *(space.run, space.compilation, space.memory_space, space.memory_space_name),
            *(space.reserved_bytes, space.capacity_bytes, space.fits, space.missing_bytes),
            space.free_bytes,
        )
        for space in shown
    ]
    if not is_page(options):
        listed = [change_cells(changes.get(space, ())) for space in shown]
        with_changes = [(*row, cell) for row, cell in zip(rows, listed, strict=True)]
        write_rows((*COLUMNS, "changes"), with_changes, options)
        return
    with open_output(options) as stream:
        write_lines([_headline(spaces), NOT_COUNTED], options.format, stream)
        every = Section("Every memory space", COLUMNS[1:], [row[1:] for row in rows])
        write_sections(
            [*(changes_section(*change) for change in changes.items()), every],
            options.format,
            stream,
        )


def _headline(spaces: Sequence["SpaceFit"]) -> str:
    checked = [space for space in spaces if space.fits is not None]
    lacking = [space for space in spaces if space.fits is False]
    count = counted(len({space.compilation for space in checked}), "compilation")
    if not checked:
        return "Does it fit? Nothing is allocated there."
    if not lacking:
        tightest = min(checked, key=lambda space: space.free_bytes or 0)
        share = share_text((tightest.free_bytes or 0) / (tightest.capacity_bytes or 1))
        return (
            f"Does it fit? Yes: {count}; {tightest.compilation} leaves"
            f" {human_bytes(tightest.free_bytes or 0)} ({share}) of {tightest.space_text} free,"
            " the least."
        )
    worst, too_large = lacking[0], len({space.compilation for space in lacking})
    verb = "is" if too_large == 1 else "are"
    return (
        f"Does it fit? No: {too_large} of {count} {verb} too large;"
        f" {worst.compilation} lacks {human_bytes(worst.missing_bytes or 0)}"
        f" in {worst.space_text}."
    )


def changes_section(space: "SpaceFit", findings: "Sequence[Finding]", before: str = "") -> Section:
    """Return a table of what to change first in a memory space.

    ``before`` is what has to be run before the command that shows how.
    """
    words = ["xlagraph", "advise", space.compilation]
    if space.memory_space:
        words += ["--memory-space", str(space.memory_space)]
    less = f", for {human_bytes(space.missing_bytes)} less" if space.missing_bytes else ""
    title = f"What to change first{less} (how: {before}{shlex.join(words)})"
    if not findings:
        return Section(title, ("change",), [("nothing stands out: use less, or shard it",)])
    rows: list[tuple[Cell, ...]] = [
        (
            finding.advice.title,
            finding.savings.text,
            f"{share_text(finding.share)} of {WHOLES[finding.savings.measure]}",
            finding.query.id,
        )
        for finding in findings
    ]
    return Section(title, ("change", "saves", "share", "query"), rows)


def change_cells(findings: "Sequence[Finding]") -> "list[Cell]":
    """Return findings as cells of a machine format."""
    return [
        {
            "finding": finding.advice.title,
            "query": finding.query.id,
            "bytes": finding.bytes,
            **finding.advice.remedies,
        }
        for finding in findings
    ]
