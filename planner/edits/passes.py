"""Find the readers of a value in each pass, and the values that checkpoints of layers keep."""

from collections.abc import Collection

from xlagraph.hlo.op_names import scope_names
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["inputs_of_layers", "readers_by_pass"]


def inputs_of_layers(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> set[int]:
    """Return those of the values, and of what their layers compute from them, that others read.

    Layers are the outermost scopes in which the values differ. If there are none, each value is a
    layer, and what is computed from it for another one counts as that.
    """
    scopes = {
        each: scope_names(compilation.values[each].known_op_name)[:-1]
        for each in value_ids
        if each in program.by_id
    }
    deepest = max(map(len, scopes.values()), default=0)
    depth = next(
        (n for n in range(1, deepest + 1) if len({names[:n] for names in scopes.values()}) > 1), 0
    )
    layers = {each: names[:depth] or (str(each),) for each, names in scopes.items()}

    def layer_of(value_id: int) -> tuple[str, ...]:
        names = scope_names(compilation.values[value_id].known_op_name)[:-1]
        return layers.get(value_id, names[:depth])

    def forward_readers(value_id: int) -> list[int]:
        read_by = readers_by_pass(compilation, program, program.by_id[value_id])[1]
        return [each.value_id for each in read_by]

    found: set[int] = set()
    inner, known = [*layers], set(layers)
    while inner:
        each = inner.pop()
        waiting, seen = [each], {each}
        while waiting:
            for reader in forward_readers(waiting.pop()):
                other = layer_of(reader)
                if not other and reader not in seen:
                    seen.add(reader)
                    waiting.append(reader)
                elif other == layer_of(each) and reader not in known:
                    known.add(reader)
                    inner.append(reader)
                elif other and other != layer_of(each):
                    found.add(each)
    return found


def readers_by_pass(
    compilation: PlannableCompilation, program: PlannedProgram, value: PlannedValue
) -> tuple[list[PlannedValue], list[PlannedValue]]:
    """Return the values that are computed from a value: backward ones, then forward ones."""
    backward: list[PlannedValue] = []
    forward: list[PlannedValue] = []
    for reader in _planned_readers(compilation, program, value):
        stored = compilation.values.get(reader.value_id)
        if not reader.is_table:
            (backward if stored is not None and stored.is_backward else forward).append(reader)
    return backward, forward


def _planned_readers(
    compilation: PlannableCompilation, program: PlannedProgram, value: PlannedValue
) -> list[PlannedValue]:
    by_id = program.by_id
    return [by_id[each] for each in compilation.readers.get(value.value_id, ()) if each in by_id]
