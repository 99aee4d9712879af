"""Name the inputs of which only one program returns the gradients."""

from collections import Counter
from collections.abc import Iterable, Sequence

from xlagraph.comparison.argument_names import branches, name_steps
from xlagraph.comparison.new_code import GRADIENT_OF_GRADIENT
from xlagraph.comparison.reasons import Reason, ReasonKind
from xlagraph.comparison.replaced_values import in_brackets
from xlagraph.graph.engine import Graph
from xlagraph.hlo.grouping import grouped
from xlagraph.hlo.op_names import is_recomputed, own_op_name
from xlagraph.hlo.walks import reached
from xlagraph.planner.compilation.plannable_compilation import (
    PlannableCompilation,
    plannable_compilation,
)
from xlagraph.planner.compilation.records import StoredValue
from xlagraph.planner.compilation.stored_compilation import StoredCompilation
from xlagraph.presentation.byte_sizes import counted
from xlagraph.queries.errors import NotStored


def name_returned_gradients(graph: Graph, reasons: Iterable[Reason], keys: tuple[str, str]) -> None:
    """Name the inputs whose gradients are new or gone outputs.

    A gradient is a result of the backward pass with the dimensions of an input on which it depends;
    it does not depend on the state of an optimizer. Where second derivatives are new, it may be a
    product with a Hessian. Gradients must have most bytes of the outputs. The inputs are named if
    the dimensions of all gradients, in order, leave no choice.
    """
    outputs = next((each for each in reasons if each.subject.kind is ReasonKind.OUTPUTS), None)
    more = outputs.count_b - outputs.count_a if outputs else 0
    if outputs is None or more * outputs.growth_bytes <= 0:
        return
    try:
        a, b = (plannable_compilation(StoredCompilation(graph, key)) for key in keys)
    except NotStored:
        return
    less, program = (a, b) if more > 0 else (b, a)
    inputs = [value for value in program.array_parameters if _dimensions(value)]
    gradients = _only_of_one(_gradients(program), _gradients(less))
    operands = {value.value_id: value.reads for value in program.program.values}
    before = set(reached((value.value_id for value in gradients), operands.get))
    given = [value for value in inputs if value.value_id in before]
    known = set(map(_dimensions, given))
    bytes_ = sum(value.size_bytes for value in gradients)
    if not known.issuperset(map(_dimensions, gradients)) or 2 * bytes_ < abs(outputs.growth_bytes):
        return
    if _has_second_derivatives(program) and not _has_second_derivatives(less):
        return
    names = {value.op_name for value in _with_gradients(given, gradients) if value.op_name}
    others = {value.op_name for value in inputs if value.op_name} - names
    text = in_brackets(set(branches(sorted(names), others)))
    outputs.cause = f"gradients of {counted(len(gradients), 'input')}{text} are returned"
    outputs.cause_remains = False


def _gradients(program: PlannableCompilation) -> list[StoredValue]:
    """Return the results of the backward pass with the dimensions of inputs, in order."""
    known = set(map(_dimensions, program.array_parameters)) - {()}
    results = (program.values.get(each) for each in program.results)
    return [
        value
        for value in results
        if value is not None
        and value.is_backward
        and _dimensions(value) in known
        and not is_recomputed(value.known_op_name)
    ]


def _has_second_derivatives(program: PlannableCompilation) -> bool:
    names = (value.op_name or "" for value in program.values.values())
    return any(map(GRADIENT_OF_GRADIENT.search, names))


def _only_of_one(more: Iterable[StoredValue], less: Iterable[StoredValue]) -> list[StoredValue]:
    """Return the values that another program does not have as often."""
    left = Counter(map(_op, less))
    found = []
    for value in more:
        left[_op(value)] -= 1
        if left[_op(value)] < 0:
            found.append(value)
    return found


def _op(value: StoredValue) -> tuple[str | None, tuple[int, ...]]:
    return own_op_name(value.known_op_name), _dimensions(value)


def _dimensions(value: StoredValue) -> tuple[int, ...]:
    """Return the dimensions without those of one element, which a bitcast may add to a result."""
    return tuple(size for size in value.dimensions if size != 1)


def _with_gradients(
    inputs: Sequence[StoredValue], gradients: Sequence[StoredValue]
) -> list[StoredValue]:
    """Return the inputs of one argument, else of all, that the gradients in their order are of.

    Empty if dimensions leave a choice.
    """
    arguments = grouped((tuple(name_steps(each.op_name or "")[:1]), each) for each in inputs)
    fitting = [each for each in arguments.values() if _in_order(each, gradients)]
    given = fitting[0] if len(fitting) == 1 else inputs
    first, last = _in_order(given, gradients), _in_order(given[::-1], gradients[::-1])
    return first if first == last[::-1] else []


def _in_order(inputs: Sequence[StoredValue], gradients: Sequence[StoredValue]) -> list[StoredValue]:
    """Return the first inputs with the dimensions of these gradients, in order; empty without."""
    left = iter(inputs)
    found = [
        next((value for value in left if _dimensions(value) == _dimensions(each)), None)
        for each in gradients
    ]
    return [] if None in found else [value for value in found if value is not None]
