"""Operations of a module with called computations in place of their calls.

CPU's compiler, up to jaxlib 0.7, calls what it runs in parallel; a plan names the values that are
computed there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from xlagraph.planner.dimensions.module_operations import ModuleOperations, OperandName, Operation


def without_calls(module: ModuleOperations) -> ModuleOperations:
    """Return the module without calls of computations that are called once."""
    if not module.may_have("call"):
        return module
    times = Counter(
        name
        for operations in module.computations.values()
        for each in operations
        for names in each.callees.values()
        for name in names
    )
    called = {
        each.name: each.callees["to_apply"][0]
        for operations in module.computations.values()
        for each in operations
        if each.opcode == "call" and times[each.callees["to_apply"][0]] == 1
    }
    if not called:
        return module
    inlined = _Inlined(module, called)
    kept = module.computations.keys() - called.values()
    roots = {name: inlined.read(OperandName(module.roots[name])).name for name in kept}
    return replace(module, computations={each: inlined.body(each) for each in kept}, roots=roots)


class _Inlined:
    """Computations of a module, with some calls by name replaced by what they call."""

    def __init__(self, module: ModuleOperations, called: Mapping[str, str]) -> None:
        self._module = module
        self._called = called
        self._given: dict[str, OperandName] = {}
        for operations in module.computations.values():
            for each in operations:
                if each.name in called:
                    for inside in module.computations[called[each.name]]:
                        if inside.opcode == "parameter":
                            (number,) = inside.numbers.get("number") or (0,)
                            self._given[inside.name] = each.operands[number]

    def read(self, operand: OperandName) -> OperandName:
        """Return what an operand reads: the result of a call, or what a call is given."""
        name, element = operand
        if name in self._called:
            return self.read(OperandName(self._module.roots[self._called[name]], element))
        if name in self._given:
            name, outer = self._given[name]
            return self.read(OperandName(name, (*outer, *element)))
        return operand

    def body(self, computation: str) -> Sequence[Operation]:
        """Return the operations of a computation, operands first."""
        found: list[Operation] = []
        for each in self._module.computations[computation]:
            if each.name in self._called:
                found += self.body(self._called[each.name])
            elif each.name not in self._given:
                found.append(each._replace(operands=list(map(self.read, each.operands))))
        return found
