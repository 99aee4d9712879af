"""Records of a stored compilation, one for each row of a statement.

    StoredCompilation
    ├── totals        CompilationTotals   schedule length, printed peak, platform
    ├── spaces        StoredSpace         memory spaces with their totals
    ├── allocations   PlannedAllocation   see `planned_program`
    ├── values        StoredValue
    ├── makers        StoredMaker         where each value is made
    ├── returns       StoredReturn        where values are returned
    ├── instructions  StoredInstruction   in the schedule, or named by a value
    ├── dependences   StoredDependence    in the schedule, with operands
    ├── uses          StoredUse           which instruction reads a value
    ├── positions     StoredPosition      where a value appears
    ├── successions   StoredSuccession    which value takes over whose bytes
    ├── overwrites    StoredOverwrite     which value may take the bytes of which operand
    └── frames        StoredFrame         call stacks

A field is named after its column, `size_bytes` after `sizeBytes`, in the order of the columns.
None means unknown. Live ranges include both ends.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from xlagraph.graph.engine import Cell, Graph
from xlagraph.graph.schema_types import column_name
from xlagraph.hlo.op_names import OF_PYTORCH, is_backward
from xlagraph.hlo.opcodes import LIBRARY_PRODUCTS, PRODUCTS
from xlagraph.hlo.shapes import dimensions, is_float

_OF_BACKWARD_PASS: Final = ("backward", "gradient")
"""Categories of what the backward pass makes."""


class CompilationTotals(NamedTuple):
    """Facts about a whole compilation."""

    key: str
    run: str
    module: str
    """Name of the module with its number, else of the dump."""
    platform: str | None
    result: str | None
    """The instruction that returns the results; None without module text."""
    schedule_length: int | None
    printed_peak_bytes: int | None
    printed_peak_step: int | None
    prints_stack_trace: bool | None
    """Whether XLA prints stack traces of the peak, as since jaxlib 0.7.1; None if unknown."""


class StoredSpace(NamedTuple):
    """A memory space and its totals."""

    color: int
    name: str | None
    """Name: HBM, VMEM, host, …."""
    allocation_bytes: int
    reserved_bytes: int
    logical_peak_bytes: int | None
    logical_peak_step: int | None
    physical_peak_bytes: int | None
    physical_peak_step: int | None


class StoredValue(NamedTuple):
    """A value: its slot, its live range and its attribution."""

    key: str
    value_id: int
    label: str
    name: str
    """Name of the defining instruction."""
    shape_index: str | None
    is_phi: bool
    shape: str
    layout: str | None
    dtype: str | None
    size_bytes: int
    dense_bytes: int | None
    memory_space: int
    allocation: int
    """Number of the allocation that holds it."""
    offset_bytes: int
    live_from: int | None
    live_until: int | None
    last_use: int | None
    range_end: str | None
    """Kind of the end of the live range; see `RangeEnd`."""
    alias_set: int
    alias_position: int
    buffer_set: int | None
    needed_until: int | None
    opcode: str | None
    op_name: str | None
    source_file: str | None
    source_line: int | None
    attribution: str | None
    attributed_op_name: str | None
    attributed_file: str | None
    attributed_line: int | None
    user_file: str | None
    user_line: int | None
    category: str | None
    user_function: str | None
    stack_loop: str | None
    """Name of the loop whose iterations fill the stack that it lies in; None of other values."""
    stack_turns: int | None
    turn_bytes: int | None
    stack_element: str | None
    """Instruction that produces the part of an iteration; None if the write produces it."""

    @property
    def full_shape(self) -> str:
        """Shape with layout."""
        return f"{self.shape or ''}{self.layout or ''}"

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Dimensions of an array, outermost first; none of a scalar or a tuple."""
        return dimensions(self.shape) or ()

    @property
    def squeezed(self) -> tuple[int, ...]:
        """Lengths of its dimensions, without those of length 1."""
        return tuple(each for each in self.dimensions if each > 1)

    @property
    def is_integer(self) -> bool:
        """True for an array or a number of integers, signed or not."""
        return (self.dtype or "").startswith(("s", "u"))

    @property
    def is_float(self) -> bool:
        """True for an array or a number of floating-point type."""
        return is_float(self.dtype)

    @property
    def is_array(self) -> bool:
        """True if it has elements: it is neither a table nor a token."""
        return self.dtype not in ("tuple", "token", None)

    @property
    def known_op_name(self) -> str | None:
        """Op name that it is attributed to, else that of its instruction."""
        return self.attributed_op_name or self.op_name

    @property
    def is_backward(self) -> bool:
        """True if its op name belongs to the backward pass, or its category for PyTorch."""
        op_name = self.known_op_name
        is_of_pytorch = op_name is not None and op_name.startswith(OF_PYTORCH)
        return is_backward(op_name) or (is_of_pytorch and self.category in _OF_BACKWARD_PASS)

    @property
    def source_lines(self) -> tuple[str, ...]:
        """`file:line` of its instruction, of its attribution, and of the user's code."""
        places = (
            (self.source_file, self.source_line),
            (self.attributed_file, self.attributed_line),
            (self.user_file, self.user_line),
        )
        known = [f"{file}:{line}" for file, line in places if None not in (file, line)]
        return tuple(dict.fromkeys(known))


class StoredMaker(NamedTuple):
    """Where the instruction that makes a value is."""

    value_id: int
    computation: str | None
    post_order: int | None


class StoredReturn(NamedTuple):
    """A position of a value in what the program, or a call in it, returns."""

    value_id: int
    instruction: str
    """The call, or the instruction that returns the results of the program."""
    shape_index: str | None
    opcode: str | None
    """Opcode of that instruction."""
    computation: str | None
    """Computation that contains it."""


class StoredInstruction(NamedTuple):
    """An instruction that the dump names."""

    name: str
    opcode: str | None
    op_name: str | None
    source_file: str | None
    source_line: int | None
    step: int | None
    """Step in the schedule; None if not scheduled."""
    computation: str | None
    post_order: int | None
    shape: str | None
    """Shape with layout."""
    target: str | None
    """Target of a custom call."""
    physical_bytes: int | None
    """Physical bytes that are live in memory space 0 while it runs."""
    loop: str | None
    """Innermost loop in which it runs, by the name of the `while`."""
    fused_opcodes: Sequence[str] | None
    """Opcodes in a fusion, sorted; None for others, or if not all are known."""

    def computes_only(self, opcodes: Container[str]) -> bool:
        """Return True if it computes with nothing but these opcodes."""
        if self.opcode == "fusion":
            return bool(self.fused_opcodes) and all(
                each in opcodes for each in self.fused_opcodes or ()
            )
        return self.opcode in opcodes

    @property
    def opcodes(self) -> frozenset[str]:
        """Its opcode, or those of a fusion, without the custom call that packs a TPU's indices.

        A product of matrices is a dot also in a library.
        """
        if self.opcode != "fusion":
            return frozenset(("dot" if self._is_product_of_library else self.opcode or "",))
        fused = frozenset(self.fused_opcodes or ())
        return fused if fused.isdisjoint(("gather", "scatter")) else fused - {"custom-call"}

    @property
    def multiplies(self) -> bool:
        """True if it is or fuses a product of matrices or a convolution: no other custom call."""
        return self.computes_with("dot") or self.computes_with("convolution")

    @property
    def may_multiply(self) -> bool:
        """True if it is or fuses a product, a convolution, or a custom call, which may be one."""
        return not PRODUCTS.isdisjoint(self.opcodes)

    def computes_with(self, opcode: str) -> bool:
        """Return True if it has this opcode, or fuses an instruction that has it."""
        return (
            self.opcode == opcode
            or opcode in (self.fused_opcodes or ())
            or (opcode == "dot" and self._is_product_of_library)
        )

    @property
    def _is_product_of_library(self) -> bool:
        is_call = self.opcode == "custom-call" and self.target is not None
        return is_call and any(each in (self.target or "") for each in LIBRARY_PRODUCTS)


class StoredDependence(NamedTuple):
    """A scheduled instruction, and what it depends on."""

    name: str
    step: int
    opcode: str | None
    shape: str | None
    """Shape with layout."""
    computation: str | None
    operands: Sequence[str] | None
    """Names of its operands, with repetitions."""
    control_predecessors: Sequence[str] | None
    callees: Sequence[str] | None
    """Computations that it runs as part of the schedule."""
    is_root: bool | None
    """None if the dump was ingested without its module text."""
    unique_id: int | None
    """Number that XLA gave it; None in dumps of text."""


class StoredUse(NamedTuple):
    """An instruction that reads a value."""

    value_id: int
    instruction: str
    operand: int
    operand_index: str | None
    """Tuple index within that operand."""


class StoredPosition(NamedTuple):
    """A position: an instruction and tuple index where a value is visible."""

    value_id: int
    instruction: str
    shape_index: str | None


class StoredSuccession(NamedTuple):
    """A value that takes over bytes of an earlier one."""

    later_id: int
    earlier_id: int
    in_place: bool
    shared_bytes: int
    steps: int
    """Step of the update if in place, else the gap in steps."""


class StoredOverwrite(NamedTuple):
    """An operand whose bytes a value may take."""

    value_id: int
    overwritten: int
    operand: int
    is_operand: bool
    """True if the operand is the instruction of the value, not a bitcast or element of it."""
    is_last_position: bool
    """True if the operand is the last instruction in the schedule that shows the value."""


class StoredFrame(NamedTuple):
    """A source location with its callers."""

    key: str
    caller: str | None
    """Key of the frame that calls it."""
    function: str | None
    file: str | None
    line: int | None


Record = TypeVar("Record", bound=NamedTuple)


def column_names(record: type[NamedTuple]) -> tuple[str, ...]:
    """Return the columns that match a record's fields."""
    return tuple(map(column_name, record._fields))


def read_records(
    graph: Graph, statement: str, record: type[Record], parameters: Mapping[str, Cell]
) -> tuple[Record, ...]:
    """Return a statement's rows, whose columns are the record's fields."""
    return tuple(map(record._make, graph.query(statement, parameters).rows))


def record_of(record: type[Record], properties: Mapping[str, Cell]) -> Record:
    """Return the record of a node; absent properties are unknown."""
    return record._make(properties.get(name) for name in column_names(record))
