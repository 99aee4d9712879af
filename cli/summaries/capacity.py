"""Write whether compilations fit, alone or together, what is missing, and what to change."""

import shlex
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.destination import first_rows, is_page, write_record, write_rows
from xlagraph.cli.output.formats import Format
from xlagraph.cli.output.shared_options import RowOptions
from xlagraph.cli.summaries.sections import Section, write_lines, write_page
from xlagraph.graph.record_cells import cells_of_columns, record_row
from xlagraph.presentation.byte_sizes import counted, human_bytes, range_text, share_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xlagraph.advice.capacity import LackingSpace, SpaceFit
    from xlagraph.advice.combined_changes import CombinedChange
    from xlagraph.advice.rescue_limits import RescueLimit
    from xlagraph.advice.resident import ResidentSpace
    from xlagraph.advice.snapshot_sum import SnapshotSum
    from xlagraph.graph import Cell

NOT_COUNTED: Final = (
    "Counted: temporaries, results, constants, and every argument once. Not counted, because a"
    " compilation does not show it: other loaded programs (check --resident A B), arrays that are"
    " not arguments, the code of the program, and the rounding and fragmentation of the allocator."
)
COLUMNS: Final = (
    "run", "compilation", "memorySpace", "memorySpaceName", "reservedBytes", "capacityBytes",
    "fits", "missingBytes", "freeBytes",
)  # fmt: skip

RESIDENT_COLUMNS: Final = (
    "compilation", "memorySpace", "memorySpaceName", "argumentBytes", "sharedArgumentBytes",
    "constantBytes", "runningBytes", "codeBytes", "addsBytes",
)  # fmt: skip
_SNAPSHOT_COLUMNS: Final = (
    "compilation", "device", "passedBytes", "newArgumentBytes", "otherArrayBytes",
    "executableBytes", "runningBytes", "neededBytes", "capacityBytes", "fits",
)  # fmt: skip
_WORDS_BEFORE_CHANGES: Final = len(("xlagraph", "whatif", "COMPILATION"))
_LOWER_BOUND: Final = (
    "This is a lower bound. Arguments of one name and shape in a run are assumed to be the same"
    " arrays and count once (with --shared in all runs). Temporaries and results count for the"
    " largest program, because one program runs at a time. Not counted: the code of programs (if"
    " null), arrays that are not arguments, and the allocator's rounding and fragmentation."
)


def write_fit(
    spaces: Sequence["SpaceFit"],
    lacking: Sequence["LackingSpace"],
    rescues: Sequence["RescueLimit"],
    limit: int | None,
    options: RowOptions,
) -> None:
    """Write a row for each memory space, and what to change if one does not fit."""
    shown = first_rows(spaces, limit, options.format)
    rows = [record_row(space, COLUMNS) for space in shown]
    if not is_page(options):
        changes = {each.space: each.changes for each in lacking}
        listed = [change_cells(changes.get(space, ())) for space in shown]
        with_changes = [(*row, cell) for row, cell in zip(rows, listed, strict=True)]
        write_rows((*COLUMNS, "changes"), with_changes, options)
        return
    verdicts = (
        *map(_verdict, lacking),
        *chain.from_iterable(map(tried_scopes, lacking)),
        *(each.sentence for each in rescues),
    )
    lines = [_headline(spaces), *verdicts, NOT_COUNTED]
    every = Section("Every memory space", COLUMNS[1:], [row[1:] for row in rows])
    sections = [*(changes_section(each.space, each.changes) for each in lacking), every]
    write_page(lines, sections, options)


def _headline(spaces: Sequence["SpaceFit"]) -> str:
    checked = [space for space in spaces if space.fits is not None]
    lacking = [space for space in spaces if space.fits is False]
    count = counted(len({space.compilation for space in checked}), "compilation")
    if not checked:
        return "Does it fit? Nothing is allocated in the given memory spaces."
    if not lacking:
        tightest = min(checked, key=lambda space: space.free_bytes or 0)
        share = share_text((tightest.free_bytes or 0) / (tightest.capacity_bytes or 1))
        return (
            f"Does it fit? Yes: {count}; the tightest is {tightest.compilation}, which leaves"
            f" {human_bytes(tightest.free_bytes or 0)} ({share}) of {tightest.space_text} free."
        )
    worst, too_large = lacking[0], len({space.compilation for space in lacking})
    verb = "is" if too_large == 1 else "are"
    return (
        f"Does it fit? No: {too_large} of {count} {verb} too large;"
        f" {worst.compilation} is {human_bytes(worst.missing_bytes or 0)} short"
        f" in {worst.space_text}."
    )


def _verdict(lacking: "LackingSpace") -> str:
    """Return a sentence that says whether the changes make a compilation fit."""
    combined = lacking.combined
    name, missing = lacking.space.compilation, lacking.space.missing_bytes or 0
    if not combined and lacking.scopes:
        return f"{name}: no finding can be replanned, but a checkpoint can."
    if not combined:
        return (
            f"{name}: no change can be replanned; reduce the batch or the sequence length, or shard"
            " over devices."
        )
    last = combined[-1]
    count = "1 change" if len(combined) == 1 else f"{len(combined)} changes together"
    verb = "saves" if len(combined) == 1 else "save"
    saved = range_text(last.together_bytes or 0, last.together_at_most)
    if lacking.would_fit:
        return f"{name}: {count} {verb} {saved}, enough to fit."
    if max(last.together_bytes or 0, last.together_at_most or 0) >= missing:
        return f"{name}: {count} {verb} {saved}, which may be enough to fit."
    left = human_bytes(missing - (last.together_at_most or last.together_bytes or 0))
    return (
        f"{name}: {count} {verb} {saved}; {left} are still missing: also reduce the batch or the"
        " sequence length, or shard over devices."
    )


def tried_scopes(lacking: "LackingSpace") -> "Iterator[str]":
    """Yield checkpoints of scopes, if no other changes make the compilation fit."""
    if (scope := lacking.scopes) is not None:
        words = ("xlagraph", "whatif", lacking.space.compilation, *scope.arguments)
        missing = lacking.space.missing_bytes or 0
        saved = human_bytes(scope.saved_at_most)
        enough = ", which may be enough to fit" if scope.saved_at_most >= missing else ""
        doubt = ""
        if scope.keeps_first:
            doubt = "; the compiler drops barriers, and may keep first results instead"
        yield f"Tried too: {shlex.join(words)} saves up to {saved}{enough}{doubt}."


def changes_section(
    space: "SpaceFit", changes: "Sequence[CombinedChange]", before: str = ""
) -> Section:
    """Return a table of what to change first in a memory space.

    ``before`` is a command to run first, with ", then " after it.
    """
    words = ["xlagraph", "advise", space.compilation]
    if space.memory_space:
        words += ["--memory-space", str(space.memory_space)]
    less = f", for {human_bytes(space.missing_bytes)} less" if space.missing_bytes else ""
    title = f"What to change first{less} (how: {before}{shlex.join(words)})"
    if not changes:
        return Section(title, ("change",), [("no finding: reduce the batch, or use more devices",)])
    are_combined = any(change.together_bytes is not None for change in changes)
    rows: list[tuple[Cell, ...]] = [
        (
            change.finding.advice.title,
            change.finding.savings.text,
            *((_together_text(change),) if are_combined else ()),
            _line(change),
            change.finding.query.id,
        )
        for change in changes
    ]
    together = ("together",) if are_combined else ()
    proofs = [shlex.join(change.finding.whatif) for change in changes if change.finding.whatif]
    columns = ("change", "saves", *together, "line", "query")
    return Section(title, columns, rows, (*proofs, *_proof_together(changes)))


def _proof_together(changes: "Sequence[CombinedChange]") -> "Iterator[str]":
    """Yield the command that replans all combined changes, if there are several."""
    combined = [change.finding.whatif for change in changes if change.together_bytes is not None]
    if len(combined) > 1 and all(combined):
        start = combined[0][:_WORDS_BEFORE_CHANGES]
        words = (word for each in combined for word in each[_WORDS_BEFORE_CHANGES:])
        yield shlex.join((*start, *words))


def _together_text(change: "CombinedChange") -> str:
    """Return the savings together with the changes above; empty if it is not combined."""
    if change.together_bytes is None:
        return ""
    return range_text(change.together_bytes, change.together_at_most)


def _line(change: "CombinedChange") -> str:
    return next((place.source for place in change.finding.places if place.source), "")


def change_cells(changes: "Sequence[CombinedChange]") -> "list[Cell]":
    """Return changes as cells of a machine format."""
    return [
        {
            "finding": change.finding.advice.title,
            "query": change.finding.query.id,
            "bytes": change.finding.bytes,
            "bytesAtMost": change.finding.savings.at_most,
            "doubt": change.finding.savings.doubt,
            "expectedBytes": change.finding.savings.expected_bytes,
            "togetherBytes": change.together_bytes,
            "togetherBytesAtMost": change.together_at_most,
            "fits": change.fits,
            "places": [place.cells for place in change.finding.places],
            "whatif": shlex.join(change.finding.whatif) or None,
            **change.finding.advice.remedies,
        }
        for change in changes
    ]


def write_snapshot(found: "SnapshotSum", options: RowOptions) -> None:
    """Write the sum of a program and what is resident: a sentence, or one object."""
    cells = cells_of_columns(found, _SNAPSHOT_COLUMNS)
    write_record(cells, options, partial(_write_snapshot, found))


def _write_snapshot(found: "SnapshotSum", format_: Format, stream: TextIO) -> None:
    write_lines([found.sentence], format_, stream)


def write_resident(
    spaces: Sequence["ResidentSpace"], limit: int | None, options: RowOptions
) -> None:
    """Write a row for each program in each memory space; the sum of `addsBytes` is the bound."""
    every: list[tuple[Cell, ...]] = [
        (
            *(program.compilation, space.memory_space, space.memory_space_name),
            *record_row(program, RESIDENT_COLUMNS[3:]),
        )
        for space in spaces
        for program in space.programs
    ]
    rows = first_rows(every, limit, options.format)
    if not is_page(options):
        write_rows(RESIDENT_COLUMNS, rows, options)
        return
    alike = [_alike(space) for space in spaces if space.alike_bytes]
    lines = [*map(_together, spaces), *alike, _LOWER_BOUND]
    write_page(lines, [Section("What each program adds", RESIDENT_COLUMNS, rows)], options)


def _together(space: "ResidentSpace") -> str:
    least, most = human_bytes(space.least_bytes), human_bytes(space.most_bytes)
    count = counted(len(space.programs), "program")
    text = f"Together {count} need {least} or more of {space.space_text}"
    if space.most_bytes > space.least_bytes:
        text += f", {most} if they share no arguments"
    if space.capacity_bytes is None:
        return f"{text}."
    capacity = human_bytes(space.capacity_bytes)
    if space.fits:
        free = human_bytes(space.capacity_bytes - space.least_bytes)
        if space.most_bytes <= space.capacity_bytes:
            left = human_bytes(space.capacity_bytes - space.most_bytes)
            return f"{text}: either fits in {capacity}, with at least {left} left."
        return f"{text}: they may fit in {capacity}, with at most {free} left."
    missing = human_bytes(space.missing_bytes or 0)
    return f"{text}: they do not fit in {capacity}, {missing} are missing."


def _alike(space: "ResidentSpace") -> str:
    rest = space.least_bytes - space.alike_bytes
    return (
        f"{human_bytes(space.alike_bytes)} of the arguments in {space.space_text} have the shape of"
        " another program's under another name or in another run: if they are the same arrays,"
        f" {human_bytes(rest)} are enough."
    )
