"""Derive the positions of each value and the instructions that read it.

XLA does this in `HloDataflowAnalysis::Propagate…` (xla/hlo/analysis/hlo_dataflow_analysis.cc) and
`HloValue::ComputeUses` (xla/service/hlo_value.cc). The buffer assignment states where every value
is defined, so one forward pass is enough: an instruction forwards values according to its opcode,
then the values that it defines replace them. Phis do not have to be searched.

============================================ ==================================================
opcode                                       forwards
============================================ ==================================================
bitcast, domain, opt-barrier, …              its first operand, the whole tree
get-tuple-element                            one element of its operand
tuple                                        each operand as an element
copy                                         its operand's elements, not the whole
copy-start; copy-done                        the operand as {1}; the operand's {0}
send; recv-done                              the operand, or its {0}, as {0}
all-gather-start, collective-permute-start   operands as {0} or {0,n}; done: the arrays of {1}
async-start                                  arrays of the operands, and of the root as {1}
call, conditional                            the root of its computation, of the first branch
while                                        its operand
parameter                                    the operand of the caller of its computation
============================================ ==================================================
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from xlagraph.hlo.instruction import Instruction
from xlagraph.hlo.shapes import WHOLE, nested_index
from xlagraph.ingest.carriers.proto.module import Module, ProtoComputation, ProtoInstruction
from xlagraph.ingest.errors import UnfitMessage
from xlagraph.ingest.plan import Position, Use, UsedValue


class Definition(NamedTuple):
    """The instruction and shape index that define a value."""

    instruction: str
    shape_index: tuple[int, ...]


class _Tree(NamedTuple):
    """The values at an index and below it."""

    value: int | None
    elements: "tuple[_Tree, ...]"


class Flow(NamedTuple):
    """The positions and uses of all values."""

    used_values: tuple[UsedValue, ...]
    """Used values by id; the first position is the definition, the rest follow the schedule."""
    order: tuple[ProtoComputation, ...]
    """Computations with values, in the order in which they end."""
    called_twice: frozenset[str]
    """Computations run by several instructions: their parameters are the first one's operands."""


_NOTHING: Final = _Tree(None, ())
_FORWARDING: Final = frozenset((
    "bitcast", "domain", "opt-barrier", "optimization-barrier", "add-dependency",
    "all-reduce-done", "while",
))  # fmt: skip
_ARRAYS_OF_RESULT: Final = frozenset(("all-gather-done", "collective-permute-done", "async-done"))
_READING_POINTERS: Final = frozenset(("get-tuple-element", "copy"))
_READING_NOTHING: Final = frozenset(("tuple", "domain"))
_READING_LITTLE: Final = _READING_POINTERS | _READING_NOTHING
_IN_PLACE_PERMUTE_OPERANDS: Final = 4


def value_flow(
    module: Module, definitions: Mapping[int, Definition], *, is_sliced_variant: bool = False
) -> Flow:
    """Return positions and uses of the defined values; linear in both.

    `is_sliced_variant` selects the rule of libtpu 0.0.50 for an asynchronous update in place: its
    start has the value of the operand, its done the value of the root.
    """
    return _Pass(module, definitions, is_sliced_variant).flow()


class _Pass:
    """One pass over the computations, each visited at the instruction that runs it."""

    def __init__(
        self, module: Module, definitions: Mapping[int, Definition], is_sliced_variant: bool
    ) -> None:
        self._module = module
        self._definitions = definitions
        self._is_sliced_variant = is_sliced_variant
        self._own: defaultdict[str, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
        for value_id, (name, index) in definitions.items():
            self._own[name].append((index, value_id))
        self._trees: dict[str, _Tree] = {}
        self._inputs: dict[str, tuple[_Tree, ...]] = {}
        """Values of the parameters of each computation, by its name."""
        self._entered: set[str] = set()
        self._finished: dict[str, ProtoComputation] = {}
        self._called_twice: set[str] = set()

    def flow(self) -> Flow:
        self._run(self._module.entry)
        # reducers and comparators, which run for each element
        for name in dict.fromkeys(
            definition.instruction for definition in self._definitions.values()
        ):
            computation = self._module.computations[self._module.named(name).computation or ""]
            if computation.name not in self._finished:
                self._run(computation)
        order = tuple(self._finished.values())
        return Flow(self._used_values(order), order, frozenset(self._called_twice))

    def _run(self, computation: ProtoComputation) -> None:
        self._entered.add(computation.name)
        for made in computation.instructions:
            self._run_inner(made)
            tree = self._handed_on(made)
            own = self._own.get(made.name)
            self._trees[made.name] = tree if own is None else _with_values(tree, own)
        self._finished[computation.name] = computation

    def _run_inner(self, instruction: ProtoInstruction) -> None:
        for number, inner in enumerate(self._module.inner(instruction)):
            if inner.name in self._finished:
                self._called_twice.add(inner.name)
                continue
            if inner.name in self._entered:
                raise UnfitMessage(f"expected a program that ends, but {inner.name} runs itself")
            operands = [self._operand(instruction, row) for row in range(len(instruction.operands))]
            if instruction.opcode == "conditional":
                operands = operands[number + 1 : number + 2]
            self._inputs[inner.name] = tuple(operands)
            self._run(inner)

    def _operand(self, instruction: ProtoInstruction, number: int) -> _Tree:
        if number >= len(instruction.operands):
            raise UnfitMessage(f"expected an operand {number} of {instruction.name}, found none")
        name = instruction.operands[number].name
        tree = self._trees.get(name)
        if tree is None:
            raise UnfitMessage(f"expected {name} before {instruction.name}, which reads it")
        return tree

    def _handed_on(self, instruction: ProtoInstruction) -> _Tree:
        opcode = instruction.opcode or ""
        if opcode in _FORWARDING:
            return self._operand(instruction, 0)
        if opcode == "get-tuple-element":
            return _element(
                self._operand(instruction, 0), instruction.attributes.tuple_element or 0
            )
        if opcode == "tuple":
            return _Tree(None, self._operands(instruction))
        if opcode == "copy":
            return _Tree(None, self._operand(instruction, 0).elements)
        if opcode == "parameter":
            inputs = self._inputs.get(instruction.computation or "", ())
            number = instruction.parameter_number or 0
            return inputs[number] if 0 <= number < len(inputs) else _NOTHING
        if opcode in ("call", "conditional"):
            return self._result(instruction)
        return self._handed_on_beside(instruction, opcode)

    def _handed_on_beside(self, instruction: ProtoInstruction, opcode: str) -> _Tree:
        """Return the values that an instruction of an asynchronous operation forwards."""
        if opcode == "copy-start":
            return _Tree(None, (_NOTHING, self._operand(instruction, 0)))
        if opcode == "copy-done":
            return _element(self._operand(instruction, 0), 0)
        if opcode == "send":
            return _Tree(None, (self._operand(instruction, 0),))
        if opcode == "recv-done":
            return _Tree(None, (_element(self._operand(instruction, 0), 0),))
        if opcode in ("all-gather-start", "collective-permute-start"):
            operands = self._operands(instruction)
            is_in_place = (
                opcode == "collective-permute-start" and len(operands) == _IN_PLACE_PERMUTE_OPERANDS
            )
            has_several = len(operands) > 1 and not is_in_place
            return _Tree(None, (_Tree(None, operands) if has_several else operands[0],))
        if opcode == "async-start":
            return self._started(instruction)
        if opcode == "async-update":
            return _arrays(self._operand(instruction, 0))
        if opcode == "async-done" and self._is_sliced_variant:
            start = self._module.named(instruction.operands[0].name)
            if self._updated_operand(start) is not None:
                return self._root_of(start)
        if opcode in _ARRAYS_OF_RESULT:
            return _arrays(_element(self._operand(instruction, 0), 1))
        return _NOTHING

    def _operands(self, instruction: ProtoInstruction) -> tuple[_Tree, ...]:
        found = [self._operand(instruction, row) for row in range(len(instruction.operands))]
        if not found:
            return () if instruction.opcode == "tuple" else (_NOTHING,)
        return tuple(found)

    def _result(self, instruction: ProtoInstruction) -> _Tree:
        """Return the values of the root of the first computation that it runs."""
        for inner in self._module.inner(instruction):
            return self._trees[self._module.root(inner).name]
        return _NOTHING

    def _started(self, instruction: ProtoInstruction) -> _Tree:
        operands = tuple([_arrays(tree) for tree in self._operands(instruction)])
        result = self._root_of(instruction)
        if self._is_sliced_variant and (row := self._updated_operand(instruction)) is not None:
            result = _element(_Tree(None, operands), row)
        return _Tree(None, (_Tree(None, operands), result))

    def _root_of(self, start: ProtoInstruction) -> _Tree:
        """Return the arrays of the result of an asynchronous computation on the main thread."""
        inner = next(self._module.inner(start), None)
        if inner is None or not inner.is_on_main_thread:
            return _NOTHING
        return _arrays(self._trees[self._module.root(inner).name])

    def _updated_operand(self, start: ProtoInstruction) -> int | None:
        """Return the operand number that a start updates in place; None if it updates none."""
        inner = next(self._module.inner(start), None)
        if inner is None or self._module.root(inner).opcode != "dynamic-update-slice":
            return None
        return self._module.named(self._module.root(inner).operand(0).name).parameter_number

    def _used_values(self, order: Iterable[ProtoComputation]) -> tuple[UsedValue, ...]:
        positions: dict[int, list[Position]] = {value_id: [] for value_id in self._definitions}
        uses: dict[int, list[Use]] = {value_id: [] for value_id in self._definitions}
        for computation in order:
            readers = _ElementReaders(computation)
            root = computation.find_root()
            of_root = set(_values(self._trees[root.name])) if root is not None else set()
            for instruction in computation.instructions:
                name = instruction.name
                has_index = instruction.is_tuple
                of_elements = readers.of_elements(name)
                for index, value_id in _indexed(self._trees[name], WHOLE):
                    printed = index if has_index else None
                    positions[value_id].append(Position(name, printed))
                    for user, number in readers.of_whole(name) if index == WHOLE else of_elements:
                        if _may_read(user.opcode, index) or (user is root and value_id in of_root):
                            uses[value_id].append(Use(user.name, number, printed))
        for value_id, (name, _) in self._definitions.items():
            positions[value_id] = [
                *[each for each in positions[value_id] if each.instruction == name],
                *[each for each in positions[value_id] if each.instruction != name],
            ]
        return tuple(
            [
                UsedValue(value_id, tuple(positions[value_id]), tuple(uses[value_id]))
                for value_id in sorted(self._definitions)
            ]
        )


def _may_read(opcode: str | None, index: str) -> bool:
    """Return the result of XLA's `MayUseOperandValue`."""
    if opcode in _READING_POINTERS:
        return index == WHOLE
    return opcode not in _READING_NOTHING


class _ElementReaders:
    """The readers of each instruction in a computation.

    Readers of elements are separate, because a loop of a thousand arrays has a thousand readers
    that only read its table of pointers.
    """

    def __init__(self, computation: ProtoComputation) -> None:
        self._all: defaultdict[str, list[tuple[Instruction, int]]] = defaultdict(list)
        self._deep: defaultdict[str, list[tuple[Instruction, int]]] = defaultdict(list)
        root = computation.find_root()
        for instruction in computation.instructions:
            is_shallow = instruction.opcode in _READING_LITTLE and instruction is not root
            for number, operand in enumerate(instruction.operands):
                self._all[operand.name].append((instruction, number))
                if not is_shallow:
                    self._deep[operand.name].append((instruction, number))

    def of_whole(self, name: str) -> Sequence[tuple[Instruction, int]]:
        """Return all readers of an instruction, each with its operand number."""
        return self._all.get(name, ())

    def of_elements(self, name: str) -> Sequence[tuple[Instruction, int]]:
        """Return the readers that may read an element of an instruction."""
        return self._deep.get(name, ())


def _element(tree: _Tree, number: int) -> _Tree:
    return tree.elements[number] if 0 <= number < len(tree.elements) else _NOTHING


def _arrays(tree: _Tree) -> _Tree:
    """Return a tree without the values of tuples."""
    if not tree.elements:
        return tree
    return _Tree(None, tuple([_arrays(element) for element in tree.elements]))


def _with_values(tree: _Tree, own: Iterable[tuple[tuple[int, ...], int]]) -> _Tree:
    """Return a tree with the given values at their indices."""
    value = tree.value
    below: defaultdict[int, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
    for index, value_id in own:
        if index:
            below[index[0]].append((index[1:], value_id))
        else:
            value = value_id
    elements = list(tree.elements)
    elements += [_NOTHING] * (max(below, default=-1) + 1 - len(elements))
    for number, values in below.items():
        elements[number] = _with_values(elements[number], values)
    return _Tree(value, tuple(elements))


def _values(tree: _Tree) -> Iterator[int]:
    if tree.value is not None:
        yield tree.value
    for element in tree.elements:
        yield from _values(element)


def _indexed(tree: _Tree, index: str) -> Iterator[tuple[str, int]]:
    if tree.value is not None:
        yield index, tree.value
    for number, element in enumerate(tree.elements):
        yield from _indexed(element, nested_index(index, f"{{{number}}}"))
