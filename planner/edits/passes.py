"""Find the readers of a value in each pass, and the values that checkpoints of layers keep."""

from collections.abc import Collection

from xlagraph.hlo.op_names import scope_names
from xlagraph.planner.compilation.plannable_compilation import PlannableCompilation
from xlagraph.planner.planned_program import PlannedProgram, PlannedValue

__all__ = ["inputs_of_layers", "readers_by_pass"]


def inputs_of_layers(
    compilation: PlannableCompilation, program: PlannedProgram, value_ids: Collection[int]
) -> set[int]:
    """Return those of the values that another layer reads.

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

    found: set[int] = set()
    for each, layer in layers.items():
        waiting, seen = [each], {each}
        while waiting and each not in found:
            _, forward = readers_by_pass(compilation, program, program.by_id[waiting.pop()])
            for reader in forward:
                other = layer_of(reader.value_id)
                if other and other != layer:
                    found.add(each)
                elif not other and reader.value_id not in seen:
                    seen.add(reader.value_id)
                    waiting.append(reader.value_id)
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
