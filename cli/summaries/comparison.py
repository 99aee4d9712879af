"""Write comparisons: a page for people, rows for scripts; one pair, or one against many."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.destination import is_page, open_output, write_rows
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.limits import GrowthLimit
from xlagraph.cli.output.messages import write_prose
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.cli.summaries.comparison_comment import comment
from xlagraph.cli.summaries.comparison_sections import (
    all_sections,
    group_section,
)
from xlagraph.cli.summaries.sections import Section, write_lines, write_sections
from xlagraph.comparison.compared_sides import (
    ONE_ROW_COLUMNS,
    PART_COLUMNS,
    group_rows,
    one_row,
    part_rows,
)
from xlagraph.comparison.groups import GROWTH_COLUMNS, By
from xlagraph.presentation.byte_sizes import human_bytes, known_bytes

if TYPE_CHECKING:
    from xlagraph.comparison.compared_sides import Comparison
    from xlagraph.graph import Cell

    Comparisons = Sequence[Comparison]

_ROWS: Final = 10
_ROWS_OF_EACH: Final = 5
"""Rows of each part if all parts are shown, so that they fit on one screen."""
_MANY_COLUMNS: Final = (
    "other", "reservedBytes", "growthBytes", "growthShare", "physicalPeakBytes", "peakGrowthBytes",
    "unpaired", "grownLine", "grownLineBytes",
)  # fmt: skip


def write_comparisons(
    comparisons: "Comparisons",
    by: By | None,
    limit: int | None,
    max_growth: GrowthLimit | None,
    options: RowOptions,
) -> None:
    """Write comparisons that share the first side, with the verdict on `max_growth`."""
    is_text = is_page(options)
    usual = _ROWS_OF_EACH if is_text and by is None else _ROWS
    rows = (usual if limit is None else limit) or None
    if is_text:
        with open_output(options) as stream:
            if len(comparisons) == 1:
                _write_one(comparisons[0], by, rows, max_growth, options.format, stream)
            else:
                _write_many(comparisons, by, rows, options.format, stream)
    elif len(comparisons) == 1:
        (comparison,) = comparisons
        if by is None:
            write_rows(PART_COLUMNS, part_rows(comparison, rows), options)
        else:
            found = group_rows(comparison, by, rows)
            write_rows((*by.columns, *GROWTH_COLUMNS), found, options)
    elif by is None:
        write_rows(ONE_ROW_COLUMNS, [one_row(comparison) for comparison in comparisons], options)
    else:
        found = [
            (comparison.a.name, comparison.b.name, *row)
            for comparison in comparisons
            for row in group_rows(comparison, by, rows)
        ]
        write_rows(("a", "b", *by.columns, *GROWTH_COLUMNS), found, options)


def _write_one(
    comparison: "Comparison",
    by: By | None,
    limit: int | None,
    max_growth: GrowthLimit | None,
    format_: Format,
    stream: TextIO,
) -> None:
    if by is None and format_ is Format.MD:
        stream.write(comment(comparison, max_growth, limit))
        return
    lines = [comparison.headline]
    if max_growth is not None:
        exceeded = max_growth.exceeded_by(comparison.reserved)
        verdict = "failed, it grew by more than" if exceeded else "passed, it grew by no more than"
        lines.append(f"gate: {verdict} {max_growth.text}")
    write_lines(lines, format_, stream)
    if comparison.sentences:
        stream.write("\n")
    for sentence in comparison.sentences:
        write_prose(f"- {sentence.line}", stream, indent=2)
        if sentence.query:
            write_prose(f"    {sentence.command}", stream, indent=6)
    write_sections(all_sections(comparison, by, limit), format_, stream)


def _write_many(
    comparisons: "Comparisons", by: By | None, limit: int | None, format_: Format, stream: TextIO
) -> None:
    first = comparisons[0]
    peak = first.growth_of("physicalPeak").bytes_a
    line = (
        f"{first.a.name} against {len(comparisons)} others: it reserves"
        f" {human_bytes(first.reserved.bytes_a or 0)}, its physical peak is {known_bytes(peak)}"
        f"{first.summed_over}"
    )
    write_lines([line], format_, stream)
    if by is None:
        write_sections(
            [Section("", _MANY_COLUMNS, [_short_row(comparison) for comparison in comparisons])],
            format_,
            stream,
        )
        return
    for comparison in comparisons:
        section = group_section(comparison, by, limit)
        title = f"{comparison.headline}. {section.title}"
        write_sections([section._replace(title=title)], format_, stream)


def _short_row(comparison: "Comparison") -> "tuple[Cell, ...]":
    cells = dict(zip(ONE_ROW_COLUMNS, one_row(comparison), strict=True))
    return (
        cells["b"],
        cells["reservedBytesB"],
        cells["growthBytes"],
        cells["growthShare"],
        cells["physicalPeakBytesB"],
        cells["peakGrowthBytes"],
        len(comparison.unpaired),
        cells["grownLine"],
        cells["grownLineBytes"],
    )
