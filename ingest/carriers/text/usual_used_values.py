"""Read used values that are spelled as usual, hundreds with each call.

Nothing is reported here: the careful parser continues where this one stops, and finds the fault.
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from operator import eq, lt
from sys import intern
from typing import Final

from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan
from xlagraph.ingest.plan import Position, Use, UsedValue

__all__ = ["read_usual_used_values"]

_OPERAND: Final = ", operand "
_NO_USES: Final = form.NO_USES.example + "\n"
# Each element of a tuple repeats its instruction: a copy of the whole section, which is
# quadratic in the width of tuples, could need more memory than the plan.
_CHUNK_CHARACTERS: Final = 1 << 16
_LINES_OF_BLOCK: Final = 5
"""Lines of a block with one position and no use."""


def read_usual_used_values(
    lines: str, start: int, used_values: list[UsedValue], draft: DraftPlan
) -> int:
    """Read values while they are as usual; return the position after them."""
    for end in _chunk_ends(lines, start):
        if not _read(lines, start, end, used_values, draft):
            break
        start = end
    used = {value_id for value_id, _, _ in used_values}
    if len(used) == len(draft.unused_values):
        draft.unused_values.clear()
    else:
        for header in [key for key, value in draft.unused_values.items() if value.value_id in used]:
            del draft.unused_values[header]
    return start


def _chunk_ends(lines: str, start: int) -> Iterator[int]:
    """Yield the end of each chunk; the next one begins with ``<``."""
    last = lines.find("\nHloLiveRange", start) + 1 or len(lines)
    while lines.startswith("\n\n", last - 2):
        last -= 1
    while start < last:
        start = lines.find("\n<", start + _CHUNK_CHARACTERS, last) + 1 or last
        yield start


def _read(lines: str, start: int, end: int, used_values: list[UsedValue], draft: DraftPlan) -> bool:
    """Read a chunk; return False and read nothing unless all of it is as usual."""
    rows = form.USUAL_USED_VALUE.findall(lines, start, end)
    values = [value for row in rows if (value := draft.unused_values.get(row[0]))]
    if not rows or len(values) < len(rows):
        return False
    _, firsts, others, uses, prefixes, names, instructions = zip(*rows, strict=True)
    ids, own_names, own_indices, *_ = zip(*values, strict=True)
    if remarks := uses.count(_NO_USES):
        uses = tuple(["" if each == _NO_USES else each for each in uses])
    empty = uses.count("")
    prints_none = remarks > 0 if empty else draft.prints_none
    other_positions = form.POSITION.multiline_regex.findall("".join(others))
    all_uses = _uses("".join(uses), draft)
    other_ends, use_ends = _ends(others), _ends(uses)
    known = draft.instructions.setdefault
    if not (
        len(other_positions) == other_ends[-1]
        and len(all_uses) == use_ends[-1]
        and lines.count("\n", start, end)
        == len(rows) * _LINES_OF_BLOCK + remarks + other_ends[-1] + use_ends[-1]
        # XLA sorts them, so that no value can be there twice.
        and all(map(lt, [used_values[-1].value_id if used_values else -1, *ids], ids))
        and firsts == tuple(map(_own_position, own_names, own_indices))
        and names == own_names
        and prefixes == (draft.instruction_prefix or prefixes[0],) * len(rows)
        and remarks in (0, empty)
        and draft.prints_none in (None, prints_none)
        and form.INSTRUCTION.fullmatch(instructions[-1])
        and all(map(eq, map(known, names, instructions), instructions))
    ):
        return False
    draft.instruction_prefix = prefixes[0]
    draft.prints_none = prints_none
    kept = draft.names.setdefault
    more = tuple(
        [
            Position(kept(name, name), intern(index) if index else None)
            for name, index in other_positions
        ]
    )
    used_values += [
        UsedValue(value_id, (Position(*own), *more[a:b]), all_uses[c:d])
        for value_id, own, (a, b), (c, d) in zip(
            ids,
            zip(own_names, own_indices, strict=True),
            pairwise(other_ends),
            pairwise(use_ends),
            strict=True,
        )
    ]
    return True


def _own_position(name: str, index: str | None) -> str:
    return name if index is None else f"{name} {index}"


def _ends(lists: Sequence[str]) -> list[int]:
    """Return the number of lines up to the start of each list, and in all."""
    return list(accumulate([each.count("\n") for each in lists], initial=0))


def _uses(text: str, draft: DraftPlan) -> tuple[Use, ...]:
    """Return the uses of lines that are all as usual; else none."""
    if not text or form.USUAL_USES.fullmatch(text) is None:
        return ()
    parts = text[2:-1].replace("\n  ", _OPERAND).split(_OPERAND)
    names, operands = parts[::2], parts[1::2]
    number_of: dict[str, int] = {}
    index_of: dict[str, str | None] = {}
    for each in set(operands):
        number, _, index = each.partition(" ")
        number_of[each], index_of[each] = int(number), index or None
    fields = zip(
        map(draft.names.setdefault, names, names),
        map(number_of.__getitem__, operands),
        map(index_of.__getitem__, operands),
        strict=True,
    )
    return tuple(map(Use._make, fields))
