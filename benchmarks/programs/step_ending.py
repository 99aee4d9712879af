"""Ends a training step: result tuple, allocations, module text."""

from collections.abc import Iterator, Sequence

from benchmarks.programs.hlo_text import bare, fused_computation, separated, stack_tables
from benchmarks.programs.program import Allocation, Program, Value
from benchmarks.programs.step_builder import Ref, StepBuilder


def finish(builder: StepBuilder, results: Sequence[Ref]) -> Program:
    """Emit the result, make the allocations and plan the program."""
    table = builder.result(results)
    _allocate(builder, table, [ref.value for ref in results])
    builder.program.module_header = _module_header(builder, results)
    builder.program.computations = _computations(builder)
    builder.program.plan()
    return builder.program


def _allocate(builder: StepBuilder, table: Value, results: Sequence[Value]) -> None:
    program = builder.program
    kept = {table, *results, *builder.parameters, *builder.constants}
    program.temporaries = [value for value in program.temporaries if value not in kept]
    end = len(program.schedule)
    for number, value in enumerate(builder.parameters):
        kind = f", parameter {number}, shape |{bare(value.shape)}| at ShapeIndex {{}}"
        update = builder.donated.get(value)
        if update is None:
            value.last = end
            program.allocations.append(Allocation(kind, [value]))
        else:
            value.last = update.first
            program.allocations.append(Allocation(f"{kind}, maybe-live-out", [value, update]))
    for value in builder.constants:
        program.allocations.append(Allocation(", constant", [value]))
    output = f", output shape is |{bare(table.shape)}|, maybe-live-out"
    program.allocations.append(Allocation(output, [table]))
    donated = set(builder.donated.values())
    for value in results:
        if value not in donated:
            program.allocations.append(Allocation(", maybe-live-out", [value]))
    for value in builder.reducer_values:
        program.allocations.append(Allocation(", thread-local", [value]))


def _module_header(builder: StepBuilder, results: Sequence[Ref]) -> str:
    number = {value: index for index, value in enumerate(builder.parameters)}
    source = {update: number[value] for value, update in builder.donated.items()}
    aliases = ", ".join(
        f"{{{index}}}: ({source[ref.value]}, {{}}, may-alias)"
        for index, ref in enumerate(results)
        if ref.value in source
    )
    layout = separated([value.shape for value in builder.parameters])
    result = separated([ref.value.shape for ref in results])
    return (
        f"HloModule {builder.program.module_name}, is_scheduled=true, input_output_alias="
        f"{{ {aliases} }}, entry_computation_layout={{({layout})->({result})}}\n\n" + stack_tables()
    )


def _computations(builder: StepBuilder) -> Iterator[str]:
    yield from builder.reducers
    for fusion in builder.fusions:
        yield fused_computation(fusion)
    signature = ", ".join([f"{value.name}: {bare(value.shape)}" for value in builder.parameters])
    yield f"ENTRY %main.1 ({signature}) -> {bare(builder.program.values[-1].shape)} {{\n"
    yield from builder.entry
    yield "}\n\n"
