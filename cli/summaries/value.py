"""Write a value's details as labelled lines."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO

from xlagraph.cli.output.messages import write_prose
from xlagraph.presentation.byte_sizes import human_bytes, known_bytes, share_text

if TYPE_CHECKING:
    from xlagraph.planner.compilation.records import StoredFrame
    from xlagraph.planner.compilation.value_details import Neighbour, Reader
    from xlagraph.queries import ValueDetails

SHOWN: Final = 10
"""Maximum number of names, neighbours and readers on a page; machines get all."""
_LABEL_WIDTH: Final = 9
_RULES: Final = {
    "stack": "which the loop body writes into it",
    "inside": "which it computes inside",
    "operand": "whose result it moves or reshapes",
    "reader": "which is the first to read it",
}


def details_lines(details: "ValueDetails") -> list[tuple[str, str]]:
    """Return the page's lines, each with the name of its part."""
    asked = "" if details.asked == details.value.label else f", also named {details.asked}"
    # a dump with readers of values also has at least one name of each value
    has_range = details.live_range.live_from is not None
    names = [f"{each.name}{each.shape_index or ''}" for each in details.names]
    before = [_takeover_text(each, "from", "earlier") for each in details.predecessors]
    after = [_takeover_text(each, "by", "later") for each in details.successors]
    parts: list[tuple[str, Sequence[str]]] = [
        ("value", [f"{details.value.label}{asked}"]),
        ("of", [details.compilation]),
        ("what", [_value_text(details)]),
        ("storage", [_storage(details)]),
        ("made by", [*_maker(details)]),
        ("for", [*_attribution(details)]),
        ("loop", [*_loop(details)]),
        ("names", _some(names, bool(names), ", ")),
        ("before", _some(before, has_range)),
        ("after", _some(after, has_range)),
        ("aliases", _some(list(details.aliases), has_range, ", ")),
        ("readers", _some([_reader(each) for each in details.readers], bool(names))),
        ("life", [_lifetime(details)]),
        ("peak", [_peak(details)]),
    ]
    return [(part, text) for part, texts in parts for text in texts]


def write_page(lines: Sequence[tuple[str, str]], stream: TextIO) -> None:
    """Write lines, naming each part once."""
    before = None
    for part, text in lines:
        label = "" if part == before else part
        write_prose(f"{label:<{_LABEL_WIDTH}}{text}", stream, indent=_LABEL_WIDTH + 2)
        before = part


def _value_text(details: "ValueDetails") -> str:
    from xlagraph.hlo.shapes import printed_shape

    value, padding = details.value, details.padding_bytes
    text = f"{printed_shape(value.shape, value.layout)}, {known_bytes(value.size_bytes)}"
    if padding is not None and padding > 0:
        dense = known_bytes(value.dense_bytes)
        text += f", of which {dense} dense and {human_bytes(padding)} padding"
    return text + (", made where control flow merges" if value.is_phi else "")


def _storage(details: "ValueDetails") -> str:
    allocation = details.allocation
    role = allocation.role or "role unknown"
    if allocation.parameter_number is not None:
        role = f"{role} {allocation.parameter_number}"
    name = f" ({details.space.name})" if details.space.name else ""
    return (
        f"allocation {allocation.number} ({role}, {known_bytes(allocation.size_bytes)})"
        f" of memory space {allocation.memory_space}{name}, from byte {details.value.offset_bytes}"
    )


def _maker(details: "ValueDetails") -> Iterator[str]:
    value, maker = details.value, details.maker
    step = "" if maker is None or maker.step is None else f" at step {maker.step}"
    inside = "" if maker is None or maker.computation is None else f" of {maker.computation}"
    yield f"{value.name} ({value.opcode or 'opcode unknown'}){step}{inside}"
    if value.op_name is not None:
        yield f"op {value.op_name}"
    yield from _source(details.stack, value.source_file, value.source_line)


def _attribution(details: "ValueDetails") -> Iterator[str]:
    """Yield the op and line that the value is attributed to, if its maker names none."""
    value = details.value
    if value.attribution == "own":
        return
    if value.attribution is None:
        yield "unknown: neither its operands nor its readers have an op name"
        return
    yield f"op {value.attributed_op_name}, {_RULES[value.attribution]}"
    yield from _source(details.attribution_stack, value.attributed_file, value.attributed_line)


def _loop(details: "ValueDetails") -> Iterator[str]:
    """Yield the loop that computes the value in every iteration, or fills it part by part."""
    value, loop = details.value, details.loop
    if value.stack_loop is not None:
        yield (
            f"a stack: {value.stack_turns} iterations of {value.stack_loop} fill it,"
            f" {known_bytes(value.turn_bytes)} each, and all are kept"
        )
        if value.stack_element is not None and value.stack_element != value.name:
            yield f"each iteration writes {value.stack_element} into it"
        else:
            yield "each iteration computes its part in place"
    elif loop is not None:
        times = "" if loop.turns is None else f", {loop.turns} times"
        yield f"computed in every iteration of {loop.loop}{times}, in the same bytes"


def _source(stack: "Sequence[StoredFrame]", file: str | None, line: int | None) -> Iterator[str]:
    for depth, frame in enumerate(stack):
        where = f"{frame.file}:{frame.line} {frame.function or ''}".rstrip()
        yield where if depth == 0 else f"  called from {where}"
    if not stack and file is not None:
        yield f"{file}:{line}"


def _takeover_text(neighbour: "Neighbour", preposition: str, side: str) -> str:
    text = f"{known_bytes(neighbour.shared_bytes)} {preposition} {neighbour.value}"
    if neighbour.in_place:
        return f"{text} in place, at step {neighbour.steps}"
    steps = "step" if neighbour.steps == 1 else "steps"
    return f"{text}, {neighbour.steps} {steps} {side}"


def _reader(reader: "Reader") -> str:
    step = "not in the schedule" if reader.step is None else f"step {reader.step}"
    op = "" if reader.op_name is None else f", op {reader.op_name}"
    operand = f"operand {reader.operand}{reader.operand_index or ''}"
    at = "" if reader.file is None else f", at {reader.file}:{reader.line or '?'}"
    return f"{step}: {reader.instruction} ({reader.opcode or 'opcode unknown'}), {operand}{op}{at}"


def _lifetime(details: "ValueDetails") -> str:
    live_range = details.live_range
    if live_range.live_from is None:
        return live_range.why
    steps = (
        f"steps {live_range.live_from} to {live_range.live_until} of {live_range.schedule_length}"
    )
    return f"{steps}; {live_range.why}"


def _peak(details: "ValueDetails") -> str:
    peak = details.peak
    if peak.peak_bytes is None:
        return "unknown: the dump has no live ranges"
    whole = f"{known_bytes(peak.peak_bytes)} at step {peak.peak_step}"
    if peak.rank is None:
        return f"not live at the physical peak of its memory space, {whole}"
    percent = "" if peak.share is None else f" ({share_text(peak.share)})"
    return (
        f"{known_bytes(peak.physical_bytes)}{percent} of the physical peak of its memory space,"
        f" {whole}; number {peak.rank} of {peak.contributors}"
    )


def _some(texts: list[str], known: bool, joint: str | None = None) -> list[str]:
    if not texts:
        return ["none" if known else "unknown: not in the dump"]
    more = [f"… and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    shown = [*texts[:SHOWN], *more]
    return shown if joint is None else [joint.join(shown)]
