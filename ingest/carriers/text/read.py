"""Read a compilation from the text files that XLA dumps."""

import re
from dataclasses import replace
from typing import Final

from xlagraph.hlo.module_text import parse_module_text
from xlagraph.hlo.program import Program, packed_module
from xlagraph.hlo.scoped_memory import scoped_memory_of_lines
from xlagraph.ingest.carriers.carrier import Carrier, Contents, Start
from xlagraph.ingest.carriers.file_bytes import has_dump_header
from xlagraph.ingest.carriers.memory_statistics import STATISTICS_ENDING
from xlagraph.ingest.carriers.text.find import TEXT, find_text_dumps, is_dump, needs
from xlagraph.ingest.carriers.text.parser import parse_plan
from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan
from xlagraph.ingest.carriers.text.text import DumpPart
from xlagraph.ingest.carriers.text.tuple_elements import with_tuple_elements
from xlagraph.ingest.errors import Problem, UnreadableDump, readable
from xlagraph.ingest.plan import Plan

_CONTENT: Final = re.compile("[^\ufeff\r\n]")
_EMPTY: Final = "the file is empty"
_PLAN_PARTS: Final = ("allocations", "values", "live range")


def read_text_dump(contents: Contents) -> tuple[Plan, Program]:
    """Return the plan, and the program with the facts in the plan and the module text.

    An empty companion, or a module text that is not UTF-8, is added to the problems of the
    contents. Raises `ParseError`, and `UnreadableDump` if a part of the plan is not UTF-8 or
    the allocation file is empty.
    """
    plan = parse_plan(_plan_parts(contents))
    text = ""
    try:
        if (part := _decoded(contents, "module text")) is not None:
            text = part.joined().text
            del part
    except UnreadableDump as error:  # the dump is complete without the module text
        contents.problems.append(error.problem._replace(left_out=False))
    _name_missing_companions(contents, plan)
    program = parse_module_text(with_tuple_elements(text, plan), plan.instructions)
    code = contents.take("code text")
    code_text = text if code is None else code.decode(errors="replace")
    return plan, replace(
        program,
        scoped_memory=dict(scoped_memory_of_lines(code_text)),
        packed=packed_module("text", text.encode()) if program.has_computations else None,
    )


def _plan_parts(contents: Contents) -> tuple[DumpPart, ...]:
    parts = []
    for name in _PLAN_PARTS:
        if (part := _decoded(contents, name)) is None:
            continue
        if part.rest or _CONTENT.search(part.text):
            parts.append(part)
        elif name == "allocations":
            raise UnreadableDump(Problem(part.name, None, _EMPTY))
        else:
            contents.problems.append(Problem(part.name, None, _EMPTY))
    return tuple(parts)


def _decoded(contents: Contents, name: str) -> DumpPart | None:
    path, content = contents.source.path(name), contents.take(name)
    if path is None or content is None:
        return None
    try:
        return DumpPart.decoded(readable(path), content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        unfit = content[error.start : error.start + 1].hex()
        message = f"expected UTF-8, found the byte 0x{unfit}"
        raise UnreadableDump(Problem(readable(path), line, message)) from None


def _name_missing_companions(contents: Contents, plan: PrintedPlan) -> None:
    """Report the missing companions of a split dump; older dumps are not split.

    A dump without addresses (TensorFlow 2.11, jaxlib 0.4.1 and later) always has a total
    and live ranges, either in its allocation file or in a companion. (Up to jaxlib 0.9 the
    file can also be cut between two sections, which cannot be detected.)
    """
    if any(allocation.address is not None for allocation in plan.allocations):
        return
    source = contents.source
    empty = {problem.file for problem in contents.problems}
    has_total, has_ranges = plan.total_bytes is not None, plan.live_ranges is not None
    for part, is_there, name, ending in (
        ("total and used values", has_total, "values", "buffer-assignment-values"),
        ("live ranges", has_ranges, "live range", "live-range"),
    ):
        path = source.path(name)
        if not is_there and (path is None or readable(path) not in empty):
            message = f"has no {part}, nor is {readable(source.stem)}-{ending}.txt next to it"
            file = readable(source.parts[0].path)
            contents.problems.append(Problem(file, None, message, left_out=False))


TEXT_CARRIER: Final = Carrier(
    TEXT,
    find_text_dumps,
    read_text_dump,
    example="…-buffer-assignment.txt",
    endings=(".txt", STATISTICS_ENDING),
    is_dump=is_dump,
    needs=needs,
    starts={
        "allocations": Start(has_dump_header, "the first line of a dump like 'BufferAssignment:'")
    },
    prints_instructions=True,
)
