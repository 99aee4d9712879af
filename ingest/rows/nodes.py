"""Nodes of a compilation, made by one function for each label.

Property names occur only here, in `relationships` and in the schema.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, TypeVar

from xlagraph.graph.schema import VERSION, Detail
from xlagraph.graph.schema_nodes import (
    AllocationNodes,
    CompilationNodes,
    FrameNodes,
    InstructionNodes,
    MemorySpaceNodes,
    MemoryStatisticNodes,
    ModuleNodes,
    OpNodes,
    PackedModuleNodes,
    RunNodes,
    ScopeNodes,
    SourceLineNodes,
    ValueNodes,
)
from xlagraph.graph.schema_types import NodeRows
from xlagraph.hlo.shardings import part_count
from xlagraph.ingest.measures.allocation_roles import marks_outputs, role
from xlagraph.ingest.measures.compared_statistics import compared_statistics
from xlagraph.ingest.measures.compilation_facts import CompilationFacts
from xlagraph.ingest.measures.donated_inputs import donated_inputs
from xlagraph.ingest.measures.memory_spaces import shown_platform
from xlagraph.ingest.measures.peaks import NO_PEAK, UNKNOWN_PEAK, SpacePeaks
from xlagraph.ingest.rows.keys import bounded_key, bounded_keys, call_path_keys
from xlagraph.ingest.rows.row_source import NumberedFacts, Provenance

_Cell = TypeVar("_Cell")


def _run(provenance: Provenance, _: CompilationFacts) -> RunNodes:
    return RunNodes(
        key=[provenance.files.run],
        name=[provenance.files.run],
        path=[provenance.run_path or provenance.files.run_path],
        ingested_at=[provenance.ingested_at],
        schema_version=[VERSION],
        tags=[provenance.tags],
        snapshots=[provenance.snapshots],
    )


def _module(provenance: Provenance, _: CompilationFacts) -> ModuleNodes:
    module = provenance.files.name.module
    names = [] if module is None else [module]
    return ModuleNodes(key=list(map(bounded_key, names)), name=names)


def _compilation(provenance: Provenance, facts: CompilationFacts) -> CompilationNodes:
    plan, name = facts.plan, provenance.files.name
    ranges = plan.live_ranges
    printed = ranges.peak if ranges is not None else None
    space = next((each for each in facts.peaks.spaces if each.memory_space == 0), None)
    if space is None:  # nothing is allocated in it
        peak = NO_PEAK if ranges is not None else UNKNOWN_PEAK
        space = SpacePeaks(0, 0, 0, peak, peak, ())
    return CompilationNodes(
        key=[provenance.files.key],
        run=[provenance.files.run],
        name=[name.module_name or provenance.files.stem],
        state=["complete"],
        module_id=[name.module_id],
        module_name=[name.module_name],
        platform=[name.platform or shown_platform(plan)],
        value_count=[len(plan.values)],
        total_bytes=[plan.total_bytes],
        allocation_bytes=[sum(allocation.size_bytes for allocation in plan.allocations)],
        schedule_length=[len(ranges.schedule) if ranges is not None else None],
        partitions=[facts.partitions],
        printed_peak_step=[printed.step if printed is not None else None],
        printed_peak_bytes=[
            sum(entry.bytes for entry in printed.entries) if printed is not None else None
        ],
        prints_stack_trace=[printed.has_stack_trace if printed is not None else None],
        result=[facts.planner_inputs.result if facts.planner_inputs is not None else None],
        reserved_bytes=[space.reserved_bytes],
        logical_peak_bytes=[space.logical.bytes],
        logical_peak_step=[space.logical.step],
        physical_peak_bytes=[space.physical.bytes],
        physical_peak_step=[space.physical.step],
        sha256=[provenance.sha256],
        carrier=[provenance.files.sources[0].carrier],
        derived=[plan.derived],
        heap_trace_agrees=[plan.heap_trace_agrees],
        path=[provenance.files.run_path],
        ingested_at=[provenance.ingested_at],
        detail=[Detail.ALL.value],
    )


def _memory_spaces(source: NumberedFacts) -> MemorySpaceNodes:
    spaces = source.facts.peaks.spaces
    colors = [space.memory_space for space in spaces]
    return MemorySpaceNodes(
        key=colors,
        color=colors,
        name=_at(source.facts.space_names, colors),
        allocation_bytes=[space.allocation_bytes for space in spaces],
        reserved_bytes=[space.reserved_bytes for space in spaces],
        logical_peak_bytes=[space.logical.bytes for space in spaces],
        logical_peak_step=[space.logical.step for space in spaces],
        physical_peak_bytes=[space.physical.bytes for space in spaces],
        physical_peak_step=[space.physical.step for space in spaces],
    )


def _memory_statistics(source: NumberedFacts) -> MemoryStatisticNodes:
    statistics = compared_statistics(source.facts.plan)
    fields = [each.field for each in statistics]
    return MemoryStatisticNodes(
        key=fields,
        field=fields,
        stated_bytes=[each.stated_bytes for each in statistics],
        allocation_bytes=[each.allocation_bytes for each in statistics],
        agrees=[each.agrees for each in statistics],
    )


def _packed_modules(source: NumberedFacts) -> PackedModuleNodes:
    packed = source.facts.packed_module
    modules = [] if packed is None else [packed]
    return PackedModuleNodes(
        key=list(range(len(modules))),
        form=[each.form for each in modules],
        packed=[each.packed for each in modules],
    )


def _allocations(source: NumberedFacts) -> AllocationNodes:
    allocations = source.facts.plan.allocations
    peaks, donations = source.facts.peaks.allocations, source.facts.donations
    numbers = [each.number for each in allocations]
    parameters = [each.parameter for each in allocations]
    shapes = [each.output_shape for each in allocations]
    has_outputs = marks_outputs(allocations)
    inputs = _at(donated_inputs(source.facts), numbers)
    return AllocationNodes(
        key=numbers,
        number=numbers,
        size_bytes=[each.size_bytes for each in allocations],
        role=list(map(role, allocations)),
        memory_space=[each.memory_space for each in allocations],
        page=[each.page for each in allocations],
        parameter_number=[None if each is None else each.number for each in parameters],
        shape_index=[None if each is None else each.shape_index for each in parameters],
        shape=[
            output_shape if parameter is None else parameter.shape
            for parameter, output_shape in zip(parameters, shapes, strict=True)
        ],
        donation=[None if each is None else each.state for each in donations],
        donated_to=[None if each is None else each.output_index for each in donations],
        donated_value=[None if each is None else each.value_id for each in inputs],
        donation_outcome=[None if each is None else each.outcome for each in inputs],
        donation_reason=[None if each is None else each.reason for each in inputs],
        next_value=[None if each is None else each.next_value for each in inputs],
        donation_copy=[None if each is None else each.copy for each in inputs],
        donation_reader=[None if each is None else each.reader for each in inputs],
        donation_reader_file=[None if each is None else each.reader_file for each in inputs],
        donation_reader_line=[None if each is None else each.reader_line for each in inputs],
        is_output=[shape is not None if has_outputs else None for shape in shapes],
        maybe_live_out=[each.maybe_live_out for each in allocations],
        physical_peak_bytes=[each.physical.bytes for each in peaks],
        physical_peak_step=[each.physical.step for each in peaks],
        largest_hole_bytes=[each.largest_hole_bytes for each in peaks],
    )


def _values(source: NumberedFacts) -> ValueNodes:
    facts = source.facts
    values, owners, stacks = facts.plan.values, facts.attributions, facts.stacks
    user_lines = [None if owner is None else owner.user_line for owner in owners]
    ids = [value.value_id for value in values]
    shapes = [value.shape for value in values]
    dense = {shape: shape.dense_bytes for shape in set(shapes)}
    planning = facts.planner_inputs
    instructions = facts.instructions
    defined_by = source.defining_rows

    def of_definition(cells: Sequence[_Cell]) -> list[_Cell]:
        return list(map(cells.__getitem__, defined_by))

    return ValueNodes(
        key=ids,
        value_id=ids,
        name=[value.name for value in values],
        shape_index=[value.shape_index for value in values],
        label=[value.label for value in values],
        is_phi=[value.is_phi for value in values],
        shape=[shape.bare for shape in shapes],
        layout=[shape.layout for shape in shapes],
        dtype=[shape.dtype for shape in shapes],
        size_bytes=[value.size_bytes for value in values],
        dense_bytes=list(map(dense.__getitem__, shapes)),
        memory_space=[value.memory_space for value in values],
        allocation=[value.allocation for value in values],
        offset_bytes=[value.offset_bytes for value in values],
        live_from=source.live_from,
        live_until=source.live_until,
        last_use=facts.last_uses,
        range_end=facts.range_ends,
        alias_set=[each.alias_set for each in facts.alias_positions],
        alias_position=[each.position for each in facts.alias_positions],
        buffer_set=(None,) * len(values) if planning is None else planning.buffer_sets,
        needed_until=_at(planning.needed_until if planning else {}, range(len(values))),
        stack_loop=[None if stack is None else stack.loop for stack in stacks],
        stack_turns=[None if stack is None else stack.turns for stack in stacks],
        turn_bytes=[
            None if stack is None else value.size_bytes // stack.turns
            for value, stack in zip(values, stacks, strict=True)
        ],
        stack_element=[None if stack is None else stack.element for stack in stacks],
        opcode=of_definition([each.instruction.opcode for each in instructions]),
        op_name=of_definition(source.op_names),
        source_file=of_definition([each.source_file for each in instructions]),
        source_line=of_definition([each.source_line for each in instructions]),
        attribution=[None if owner is None else owner.rule for owner in owners],
        attributed_op_name=source.attributed_op_names,
        attributed_file=[None if owner is None else owner.source_file for owner in owners],
        attributed_line=[None if owner is None else owner.source_line for owner in owners],
        user_file=[None if line is None else line.file for line in user_lines],
        user_line=[None if line is None else line.line for line in user_lines],
        user_function=[None if line is None else line.function for line in user_lines],
        category=[each.category for each in facts.categories],
        category_reason=[each.reason for each in facts.categories],
    )


def _instructions(source: NumberedFacts) -> InstructionNodes:
    facts = source.facts
    named = [each.instruction for each in facts.instructions]
    attributes = [each.attributes for each in named]
    names = [each.name for each in named]
    computations = [each.computation for each in named]
    steps = [each.step for each in facts.instructions]
    needs = _at(facts.dependences, names)
    scoped = _at(facts.scoped_memory, names)
    shardings = [each.attributes.sharding if each.opcode == "parameter" else None for each in named]
    planning = facts.planner_inputs
    return InstructionNodes(
        key=bounded_keys(names),
        name=names,
        opcode=[each.opcode for each in named],
        shape=[None if each.shape is None else each.shape.text for each in named],
        op_name=source.op_names,
        source_file=[each.source_file for each in facts.instructions],
        source_line=[each.source_line for each in facts.instructions],
        computation=computations,
        calls=[each.runs for each in attributes],
        loop=_at(facts.loops, computations),
        turns=[each.trip_count for each in attributes],
        target=[each.target for each in attributes],
        root_opcode=[each.root_opcode for each in facts.instructions],
        fused_opcodes=[each.fused_opcodes for each in facts.instructions],
        step=steps,
        post_order=_at(planning.post_orders if planning is not None else {}, names),
        logical_bytes=_at_steps(facts.peaks.logical_by_step, steps),
        physical_bytes=_at_steps(facts.peaks.physical_by_step, steps),
        text=[None if each.text is None else f"%{each.name} = {each.text}" for each in named],
        sharding=shardings,
        sharding_parts=list(map(part_count, shardings)),
        operands=[None if each is None else each.operands for each in needs],
        control_predecessors=[
            None if each is None else each.control_predecessors for each in needs
        ],
        callees=[None if each is None else each.callees for each in needs],
        is_root=[None if each is None else each.is_root for each in needs],
        unique_id=[None if each is None else each.unique_id for each in needs],
        scoped_bytes=[None if each is None else each.used_bytes for each in scoped],
        scoped_limit_bytes=[None if each is None else each.limit_bytes for each in scoped],
        scoped_smem_bytes=[None if each is None else each.smem_bytes for each in scoped],
    )


_Key = TypeVar("_Key")


def _at(cells: Mapping[_Key, _Cell], keys: Iterable[_Key]) -> list[_Cell | None]:
    return list(map(cells.get, keys))


def _at_steps(by_step: Sequence[int] | None, steps: Iterable[int | None]) -> list[int | None]:
    return [None if by_step is None or step is None else by_step[step] for step in steps]


def _ops(source: NumberedFacts) -> OpNodes:
    names = list(source.op_rows)
    return OpNodes(key=bounded_keys(names), name=names)


def _scopes(source: NumberedFacts) -> ScopeNodes:
    depths = {scope: depth for _, depth, scope in source.scopes}
    names = list(source.scope_rows)
    return ScopeNodes(key=bounded_keys(names), name=names, depth=_at(depths, names))


def _source_lines(source: NumberedFacts) -> SourceLineNodes:
    lines = list(source.source_line_rows)
    return SourceLineNodes(
        key=bounded_keys([f"{file}:{line}" for file, line in lines]),
        file=list(map(itemgetter(0), lines)),
        line=list(map(itemgetter(1), lines)),
    )


def _frames(source: NumberedFacts) -> FrameNodes:
    paths = source.facts.call_paths
    keys, tree_orders = call_path_keys(paths)
    return FrameNodes(
        key=keys,
        function=[path.frame.function for path in paths],
        file=[path.frame.file for path in paths],
        line=[path.frame.line for path in paths],
        source_column=[path.frame.column for path in paths],
        depth=[path.depth for path in paths],
        tree_order=tree_orders,
    )


NODES_OF_PROVENANCE: Final[
    Mapping[type[NodeRows], Callable[[Provenance, CompilationFacts], NodeRows]]
] = {RunNodes: _run, ModuleNodes: _module, CompilationNodes: _compilation}
"""Functions for nodes that depend on more than the text."""

NODES_OF_TEXT: Final[Mapping[type[NodeRows], Callable[[NumberedFacts], NodeRows]]] = {
    MemorySpaceNodes: _memory_spaces,
    MemoryStatisticNodes: _memory_statistics,
    PackedModuleNodes: _packed_modules,
    AllocationNodes: _allocations,
    ValueNodes: _values,
    InstructionNodes: _instructions,
    OpNodes: _ops,
    ScopeNodes: _scopes,
    SourceLineNodes: _source_lines,
    FrameNodes: _frames,
}
"""Functions for nodes that depend only on the text."""
