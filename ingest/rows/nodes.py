"""Nodes of a compilation as columns, made by one function for each label.

Keys are relative to the compilation; `compilation_rows` adds its key as prefix and as the
``compilation`` column. Labels and property names occur only here, in `relationships` and in the
schema.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from xlagraph.graph.schema import VERSION
from xlagraph.graph.schema_detail import Detail
from xlagraph.ingest.measures.allocation_roles import marks_outputs, role
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.measures.memory_spaces import memory_space_names, shown_platform
from xlagraph.ingest.measures.peaks import SpacePeaks
from xlagraph.ingest.model.shapes import ShapeFacts, shape_facts
from xlagraph.ingest.rows.keys import bounded_key, bounded_keys, call_path_keys
from xlagraph.ingest.rows.row_source import (
    NO_ROWS,
    Columns,
    NumberedFacts,
    Provenance,
    bytes_and_text,
)

__all__ = ["NODE_ROWS", "PROVENANCE_NODE_ROWS"]


def _run(provenance: Provenance, _: CompilationFacts) -> Columns:
    return _row(
        key=provenance.files.run,
        name=provenance.files.run,
        path=provenance.run_path or provenance.files.run_path,
        ingestedAt=provenance.ingested_at,
        tags=provenance.tags,
        schemaVersion=VERSION,
    )


def _module(provenance: Provenance, _: CompilationFacts) -> Columns:
    module = provenance.files.name.module
    if module is None:
        return NO_ROWS
    return _row(key=bounded_key(module), name=module)


def _compilation(provenance: Provenance, facts: CompilationFacts) -> Columns:
    plan, name = facts.plan, provenance.files.name
    ranges = plan.live_ranges
    printed = ranges.peak if ranges is not None else None
    spaces = [space for space in facts.peaks.spaces if space.color == 0]
    row = _row(
        key=provenance.files.key,
        run=provenance.files.run,
        name=name.module_name or provenance.files.stem,
        state="complete",
        moduleId=name.module_id,
        moduleName=name.module_name,
        platform=name.platform or shown_platform(plan),
        valueCount=len(plan.values),
        totalBytes=plan.total_bytes,
        allocationBytes=sum(allocation.size_bytes for allocation in plan.allocations),
        scheduleLength=len(ranges.schedule) if ranges is not None else None,
        partitions=facts.partitions,
        printedPeakStep=printed.step if printed is not None else None,
        printedPeakBytes=(
            sum(entry.bytes for entry in printed.entries) if printed is not None else None
        ),
        result=facts.planner_inputs.result if facts.planner_inputs is not None else None,
        sha256=provenance.sha256,
        carrier=provenance.files.sources[0].carrier,
        derived=plan.derived,
        heapTraceAgrees=plan.heap_trace_agrees,
        path=provenance.files.run_path,
        ingestedAt=provenance.ingested_at,
        detail=Detail.ALL.value,
    )
    return {**row, **(_peaks(spaces) if spaces else _no_peaks(has_ranges=ranges is not None))}


def _peaks(spaces: Sequence[SpacePeaks]) -> Columns:
    logical, physical = [space.logical for space in spaces], [space.physical for space in spaces]
    return {
        **bytes_and_text("reservedBytes", [space.reserved_bytes for space in spaces]),
        "logicalPeakBytes": [peak.bytes for peak in logical],
        "logicalPeakStep": [peak.step for peak in logical],
        **bytes_and_text("physicalPeakBytes", [peak.bytes for peak in physical]),
        "physicalPeakStep": [peak.step for peak in physical],
    }


def _no_peaks(*, has_ranges: bool) -> Columns:
    """Return the peaks of a memory space in which nothing is allocated."""
    nothing = [0 if has_ranges else None]
    return {
        **bytes_and_text("reservedBytes", [0]),
        "logicalPeakBytes": nothing,
        "logicalPeakStep": nothing,
        **bytes_and_text("physicalPeakBytes", nothing),
        "physicalPeakStep": nothing,
    }


def _memory_spaces(source: NumberedFacts) -> Columns:
    spaces = source.facts.peaks.spaces
    names = memory_space_names(source.facts.plan)
    return dict(
        key=[f"#m/{space.color}" for space in spaces],
        color=[space.color for space in spaces],
        name=[names.get(space.color) for space in spaces],
        allocationBytes=[space.allocation_bytes for space in spaces],
        **_peaks(spaces),
    )


def _allocations(source: NumberedFacts) -> Columns:
    allocations = source.facts.plan.allocations
    parameters = [allocation.parameter for allocation in allocations]
    peaks = source.facts.peaks.allocations
    has_outputs = marks_outputs(allocations)
    donated = source.facts.donations
    return {
        "key": [f"#a/{allocation.number}" for allocation in allocations],
        "number": [allocation.number for allocation in allocations],
        **bytes_and_text("sizeBytes", [allocation.size_bytes for allocation in allocations]),
        "role": [role(allocation) for allocation in allocations],
        "memorySpace": [allocation.color for allocation in allocations],
        "page": [allocation.page for allocation in allocations],
        "parameterNumber": [
            parameter.number if parameter is not None else None for parameter in parameters
        ],
        "shapeIndex": [
            parameter.shape_index if parameter is not None else None for parameter in parameters
        ],
        "shape": [
            parameter.shape if parameter is not None else allocation.output_shape
            for allocation, parameter in zip(allocations, parameters, strict=True)
        ],
        "donation": [None if each is None else each.state for each in donated],
        "donatedTo": [None if each is None else each.output_index for each in donated],
        "isOutput": [
            allocation.output_shape is not None if has_outputs else None
            for allocation in allocations
        ],
        "maybeLiveOut": [allocation.maybe_live_out for allocation in allocations],
        "physicalPeakBytes": [peak.physical.bytes for peak in peaks],
        "physicalPeakStep": [peak.physical.step for peak in peaks],
        "largestHoleBytes": [peak.largest_hole_bytes for peak in peaks],
    }


def _values(source: NumberedFacts) -> Columns:
    facts = source.facts
    if not facts.plan.values:
        return NO_ROWS
    ids, names, indexes, phis, colors, allocations, offsets, sizes, shapes = zip(
        *facts.plan.values, strict=True
    )
    by_text: dict[str, ShapeFacts] = {text: shape_facts(text) for text in set(shapes)}
    bare, layouts, dtypes, dense = zip(*map(by_text.__getitem__, shapes), strict=True)
    spans = facts.spans
    alias_sets, alias_positions = zip(*facts.alias_positions, strict=True)
    definition: dict[str, Sequence[object]] = {
        "opcode": [named.instruction.opcode for named in facts.instructions],
        "opName": [named.instruction.attributes.op_name for named in facts.instructions],
        "sourceFile": [named.source_file for named in facts.instructions],
        "sourceLine": [named.source_line for named in facts.instructions],
    }
    return dict(
        key=[f"#v/{value_id}" for value_id in ids],
        valueId=ids,
        name=names,
        shapeIndex=indexes,
        label=[value.label for value in facts.plan.values],
        isPhi=phis,
        shape=bare,
        layout=layouts,
        dtype=dtypes,
        **bytes_and_text("sizeBytes", sizes),
        denseBytes=dense,
        memorySpace=colors,
        allocation=allocations,
        offsetBytes=offsets,
        liveFrom=[None if span is None else span.first for span in spans],
        liveUntil=[None if span is None else span.last for span in spans],
        lastUse=facts.last_uses,
        rangeEnd=facts.range_ends,
        aliasSet=alias_sets,
        aliasPosition=alias_positions,
        **_planning(facts),
        **{
            name: [column[row] for row in source.defining_rows]
            for name, column in definition.items()
        },
        **_stacks(facts, sizes),
        **_attribution(facts),
    )


def _planning(facts: CompilationFacts) -> Columns:
    planning = facts.planner_inputs
    if planning is None:
        absent = (None,) * len(facts.plan.values)
        return {"bufferSet": absent, "neededUntil": absent}
    rows = range(len(facts.plan.values))
    return {
        "bufferSet": planning.buffer_sets,
        "neededUntil": [planning.needed_until.get(row) for row in rows],
    }


def _stacks(facts: CompilationFacts, sizes: Iterable[int]) -> Columns:
    found = facts.stacks
    return {
        "stackLoop": [None if each is None else each.loop for each in found],
        "stackTurns": [None if each is None else each.turns for each in found],
        "turnBytes": [
            None if each is None else size // each.turns
            for each, size in zip(found, sizes, strict=True)
        ],
        "stackElement": [None if each is None else each.element for each in found],
    }


def _attribution(facts: CompilationFacts) -> Columns:
    found = facts.attributions
    lines = [None if each is None else each.user_line for each in found]
    return {
        "attribution": [None if each is None else each.rule for each in found],
        "attributedOpName": [None if each is None else each.op_name for each in found],
        "attributedFile": [None if each is None else each.source_file for each in found],
        "attributedLine": [None if each is None else each.source_line for each in found],
        "userFile": [None if line is None else line.file for line in lines],
        "userLine": [None if line is None else line.line for line in lines],
        "userFunction": [None if line is None else line.function for line in lines],
    }


def _instructions(source: NumberedFacts) -> Columns:
    instructions = source.facts.instructions
    if not instructions:
        return NO_ROWS
    peaks = source.facts.peaks
    planning = source.facts.planner_inputs
    post_orders = planning.post_orders if planning is not None else {}
    named, source_files, source_lines, root_opcodes, steps, _ = zip(*instructions, strict=True)
    attributes = [instruction.attributes for instruction in named]
    names = [instruction.name for instruction in named]
    loop_of = source.facts.loops.get
    return {
        "key": [f"#i/{name}" for name in bounded_keys(names)],
        "name": names,
        "opcode": [instruction.opcode for instruction in named],
        "shape": [instruction.shape for instruction in named],
        "opName": [each.op_name for each in attributes],
        "sourceFile": source_files,
        "sourceLine": source_lines,
        "computation": [instruction.computation for instruction in named],
        "calls": [each.runs for each in attributes],
        "loop": [loop_of(instruction.computation) for instruction in named],
        "turns": [each.trip_count for each in attributes],
        "target": [each.target for each in attributes],
        "rootOpcode": root_opcodes,
        "step": steps,
        "postOrder": [post_orders.get(name) for name in names],
        "logicalBytes": _at_steps(peaks.logical_by_step, steps),
        "physicalBytes": _at_steps(peaks.physical_by_step, steps),
        "text": [
            None if instruction.text is None else f"%{instruction.name} = {instruction.text}"
            for instruction in named
        ],
        "sharding": [
            instruction.attributes.sharding if instruction.opcode == "parameter" else None
            for instruction in named
        ],
    }


def _at_steps(by_step: Sequence[int] | None, steps: Iterable[int | None]) -> list[int | None]:
    return [None if by_step is None or step is None else by_step[step] for step in steps]


def _ops(source: NumberedFacts) -> Columns:
    names = list(source.op_rows)
    return {"key": bounded_keys(names), "name": names}


def _scope_nodes(source: NumberedFacts) -> Columns:
    depths = {scope: depth for _, depth, scope in source.scopes}
    names = list(source.scope_rows)
    return {
        "key": bounded_keys(names),
        "name": names,
        "depth": [depths[name] for name in names],
    }


def _source_lines(source: NumberedFacts) -> Columns:
    lines = list(source.source_line_rows)
    return {
        "key": bounded_keys([f"{file}:{line}" for file, line in lines]),
        "file": [file for file, _ in lines],
        "line": [line for _, line in lines],
    }


def _frames(source: NumberedFacts) -> Columns:
    paths = source.facts.call_paths
    keys, tree_orders = call_path_keys(paths)
    return {
        "key": keys,
        "function": [path.frame.function for path in paths],
        "file": [path.frame.file for path in paths],
        "line": [path.frame.line for path in paths],
        "sourceColumn": [path.frame.column for path in paths],
        "depth": [path.depth for path in paths],
        "treeOrder": tree_orders,
    }


def _row(**properties: object) -> Columns:
    return {name: [cell] for name, cell in properties.items()}


PROVENANCE_NODE_ROWS: Final[Mapping[str, Callable[[Provenance, CompilationFacts], Columns]]] = {
    "Run": _run,
    "Module": _module,
    "Compilation": _compilation,
}
"""Functions for nodes that depend on more than the text, by label."""

NODE_ROWS: Final[Mapping[str, Callable[[NumberedFacts], Columns]]] = {
    "MemorySpace": _memory_spaces,
    "Allocation": _allocations,
    "Value": _values,
    "Instruction": _instructions,
    "Op": _ops,
    "Scope": _scope_nodes,
    "SourceLine": _source_lines,
    "Frame": _frames,
}
"""Functions for nodes that depend only on the text, by label."""
