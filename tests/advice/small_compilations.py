"""Hand-written compilations of a few values."""

from dataclasses import replace
from typing import Any

from tests.planner.small_programs import program
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.orders.schedulable import (
    SchedulableComputation,
    SchedulableInstruction,
    SchedulableProgram,
)
from xlagraph.planner.planned_program import Overwrite


def facts(value_id, shape, opcode="add", op_name=None, **known):
    """Return a stored value, which is named v0, v1, … after its id."""
    shape, brace, layout = shape.partition("{")
    given: dict[str, Any] = {
        "value_id": value_id,
        "label": f"v{value_id}",
        "shape": shape,
        "layout": brace + layout,
        "dtype": "tuple" if shape.startswith("(") else shape.partition("[")[0],
        "memory_space": 0,
        "size_bytes": 0,
        "opcode": opcode,
        "op_name": op_name,
    }
    unknown: dict[str, Any] = dict.fromkeys(StoredValue._fields)
    return StoredValue(**unknown | given | known)


def compilation(
    values, known, *, allocations=(), results=(), parameters=None, platform="gpu", key="run/f"
):
    """Return the compilation of these values and facts."""
    made = program(*values, allocations=allocations)
    readers: dict[int, list[int]] = {}
    for value in values:
        for read in value.reads:
            readers.setdefault(read, []).append(value.value_id)
    return PlannableCompilation(
        key,
        platform,
        made,
        {each.value_id: each for each in known},
        parameters or {},
        tuple(results),
        {read: tuple(found) for read, found in readers.items()},
        has_buffer_sets=True,
        has_ranges=True,
        reserved_bytes={0: 0},
        space_names={},
    )


def with_results(program, *labels):
    ids = {program.by_label[label].value_id for label in labels}
    with_values(
        program,
        [value._replace(lives_out=value.value_id in ids) for value in program.program.values],
    )


def with_overwrites(program, *pairs):
    """Let the first value of each pair be written into the bytes of its second one, an operand."""
    ids = {label: value.value_id for label, value in program.by_label.items()}
    overwrites = {
        ids[new]: (Overwrite(ids[old], is_operand=True, may_share_block=True),)
        for new, old in pairs
    }
    changed_program = replace(program.program, overwrites=overwrites)
    program.compilation = replace(program.compilation, program=changed_program)


def with_values(program, values):
    changed_program = replace(program.program, values=tuple(values))
    program.compilation = replace(program.compilation, program=changed_program)


def share_one_buffer_set(program, *labels):
    """Join values like a module's text."""
    ids = {program.by_label[label].value_id for label in labels}
    joined = [
        value._replace(buffer_set=min(ids)) if value.value_id in ids else value
        for value in program.program.values
    ]
    with_values(program, joined)


def as_stack(program, label, loop="loop", turns=64):
    """Let a value be the stack that the iterations of a loop fill."""
    value = program.by_label[label]
    stack = value._replace(stack_loop=loop, stack_turns=turns)
    program.compilation.values[value.value_id] = stack


def with_dependences(program, *instructions, callees=None, roots=()):
    """Store the operands of instructions, `name = opcode(a, b)`, as a module text shows them.

    A loop of the main computation runs its body, and one in a body nothing.
    """
    names = [text.partition(" = ")[0] for text in instructions]
    owners = {name: computation for computation, of in (callees or {}).items() for name in of}
    read = []
    for name, text in zip(names, instructions, strict=True):
        opcode, _, rest = text.partition(" = ")[2].rstrip(")").partition("(")
        operands = tuple(names.index(each) for each in rest.split(", ") if each)
        runs = ("cond", "body") if opcode == "while" and name not in owners else ()
        read.append(SchedulableInstruction(name, opcode, operands, callees=runs))
    computations: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        computations.setdefault(owners.get(name, "main"), []).append(row)
    program.schedulable = SchedulableProgram(
        tuple(read),
        {
            name: SchedulableComputation(name, tuple(rows), rows[-1])
            for name, rows in computations.items()
        },
        "main",
    )
