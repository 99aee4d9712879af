"""Tables of a comparison for people: totals, compilations, causes and other groupings."""

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from xlagraph.cli.summaries.sections import Section
from xlagraph.comparison.compared_sides import TOTALS, total_rows
from xlagraph.comparison.groups import (
    EVERYTHING_ELSE,
    GROWTH_COLUMNS,
    By,
    changed_groups,
    group_name,
    largest_groups,
)
from xlagraph.comparison.held_values import ReservedPart
from xlagraph.hlo.op_names import stem
from xlagraph.presentation.byte_sizes import human_bytes

if TYPE_CHECKING:
    from xlagraph.comparison.compared_sides import ComparedPair, Comparison
    from xlagraph.comparison.groups import GroupGrowth
    from xlagraph.graph import Cell

_BYTES_OF_GROUPING: Final = {
    By.CAUSE: "reserved bytes",
    By.TEMPORARY: "temporary bytes at the physical peak",
    By.ROLE: "allocated bytes",
    By.VALUE: "assigned bytes",
}


def all_sections(comparison: "Comparison", by: By | None, limit: int | None) -> list[Section]:
    """Return the totals and each other part with rows; only one grouping if it is requested."""
    rows = [
        (*row, comparison.growth_of(measure).share if row[-1] is not None else None)
        for measure, row in zip(TOTALS, total_rows(comparison), strict=True)
    ]
    sections = [Section("Totals", ("measure", *GROWTH_COLUMNS, "growthShare"), rows)]
    if by is None and (comparison.a.is_run or comparison.b.is_run):
        sections.append(_compilations(comparison, limit))
    if by is None and By.CAUSE in comparison.groups:
        sections.append(cause_section(comparison, limit))
    sections += [
        group_section(comparison, grouping, limit)
        for grouping in comparison.groups
        if by is not None or grouping not in (By.CAUSE, By.TEMPORARY)
    ]
    return [section for section in sections if section.rows]


def cause_section(comparison: "Comparison", limit: int | None) -> Section:
    """Return the causes. Lines and ops follow the bytes that are live at the peak."""
    causes = comparison.groups[By.CAUSE]
    rows: list[tuple[Cell, ...]] = []
    for cause in causes:
        rows.append((cause.group[0], cause.bytes_a, cause.bytes_b, cause.growth_bytes))
        if cause.group[0] == ReservedPart.LIVE and cause.growth_bytes:
            for place, op, bytes_a, bytes_b in temporary_rows(comparison, limit):
                name = " ".join(part for part in (place, op) if part) or "line and op unknown"
                rows.append((f"  {name}", bytes_a, bytes_b, bytes_b - bytes_a))
    total_a, total_b = comparison.reserved.bytes_a or 0, comparison.reserved.bytes_b or 0
    title = f"By cause: reserved bytes, {human_bytes(total_a)} → {human_bytes(total_b)}"
    return Section(title, ("cause", *GROWTH_COLUMNS), rows)


def temporary_rows(
    comparison: "Comparison", limit: int | None
) -> list[tuple[str | None, str | None, int, int]]:
    """Return place, op and both byte counts of temporary values, sorted by growth, descending.

    Ops of one line that differ only in numbers or checkpoints share a row. The last row sums
    unchanged and omitted rows.
    """
    grouped: dict[tuple[str | None, str | None], list[GroupGrowth]] = {}
    for growth in comparison.groups.get(By.TEMPORARY, ()):
        user_file, user_line, source_file, source_line, op_name = growth.group
        file, line = (user_file, user_line) if user_file else (source_file, source_line)
        place = f"{PurePath(str(file)).name}:{line}" if file and line else None
        op = "/".join(stem(str(op_name))) if op_name else None
        grouped.setdefault((place, op and re.sub(r"\d+", "*", op)), []).append(growth)
    rows = []
    for (place, op), growths in grouped.items():
        bytes_a = sum(growth.bytes_a for growth in growths)
        bytes_b = sum(growth.bytes_b for growth in growths)
        names = {"/".join(stem(str(growth.group[4]))) for growth in growths if growth.group[4]}
        rows.append((place, names.pop() if len(names) == 1 else op, bytes_a, bytes_b))
    rows.sort(key=lambda row: (-abs(row[3] - row[2]), row[2] - row[3], str(row[:2])))
    changed = [row for row in rows if row[2] != row[3]][:limit]
    if rest := rows[len(changed) :]:
        left_out = (sum(row[2] for row in rest), sum(row[3] for row in rest))
        changed.append((None, EVERYTHING_ELSE, *left_out))
    return changed


def group_section(comparison: "Comparison", by: By, limit: int | None) -> Section:
    """Return the changed groups, the largest first, and one row for the rest."""
    growths = comparison.groups[by]
    changed = changed_groups(growths)
    rows = [
        (*_group_cells(by, growth), growth.bytes_a, growth.bytes_b, growth.growth_bytes)
        for growth in largest_groups(
            growths, len(growths) if limit is None else min(limit, changed)
        )
    ]
    total_a, total_b = (
        sum(growth.bytes_a for growth in growths),
        sum(growth.bytes_b for growth in growths),
    )
    unchanged = "" if changed else "; nothing changed"
    title = (
        f"By {by}: {_BYTES_OF_GROUPING.get(by, 'bytes at the physical peak')},"
        f" {human_bytes(total_a)} → {human_bytes(total_b)}{unchanged}"
    )
    return Section(title, (*_group_columns(by), *GROWTH_COLUMNS), rows)


def _group_columns(by: By) -> tuple[str, ...]:
    if by is By.TEMPORARY:
        return ("line", "opName")
    if by is By.LINE:
        return ("line",)
    if by is By.CALLER:
        return ("line", *by.columns[2:])
    return ("change", "opName", "opcode", "shape") if by is By.VALUE else by.columns


def _group_cells(by: By, growth: "GroupGrowth") -> tuple["Cell", ...]:
    first, *others = growth.group
    if first == EVERYTHING_ELSE:
        return (first, *[""] * (len(_group_columns(by)) - 1))
    match by:
        case By.LINE:
            return (group_name(by, growth.group),)
        case By.TEMPORARY:
            return (group_name(By.LINE, growth.group[:4]), growth.group[4])
        case By.CALLER:
            line, *function = others
            return (f"{first}:{line}" if first and line else first, *function)
        case By.VALUE:
            op_name, opcode, shape_index, before, after, *_ = others
            shapes = dict.fromkeys(str(shape) for shape in (before, after) if shape is not None)
            return (
                first,
                op_name,
                f"{opcode}{shape_index or ''}" if opcode else None,
                " → ".join(shapes),
            )
    return growth.group


def _compilations(comparison: "Comparison", limit: int | None) -> Section:
    equal = [pair for pair in comparison.pairs if not pair.reserved.growth_bytes]
    changed = [pair for pair in comparison.pairs if pair.reserved.growth_bytes]
    changed = sorted(
        [*changed, *comparison.unpaired], key=lambda pair: -abs(pair.reserved.growth_bytes)
    )
    shown = changed[:limit]
    rows: list[tuple[Cell, ...]] = [
        (_pair_name(comparison, pair), *_pair_bytes([pair])) for pair in shown
    ]
    if left_out := [*changed[len(shown) :], *equal]:
        rows.append((EVERYTHING_ELSE, *_pair_bytes(left_out)))
    parts = [f"{len(equal)} of {len(comparison.pairs)} pairs are equal"]
    parts += [f"{count} only in {name}" for name, count in comparison.unpaired_counts if count]
    return Section(
        f"By compilation: reserved bytes; {', '.join(parts)}",
        ("compilation", *GROWTH_COLUMNS),
        rows,
    )


def _pair_bytes(pairs: Sequence["ComparedPair"]) -> tuple[int, int, int]:
    before = sum(pair.reserved.bytes_a or 0 for pair in pairs)
    after = sum(pair.reserved.bytes_b or 0 for pair in pairs)
    return before, after, after - before


def _pair_name(comparison: "Comparison", pair: "ComparedPair") -> str:
    """Return the names of both compilations of a pair, with their common part once."""
    before, after = (
        compilation
        and (compilation.key.removeprefix(f"{side.name}/") if side.is_run else compilation.key)
        for side, compilation in ((comparison.a, pair.a), (comparison.b, pair.b))
    )
    if before is None or after is None:
        only = comparison.b.name if before is None else comparison.a.name
        return f"{before or after} (only in {only})"
    if before == after:
        return before
    number_before, _, name_before = before.partition(".")
    number_after, _, name_after = after.partition(".")
    if name_before == name_after:
        return f"{number_before} → {number_after}.{name_after}"
    return f"{before} → {after}"
