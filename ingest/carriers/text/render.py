"""Write a plan as the dump that it was parsed from, byte for byte."""

from collections.abc import Iterator
from itertools import groupby

from xlagraph.ingest.carriers.text.printed_plan import PrintedPlan, SectionName
from xlagraph.ingest.carriers.text.text import restored_text
from xlagraph.ingest.plan import (
    Allocation,
    LiveRanges,
    PrintedPeakEntry,
    UsedValue,
    Value,
)


def render_plan(plan: PrintedPlan) -> tuple[str, ...]:
    """Return the contents of a dump's files, in the order of parsing."""
    return tuple(
        restored_text(
            "".join(f"{line}\n" for name in part.sections for line in _section(plan, name)), part
        )
        for part in plan.style.parts
    )


def _section(plan: PrintedPlan, name: SectionName) -> Iterator[str]:
    if name == "allocations":
        return _allocations(plan)
    if name == "used values":
        return _totals(plan)
    return _live_ranges(plan)


def _allocations(plan: PrintedPlan) -> Iterator[str]:
    used_value_by_id = {used.value_id: used for used in plan.used_values or ()}
    values = {
        number: list(values) for number, values in groupby(plan.values, lambda v: v.allocation)
    }
    yield "BufferAssignment:"
    for allocation in plan.allocations:
        yield _allocation(allocation)
        for value in values.get(allocation.number, ()):
            if plan.style.value_form == "value":
                yield f" value: {_header(value)} {_size(value)}: {value.shape.text}"
            elif plan.style.value_form == "logical buffer":
                yield _logical_buffer(value)
            else:
                yield from _multi_line_value(value, used_value_by_id[value.value_id], plan)


def _allocation(allocation: Allocation) -> str:
    parts = [] if allocation.address is None else [allocation.address]
    parts.append(f"size {allocation.size_bytes}")
    if allocation.memory_space:
        parts.append(f"color {allocation.memory_space}")
    if allocation.page is not None:
        parts.append(f"page {allocation.page}")
    if (parameter := allocation.parameter) is not None:
        parts.append(f"parameter {parameter.number}")
        if parameter.shape is not None:
            parts.append(f"shape |{parameter.shape}|")
        if parameter.shape_index is not None:
            parts[-1] += f" at ShapeIndex {parameter.shape_index}"
    if allocation.output_shape is not None:
        parts.append(f"output shape is |{allocation.output_shape}|")
    marks = {
        "constant": allocation.is_constant,
        "thread-local": allocation.is_thread_local,
        "maybe-live-out": allocation.maybe_live_out,
        "preallocated-temp": allocation.is_preallocated_temp,
    }
    parts += [mark for mark, is_set in marks.items() if is_set]
    return f"allocation {allocation.number}: {', '.join(parts)}:"


def _header(value: Value) -> str:
    phi = " (phi)" if value.is_phi else ""
    return f"<{value.value_id} {value.label}{phi}{_color(value)}>"


def _color(value: Value) -> str:
    return "" if value.memory_space is None else f" @{value.memory_space}"


def _size(value: Value) -> str:
    return f"(size={value.size_bytes},offset={value.offset_bytes})"


def _slot(value: Value) -> str:
    return f"[{value.offset_bytes},{value.size_bytes}]: {value.shape.text}"


def _logical_buffer(value: Value) -> str:
    index = (value.shape_index or "{}")[1:-1]
    return f"  {value.name}[{index}](#{value.value_id}{_color(value)}) {_slot(value)}"


def _multi_line_value(value: Value, used_value: UsedValue, plan: PrintedPlan) -> Iterator[str]:
    phi = " PHI" if value.is_phi else ""
    yield f"  {value.value_id}{phi} {value.label}{_color(value)}, positions:"
    yield from _lists(used_value, plan)
    yield f" {_slot(value)}"


def _lists(used_value: UsedValue, plan: PrintedPlan) -> Iterator[str]:
    for position in used_value.positions:
        yield f"  {position.instruction}{_spaced(position.shape_index)}"
    if used_value.value_id in plan.style.values_without_uses:
        yield " uses are not initialized yet."
        return
    yield " uses:"
    for use in used_value.uses:
        yield f"  {use.instruction}, operand {use.operand}{_spaced(use.operand_index)}"
    if plan.style.prints_none and not used_value.uses:
        yield "  (none)"


def _spaced(index: str | None) -> str:
    return "" if index is None else f" {index}"


def _totals(plan: PrintedPlan) -> Iterator[str]:
    if plan.total_bytes is not None:
        human = "" if plan.human_total is None else f" ({plan.human_total})"
        yield f"Total bytes used: {plan.total_bytes}{human}"
    if plan.used_values is None:
        return
    yield "Used values:"
    value_by_id = {value.value_id: value for value in plan.values}
    before = ""
    for used_value in plan.used_values:
        value = value_by_id[used_value.value_id]
        yield before + _header(value)
        yield " positions:"
        yield from _lists(used_value, plan)
        prefix = plan.style.instruction_prefix
        if prefix is not None:
            before = f"{prefix}{value.name} = {plan.instructions[value.name]}"
            if not plan.style.is_glued:
                yield before
                before = ""
    if before:
        yield before


def _live_ranges(plan: PrintedPlan) -> Iterator[str]:
    if plan.style.live_ranges_remark is not None:
        yield plan.style.live_ranges_remark
    if plan.live_ranges is not None:
        yield from _steps(plan.live_ranges)
        yield from _peak(plan)


def _steps(live_ranges: LiveRanges) -> Iterator[str]:
    yield f"HloLiveRange (max {live_ranges.max_step}):"
    yield "  InstructionSequence:"
    for step, name in enumerate(live_ranges.schedule):
        yield f"    {step}:{name}"
    yield "  BufferLiveRange:"
    for live in live_ranges.ranges:
        yield f"    {live.name}{live.shape_index}:{live.live_from}-{live.live_until}"


def _peak(plan: PrintedPlan) -> Iterator[str]:
    if plan.style.peak_remark is not None:
        yield plan.style.peak_remark
    if plan.live_ranges is None or (peak := plan.live_ranges.peak) is None:
        return
    yield f"  Live ranges at {peak.step} (peak):"
    yield from map(_peak_entry, peak.entries)
    yield from plan.peak_stack_trace or ()


def _peak_entry(entry: PrintedPeakEntry) -> str:
    cumulative = entry.cumulative_bytes
    tail = "" if cumulative is None else f" (cumulative: {cumulative} bytes)"
    return f"    {entry.name}{entry.shape_index or ''}: {entry.bytes} bytes{tail}"
