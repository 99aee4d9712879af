"""Hand-written compilations of a few values."""

from tests.planner.small_programs import program
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.compilation.value_facts import ValueFacts


def facts(value_id, shape, opcode="add", op_name=None, **known):
    """Return the facts of a value, which is named v0, v1, … after its id."""
    given = {
        "label": f"v{value_id}",
        "dtype": "tuple" if shape.startswith("(") else shape.partition("[")[0],
        "own_op_name": op_name,
        "is_stacked": False,
        "source_lines": (),
        "live_until": None,
        "last_use": None,
        "needed_until": None,
        "color": 0,
        "parameter": None,
        "computation": "main",
    } | known
    given = {"is_stacked": False, **given}
    return ValueFacts(value_id=value_id, shape=shape, opcode=opcode, op_name=op_name, **given)


def compilation(values, known, *, allocations=(), results=(), platform="gpu", key="run/f"):
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
        tuple(results),
        {read: tuple(found) for read, found in readers.items()},
        has_buffer_sets=True,
        has_ranges=True,
        reserved_bytes={0: 0},
        space_names={},
    )
