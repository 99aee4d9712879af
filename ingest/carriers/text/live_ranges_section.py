"""Read the live ranges of a dump: schedule, ranges, printed peak and its stack trace."""

from collections import Counter
from collections.abc import Sequence
from re import Match
from sys import intern

from xlagraph.ingest.carriers.text import line_forms as form
from xlagraph.ingest.carriers.text.printed_plan import DraftPlan
from xlagraph.ingest.carriers.text.text import DumpText
from xlagraph.ingest.plan import LiveRange, LiveRanges, PrintedPeak, PrintedPeakEntry


def parse_live_ranges(text: DumpText, header: Match[str], draft: DraftPlan) -> int:
    """Read the schedule, ranges and peak, or the remark that they are not available."""
    if header.re is form.LIVE_RANGES_NOT_AVAILABLE.regex:
        draft.live_ranges_remark = header[0][:-1]
        return header.end()
    max_step = int(header[1])
    position = text.skip_line(header.end(), form.SCHEDULE)
    schedule, position = _schedule(text, position, max_step, draft)
    ranges, position = _ranges(text, text.skip_line(position, form.RANGES), max_step, draft)
    peak = None
    if remark := form.NO_PEAK.regex.match(text.text, position):
        draft.peak_remark = remark[0][:-1]
        position = remark.end()
    else:
        peak, position = _peak(text, position, ranges, draft)
    draft.live_ranges = LiveRanges(max_step, schedule, ranges, peak)
    return position


def _schedule(
    text: DumpText, start: int, max_step: int, draft: DraftPlan
) -> tuple[tuple[str, ...], int]:
    end = text.indented_end(start)
    rows = text.parse_lines(start, end, form.SCHEDULED)
    numbers, names = zip(*rows, strict=True)
    steps = tuple(map(str, range(len(rows))))
    if numbers != steps:
        step = next(step for step in range(len(rows)) if numbers[step] != steps[step])
        raise text.error(text.line_start(start, step), f"step {step} of the schedule")
    if len(rows) != max_step:
        position = text.line_start(start, min(len(rows), max_step))
        raise text.error(position, f"{max_step} steps in the schedule, as its header says")
    return tuple(map(draft.names.setdefault, names, names)), end


def _ranges(
    text: DumpText, start: int, max_step: int, draft: DraftPlan
) -> tuple[tuple[LiveRange, ...], int]:
    end = text.indented_end(start)
    rows = text.parse_lines(start, end, form.RANGE)
    waiting = {value.name + (value.shape_index or "{}"): value.name for value in draft.values}
    ranges: list[LiveRange] = []
    for label, index, first, last in rows:
        name = waiting.pop(label + index, None)
        if name is None:
            position = text.line_start(start, len(ranges))
            raise text.error(position, "the range of a value in an allocation, one range for each")
        live_from, live_until = int(first), int(last)
        if not live_from <= live_until <= max_step:
            position = text.line_start(start, len(ranges))
            raise text.error(position, f"a first step, then a last one of at most {max_step}")
        ranges.append(LiveRange(name, intern(index), live_from, live_until))
    return tuple(ranges), end


def _peak(
    text: DumpText, position: int, ranges: Sequence[LiveRange], draft: DraftPlan
) -> tuple[PrintedPeak, int]:
    header = form.PEAK.regex.match(text.text, position)
    if header is None:
        raise text.syntax_error(position, form.PEAK, form.RANGE, form.NO_PEAK)
    step = int(header[1])
    live = [one for one in ranges if one.live_from <= step <= one.live_until]
    end = text.indented_end(header.end())
    rows = text.parse_lines(header.end(), end, form.PEAK_ENTRY)
    has_indices = bool(rows) and rows[0][1] != ""
    waiting = Counter([(one.name, one.shape_index if has_indices else "") for one in live])
    for number, (name, index, _, _) in enumerate(rows):
        if not waiting[name, index]:
            line_start = text.line_start(header.end(), number)
            raise text.error(line_start, f"a value live at step {step}, each listed once")
        waiting[name, index] -= 1
    if len(rows) < len(live):
        raise text.error(end, f"{len(live)} values live at step {step}, not {len(rows)}")
    entries = tuple(
        [
            PrintedPeakEntry(name, index or None, int(size), int(sum_) if sum_ else None)
            for name, index, size, sum_ in rows
        ]
    )
    text.check_sum(header.start(), [entry.bytes for entry in entries])
    draft.peak_stack_trace, end = _stack_trace(text, end)
    return PrintedPeak(step, entries, draft.peak_stack_trace is not None), end


def _stack_trace(text: DumpText, position: int) -> tuple[tuple[str, ...] | None, int]:
    is_apart = position == len(text.text) and text.rest != ""
    lines, start = (text.take_rest(), 0) if is_apart else (text.text, position)
    header = form.STACK_TRACE.regex.match(lines, start)
    if header is None:
        return None, position
    end = next(form.STACK_LINES.finditer(lines, header.end())).end()
    if is_apart and end < len(lines):
        raise text.syntax_error(position, form.STACK_LINE)
    trace = lines[start : end - 1].split("\n")
    if len(trace) == 1 and not trace[0].endswith(": 0 bytes"):
        raise text.syntax_error(end, form.STACK_LINE)
    # Each line states the sum of the bytes in the lines after it.
    if "remaining: " in trace[-1] and not trace[-1].endswith("remaining: 0 bytes)"):
        raise text.error(end, "the rest of the stack trace, up to the line with 0 bytes remaining")
    return tuple(trace), position if is_apart else end
