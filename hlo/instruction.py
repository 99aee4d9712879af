"""One instruction of an HLO program: operands, attributes, called computations.

Tuple indices have XLA's spelling: ``{1,0}``, ``{}`` for the whole.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from xlagraph.hlo.shapes import WHOLE, Shape

Purpose = Literal["calls", "to_apply", "body", "condition", "branch", "called"]
"""The role of a called computation, named after XLA's attribute."""


class ProgramError(LookupError):
    """The program refers to something missing, or to itself."""


class Operand(NamedTuple):
    """An instruction that another one reads."""

    name: str
    element: str = WHOLE
    """Tuple index within that instruction, if no get-tuple-element is in between."""


class Callee(NamedTuple):
    """A computation that an instruction runs or applies."""

    purpose: Purpose
    computation: str


class Aliasing(NamedTuple):
    """An output of an instruction that shares an operand's bytes."""

    output_index: str
    operand: int
    operand_index: str


class Attributes(NamedTuple):
    """An instruction's attributes, without name, shape, opcode and operands."""

    op_name: str | None = None
    source_file: str | None = None
    source_line: int | None = None
    stack_frame: int | None = None
    """Number of the innermost frame."""
    target: str | None = None
    """Target of a custom call."""
    sharding: str | None = None
    """Split of a parameter over devices, in braces as XLA prints it."""
    runs: str | None = None
    """Computation that a fusion or an async start runs, as the memory plan names it."""
    callees: tuple[Callee, ...] = ()
    """Called computations in XLA's order; branches in the order of the operands."""
    tuple_element: int | None = None
    """Element that a get-tuple-element reads."""
    control_predecessors: tuple[str, ...] = ()
    aliasing: tuple[Aliasing, ...] = ()
    """Aliasing that is declared, not implied by the opcode."""
    trip_count: int | None = None
    """Number of iterations of a loop, from its backend config."""
    gemm_beta: float | None = None
    """The factor beta in the backend config of a GPU matrix product."""
    uses_nvshmem: bool = False
    """True if the backend config of a GPU collective uses NVSHMEM."""


NO_ATTRIBUTES: Final = Attributes()

_RUNNING: Final = frozenset(("fusion", "call", "custom-call", "async-start"))


class Instruction:
    """One instruction.

    An input format may fill `operands`, `attributes` and `text` on first access.
    """

    __slots__ = (
        "attributes",
        "computation",
        "name",
        "opcode",
        "operand_names",
        "operands",
        "parameter_number",
        "shape",
        "text",
        "unique_id",
    )

    name: str
    opcode: str | None
    """Opcode as in the memory plan: ``slice-start`` for an async-start of a slice."""
    shape: Shape | None
    computation: str | None
    """Name of the computation that it belongs to."""
    operands: tuple[Operand, ...]
    operand_names: Sequence[str]
    """The names of its operands."""
    attributes: Attributes
    parameter_number: int | None
    text: str | None
    """The text after ``%name = ``, for display only."""
    unique_id: int | None
    """Number within its computation in the order of creation; None if the input format has none."""

    def __init__(
        self,
        name: str,
        opcode: str | None,
        shape: Shape | None,
        computation: str | None = None,
        operands: tuple[Operand, ...] = (),
        attributes: Attributes = NO_ATTRIBUTES,
    ) -> None:
        self.name = name
        self.opcode = opcode
        self.shape = shape
        self.computation = computation
        self.operands = operands
        self.operand_names = [name for name, _ in operands]
        self.attributes = attributes
        self.parameter_number = None
        self.text = None
        self.unique_id = None

    def __repr__(self) -> str:
        return f"<{self.name} = {self.shape} {self.opcode}>"

    def operand(self, number: int) -> Operand:
        """Return one operand; raise ProgramError if there are fewer."""
        if number >= len(self.operands):
            raise ProgramError(f"{self.name} has no operand {number}")
        return self.operands[number]

    @property
    def is_tuple(self) -> bool:
        """True if its result is a tuple."""
        return self.shape is not None and self.shape.is_tuple

    def read_operands(self) -> None:
        """Fill `operand_names`, which takes longer on their first access."""

    @property
    def is_async_start(self) -> bool:
        """True if it starts an asynchronous computation."""
        return (
            self.opcode is not None
            and self.opcode.endswith("-start")
            and self.callee("calls") is not None
        )

    @property
    def runs_computations(self) -> bool:
        """True if it runs a computation once on its operands: fusions, calls, async starts."""
        return self.opcode in _RUNNING or self.is_async_start

    def callee(self, purpose: Purpose) -> str | None:
        """Return the first computation called for a purpose."""
        for role, computation in self.attributes.callees:
            if role == purpose:
                return computation
        return None

    @property
    def called(self) -> tuple[str, ...]:
        """All called computations."""
        return tuple([name for _, name in self.attributes.callees])

    @property
    def branches(self) -> tuple[str, ...]:
        """Computations of a conditional, in the order of its operands."""
        callees = self.attributes.callees
        return tuple([name for purpose, name in callees if purpose == "branch"])


def first_number(index: str) -> int:
    """Return the first number of an index; raise ProgramError for ``{}``."""
    if index == WHOLE:
        raise ProgramError("an array is read as a tuple")
    return int(index[1:-1].partition(",")[0])
