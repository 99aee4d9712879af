"""Write the details of a value as labelled lines."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO, cast

from xlagraph.cli.output.prose import write_prose
from xlagraph.graph.byte_sizes import human_bytes, share_text

if TYPE_CHECKING:
    from xlagraph.graph import Cell
    from xlagraph.queries import ValueDetails

SHOWN: Final = 10
"""Names, neighbours and readers that a page shows; machines get all."""
_LABEL_WIDTH: Final = 9
_RULES: Final = {
    "inside": "which it computes inside",
    "operand": "whose result it moves or reshapes",
    "reader": "which is the first to read it",
}


def details_lines(details: "ValueDetails") -> list[tuple[str, str]]:
    """Return the lines of the page, each with the part that it belongs to."""
    asked = "" if details.asked == details.value else f", which goes by {details.asked} too"
    # a dump that prints the readers of values prints their names too, at least one of each
    has_range = details.live_range.live_from is not None
    parts: list[tuple[str, Sequence[str]]] = [
        ("value", [f"{details.value}{asked}"]),
        ("of", [details.compilation]),
        ("what", [_value_text(details)]),
        ("storage", [_storage(details)]),
        ("made by", [*_maker(details)]),
        ("for", [*_attribution(details)]),
        ("names", _some([_position(row) for row in details.names], bool(details.names), ", ")),
        (
            "before",
            _some(
                [_takeover_text(row, "from", "earlier") for row in details.predecessors], has_range
            ),
        ),
        (
            "after",
            _some([_takeover_text(row, "by", "later") for row in details.successors], has_range),
        ),
        ("aliases", _some(list(details.aliases), has_range, ", ")),
        ("readers", _some([_reader(row) for row in details.readers], bool(details.names))),
        ("life", [_lifetime(details)]),
        ("peak", [_peak(details)]),
    ]
    return [(part, text) for part, texts in parts for text in texts]


def write_page(lines: Sequence[tuple[str, str]], stream: TextIO) -> None:
    """Write lines with each part named once."""
    before = None
    for part, text in lines:
        label = "" if part == before else part
        write_prose(f"{label:<{_LABEL_WIDTH}}{text}", stream, indent=_LABEL_WIDTH + 2)
        before = part


def _value_text(details: "ValueDetails") -> str:
    from xlagraph.ingest.model.shapes import printed_shape

    what = details.properties
    shape = printed_shape(str(what["shape"]), cast("str | None", what["layout"]))
    text = f"{shape}, {_bytes(what['sizeBytes'])}"
    padding = what["paddingBytes"]
    if isinstance(padding, int) and padding > 0:
        text += f", of which {_bytes(what['denseBytes'])} dense and {_bytes(padding)} padding"
    return text + (", made where control flow merges" if what["isPhi"] else "")


def _storage(details: "ValueDetails") -> str:
    storage = details.storage
    role = storage["role"] or "role unknown"
    if storage["parameterNumber"] is not None:
        role = f"{role} {storage['parameterNumber']}"
    name = f" ({storage['memorySpaceName']})" if storage["memorySpaceName"] else ""
    return (
        f"allocation {storage['allocation']} ({role}, {_bytes(storage['allocationBytes'])})"
        f" of memory space {storage['memorySpace']}{name}, from byte {storage['offsetBytes']}"
    )


def _maker(details: "ValueDetails") -> Iterator[str]:
    maker = details.maker
    step = "" if maker["step"] is None else f" at step {maker['step']}"
    inside = "" if maker["computation"] is None else f" of {maker['computation']}"
    yield f"{maker['instruction']} ({maker['opcode'] or 'opcode unknown'}){step}{inside}"
    if maker["opName"] is not None:
        yield f"op {maker['opName']}"
    yield from _source(details.stack, maker["sourceFile"], maker["sourceLine"])


def _attribution(details: "ValueDetails") -> Iterator[str]:
    """Yield whose line it is, where its maker does not say so itself."""
    facts = details.attribution
    rule = facts["attribution"]
    if rule == "own":
        return
    if rule is None:
        yield "unknown: nothing that it holds, moves or is read by has an op name"
        return
    yield f"op {facts['attributedOpName']}, {_RULES[str(rule)]}"
    yield from _source(details.attribution_stack, facts["attributedFile"], facts["attributedLine"])


def _source(stack: "Sequence[dict[str, Cell]]", file: "Cell", line: "Cell") -> Iterator[str]:
    for depth, frame in enumerate(stack):
        where = f"{frame['file']}:{frame['line']} {frame['function'] or ''}".rstrip()
        yield where if depth == 0 else f"  called from {where}"
    if not stack and file is not None:
        yield f"{file}:{line}"


def _position(row: "dict[str, Cell]") -> str:
    return f"{row['name']}{row['shapeIndex'] or ''}"


def _takeover_text(row: "dict[str, Cell]", preposition: str, side: str) -> str:
    text = f"{_bytes(row['sharedBytes'])} {preposition} {row['value']}"
    if row["inPlace"]:
        return f"{text} in place, at step {row['steps']}"
    steps = "step" if row["steps"] == 1 else "steps"
    return f"{text}, {row['steps']} {steps} {side}"


def _reader(row: "dict[str, Cell]") -> str:
    step = "not in the schedule" if row["step"] is None else f"step {row['step']}"
    op = "" if row["opName"] is None else f", op {row['opName']}"
    operand = f"operand {row['operand']}{row['operandIndex'] or ''}"
    return f"{step}: {row['instruction']} ({row['opcode'] or 'opcode unknown'}), {operand}{op}"


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
    if peak["peakBytes"] is None:
        return "unknown: the dump has no live ranges"
    whole = f"{_bytes(peak['peakBytes'])} at step {peak['peakStep']}"
    if peak["rank"] is None:
        return f"not live at the physical peak of its memory space, {whole}"
    share = peak["share"]
    percent = f" ({share_text(share)})" if isinstance(share, float) else ""
    return (
        f"{_bytes(peak['physicalBytes'])}{percent} of the physical peak of its memory space,"
        f" {whole}; number {peak['rank']} of {peak['contributors']}"
    )


def _some(texts: list[str], known: bool, joint: str | None = None) -> list[str]:
    if not texts:
        return ["none" if known else "unknown: the dump does not say"]
    more = [f"… and {len(texts) - SHOWN} more"] if len(texts) > SHOWN else []
    shown = [*texts[:SHOWN], *more]
    return shown if joint is None else [joint.join(shown)]


def _bytes(cell: "Cell") -> str:
    return human_bytes(cell) if isinstance(cell, int) else "unknown"
