"""Nodes of a compilation as columns, made by one function for each label.

Keys are relative to the compilation; `compilation_rows` adds its key and `KEY_PREFIXES` before
them, and the ``compilation`` column. Labels and property names occur only here, in
`relationships` and in the schema.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from xlagraph.graph.schema import VERSION
from xlagraph.graph.schema_detail import Detail
from xlagraph.ingest.measures.allocation_roles import marks_outputs, role
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.measures.memory_spaces import memory_space_names, shown_platform
from xlagraph.ingest.measures.peaks import SpacePeaks
from xlagraph.ingest.rows.keys import bounded_key, bounded_keys, call_path_keys
from xlagraph.ingest.rows.row_source import (
    NO_ROWS,
    Columns,
    NumberedFacts,
    Provenance,
    bytes_and_text,
    columns_of,
)

__all__ = ["KEY_PREFIXES", "NODE_ROWS", "NUMBERED_LABELS", "PROVENANCE_NODE_ROWS"]


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
        key=[space.color for space in spaces],
        color=[space.color for space in spaces],
        name=[names.get(space.color) for space in spaces],
        allocationBytes=[space.allocation_bytes for space in spaces],
        **_peaks(spaces),
    )


def _allocations(source: NumberedFacts) -> Columns:
    allocations = source.facts.plan.allocations
    numbers, sizes, _, colors, pages, parameters, output_shapes, _, _, live_out, _ = columns_of(
        allocations, 11
    )
    peaks, largest_holes = columns_of(source.facts.peaks.allocations, 2)
    peak_bytes, peak_steps = columns_of(peaks, 2)
    donations, donated_to = columns_of(source.facts.donations, 2)
    has_outputs = marks_outputs(allocations)
    return {
        "key": numbers,
        "number": numbers,
        **bytes_and_text("sizeBytes", sizes),
        "role": [role(allocation) for allocation in allocations],
        "memorySpace": colors,
        "page": pages,
        "parameterNumber": [None if each is None else each.number for each in parameters],
        "shapeIndex": [None if each is None else each.shape_index for each in parameters],
        "shape": [
            output_shape if parameter is None else parameter.shape
            for parameter, output_shape in zip(parameters, output_shapes, strict=True)
        ],
        "donation": donations,
        "donatedTo": donated_to,
        "isOutput": [shape is not None if has_outputs else None for shape in output_shapes],
        "maybeLiveOut": live_out,
        "physicalPeakBytes": peak_bytes,
        "physicalPeakStep": peak_steps,
        "largestHoleBytes": largest_holes,
    }


def _values(source: NumberedFacts) -> Columns:
    facts = source.facts
    if not facts.plan.values:
        return NO_ROWS
    ids, names, indexes, phis, colors, allocations, offsets, sizes, shapes = columns_of(
        facts.plan.values, 9
    )
    dense = {shape: shape.dense_bytes for shape in set(shapes)}
    alias_sets, alias_positions = columns_of(facts.alias_positions, 2)
    return dict(
        key=ids,
        valueId=ids,
        name=names,
        shapeIndex=indexes,
        label=[
            name if index is None else name + index
            for name, index in zip(names, indexes, strict=True)
        ],
        isPhi=phis,
        shape=[shape.bare for shape in shapes],
        layout=[shape.layout for shape in shapes],
        dtype=[shape.dtype for shape in shapes],
        **bytes_and_text("sizeBytes", sizes),
        denseBytes=list(map(dense.__getitem__, shapes)),
        memorySpace=colors,
        allocation=allocations,
        offsetBytes=offsets,
        liveFrom=source.first_steps,
        liveUntil=source.last_steps,
        lastUse=facts.last_uses,
        rangeEnd=facts.range_ends,
        aliasSet=alias_sets,
        aliasPosition=alias_positions,
        **_planning(facts),
        **_definitions(source),
        **_stacks(facts, sizes),
        **_attribution(facts),
    )


def _definitions(source: NumberedFacts) -> Columns:
    """Return what the instructions that define the values say about them."""
    instructions, files, lines, *_ = columns_of(source.facts.instructions, 6)
    columns = {
        "opcode": [instruction.opcode for instruction in instructions],
        "opName": source.op_names,
        "sourceFile": files,
        "sourceLine": lines,
    }
    return {
        name: list(map(column.__getitem__, source.defining_rows))
        for name, column in columns.items()
    }


def _planning(facts: CompilationFacts) -> Columns:
    planning = facts.planner_inputs
    if planning is None:
        absent = (None,) * len(facts.plan.values)
        return {"bufferSet": absent, "neededUntil": absent}
    rows = range(len(facts.plan.values))
    return {
        "bufferSet": planning.buffer_sets,
        "neededUntil": list(map(planning.needed_until.get, rows)),
    }


def _stacks(facts: CompilationFacts, sizes: Iterable[int]) -> Columns:
    loops, turns, elements = columns_of(facts.stacks, 3)
    return {
        "stackLoop": loops,
        "stackTurns": turns,
        "turnBytes": [
            None if count is None else size // count
            for count, size in zip(turns, sizes, strict=True)
        ],
        "stackElement": elements,
    }


def _attribution(facts: CompilationFacts) -> Columns:
    rules, op_names, files, lines, _, user_lines = columns_of(facts.attributions, 6)
    user_files, user_line_numbers, user_functions = columns_of(user_lines, 3)
    return {
        "attribution": rules,
        "attributedOpName": op_names,
        "attributedFile": files,
        "attributedLine": lines,
        "userFile": user_files,
        "userLine": user_line_numbers,
        "userFunction": user_functions,
    }


def _instructions(source: NumberedFacts) -> Columns:
    instructions = source.facts.instructions
    if not instructions:
        return NO_ROWS
    peaks = source.facts.peaks
    planning = source.facts.planner_inputs
    post_orders = planning.post_orders if planning is not None else {}
    named, source_files, source_lines, root_opcodes, steps, _ = columns_of(instructions, 6)
    names, opcodes, shapes, computations, texts = columns_of(map(_PRINTED, named), 5)
    attributes = [instruction.attributes for instruction in named]
    return {
        "key": bounded_keys(names),
        "name": names,
        "opcode": opcodes,
        "shape": [None if shape is None else shape.text for shape in shapes],
        "opName": source.op_names,
        "sourceFile": source_files,
        "sourceLine": source_lines,
        "computation": computations,
        "calls": [each.runs for each in attributes],
        "loop": list(map(source.facts.loops.get, computations)),
        "turns": [each.trip_count for each in attributes],
        "target": [each.target for each in attributes],
        "rootOpcode": root_opcodes,
        "step": steps,
        "postOrder": list(map(post_orders.get, names)),
        "logicalBytes": _at_steps(peaks.logical_by_step, steps),
        "physicalBytes": _at_steps(peaks.physical_by_step, steps),
        "text": [
            None if text is None else f"%{name} = {text}"
            for name, text in zip(names, texts, strict=True)
        ],
        "sharding": [
            each.sharding if opcode == "parameter" else None
            for each, opcode in zip(attributes, opcodes, strict=True)
        ],
        **_dependences(source.facts, names),
    }


def _dependences(facts: CompilationFacts, names: Sequence[str]) -> Columns:
    find = facts.dependences.get
    found = [find(name, _UNKNOWN) for name in names]
    operands, predecessors, callees, roots, unique_ids = columns_of(found, 5)
    return {
        "operands": operands,
        "controlPredecessors": predecessors,
        "callees": callees,
        "isRoot": roots,
        "uniqueId": unique_ids,
    }


_UNKNOWN: Final = (None,) * 5
"""Dependence of an instruction that is not scheduled."""


_PRINTED: Final = attrgetter("name", "opcode", "shape", "computation", "text")


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

KEY_PREFIXES: Final[Mapping[str, str]] = {
    "MemorySpace": "#m/",
    "Allocation": "#a/",
    "Value": "#v/",
    "Instruction": "#i/",
}
"""Text between the key of a compilation and the keys of its parts, by label."""

NUMBERED_LABELS: Final = KEY_PREFIXES.keys() - {"Instruction"}
"""Labels of parts whose keys are numbers."""
