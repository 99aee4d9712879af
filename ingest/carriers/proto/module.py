"""The computations and instructions of a module, with its schedule.

`HloModule::ToProto` (xla/hlo/ir/hlo_module.cc) writes the message. Ids are 64-bit numbers, some
combined from two numbers; 0 is a valid id. Names are unique in a module.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from typing import Final

from xlagraph.hlo.computation import Computation
from xlagraph.hlo.descriptor_sets import Message
from xlagraph.hlo.instruction import Instruction, Operand
from xlagraph.hlo.opcodes import CONTROL_FLOW
from xlagraph.ingest.carriers.proto.attributes import called_computations, instruction_attributes
from xlagraph.ingest.carriers.proto.shape_messages import shape_of
from xlagraph.ingest.errors import UnfitMessage

_LOW_BITS: Final = 2**32 - 1
"""Bits of an id that number an instruction; since 2025 the others number its computation."""
_MAIN_THREAD: Final = ("", "main")
_RUNNING: Final = frozenset(("fusion", "call", "custom-call", "async-start"))


class ProtoInstruction(Instruction):
    """An instruction of a module; its message is read on first access, then released."""

    __slots__ = ("_message", "_module", "_owner")

    def __init__(self, message: Message, owner: "ProtoComputation", module: "Module") -> None:
        self.name = message.name
        self.opcode = message.opcode
        self.computation = owner.name
        self.text = None
        self.unique_id = message.id & _LOW_BITS
        self._message: Message | None = message
        self._owner: ProtoComputation | None = owner
        self._module: Module | None = module

    def __getattr__(self, field: str) -> object:
        """Fill all fields on the first access to one."""
        if field in ("operands", "operand_names", "attributes", "parameter_number", "shape"):
            self._fill()
            return getattr(self, field)
        raise AttributeError(field)

    def _fill(self) -> None:
        message, owner, module = self._message, self._owner, self._module
        if message is None or owner is None or module is None:
            raise AttributeError(self.name)
        by_id = owner.by_id
        try:
            names = [by_id[number].name for number in message.operand_ids]
            before = [by_id[number].name for number in message.control_predecessor_ids]
        except KeyError as error:
            raise UnfitMessage(
                f"expected an instruction of {owner.name} with the id {error}, found none"
            ) from None
        self.shape = shape_of(message.shape)
        self.operand_names = names
        self.operands = tuple(map(Operand, names))
        self.parameter_number = message.parameter_number if self.opcode == "parameter" else None
        self.attributes = instruction_attributes(
            message,
            tuple(before),
            module.computation_name,
            module.sharding(owner, self.parameter_number),
        )
        self._message = self._owner = self._module = None


class ProtoComputation(Computation):
    """A computation of a module, whose instructions are read on first access."""

    def __init__(self, message: Message, module: "Module") -> None:
        self.name = message.name
        self.is_on_main_thread = message.execution_thread in _MAIN_THREAD
        self.is_fused = bool(message.is_fusion_computation)
        self._message = message
        self._module = module

    @cached_property
    def is_scheduled(self) -> bool:
        """True if the schedule lists its instructions."""
        return self._message.id in self._module.message.schedule.sequences

    @cached_property
    def by_id(self) -> dict[int, ProtoInstruction]:
        """Its instructions by id, operands first."""
        found = {
            message.id: ProtoInstruction(message, self, self._module)
            for message in self._message.instructions
        }
        if len(found) < len(self._message.instructions):
            raise UnfitMessage(f"expected instructions of {self.name} with different ids")
        return found

    @cached_property
    def instructions(self) -> Sequence[ProtoInstruction]:
        """Instructions in the schedule's order; operands first if there is none."""
        by_id = self.by_id
        ids = self.scheduled_ids(by_id.keys()) if self.is_scheduled else by_id
        return [by_id[number] for number in ids]

    def scheduled_ids(self, known: Set[int]) -> list[int]:
        """Return the ids in the schedule's order.

        Raises `UnfitMessage` if they are not the ``known`` ones, those of its instructions.
        """
        ids = list(self._module.message.schedule.sequences[self._message.id].instruction_ids)
        if len(ids) != len(known) or set(ids) != known:
            raise UnfitMessage(
                f"expected a schedule of all instructions of {self.name}, found one of others"
            )
        return ids

    def find_root(self) -> Instruction | None:
        """Return the root instruction; None if it does not exist."""
        return self.by_id.get(self._message.root_id)

    @cached_property
    def opcodes(self) -> frozenset[str | None]:
        """Opcodes of its instructions."""
        return frozenset([message.opcode for message in self._message.instructions])

    @cached_property
    def has_op_names(self) -> bool:
        """True if one of its instructions has an op name."""
        return any(message.metadata.op_name for message in self._message.instructions)

    @cached_property
    def runs(self) -> frozenset[str]:
        """Computations that its instructions run."""
        return frozenset(
            [
                self._module.computation_name(number)
                for message in self._message.instructions
                if message.opcode in _RUNNING
                for number in message.called_computation_ids
            ]
        )


class Module:
    """A module with lookup by id and name; raises UnfitMessage if an id does not exist."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self.instructions: dict[str, ProtoInstruction] = {}
        """Instructions by name, except those inside fusions."""
        self._by_id: dict[int, ProtoInstruction] = {}
        self.computations: dict[str, ProtoComputation] = {}
        """Computations by name, callees before their callers."""
        self._names: dict[int, str] = {}
        """Name of each computation, by id."""
        self.is_gpu = "fingerprint_before_lhs" in message.frontend_attributes.map
        messages = message.computations
        for computation in messages:
            if self._names.setdefault(computation.id, computation.name) in self.computations:
                raise UnfitMessage(f"expected one computation {computation.name}, found two")
            self.computations[computation.name] = ProtoComputation(computation, self)
        for made, computation in zip(self.computations.values(), messages, strict=True):
            if made.is_fused:
                self._check(made, computation.instructions)
            else:
                self._enter(made)

    def _check(self, computation: ProtoComputation, messages: Iterable[Message]) -> None:
        """Raise if a computation that is read later contradicts itself."""
        ids: set[int] = set()
        mentioned: list[int] = []
        count = 0
        for message in messages:
            count += 1
            ids.add(message.id)
            mentioned += message.operand_ids
            mentioned += message.control_predecessor_ids
            for _, number in called_computations(message):
                self.computation_name(number)
        if len(ids) < count or not ids.issuperset(mentioned):
            raise UnfitMessage(
                f"expected operands of {computation.name} among its instructions, found others"
            )
        if computation.is_scheduled:
            computation.scheduled_ids(ids)

    def _enter(self, computation: ProtoComputation) -> None:
        self._by_id.update(computation.by_id)
        for instruction in computation.by_id.values():
            if self.instructions.setdefault(instruction.name, instruction) is not instruction:
                raise UnfitMessage(f"expected one instruction {instruction.name}, found two")
            if instruction.opcode == "custom-call":
                self.is_gpu = self.is_gpu or (instruction.attributes.target or "")[:4] == "__cu"

    @property
    def has_schedule(self) -> bool:
        """True if the module contains its schedule."""
        return bool(self.message.schedule.sequences)

    @cached_property
    def entry(self) -> ProtoComputation:
        """The computation that starts the program."""
        message = self.message
        name = self._names.get(message.entry_computation_id, message.entry_computation_name)
        if name not in self.computations or self.computations[name].is_fused:
            raise UnfitMessage(f"expected the entry computation {name}, found no such computation")
        return self.computations[name]

    def instruction(self, number: int) -> ProtoInstruction:
        """Return an instruction by id."""
        found = self._by_id.get(number)
        if found is None:
            raise UnfitMessage(f"expected an instruction with the id {number}, found none")
        return found

    def named(self, name: str) -> ProtoInstruction:
        """Return an instruction by name."""
        found = self.instructions.get(name)
        if found is None:
            raise UnfitMessage(f"expected an instruction {name}, found none")
        return found

    def sharding(self, owner: ProtoComputation, parameter: int | None) -> Message | None:
        """Return the sharding of a parameter of the program, which jaxlib 0.12 has only here."""
        found = self.message.spmd_parameters_shardings
        if parameter is None or not 0 <= parameter < len(found) or owner is not self.entry:
            return None
        return found[parameter]

    def computation_name(self, number: int) -> str:
        """Return a computation's name."""
        found = self._names.get(number)
        if found is None:
            raise UnfitMessage(f"expected a computation with the id {number}, found none")
        return found

    def root(self, computation: Computation) -> ProtoInstruction:
        """Return the root of a computation."""
        found = computation.find_root()
        if found is None:
            raise UnfitMessage(f"expected the root of {computation.name}, found none")
        return self.named(found.name)

    def inner(self, instruction: ProtoInstruction) -> Iterator[ProtoComputation]:
        """Yield the computations that an instruction runs, one instruction after the other.

        A loop runs its condition, then its body. Fusions and reductions yield none.
        """
        if instruction.opcode in CONTROL_FLOW or instruction.is_async_start:
            for name in instruction.called:
                if self.computations[name].is_fused:
                    raise UnfitMessage(f"expected a fusion to run {name}, found a call")
                yield self.computations[name]
